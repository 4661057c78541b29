"""The parts around the pages: the server, its guard, its shell and recorded talks."""
