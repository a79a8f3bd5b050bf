"""SMT: obligations as SMT-LIB scripts, the solvers that decide them, and a cache of what was proved."""
