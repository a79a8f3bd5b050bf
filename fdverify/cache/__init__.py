"""What is kept from run to run: signed records in a folder that is bounded."""
