"""A demo module for a model to edit."""


def f() -> int:
    """Give a number."""
    return 1
