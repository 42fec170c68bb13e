"""Purge, the pure part: which texts go, and what the events and bytes say without them (SPEC 15.4)."""
