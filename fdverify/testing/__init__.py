"""What the pytest plugin does once there is something to verify."""
