"""Whether an author's functions mean the same to every engine: of plain values, of arrays and of symbols."""
