"""Models: the language in which systems, message buffers and failure detectors are written."""
