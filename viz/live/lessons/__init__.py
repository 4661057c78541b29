"""Lessons in a page without a server: Python computes what is asked, the browser grades by it."""
