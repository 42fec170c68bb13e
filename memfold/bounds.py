"""How much of a host's text is read: judging costs what a text is long, and a hook holds the next one up."""

from __future__ import annotations

__all__ = ["LINES_LIMIT", "READ_LIMIT", "whole_lines"]

READ_LIMIT = 64 * 1024
"""Characters read of one text of a host: a message, a summary, an output, an argument. The log keeps no more of one
(DESIGN 3), and OpenCode itself cuts the output of a tool at 50 kB."""
LINES_LIMIT = 4096
"""Lines read of it, since each costs as well; OpenCode cuts an output at 2,000."""


def whole_lines(text: str) -> str:
    """The lines of a text that lie within the limits; a text of one longer line is passed over as a whole.

    What is cut inside a line could part a secret, and neither half would then look like one (SPEC 7). The beginning
    alone is kept, since what follows may stand in a fence or a span that had begun before (SPEC 3.2, 4.1).
    """
    read = text if len(text) <= READ_LIMIT else text[: text.rfind("\n", 0, READ_LIMIT) + 1]
    *lines, rest = read.split("\n", LINES_LIMIT)
    return read if len(lines) < LINES_LIMIT or not rest else "\n".join([*lines, ""])
