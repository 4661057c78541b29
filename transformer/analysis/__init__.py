"""What takes a recording and gives numbers: readings, lenses, metrics, one cell, snapshots."""
