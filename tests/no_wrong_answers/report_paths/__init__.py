"""Reports are written where they should be, and nothing else is touched."""
