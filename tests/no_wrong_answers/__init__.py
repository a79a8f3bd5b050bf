"""Wrong answers that must not be given, a folder for each class of them."""
