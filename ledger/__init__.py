"""The append-only log: the only package that writes events."""
