"""Liveness: goals about whole runs, and the arguments that reduce them to claims about states and rounds."""
