"""Model families, one a file; each declares itself with a constant FAMILY."""
