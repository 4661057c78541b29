"""The training data of English to German: not installed, as only a run of that recipe needs it."""
