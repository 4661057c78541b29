"""Faults that somebody might write, put in one by one: some test finds each of them."""
