"""``memfold hook``: one event of a host whose hooks are processes; nothing for people."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.errors import OK

__all__ = ["configure", "run"]


def configure(_: ArgumentParser) -> None:
    """The command has no arguments of its own: the event says all."""


def run(_: Namespace) -> int:
    """Record the event on stdin; whatever comes of it, the exit is 0 and nothing is printed."""
    from memfold.hook.run import handle

    handle()
    return OK
