"""Talks, lessons and the gallery: Markdown with scenes, each a screen and what is said of it."""
