"""Edits in modules that are watched: attentions that change as they run."""
