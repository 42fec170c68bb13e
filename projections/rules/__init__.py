"""What a text proposes and whether it may: triggers, candidate blocks, the quality gate (SPEC 3-6)."""
