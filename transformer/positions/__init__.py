"""Positions, by which tokens are told apart: encodings, rotary ones, relative biases."""
