"""Training: the loop, its data and schedule, and the recipes."""
