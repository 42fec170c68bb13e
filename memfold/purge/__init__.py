"""Purge: a text is erased wherever memfold knows that it may stand, and the log is the last to change (SPEC 15.4)."""
