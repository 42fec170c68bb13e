"""Memories of other programs: their files are read as they are; each memory names file, digest and line (SPEC 17)."""
