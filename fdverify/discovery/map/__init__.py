"""Maps: one property checked at every instance of a grid of parameters, and where it stops to hold."""
