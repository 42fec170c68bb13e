"""``memfold bridge``: what a client's plugin starts and speaks with; nothing for people."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.errors import OK

__all__ = ["configure", "run"]


def configure(_: ArgumentParser) -> None:
    """The command has no arguments of its own: the plugin says all in its first line."""


def run(_: Namespace) -> int:
    """Serve one client until it ends."""
    from memfold.bridge.process import run_process

    run_process()
    return OK
