"""Loading the weights of a model of the library: where they go, and in which precision."""
