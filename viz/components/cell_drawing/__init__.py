"""The component cell_drawing: what Python sends it, its script and its style."""
