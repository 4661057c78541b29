"""The parts that models are built from, one idea a file."""
