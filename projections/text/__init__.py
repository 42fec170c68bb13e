"""Text in one form: taken in, cut, redacted, compared (SPEC 1, 7, 8)."""
