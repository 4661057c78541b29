"""The check that every scene of a story fits a laptop's screen."""
