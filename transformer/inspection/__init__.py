"""What a checkpoint holds, without running it."""
