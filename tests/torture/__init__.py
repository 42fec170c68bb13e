"""Many writers that are killed all the time: a harness of real processes, for ``make torture`` and a short test."""
