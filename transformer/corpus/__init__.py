"""Many texts: what is done with all lines of a file."""
