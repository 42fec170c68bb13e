"""MEMORY.md on disk: what a person changed there becomes events, and what the log says is written (SPEC 16.1, 16.5)."""
