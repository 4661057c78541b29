"""The component head_view: what Python sends it, its scripts and its style."""
