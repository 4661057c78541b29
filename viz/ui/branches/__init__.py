"""What a person decided of a decoding, on every page: its chips, and what it costs."""
