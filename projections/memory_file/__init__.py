"""MEMORY.md as a text: what is written, what is read, and what a person has changed between the two (SPEC 16)."""
