# ruff: noqa: PTH100, PTH120 - pathlib costs more at start-up than the rest of this module
"""The target of the console script: our own packages first, then the command line."""

import gc
import os
import sys

__all__ = ["main"]

_FEW_COLLECTIONS = 100_000
"""Objects between two looks for cycles: what a start imports and decodes stays, and is looked through for nothing."""


def main() -> int:
    """Run the command line and give its exit code.

    ``ledger``, ``projections`` and ``replay`` are names that a user's project may have too, and with
    ``PYTHONPATH=.`` Python would find those first. So our own folder goes in front before anything of ours is
    imported; only a process that is memfold does this, the library never touches ``sys.path``.
    """
    _fill_standard_descriptors()
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # A host waits for it with each tool call: not even the command line is imported, whatever options it was given.
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        try:
            from memfold.hook.run import main as hook
        except ImportError:
            return 0

        hook()
    is_waited_for = sys.argv[1:2] == ["prompt"]
    if is_waited_for:
        gc.set_threshold(_FEW_COLLECTIONS)
    from memfold.cli.main import main as run

    code = run()
    if is_waited_for and not sys.flags.dev_mode:
        os._exit(code)  # what Python would tidy up takes a fifth of a start; all that is printed has been flushed
    return code


def _fill_standard_descriptors() -> None:
    """Where a caller closed stdin, stdout or stderr, open the null device there.

    Else the ledger would be opened under one of these numbers, and an error message written into it; and Python has
    None for such a stream, on which every print would fail.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole process
            setattr(sys, name, stream)
