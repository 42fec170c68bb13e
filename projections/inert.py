"""Make rendered text inert: a tag that a host or model could obey is shown with another bracket (SPEC 11.3)."""

from __future__ import annotations

import re

__all__ = ["inert"]

_TAGS = (
    "system-reminder",
    "system",
    "assistant",
    "user",
    "tool",
    "function",
    "instructions",
    "workspace-memory",
    "workspace_memory_candidates",
    "hot-session-state",
    "private",
)
# Names may go on with letters (`<userId>` is a generic, no tag), so a name has to end where the match ends.
_TAG = re.compile(rf"<(?=/?(?:{'|'.join(_TAGS)})(?![\w-]))", re.IGNORECASE | re.ASCII)


def inert(text: str) -> str:
    """The text as a prompt may show it: ``<`` directly before a reserved tag name becomes ``‹`` (U+2039).

    Names count in any case, opening or closing, with or without attributes; other angle brackets stay, and so
    does the length. Idempotent; linear in the length (SPEC 11.3).
    """
    return _TAG.sub("\u2039", text)
