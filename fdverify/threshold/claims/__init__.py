"""What guards and specifications say of a run."""
