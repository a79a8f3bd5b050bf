"""What a proof has to show, as questions for a solver or for an exploration."""
