"""The reader of the source of authors' functions: refuses what may differ in meaning on symbols and on values."""
