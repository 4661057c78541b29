"""The decisions about a decoding, on every page: their chips, and what they cost."""
