# ruff: noqa: PTH100, PTH120 - os.path strings, as in ``memfold.paths``
"""The command line that starts the hook fast, for the settings of a host."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

__all__ = ["fast_command"]


def fast_command() -> list[str]:
    """The interpreter itself, without its site packages, and the file that finds what it needs from where it lies.

    Where the packages that memfold stands on lie elsewhere, as in a source tree, their folder comes behind it. The
    interpreter is the real one: what a version manager puts before it costs six times as much.
    """
    if os.name != "posix":  # there is no lean way, and no interpreter that would start it
        return []
    from memfold.hook import run  # compiled by this, if it isn't yet: hooks may not be allowed to write where it lies

    del run
    here = os.path.dirname(os.path.abspath(__file__))
    own = os.path.dirname(os.path.dirname(here))
    spec = find_spec("msgspec")
    packages = os.path.dirname(os.path.dirname(spec.origin)) if spec is not None and spec.origin else own
    command = [os.path.realpath(sys.executable), "-I", "-S", os.path.join(here, "__main__.py")]  # noqa: PTH118
    return command if packages == own else [*command, packages]
