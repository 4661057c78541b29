"""The causes of a written word on a page: who waits for them, and what offers them."""
