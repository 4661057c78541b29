"""The component figure_drop: what Python sends it, its script and its style."""
