"""Sentences below the header about what is shown."""
