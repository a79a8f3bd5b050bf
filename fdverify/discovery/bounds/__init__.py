"""The bounds themselves: measured on small instances, fitted, proved for all, attained."""
