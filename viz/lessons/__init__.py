"""What lessons ask: tasks with answers computed from what is on screen, and what they need."""
