"""Logs, metrics and times of a server, for whoever operates it."""
