"""The content of a checkpoint, without running it."""
