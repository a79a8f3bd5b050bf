"""Worker processes that can be given up, and files that are written whole or not at all."""
