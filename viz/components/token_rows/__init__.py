"""The component token_rows: what Python sends it, its scripts and its style."""
