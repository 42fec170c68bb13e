"""What a reader makes of a file: one event for the file, one for each memory in it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from ledger.events import FileImportedData, MemoryImportedData, Skipped
from projections.memory.model import HIGHEST_NUMBER
from projections.policy import Policy
from projections.text.canonical import canonical
from projections.text.clean import clean, decode, single_line
from projections.text.entry import entry_text
from projections.text.fields import take_in_content, take_in_tags, take_in_title
from projections.text.intake import take_in
from projections.text.limits import TEXT_LIMIT, TITLE_LIMIT
from projections.text.redact import MARK, withhold

__all__ = ["Format", "Import", "Repair", "Sheet"]

Format = Literal["reference_a", "reference_b", "bullets", "mcp", "memfold"]
_RATIONALE_LIMIT = 180
_NAME_LIMIT = 200
_NO_LIMIT = 1 << 62
_RETIRED = ("deleted", "superseded")


class Repair(Struct, frozen=True):
    """What taking a memory in has changed.

    A secret was ``redacted``, a text that prompts show ``cut``, or characters that nobody sees ``cleaned`` away.
    """

    line: int
    item: int
    kind: Literal["redacted", "cut", "cleaned"]


class Import(Struct, frozen=True):
    """One file as events: what is said of it as a whole, and its memories in file order.

    ``repairs`` are for the report; nothing else depends on them.
    """

    file: FileImportedData
    lines: tuple[MemoryImportedData, ...] = ()
    repairs: tuple[Repair, ...] = ()

    def says_something(self, next_number: int) -> bool:
        """Whether the file as a whole is worth an event: it is damaged, something is left out, or it counts further."""
        return bool(self.file.damaged or self.file.skipped) or (self.file.counter or 0) > next_number


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
        self._items: Counter[int] = Counter()
        self._repairs: list[Repair] = []
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
        clock: str | None = None,
    ) -> None:
        """A memory of the file: its text, or title and content, at a line (from 1)."""
        policy = self.policy
        given = ((text, TEXT_LIMIT), (title, TITLE_LIMIT), (content, None), (rationale, _RATIONALE_LIMIT))
        labels = tags
        is_line = bool(text)
        if is_line:
            whole = take_in(text, policy, _NO_LIMIT).text
            # What has been taken in stays as it is, so that only what must be cut is looked at once more.
            text = whole if len(whole) <= TEXT_LIMIT else take_in(whole, policy, TEXT_LIMIT).text
            title = whole if len(whole) <= TITLE_LIMIT else take_in_title(whole, policy)
            content = whole if title != whole else ""  # what had to be cut is not lost (SPEC 2.1)
        else:
            title = take_in_title(title, policy)
            content = take_in_content(content, policy, above=title)
            text = entry_text(title, content, policy)
        tags = take_in_tags(tags, policy)
        rationale = take_in(rationale, policy, _RATIONALE_LIMIT).text if rationale else ""
        item = self._items[line]
        self._items[line] += 1
        stored = (text, "", "", rationale) if is_line else ("", title, content, rationale)
        kinds = _repairs([*given, (",".join(labels), None)], [*stored, ",".join(tags)])
        self._repairs += (Repair(line, item, kind) for kind in kinds)
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
                tags=tags,
                rationale=rationale,
                importance=importance,
                safety_critical=safety_critical,
                reinforcements=reinforcements,
                created=created,
                updated=updated,
                number=number,
                item=item,
                clock=clock,
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
        return Import(self._file(counter=counter), tuple(_active_first(self._lines)), tuple(self._repairs))

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


def _repairs(
    given: Sequence[tuple[str, int | None]], stored: Sequence[str]
) -> Iterable[Literal["redacted", "cut", "cleaned"]]:
    """What became of texts, given with their limits."""
    cleaned = [clean(text) for text, _ in given]
    if any(
        withhold(before.text) != before.text or after.count(MARK) > before.text.count(MARK)
        for before, after in zip(cleaned, stored, strict=True)
    ):
        yield "redacted"
    if any(
        limit is not None and len(single_line(before.text)) > limit
        for before, (_, limit) in zip(cleaned, given, strict=True)
    ):
        yield "cut"
    if any(before.notes for before in cleaned):
        yield "cleaned"


def _active_first(lines: Iterable[MemoryImportedData]) -> list[MemoryImportedData]:
    """File order; but what the file itself has as active must not be kept away by an older copy that it has retired."""
    lines = list(lines)
    active = {canonical(one.text) for one in lines if one.state not in _RETIRED}
    late = [one.state in _RETIRED and canonical(one.text) in active for one in lines]
    pairs = list(zip(lines, late, strict=True))
    return [one for one, is_late in pairs if not is_late] + [one for one, is_late in pairs if is_late]
