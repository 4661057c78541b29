"""What a map of attention can show, one lens a file, found by their constant LENS."""
