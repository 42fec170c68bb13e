"""Receipts name what a host was given by digests: those that tell a purged text are replaced (SPEC 15.4)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ledger.events import PromptRendered, PromptRenderedData
from projections.erasure.texts import Choice
from projections.hot.block import HotLine, hot_lines
from projections.hot.delivery import line_digest
from projections.hot.view import hot_view, true_lines
from projections.prompts import block_digest, current_epoch
from projections.text.erased import ERASED, keyed_digest
from projections.world import WorldState

__all__ = ["ReceiptEraser"]

_LINE_DIGITS = 16


class ReceiptEraser:
    """Gives receipts the digests that the log without the texts will derive, or ones that tell nobody.

    Args:
        choice: the texts.
        key: the key of digests that stand for others.
    """

    def __init__(self, choice: Choice, key: str) -> None:
        self._choice, self._key = choice, key
        self._targets = frozenset(choice.targets)
        self._requests = dict(_request_lines(choice))
        self._lines: dict[str, dict[str, str]] = {}

    def erased(self, event: PromptRendered, old: WorldState, new: WorldState) -> PromptRendered:
        """A receipt as it will be.

        Args:
            event: the receipt.
            old: the state before it, of the log as it is.
            new: the state before it, of the log as it will be.
        """
        if event.data.kind == "workspace":
            return replace(event, data=self._frozen(event, old, new))
        return replace(event, data=self._hot(event, old, new))

    def _frozen(self, event: PromptRendered, old: WorldState, new: WorldState) -> PromptRenderedData:
        data = event.data
        before, after = current_epoch(old.prompts, event.source), current_epoch(new.prompts, event.source)
        if before is not None and after is not None and data.digest == before.digest:
            return replace(data, digest=after.digest)
        if self._targets.isdisjoint(data.targets):
            return data
        return replace(data, digest=self._unknown(data.digest))

    def _hot(self, event: PromptRendered, old: WorldState, new: WorldState) -> PromptRenderedData:
        """A change may tell of a line that goes, which its receipt doesn't name: so all that a session knew counts."""
        data, source = event.data, event.source
        table = self._lines.setdefault(source, dict(self._requests))
        table.update(self._pairs(true_lines(old, source), true_lines(new, source)))
        given = old.given.get(source)
        known = {*data.lines, *(() if given is None else given.lines)}
        if all(table.get(one, one) == one for one in known):
            return data
        lines = tuple(table.get(one, one) for one in data.lines)
        is_known = data.kind == "hot" and data.digest == block_digest(hot_view(old, source).text)
        digest = block_digest(hot_view(new, source).text) if is_known else self._unknown(data.digest)
        return replace(data, digest=digest, lines=lines)

    def _pairs(self, old: tuple[HotLine, ...], new: tuple[HotLine, ...]) -> Iterator[tuple[str, str]]:
        """Digest of a line → of the same line without the texts; where lines have become one, of nothing known."""
        left = set(new)
        for section in {line.section for line in old}:
            before = [line for line in old if line.section == section]
            after = [line for line in new if line.section == section]
            if len(before) == len(after):
                yield from ((line_digest(one), line_digest(other)) for one, other in zip(before, after, strict=True))
            else:
                for line in before:
                    digest = line_digest(line)
                    yield digest, digest if line in left else self._unknown(digest)[:_LINE_DIGITS]

    def _unknown(self, digest: str) -> str:
        return keyed_digest(self._key, "receipt", digest)


def _request_lines(choice: Choice) -> Iterator[tuple[str, str]]:
    """The lines that requests and decisions with the texts have, wherever they stood."""
    for one in choice.wordings:
        before = hot_lines([], [], [one.text], [(one.type, one.text)])
        after = hot_lines([], [], [ERASED], [(one.type, ERASED)])
        yield from ((line_digest(line), line_digest(other)) for line, other in zip(before, after, strict=True))
