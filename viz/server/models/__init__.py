"""Models for viewers elsewhere: what answers tasks, and the Ray Serve that runs it."""
