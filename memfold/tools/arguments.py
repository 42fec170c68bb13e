"""Arguments as a model sends them: read with patience, refused with a sentence before anything changes (SPEC 16.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from projections.memory.model import shown_id
from projections.text.clean import decode, single_line
from projections.text.limits import TITLE_LIMIT
from replay.names import parse_id

__all__ = ["Arguments", "BadArgument"]

_MOST = 1_000_000
_CONTENT_LIMIT = 20_000
"""Characters of a content: a memory is one fact, and each reader of the memory pays for it."""
_TAGS_LIMIT = 2_000


class BadArgument(Exception):  # noqa: N818 - it is an answer, not an error
    """An argument can't be used; the message is a sentence for the model."""


class Arguments:
    """The arguments of one call. Null and blank strings count as not given.

    Args:
        given: whatever the model sent.
        quote: makes a text one that an answer may quote, since answers are logged.

    Raises:
        BadArgument: if it is no object.
    """

    def __init__(self, given: object, quote: Callable[[str], str]) -> None:
        self._quote = quote
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise BadArgument("the arguments are no object")
        self._given = cast("Mapping[str, object]", given)

    def text(self, name: str) -> str | None:
        """A text, or None where it isn't given.

        Raises:
            BadArgument: if it is something else, or longer than a memory may be.
        """
        value = self._given.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise BadArgument(f"{name} must be a string")
        if len(value) > _CONTENT_LIMIT:
            raise BadArgument(f"{name} has {len(value):,} characters; at most {_CONTENT_LIMIT:,} are kept")
        text = decode(value)
        return text if text.strip() else None

    def title(self) -> str | None:
        """A title: one line of at most 120 characters.

        Raises:
            BadArgument: if it has more.
        """
        text = self.text("title")
        if text is None:
            return None
        line = single_line(text)
        if "\n" in text.strip():
            raise BadArgument("title must be a single line")
        if len(line) > TITLE_LIMIT:
            raise BadArgument(f"title has {len(line)} characters; at most {TITLE_LIMIT} are allowed")
        return line

    def needed(self, name: str) -> str:
        """A text that must be there.

        Raises:
            BadArgument: if it is missing.
        """
        value = self.title() if name == "title" else self.text(name)
        if value is None:
            raise BadArgument(f"{name} is missing")
        return value

    def id(self) -> str:
        """An id in written form.

        Raises:
            BadArgument: if it is missing or none.
        """
        text = self.text("id")
        if text is None:
            raise BadArgument("id is missing; memory_read lists the ids")
        number = parse_id(text)
        if number is None:
            raise BadArgument(f"{self._quote(text)!r} is no id; ids look like MEM-003")
        return shown_id(number)

    def tags(self) -> list[str] | None:
        """Tags; an empty list is one, None where they aren't given.

        Raises:
            BadArgument: if it is no list of strings.
        """
        value = self._given.get("tags")
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise BadArgument("tags must be a list of strings")
        tags = list(cast("list[object]", value))
        words = [tag for tag in tags if isinstance(tag, str)]
        if len(words) < len(tags):
            raise BadArgument("tags must be a list of strings")
        if (size := sum(map(len, words))) > _TAGS_LIMIT:
            raise BadArgument(f"tags have {size:,} characters; at most {_TAGS_LIMIT:,} are kept")
        return words

    def number(self, name: str, default: int, least: int) -> int:
        """A whole number, also one in digits; blanks count as not given.

        Raises:
            BadArgument: if it is something else.
        """
        value = self._given.get(name)
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 20:
            value = int(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadArgument(f"{name} must be a whole number")
        return min(max(value, least), _MOST)
