"""The four tools that a model calls: definitions, arguments, answers, and the log of operations (SPEC 16.6, 16.9)."""
