# ruff: noqa: PTH118 - os.path strings, as in ``memfold.paths``
"""Links in the place of a ledger's log or of what is derived from it: what would replace those refuses them.

A new file in the place of a link leaves the old one where the link led to, with all that it holds, and whatever keeps
that in step with other machines goes on without it.
"""

from __future__ import annotations

import os
from shlex import quote

from ledger.files import require_no_link
from ledger.log import LOG_NAME
from ledger.trust import DERIVED
from memfold.errors import DataError
from projections.text.clean import decode

__all__ = ["require_unlinked"]


def require_unlinked(directory: str) -> None:
    """Refuse a ledger whose log or derived files are links, before anything is changed.

    Args:
        directory: the ledger's folder; it may be a link itself, for what stands in it is replaced where it is.

    Raises:
        DataError: with what to do.
    """
    log, derived = os.path.join(directory, LOG_NAME), os.path.join(directory, DERIVED)
    _require(log, f"put the log itself there: mv {_shown(os.path.realpath(log))} {_shown(log)}")
    inside = (os.path.join(place, name) for place, folders, names in os.walk(derived) for name in (*folders, *names))
    for path in (derived, *inside):
        _require(path, f"remove the link, and what it leads to: rm {_shown(path)}")


def _require(path: str, fix: str) -> None:
    try:
        require_no_link(path)
    except OSError as error:
        raise DataError(f"{decode(path)}: {error.strerror}; nothing was changed", fix) from None


def _shown(path: str) -> str:
    return quote(decode(path))
