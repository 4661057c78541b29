"""Files from strangers, read safely: nothing in them is executed, sizes are checked first."""
