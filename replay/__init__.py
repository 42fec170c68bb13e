"""Asks the log about the past: positions, explanations, differences, checkpoints."""
