"""Memories as files of other programs, and as one JSON document; the same state gives the same bytes."""
