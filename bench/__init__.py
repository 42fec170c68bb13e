"""Measurements: each figure is a ratio between cases that ran side by side."""
