"""Pure folds from events to meaning: no clock, no disk, no randomness, no global state."""
