"""Commands of the shell beside the commands of `transformer`, one command a file."""
