"""The calls of attention in a pass, each with the matrix that joins its heads."""
