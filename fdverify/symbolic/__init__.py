"""Systems compiled to Z3 terms, and runs read back from Z3's models."""
