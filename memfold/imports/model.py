"""What a reader makes of a file: one event for the file, one for each memory in it."""

from __future__ import annotations

import hashlib
from typing import Literal

from msgspec import Struct

from ledger.events import FileImportedData, MemoryImportedData, Skipped
from projections.memory.model import HIGHEST_NUMBER
from projections.policy import Policy
from projections.text.clean import decode
from projections.text.entry import entry_text
from projections.text.fields import take_in_content, take_in_tags, take_in_title
from projections.text.intake import take_in
from projections.text.limits import TEXT_LIMIT

__all__ = ["Format", "Import", "Sheet"]

Format = Literal["reference_a", "reference_b", "bullets", "mcp"]
_RATIONALE_LIMIT = 180
_NAME_LIMIT = 200


class Import(Struct, frozen=True):
    """One file as events: what is said of it as a whole, and its memories in file order."""

    file: FileImportedData
    lines: tuple[MemoryImportedData, ...] = ()


class Sheet:
    """Collects what is read of one file; all text passes the common form here, before anybody writes it (SPEC 1.3).

    Args:
        name: of the file, as people know it.
        data: its bytes.
        format: its layout.
        policy: what redacts.
    """

    def __init__(self, name: str, data: bytes, format: Format, policy: Policy) -> None:  # noqa: A002 - what it is
        self.policy = policy
        self._name = take_in(decode(name), policy, _NAME_LIMIT).text
        self._digest = hashlib.sha256(data).hexdigest()
        self._format: Format = format
        self._lines: list[MemoryImportedData] = []
        self._skipped: list[Skipped] = []

    def add(
        self,
        line: int,
        *,
        text: str = "",
        title: str = "",
        content: str = "",
        type: str,  # noqa: A002 - the field's name
        tags: tuple[str, ...] = (),
        rationale: str = "",
        source: Literal["explicit", "compaction", "manual"] = "manual",
        state: Literal["active", "pending", "deleted", "superseded"] = "active",
        confidence: int = 90,
        importance: Literal["low", "normal", "high"] = "normal",
        safety_critical: bool = False,
        reinforcements: int = 0,
        created: str | None = None,
        updated: str | None = None,
        number: int | None = None,
    ) -> None:
        """A memory of the file: its text, or title and content, at a line (from 1)."""
        policy = self.policy
        if text:
            text = take_in(text, policy, TEXT_LIMIT).text
            title = take_in_title(text, policy)
            content = text if title != text else ""
        else:
            title = take_in_title(title, policy)
            content = take_in_content(content, policy, above=title)
            text = entry_text(title, content, policy)
        self._lines.append(
            MemoryImportedData(
                file=self._name,
                digest=self._digest,
                line=line,
                text=text,
                type=type,
                source=source,
                state=state,
                confidence=confidence,
                title=title,
                content=content,
                tags=take_in_tags(tags, policy),
                rationale=take_in(rationale, policy, _RATIONALE_LIMIT).text,
                importance=importance,
                safety_critical=safety_critical,
                reinforcements=reinforcements,
                created=created,
                updated=updated,
                number=number,
            )
        )

    def skip(self, line: int, reason: str) -> None:
        """Something in the file is no memory; the reason quotes nothing of it."""
        self._skipped.append(Skipped(line, reason))

    def done(self, *, counter: int | None = None) -> Import:
        """The file as events."""
        if counter is not None and counter > HIGHEST_NUMBER:
            self.skip(1, "the counter is too large to be kept")
            counter = None
        return Import(self._file(counter=counter), tuple(self._lines))

    def damaged(self, why: str) -> Import:
        """Nothing can be taken from the file."""
        return Import(self._file(damaged=why))

    def _file(self, *, counter: int | None = None, damaged: str = "") -> FileImportedData:
        return FileImportedData(
            file=self._name,
            digest=self._digest,
            format=self._format,
            counter=counter,
            damaged=damaged,
            skipped=() if damaged else tuple(self._skipped),
        )
