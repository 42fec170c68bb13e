"""How much the log holds of a message or summary (DESIGN 3)."""

from __future__ import annotations

__all__ = ["MAX_RECORD_BYTES", "bounded"]

MAX_RECORD_BYTES = 64 * 1024
"""Bytes of UTF-8 that the log keeps of one message or summary (DESIGN 3)."""


def bounded(text: str) -> str:
    """At most ``MAX_RECORD_BYTES`` of a text: whole lines, or whole characters if its first line is longer."""
    data = text.encode()
    if len(data) <= MAX_RECORD_BYTES:
        return text
    head = data[:MAX_RECORD_BYTES].decode(errors="ignore")
    return head[: head.rfind("\n")].rstrip("\n") if "\n" in head else head
