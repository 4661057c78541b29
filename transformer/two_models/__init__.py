"""Two models side by side: which heads differ, which match, which outputs flip."""
