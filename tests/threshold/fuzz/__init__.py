"""Texts of any kind, given to the reader in a process of its own whose memory is measured."""
