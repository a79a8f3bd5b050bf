"""What is kept from run to run is believed only if this user has written it."""
