"""What a compaction summary proposes: candidates, commands on numbered memories, and malformed lines (SPEC 5)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from projections.policy import Context
from projections.reasons import Evidence
from projections.rules.candidate_lines import BLOCK_LABEL, BlockLine, block_of
from projections.rules.limits import bounded
from projections.rules.own_blocks import own_words
from projections.rules.quality import judge
from projections.rules.rule_files import rule_digests_of
from projections.rules.triggers import Trigger, Triggers, skip_separator, triggers_of
from projections.text.intake import take_in
from projections.text.limits import TEXT_LIMIT

__all__ = ["CandidateKind", "CandidateLine", "Summary", "parse_summary", "reduce_summary", "rule_digests_of"]

CandidateKind = Literal["candidate", "reinforce", "replace", "malformed"]
"""What a line of a block is."""


class CandidateLine(Struct, frozen=True):
    """One line of a candidate block that is no noise.

    Attributes:
        kind: ``candidate``; ``reinforce`` or ``replace``, the commands; ``malformed``, always with a reason.
        type: the memory type; empty for ``reinforce`` and ``malformed``.
        text: the stored form of the proposed text (the line itself if malformed); empty for a negated request.
        ref: the number of the memory that a command names, from 1.
        reasons: all that stands against it; spans in characters of ``text``.
        notes: notes of the summary (``invisible_removed``); a reduced summary has lost them.
        start, end: span of the line in the summary after SPEC 1.3 (steps 1-3) and 3.2.
    """

    kind: CandidateKind
    type: str
    text: str
    ref: int | None
    reasons: tuple[Evidence, ...]
    notes: tuple[str, ...]
    start: int
    end: int


class Summary(Struct, frozen=True):
    """What the used block of a summary says, in line order, and the snapshot its numbers refer to (SPEC 5.4)."""

    lines: tuple[CandidateLine, ...] = ()
    snapshot_id: str | None = None


def parse_summary(summary: str, context: Context, rule_digests: frozenset[str] = frozenset()) -> Summary:
    """Read the last clean block of a compaction summary and judge its texts (SPEC 5.1-5.3, 6).

    Args:
        summary: as it came, cleaned or reduced; the result is the same.
        context: the policy in force and the workspace root.
        rule_digests: what the loaded instruction files say (``rule_digests_of``).

    Returns:
        Every line that is no noise, refused ones with all their reasons. O(length).
    """
    text, notes = own_words(summary, context.policy)
    block = block_of(text, context.policy)
    lines = tuple(
        _judged(line, context, rule_digests, notes) for line in block if line.kind not in {"snapshot", "none"}
    )
    return Summary(lines, _snapshot_of(block))


def _snapshot_of(block: tuple[BlockLine, ...]) -> str | None:
    return next((line.text for line in block if line.kind == "snapshot"), None)


def _judged(line: BlockLine, context: Context, rule_digests: frozenset[str], notes: tuple[str, ...]) -> CandidateLine:
    end = line.start + len(line.line)
    if line.kind == "reinforce":
        return CandidateLine("reinforce", "", "", line.ref, (), notes, line.start, end)
    if line.kind not in {"candidate", "replace"}:
        text = take_in(line.text, context.policy, TEXT_LIMIT).text
        return CandidateLine("malformed", "", text, None, (Evidence(line.code),), notes, line.start, end)
    position, negated = _strip(line.text, triggers_of(context.policy))
    text = "" if negated else take_in(line.text[position:], context.policy, TEXT_LIMIT).text
    reasons = (Evidence("negated_request"),) if negated else judge(line.type, text, context, rule_digests)
    kind: CandidateKind = "replace" if line.kind == "replace" else "candidate"
    return CandidateLine(kind, line.type, text, line.ref, reasons, notes, line.start, end)


def _strip(text: str, triggers: Triggers) -> tuple[int, Trigger | None]:
    """Where a text starts behind the remember forms at its very start, and a negated one there (SPEC 5.3)."""
    position = 0
    while True:
        if negated := triggers.negated_at(text, position):
            return position, negated
        form = triggers.at(text, position, "requests")
        if form is None:
            return position, None
        position = skip_separator(text, form.end)


def reduce_summary(summary: str, context: Context) -> str:
    """What the log keeps of a summary: the lines of its used block that aren't noise.

    Returns:
        A block with a plain label, without the texts of negated requests; the empty string if nothing matters.
        ``parse_summary`` finds the same in it, spans and notes aside, and reducing again changes nothing.
    """
    text, _ = own_words(summary, context.policy)
    triggers = triggers_of(context.policy)
    lines = [_reduced(line, triggers) for line in block_of(text, context.policy)]
    return bounded("\n".join([BLOCK_LABEL, *lines])) if lines else ""


def _reduced(line: BlockLine, triggers: Triggers) -> str:
    negated = _strip(line.text, triggers)[1] if line.kind in {"candidate", "replace"} else None
    return (line.line[: line.text_start - line.start + negated.end] if negated else line.line).strip()
