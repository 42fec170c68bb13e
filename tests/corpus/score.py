"""Precision and recall of redaction over the corpus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from projections.policy import DEFAULT_POLICY
from projections.text.clean import clean
from projections.text.intake import take_in, take_in_block
from projections.text.redact import redact_lines
from tests.corpus.model import Innocent, Secret, leaks

__all__ = ["GOAL", "Row", "Score", "score", "shown"]

GOAL = 0.99
_ENTRY_LIMITS = (120, 180, 260)


class Row(NamedTuple):
    """One kind: how many texts, how many of them came out as they should, and the others."""

    kind: str
    total: int
    right: int
    wrong: tuple[str, ...]


class Score(NamedTuple):
    """The rows of secrets and innocents, first those with a threshold, and what the first ones come to.

    Attributes:
        precision: of the texts that were changed, the part that holds a secret.
        recall: of the texts that hold a secret, the part of which no five characters in a row remain.
    """

    secrets: tuple[Row, ...]
    innocents: tuple[Row, ...]
    other_secrets: tuple[Row, ...]
    other_innocents: tuple[Row, ...]
    precision: float
    recall: float


def _forms_of(text: str) -> list[str]:
    """A text in each form in which it may be written: whole, joined to one line, cut at the limits of an entry."""
    block = take_in_block(text, DEFAULT_POLICY).text
    return [block, redact_lines(block), *(take_in(text, DEFAULT_POLICY, limit).text for limit in _ENTRY_LIMITS)]


def _is_hidden(secret: Secret) -> bool:
    """Whether nothing of a secret is left in any form of its text."""
    return not any(leaks(secret, form) for form in _forms_of(secret.text))


def _is_intact(innocent: Innocent) -> bool:
    """Whether a text without a secret stays as it is."""
    plain = clean(innocent.text).text
    block = take_in_block(innocent.text, DEFAULT_POLICY).text
    return plain == block == redact_lines(block)


def score(secrets: Iterable[Secret], innocents: Iterable[Innocent]) -> Score:
    """Judge a corpus."""
    found = [(one.kind, one.counted, one.text, _is_hidden(one)) for one in secrets]
    kept = [(one.kind, one.counted, one.text, _is_intact(one)) for one in innocents]
    hits = sum(right for _, counted, _, right in found if counted)
    misses = sum(not right for _, counted, _, right in found if counted)
    false = sum(not right for _, counted, _, right in kept if counted)
    return Score(
        _rows(found, counted=True),
        _rows(kept, counted=True),
        _rows(found, counted=False),
        _rows(kept, counted=False),
        precision=hits / (hits + false),
        recall=hits / (hits + misses),
    )


def _rows(judged: Iterable[tuple[str, bool, str, bool]], *, counted: bool) -> tuple[Row, ...]:
    kinds: dict[str, list[tuple[str, bool]]] = {}
    for kind, is_counted, text, right in judged:
        if is_counted == counted:
            kinds.setdefault(kind, []).append((text, right))
    return tuple(
        Row(kind, len(texts), sum(right for _, right in texts), tuple(text for text, right in texts if not right))
        for kind, texts in kinds.items()
    )


def shown(score: Score) -> str:
    """The table, as Markdown."""
    tables = (
        ("secrets (SPEC 7.2 to 7.4, then rules beyond it)", "hidden", score.secrets),
        ("without a secret (SPEC 7.5)", "intact", score.innocents),
        ("other secrets, which no rule promises", "hidden", score.other_secrets),
        ("without a secret, but SPEC 7.4 hides it", "intact", score.other_innocents),
    )
    lines = [f"precision {score.precision:.4f}, recall {score.recall:.4f}"]
    for title, right, rows in tables:
        lines += ["", f"| {title} | texts | {right} |", "|---|--:|--:|"]
        lines += [f"| {row.kind} | {row.total} | {row.right} |" for row in rows]
        lines += [f"| **all** | **{sum(row.total for row in rows)}** | **{sum(row.right for row in rows)}** |"]
    return "\n".join(lines)
