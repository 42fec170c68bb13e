"""Adapters: what a host reports, translated into events (DESIGN 7)."""
