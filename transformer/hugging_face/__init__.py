"""Models of the transformers library: how a folder is opened, and what we need to know of it."""
