"""What a command says where the log of a ledger is gone or emptied, and before it would begin a new one over that."""

from __future__ import annotations

import sys
from argparse import Namespace

from memfold.cli.backup import store_of
from memfold.cli.parsing import place_options
from memfold.cli.place import Place, has_empty_log, has_ledger
from memfold.errors import NotFoundError
from memfold.lost import had_a_log, what_is_left
from memfold.terminal import clean

__all__ = ["missing_log", "require_no_loss"]


def missing_log(options: Namespace, place: Place) -> NotFoundError | None:
    """What to tell of a ledger whose log is gone or emptied; None where it has events, or never had any."""
    if has_ledger(place) and not has_empty_log(place):
        return None
    left = what_is_left(place.directory, *store_of(place), place_options(options))
    return None if left is None else NotFoundError(*left)


def require_no_loss(options: Namespace, place: Place) -> None:
    """Before a person's command begins a ledger: not over what is left of one whose log is gone.

    Where only backups are left, somebody has taken the whole folder away: a new ledger may begin, and it is said.

    Raises:
        NotFoundError: with the way to get it back.
    """
    lost = missing_log(options, place)
    if lost is not None and had_a_log(place.directory):
        raise lost
    if lost is not None:
        sys.stderr.write(f"memfold: {clean(lost.message)}: {clean(lost.fix)}; a new ledger begins\n")
