"""The fields of the Screen that a single page reads: a file a page, with a constant FIELDS."""
