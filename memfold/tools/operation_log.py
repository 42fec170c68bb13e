"""The log of operations: one line for each write, not-found or failure of a tool (SPEC 16.9)."""

from __future__ import annotations

from pathlib import Path

from memfold.log_file import append_line
from memfold.tools.answers import Result
from projections.text.clean import clean, decode
from projections.text.redact import redact

__all__ = ["OPERATION_LOG_NAME", "OperationLog", "log_line"]

OPERATION_LOG_NAME = "operations.log"
_DETAIL = 300
_FAILURES = frozenset({"not_stored", "waiting"})


def log_line(time: str, level: str, tool: str, detail: str) -> str:
    r"""One line, its line feed included; line breaks in the detail are shown as ``\n``, so that none can be forged."""
    shown = decode(detail).replace("\n", "\\n")
    return f"{time} [{level}] {tool} — {shown}\n"


class OperationLog:
    """Appends to ``operations.log`` in a ledger's folder, best effort: a failing log never disturbs a tool.

    Args:
        folder: the ledger's folder.
    """

    def __init__(self, folder: str) -> None:
        self._path = str(Path(folder, OPERATION_LOG_NAME))

    def note(self, tool: str, result: Result, time: str | None) -> None:
        """Write down what came of a call."""
        first = result.text.partition("\n")[0]
        detail = redact(clean(f"{result.kind}: {first}").text)[:_DETAIL]
        level = "ERROR" if result.kind in _FAILURES else "INFO"
        append_line(self._path, log_line(time or "-", level, tool, detail))
