"""The component head_grid: what Python sends it, its scripts and its style."""
