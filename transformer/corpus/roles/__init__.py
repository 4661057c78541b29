"""Roles that a head may play, one per file: the keys that a head of that role looks at."""
