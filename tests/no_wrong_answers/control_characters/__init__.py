"""What names contain is shown, and never done."""
