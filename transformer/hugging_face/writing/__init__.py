"""The settings of a folder for writing: rules of scores, lengths, and defaults of methods."""
