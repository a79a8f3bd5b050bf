"""The check that an author's functions mean the same to every engine: on plain values, on arrays and on symbols."""
