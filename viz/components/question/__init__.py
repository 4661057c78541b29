"""The component question: what Python sends it, its script and its style."""
