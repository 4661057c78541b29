"""The card of a written word, drawn as soon as the word is pinned."""
