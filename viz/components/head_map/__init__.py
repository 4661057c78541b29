"""The component head_map: what Python sends it, its scripts and its style."""
