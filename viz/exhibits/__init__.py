"""Whatever a page shows, as frozen data: what it is called, what it says, and its content."""
