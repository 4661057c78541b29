"""The commands of the shell, one a file: each declares COMMAND = Command(...)."""
