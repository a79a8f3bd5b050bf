"""Analysis of guards and specifications: normal forms, thresholds, and the shapes of violating runs."""
