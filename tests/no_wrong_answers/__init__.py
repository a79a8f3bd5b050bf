"""One folder for each class of wrong answers: the cases that were met, and more of their kind."""
