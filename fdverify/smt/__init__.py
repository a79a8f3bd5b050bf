"""Questions to solvers, and processes that can be stopped while they think."""
