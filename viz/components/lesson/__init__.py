"""The component lesson: what Python sends it, and its script."""
