"""Chat templates of a folder: offered, rendered in a process of their own, shown."""
