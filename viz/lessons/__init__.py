"""Tasks of lessons, with answers computed from what is on screen, and needs of their scenes."""
