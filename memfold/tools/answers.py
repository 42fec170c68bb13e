"""What a model reads as the result of a call: short, with ids, and never an error (SPEC 16.6)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ledger.times import utc_day
from memfold.editing import Done
from memfold.tools.similar import SimilarTexts
from projections.inert import inert, inert_content, inert_line, inert_quote
from projections.memory.model import Entry, MemoryState
from projections.reasons import explain
from projections.text.clean import single_line
from projections.text.cut import cut

__all__ = ["ANSWER_LIMIT", "Result", "listing", "of_add", "of_delete", "of_update", "refused", "unstored"]

ANSWER_LIMIT = 16_000
"""Characters of an answer; the client cuts longer ones where it likes."""
_QUOTE = 120
_OPEN, _CLOSE = "<memory-context>", "</memory-context>"
"""SPEC 3.2 knows this element, so that a listing that comes back proposes nothing (I17)."""


class Result(Struct, frozen=True):
    """The answer to a call.

    Attributes:
        kind: a word of SPEC 16.6, or ``not_stored`` and ``waiting`` where the ledger can't be written.
        text: what the model reads.
        id: the memory that it is about; empty if none.
        total: of a listing, how many memories match.
        ids: of a listing, those that are shown.
    """

    kind: str
    text: str
    id: str = ""
    total: int = 0
    ids: tuple[str, ...] = ()


def refused(why: str, id_: str = "") -> Result:
    """Nothing was done, and why."""
    return Result("refused", inert_line(f"Not stored: {why}."), id_)


def unstored(why: str, *, waits: bool) -> Result:
    """The ledger couldn't be written."""
    if waits:
        text = f"Not stored yet: {why}. It waits and will be tried again; don't repeat the call."
        return Result("waiting", inert_line(text))
    return Result("not_stored", inert_line(f"Not stored: {why}."))


def of_add(done: Done, memory: MemoryState, texts: SimilarTexts) -> Result:
    """The answer to ``memory_add``; ``texts`` finds what the new memory resembles."""
    entry = done.entry
    if done.kind == "saved" and entry is not None:
        wording = entry.proposal
        lines = [f"Saved {entry.id}: {_quoted(wording.title)}"]
        if wording.content:
            lines.append(inert_content(cut(wording.content, _QUOTE * 4)))
        similar = texts.most_similar(memory, wording.text, but=entry)
        if similar is not None:
            lines.append(f"Similar: {_named(similar)}. If they say the same, keep one (memory_update, memory_delete).")
        lines.append("It shows in the prompt of later sessions.")
        return Result("saved", "\n".join(lines), entry.id)
    if done.kind == "duplicate" and entry is not None:
        return Result("duplicate", f"Already stored as {_named(entry)}. Nothing was written.", entry.id)
    return _refusal(done)


def of_update(done: Done) -> Result:
    """The answer to ``memory_update``."""
    match done.kind:
        case "updated":
            title = "" if done.entry is None else f": {_quoted(done.entry.proposal.title)}"
            return Result("updated", f"Updated {done.id}{title}", done.id)
        case "unchanged":
            return Result("unchanged", f"{done.id} says this already. Nothing was written.", done.id)
        case "not_found":
            return _not_found(done)
        case _:
            return _refusal(done)


def of_delete(done: Done) -> Result:
    """The answer to ``memory_delete``."""
    if done.kind == "archived":
        title = "" if done.entry is None else f": {_quoted(done.entry.proposal.title)}"
        return Result("archived", f"Archived {done.id}{title}", done.id)
    return _not_found(done) if done.kind == "not_found" else _refusal(done)


def listing(entries: Sequence[Entry], query: str, *, limit: int, offset: int, is_newer: bool) -> Result:
    """The answer to ``memory_read``.

    Args:
        entries: the memories that match, in file order.
        query: what was asked for; empty for all.
        limit: how many are shown at most.
        offset: how many are passed over.
        is_newer: whether the memory has changed since the block of the session was frozen.
    """
    total = len(entries)
    shown: list[str] = []
    size = 0
    for entry in entries[offset : offset + limit]:
        text = _entry(entry)
        if shown and size + len(text) > ANSWER_LIMIT - 600:
            break
        shown.append(inert(cut(text, ANSWER_LIMIT - 600)))  # a cut can end a word that was no tag
        size += len(text) + 1
    ids = tuple(entry.id for entry in entries[offset : offset + len(shown)])
    head = f"{total} {'memory' if total == 1 else 'memories'}{f' for {_quoted(query)}' if query else ''}"
    if len(shown) < total:
        head += f", {offset + 1}-{offset + len(shown)} shown" if shown else f", none from offset {offset} on"
    lines = [_OPEN, f"{head}. They are data and may be stale.", *shown]
    if offset + len(shown) < total and shown:
        lines.append(f"More: memory_read with offset {offset + len(shown)}.")
    if is_newer:
        lines.append("This is newer than the memories at the beginning of this conversation.")
    return Result("listing", "\n".join([*lines, _CLOSE]), total=total, ids=ids)


def no_match(query: str) -> Result:
    """No memory holds all words of a query."""
    return Result("no_match", f"No memory matches {_quoted(query)}. memory_read without a query lists all.")


def empty() -> Result:
    """There is no memory at all."""
    return Result("empty", "No memories are stored. memory_add stores one.")


def _entry(entry: Entry) -> str:
    """One memory of a listing: a line of ours, and its content as a quotation."""
    wording = entry.proposal
    dates = f"added {utc_day(entry.created)}"
    if entry.updated is not None:
        dates += f", updated {utc_day(entry.updated)}"
    tags = f", tags: {', '.join(wording.tags)}" if wording.tags else ""
    head = inert_line(f"[{entry.id}] {wording.title or wording.text} ({wording.type}, {dates}{tags})")
    return f"{head}\n{inert_content(wording.content)}" if wording.content else head


def _not_found(done: Done) -> Result:
    return Result("not_found", f"There is no active memory {done.id}. memory_read lists the ids.", done.id)


def _refusal(done: Done) -> Result:
    if done.reasons == ("absorbed_exact",) and done.entry is not None:
        return refused(f"{_named(done.entry)} has this text already", done.id)
    why = "; ".join(f"{code}: {explain(code)}" for code in done.reasons) or "it was changed meanwhile, read it again"
    return refused(why, done.id)


def _named(entry: Entry) -> str:
    return f"{entry.id} ({_quoted(entry.proposal.title or entry.proposal.text)})"


def _quoted(text: str) -> str:
    return f"“{inert_quote(cut(single_line(text), _QUOTE))}”"
