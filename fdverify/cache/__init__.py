"""The cache between runs: signed records in a folder of limited size."""
