"""The implementation of the pytest plugin, imported only when there is something to verify."""
