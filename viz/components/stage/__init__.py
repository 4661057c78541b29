"""A talk's keys, and what they open: overview, a blank screen, dark, full screen."""
