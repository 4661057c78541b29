"""The computing, for all sessions: caches, lines, batches, previews. No widget."""
