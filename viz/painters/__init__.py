"""What exhibits look like: each painter draws one sort of content, for a screen, on a sheet."""
