"""What is found out by checking many things: how a verdict depends on the parameters."""
