"""The component search_tree: what Python sends it, its scripts and its style."""
