"""What the shell offers beside the commands of `transformer`, one command a file."""
