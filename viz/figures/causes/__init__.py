"""The card of a written word: its verdict, and the worth of the words before it."""
