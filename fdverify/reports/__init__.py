"""The kit that reports are made of: outcomes, documents, step tables, and the formats of files."""
