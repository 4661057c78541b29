"""The component snapshot_player: what Python sends it, its scripts and its style."""
