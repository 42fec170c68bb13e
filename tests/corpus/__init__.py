"""Texts with and without secrets, built from a seed, and what redaction makes of them (SPEC 7)."""
