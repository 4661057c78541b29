"""The component cell_steps: what Python sends it, its scripts and its style."""
