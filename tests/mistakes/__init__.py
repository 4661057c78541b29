"""Real mistakes of the English-German translator, and what is known of each."""
