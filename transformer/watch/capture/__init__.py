"""A pass as it goes by: torch's functions, the modules that run, the tensors that they take."""
