"""Facts: what one event says under one policy, before any state is asked; pure, and worth keeping (DESIGN 5).

Judging a text costs a hundred times what folding its event does, and the result depends on the event, the policy and
the workspace root alone. So facts may be kept beside the log under a key made of just these, and a fold that is given
them gives the same state, only sooner. The rules themselves are imported when a text has to be judged: a reader that
has all facts at hand never pays for their patterns.
"""

from functools import lru_cache
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from ledger.digests import blake2b
from ledger.events import ErasedText, JudgedLine, MemoryAdded, MemoryImported, MemoryRequested, SessionCompacted
from projections.policy import BUILT_IN_TYPES, RULES_VERSION, Context, policy_digest, type_order
from projections.text.erased import ERASED, erased_key
from projections.text.limits import TITLE_LIMIT

__all__ = [
    "Facts",
    "Judged",
    "Known",
    "LineFacts",
    "context_key",
    "facts_for",
    "facts_key",
    "facts_of",
    "judge_line",
    "parts_beside",
]

Judged = MemoryRequested | SessionCompacted | MemoryAdded | MemoryImported
"""The events whose texts are judged."""


Kind = Literal["request", "candidate", "reinforce", "replace", "malformed", "written"]
"""What proposes a candidate: a message, one of the forms of a summary's lines, or an event that writes a memory."""


class LineFacts(Struct, frozen=True, array_like=True, gc=False):
    """One candidate of an event, judged for what it says.

    Attributes:
        kind: a ``request`` of a message, a line of a summary, a memory that was ``written`` as such.
        type: the memory type; empty where a line has none.
        text: the stored form; empty for negated requests and REINFORCE.
        reasons: the codes of all that stands against the text; empty if it is accepted.
        key: its text key (SPEC 8.2).
        identity: its identity key (SPEC 8.4); empty where that is the exact key.
        title: the text cut to a title; empty where the text is one.
        ref: the number that a command names.
        erased: what a purge has left of the text, which is the mark then (SPEC 15.4).
    """

    kind: Kind
    type: str
    text: str
    reasons: tuple[str, ...]
    key: str
    identity: str
    title: str
    ref: int | None = None
    erased: ErasedText | None = None

    @property
    def exact(self) -> str:
        """The exact key (SPEC 8.2)."""
        return f"{self.type}:{self.key}"


class Facts(Struct, frozen=True, array_like=True, gc=False):
    """What an event proposes, in its order, and the snapshot a summary's numbers refer to."""

    lines: tuple[LineFacts, ...]
    snapshot: str | None = None


class Known(Protocol):
    """Facts at hand."""

    def get(self, key: str, /) -> Facts | None:
        """Those under a ``facts_key``, if there are any."""
        ...


def facts_for(event: Judged, context: Context, known: Known | None) -> Facts:
    """The facts of an event: those at hand, else judged now. Both are the same (law)."""
    if known is not None:
        found = known.get(facts_key(event, context))
        if found is not None:
            return found
    return facts_of(event, context)


def facts_key(event: Judged, context: Context) -> str:
    """Names the facts of an event: a digest of its data, the policy, the workspace root and the rules' version."""
    body = msgspec.json.encode(event.data)
    return blake2b(body, digest_size=16, key=context_key(context)).hexdigest()


@lru_cache(maxsize=64)
def context_key(context: Context) -> bytes:
    """Names what facts depend on beside their event: the policy, the workspace root and the rules' version."""
    text = f"{RULES_VERSION}\0{policy_digest(context.policy)}\0{context.root}"
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def facts_of(event: Judged, context: Context) -> Facts:
    """Judge an event's texts. What instruction files say isn't in it: they are another event's (SPEC 3.6)."""
    if isinstance(event, MemoryRequested):
        data = event.data
        return Facts(_judged_before(data.judged, context)) if data.judged else _of_message(data.text, context)
    if isinstance(event, SessionCompacted):
        body = event.data
        if body.section:
            return _of_summary(body.section, context)
        return Facts(_judged_before(body.judged, context), body.snapshot)
    if event.data.erased is not None:
        return Facts((_erased_line("written", event.data.type or BUILT_IN_TYPES[0], event.data.erased),))
    return Facts((_of_written(event, context),))


def _judged_before(lines: tuple[JudgedLine, ...], context: Context) -> tuple[LineFacts, ...]:
    """Lines of a text that can't be read for candidates any more, as they were judged before a purge (SPEC 15.4)."""
    return tuple(
        judge_line(context, line.kind, line.type, line.text, reasons=line.reasons, ref=line.ref)
        if line.erased is None
        else msgspec.structs.replace(
            _erased_line(line.kind, line.type, line.erased), reasons=line.reasons, ref=line.ref
        )
        for line in lines
    )


def _erased_line(kind: Kind, type_: str, erased: ErasedText) -> LineFacts:
    """A purged line: its digests stand for its keys, so that it meets what it has met."""
    return LineFacts(
        kind=kind,
        type=type_,
        text=ERASED,
        reasons=erased.reasons,
        key=erased_key(erased.key),
        identity=erased_key(erased.identity) if erased.identity else "",
        title="",
        erased=erased,
    )


def _of_message(text: str, context: Context) -> Facts:
    from projections.rules.explicit import extract

    return Facts(
        tuple(
            judge_line(context, "request", one.type, one.text, reasons=tuple(reason.code for reason in one.reasons))
            for one in extract(text, context)
        )
    )


def _of_summary(section: str, context: Context) -> Facts:
    from projections.rules.candidates import parse_summary

    summary = parse_summary(section, context)
    lines = (
        judge_line(
            context,
            one.kind,
            one.type,
            one.text,
            reasons=tuple(reason.code for reason in one.reasons),
            ref=one.ref,
        )
        for one in summary.lines
    )
    return Facts(tuple(lines), summary.snapshot_id)


def _of_written(event: MemoryAdded | MemoryImported, context: Context) -> LineFacts:
    """A memory that a tool, a command, a hand edit or an import writes; only summaries pass the gate (SPEC 6.1)."""
    from projections.rules.kinds import type_of
    from projections.rules.quality import judge
    from projections.rules.refusals import text_refusals
    from projections.text.entry import entry_text

    if isinstance(event, MemoryImported):
        text, gated = event.data.text, event.data.source == "compaction"
    else:
        text, gated = entry_text(event.data.title, event.data.content, context.policy), False
    given = event.data.type
    type_ = given if given in type_order(context.policy) else type_of(text)
    reasons = text_refusals(text, context.policy, parts_beside(event))
    if gated:
        reasons = tuple(dict.fromkeys((*(one.code for one in judge(type_, text, context)), *reasons)))
    return judge_line(context, "written", type_, text, reasons=reasons)


def parts_beside(event: MemoryAdded | MemoryImported) -> tuple[str, ...]:
    """What a written memory says beside its line (SPEC 2.1)."""
    data = event.data
    rationale = (event.data.rationale,) if isinstance(event, MemoryImported) else ()
    return (data.title, data.content, ", ".join(data.tags), *rationale)


def judge_line(
    context: Context,
    kind: Kind,
    type_: str,
    text: str,
    *,
    reasons: tuple[str, ...] = (),
    ref: int | None = None,
) -> LineFacts:
    """A line with the keys it is compared by (SPEC 8)."""
    from projections.text.canonical import text_key
    from projections.text.cut import cut
    from projections.text.identity import identity_key

    key = text_key(text, context.root)
    identity, title = identity_key(type_, text, context.root), cut(text, TITLE_LIMIT)
    return LineFacts(
        kind=kind,
        type=type_,
        text=text,
        reasons=reasons,
        key=key,
        identity="" if identity == f"{type_}:{key}" else identity,
        title="" if title == text else title,
        ref=ref,
    )
