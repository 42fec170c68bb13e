"""``memfold cache``: what blocks of memory cost the provider's prompt cache, and what another layout would cost."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.prompts import SizePart
from memfold.cli.documents.usage import CacheDocument, EpochUsePart, SessionUsePart, TokensPart
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import View, open_view, session_of, short_session
from memfold.cli.words import of_the_last, plural, tokens
from replay.kept import KeptFacts
from replay.usage import EpochUse, SessionUse, Survey, Turn, survey, tokens_of, usage_of

__all__ = ["cache_document", "configure", "rough", "roughly", "run"]

_SESSIONS = 10
_NOT_MEASURED = "no turn was measured yet: requests and tokens come from the client, at the end of each turn"
_NO_RECEIPT = "no receipt says that a block was given: blocks are told as the log gives them"
_COLUMNS = (
    "here, classic: tokens read again because memory changed before them: as it is here, and if both blocks stood in "
    "the system prompt"
)
_MORE = "~ is an estimate: memfold cache --explain"
_NO_CACHE = "the provider reported no cache use"
_LAYOUT = (
    "classic: both blocks stand in the system prompt, hot state renewed for every request. The client joins all "
    "segments behind its first into one in front of the messages, so a request before which hot state changed reads "
    "everything behind the first segment again"
)
_HERE = (
    "here: the frozen block is constant within an epoch and hot state a part of a message that stays as it was sent: "
    "nothing is read again, unless a block changed or placement is system"
)
_COUNTED = (
    "a change counts once per request, and not before the first of an epoch, which reads everything anyway; tools "
    "asked for at once count one by one, where classic may be too high"
)
_FIRST = (
    "the first segment and the tools are taken for {} tokens, the smallest average prompt of a turn in this ledger: "
    "too many rather than too few, which makes classic too low"
)
_LEFT_OUT = "what a cache forgets with time is left out; input is what a cache neither gave nor took (OpenCode)"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    parser.add_argument("--session", metavar="S", help="the epochs of this session: its id, or a part of it")
    parser.add_argument("--explain", action="store_true", help="also what the estimates assume")
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the sessions, or the epochs of one."""
    view, console = open_view(options), Console(options)
    source = None if options.session is None else view.session(options.session)
    document = cache_document(view, source)
    if options.json:
        console.emit(document)
        return 0
    _print_head(console, document)
    if source is not None and document.sessions:
        _print_session(console, document.sessions[0])
    elif document.total.requests:
        _print_sessions(console, document)
    if options.explain:
        _print_assumptions(console, document)
    elif document.assumptions:
        console.out(console.style.dim(_MORE))
    console.out()
    console.as_of(document.position, document.now)
    return 0


def cache_document(view: View, source: str | None) -> CacheDocument:
    """What sessions cost: the latest ones, or one. The log is read twice: a survey, then a fold of these sessions."""
    found = survey(view.events())
    chosen = found.sources[:_SESSIONS] if source is None else (source,)
    usage = usage_of(view.events(), chosen, KeptFacts(view.log.directory))
    every = [epoch for use in usage.sessions for epoch in use.epochs]
    turns = [turn for use in usage.sessions for turn in use.turns]
    missing = (_NOT_MEASURED, not turns), (_NO_RECEIPT, not any(epoch.receipts for epoch in every))
    return CacheDocument(
        ledger=view.place.shown_directory,
        position=usage.offset,
        now=format_time(usage.now),
        missing=tuple(sentence for sentence, is_missing in missing if is_missing),
        sessions=tuple(_session_part(use, found) for use in usage.sessions),
        more=len(found.sources) - len(chosen) if source is None else 0,
        subagents=found.subagents,
        total=_tokens_part(turns, every, found),
        first_block=rough(found.first),
        assumptions=(_LAYOUT, _HERE, _COUNTED, _FIRST.format(roughly(found.first)), _LEFT_OUT) if turns else (),
    )


def rough(number: float) -> int:
    """A number to two digits: an estimate has no more."""
    return int(float(f"{number:.1e}"))


def roughly(number: float) -> str:
    """An estimate in words: ``~350``, ``~5.6k``, ``~560k``, ``~1.1M``."""
    value = rough(number)
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= unit:
            return f"~{value / unit:,.{1 if value < 10 * unit else 0}f}".removesuffix(".0") + letter
    return f"~{value}"


def _session_part(use: SessionUse, found: Survey) -> SessionUsePart:
    return SessionUsePart(
        session=session_of(use.source) or "",
        began=format_time(use.epochs[0].began) if use.epochs else None,
        tokens=_tokens_part(use.turns, use.epochs, found),
        epochs=tuple(_epoch_part(epoch, found) for epoch in use.epochs),
    )


def _epoch_part(epoch: EpochUse, found: Survey) -> EpochUsePart:
    return EpochUsePart(
        offset=epoch.offset,
        time=format_time(epoch.began),
        open=epoch.open,
        block=SizePart(epoch.block, tokens(epoch.block)),
        digest=epoch.digest,
        receipts=epoch.receipts,
        block_changes=epoch.block_changes,
        carried=epoch.requests,
        placement=epoch.placement,
        hot_parts=epoch.parts,
        hot=SizePart(epoch.part_characters, tokens(epoch.part_characters)),
        tokens=_tokens_part(epoch.turns, [epoch], found),
    )


def _tokens_part(turns: Iterable[Turn], epochs: Sequence[EpochUse], found: Survey) -> TokensPart:
    """The sums, and estimates that say nothing where the prompts are as small as the client's first block."""
    sums = tokens_of(turns)
    changes = sum(epoch.hot_changes for epoch in epochs)
    classic = sum(epoch.again_classic(found.first) for epoch in epochs)
    return TokensPart(
        requests=sums.requests,
        input=sums.input,
        cache_read=sums.cache_read,
        cache_write=sums.cache_write,
        prompt=sums.prompt,
        cached=100 * sums.cache_read // sums.prompt if sums.cache_read or sums.cache_write else None,
        hot_changes=changes,
        again_here=rough(sum(epoch.again_here(found.first) for epoch in epochs)),
        again_classic=None if changes and classic < 1 else rough(classic),
    )


def _print_head(console: Console, document: CacheDocument) -> None:
    """What to read first: whether the blocks were constant, and whether the cache was of use."""
    style, total = console.style, document.total
    epochs = [epoch for session in document.sessions for epoch in session.epochs]
    changes = sum(epoch.block_changes for epoch in epochs)
    if document.missing:
        colour, headline = style.yellow, document.missing[0]
    elif changes:
        colour = style.yellow
        headline = f"a frozen block changed within its epoch, {plural(changes, 'time')}: this is a bug of memfold"
    else:
        colour = style.green
        headline = f"no frozen block changed within its epoch: {_looked_at(document, epochs)}"
    for line in console.prose(headline):
        console.out(style.bold(colour(line)))
    for sentence in document.missing[1:]:
        _say(console, sentence)
    if total.requests:
        _say(console, _cached_words(total))


def _looked_at(document: CacheDocument, epochs: Sequence[EpochUsePart]) -> str:
    """The requests of the row "together", in how many epochs of which sessions, and which carried no block."""
    requests = document.total.requests
    within = sum(epoch.tokens.requests for epoch in epochs)
    compacting = within - sum(epoch.carried for epoch in epochs)
    looked = len(document.sessions)
    return (
        f"{plural(requests, 'request')} in {plural(len(epochs), 'epoch')}{of_the_last(looked, looked + document.more)}"
        + (f", {compacting:,} of them for a compaction" if compacting else "")
        + (f", {requests - within:,} outside of any" if requests > within else "")
    )


def _cached_words(part: TokensPart) -> str:
    if part.cached is None:
        return f"{_NO_CACHE}: {part.prompt:,} prompt tokens were all reported as input"
    return f"{part.cached}% of {part.prompt:,} prompt tokens were read from the provider's cache"


def _print_sessions(console: Console, document: CacheDocument) -> None:
    rows = [
        (short_session(one.session), (one.began or "-")[:16].replace("T", " "), *_cells(one.tokens))
        for one in document.sessions
    ]
    if len(rows) > 1:
        rows.append(("together", "", *_cells(document.total)))
    console.out()
    headers = ("session", "began (UTC)", "requests", "prompt tokens", "cached", "here", "classic")
    console.table(rows, headers, (2, 3, 4, 5, 6), (0, 3, 6))
    console.out()
    words = [_COLUMNS]
    if any(one.tokens.cached is None for one in document.sessions if one.tokens.requests):
        words.append(f"cached -: {_NO_CACHE}")
    if any(one.tokens.again_classic is None for one in document.sessions):
        words.append("classic ?: hot state changed, but too few turns were measured to tell more")
    if document.more:
        words.append(f"{plural(document.more, 'earlier session')} left out: memfold cache --session S")
    if document.subagents:
        words.append(f"{plural(document.subagents, 'sub-agent')} left out, which get no block")
    for line in words:
        _say(console, line)


def _cells(part: TokensPart) -> tuple[str, str, str, str, str]:
    cached = "-" if part.cached is None else f"{part.cached}%"
    return f"{part.requests:,}", f"{part.prompt:,}", cached, roughly(part.again_here), _classic(part)


def _classic(part: TokensPart) -> str:
    return "?" if part.again_classic is None else roughly(part.again_classic)


def _print_session(console: Console, session: SessionUsePart) -> None:
    if not session.epochs:
        console.wrapped(f"session {session.session} has no epoch here: it was given no block", "")
    for number, epoch in enumerate(session.epochs, 1):
        console.heading(f"epoch {number}: from #{epoch.offset}, {epoch.time}{', open' if epoch.open else ''}")
        part = epoch.tokens
        console.fields(
            [
                ("frozen block", _block_words(epoch)),
                ("hot state", _hot_words(epoch)),
                ("prompts", _prompt_words(part) if part.requests else "no turn measured"),
                ("read again", _again_words(epoch) if epoch.carried else ""),
            ]
        )


def _block_words(epoch: EpochUsePart) -> str:
    size, carried = epoch.block, plural(epoch.carried, "request")
    block = f"{size.characters:,} characters, about {plural(size.tokens, 'token')}" if size.characters else "empty"
    if epoch.block_changes:
        return f"{block}; CHANGED {plural(epoch.block_changes, 'time')} in {carried}"
    if not epoch.receipts:
        return f"{block}, in {carried}; no receipt says that it was given"
    return f"{block}; the same in {carried}" if epoch.carried else block


def _hot_words(epoch: EpochUsePart) -> str:
    if not epoch.hot_parts:
        return "nothing given"
    size = f"{epoch.hot.characters:,} characters, about {plural(epoch.hot.tokens, 'token')}"
    if epoch.placement == "system":
        return f"{plural(epoch.hot_parts, 'block')} in the system prompt, {size}"
    return (
        f"{plural(epoch.hot_parts, 'part')} of messages, {size}: new once, then sent again, from the cache, with every "
        "later request of the epoch"
    )


def _prompt_words(part: TokensPart) -> str:
    of = f"{part.prompt:,} tokens in {plural(part.requests, 'request')}"
    if part.cached is None:
        return f"{of}; {_NO_CACHE}"
    return (
        f"{of}: {part.cache_read:,} read from the cache ({part.cached}%), "
        f"{part.cache_write:,} written to it, {part.input:,} neither"
    )


def _again_words(epoch: EpochUsePart) -> str:
    part = epoch.tokens
    of = f"hot state changed before {part.hot_changes:,} of {plural(epoch.carried, 'request')}"
    return f"here {roughly(part.again_here)} tokens, classic {_classic(part)} ({of})"


def _print_assumptions(console: Console, document: CacheDocument) -> None:
    if not document.assumptions:
        return
    console.heading("what the estimates (~) assume")
    for sentence in document.assumptions:
        first, *rest = console.prose(sentence, "  ")
        console.out(f"- {first.lstrip()}")
        for line in rest:
            console.out(line)


def _say(console: Console, sentence: str) -> None:
    for line in console.prose(sentence):
        console.out(line)
