"""Arrays of attention that a reader drops on the page: shown without a model, and sent nowhere."""
