"""What is computed, for whom and when: caches, lines, batches, previews. No widget."""
