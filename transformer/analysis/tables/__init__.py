"""Tables of what is read in recordings: which tokens a row is about, and all heads."""
