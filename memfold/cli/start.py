"""What a session start does without: ``argparse``, and what msgspec imports where it can."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from argparse import Namespace

__all__ = ["import_msgspec", "prompt_options"]

_FLAGS = {"--next": "next", "--numbered": "numbered"}
_VALUES = {"--ledger": "ledger", "--workspace": "workspace", "--session": "session"}


def prompt_options(arguments: Sequence[str]) -> Namespace | None:
    """The options of ``memfold prompt`` where they are as plain as hosts give them; None leaves them to the parser.

    Args:
        arguments: all of the process.

    Returns:
        What the parser would make of them (``tests/laws/test_start.py``). It alone knows the whole command line, and
        words each error: whatever is given twice, excludes something, or is no plain word, is left to it.
    """
    if arguments[:1] != ["prompt"]:
        return None
    options: dict[str, str | None] = dict.fromkeys(("ledger", "workspace", "session", "at"))
    flags: dict[str, bool] = dict.fromkeys(("next", "numbered", "hot", "json"), False)
    words = iter(arguments[1:])
    for word in words:
        if word in _FLAGS:
            flags[_FLAGS[word]] = True
            continue
        name, value = _VALUES.get(word), next(words, "-")
        if name is None or options[name] is not None or value.startswith("-"):
            return None
        options[name] = value
    if (flags["next"] and flags["numbered"]) or None not in (options["ledger"], options["workspace"]):
        return None
    return cast("Namespace", SimpleNamespace(command="prompt", color="auto", **options, **flags))


def import_msgspec() -> None:
    """Import msgspec without two modules that take a third of that time, and that it has no need of here.

    It asks ``typing_extensions`` for what ``typing`` has too in every Python that we run in, and takes it from there
    where that module can't be imported. And it imports ``uuid``, which asks ``platform`` for the name of the system
    alone. Whoever wants either of them later still gets it.
    """
    name = ModuleType("platform")
    name.__dict__["system"] = _system
    instead = {"typing_extensions": None, "platform": name}
    absent = [one for one in instead if one not in sys.modules]
    for one in absent:
        sys.modules[one] = instead[one]  # type: ignore[assignment] # None is what Python takes for: there is none
    try:
        import msgspec  # noqa: F401 # pyright: ignore[reportUnusedImport]
    finally:
        for one in absent:
            del sys.modules[one]


def _system() -> str:
    """As ``platform.system`` where ``uuid`` asks it."""
    return os.uname().sysname
