"""What the shell offers, one command a file: each declares COMMAND = Command(...)."""
