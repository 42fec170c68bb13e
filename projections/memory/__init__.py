"""Workspace memory: candidates, decisions, entries, retention and selection (SPEC 2, 9, 10, 14, 15)."""
