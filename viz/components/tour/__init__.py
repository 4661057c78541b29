"""The line that says what the app is, and the tour of its first screen."""
