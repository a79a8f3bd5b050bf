"""The reader of the source of authors' functions: what may mean something else on symbols than on values."""
