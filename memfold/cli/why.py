"""``memfold why``: what became of a memory or a text, and for which reasons, in words."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from msgspec import Struct

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.lost import missing_log
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import has_ledger, open_view, reading_place, short_session
from memfold.cli.show import missing_id
from memfold.cli.words import WHEN_DECIDED, marked, wording_words
from memfold.clock import now_ms
from memfold.errors import UsageError
from memfold.paths import is_project
from memfold.terminal import clean, display_width
from projections.policy import Context
from projections.text.clean import decode
from projections.world import World
from replay.evidence import ReasonLine
from replay.kept import KeptFacts
from replay.names import parse_id
from replay.outlines import by_blocks
from replay.unseen import Unseen, Verdict, judge_unseen
from replay.why import MAX_STORIES, EventLine, Related, Story, why

__all__ = ["WhyDocument", "configure", "print_story", "run"]

_STORIES_SHOWN = 5
_PROMPTS_SHOWN = 5
_TEXT_INDENT = "  "


class WhyDocument(Struct, frozen=True, tag_field="schema", tag="memfold.why/1"):
    """An explanation (`memfold why --json`).

    Attributes:
        ledger: folder of the ledger.
        query: the text or id that was asked for.
        position: offset of the last event that counts.
        now: time at that position.
        stories: one for each candidate that the query names, newest first, at most 20 without `--all`.
        more: how many further candidates it names.
        later: the event behind the position that proposed the text; null if there is none.
        unseen: what the rules say now of a text that the log doesn't hold; null if it does.
        recorded: whether there is a ledger; if not, the configured rules have judged, and the position is -1.
        enabled: whether memory is switched on now; if not, what the rules say of an unseen text has no effect.
    """

    ledger: str
    query: str
    position: int
    now: str
    stories: tuple[Story, ...]
    more: int
    unseen: Unseen | None
    later: EventLine | None = None
    recorded: bool = True
    enabled: bool = True


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("query", metavar="TEXT_OR_ID", help="an id such as MEM-003, or a text, whole or in part")
    parser.add_argument(
        "--all",
        action="store_true",
        help=f"every candidate that fits (default: the {_STORIES_SHOWN} newest, {MAX_STORIES} with --json)",
    )
    ledger_options(parser)
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the explanation."""
    query, console = decode(options.query), Console(options)
    if not query.strip():
        raise UsageError("the text is empty", "memfold why MEM-001")
    document = _without_ledger(options, query) or _explain(options, query)
    if options.json:
        console.emit(document)
        return 0
    for index, story in enumerate(document.stories):
        if index:
            console.out()
        print_story(console, story)
    if document.unseen:
        _print_unseen(console, document, document.unseen, _never(document, given=options.at is not None))
    if document.more:
        console.out()
        console.out(f"… and {document.more:,} more: give more of the text, or --all")
    if options.at is not None:
        console.out()
        console.as_of(document.position, document.now)
    return 0


def _explain(options: Namespace, query: str) -> WhyDocument:
    """What the ledger tells."""
    view = open_view(options)
    most = None if options.all else MAX_STORIES if options.json else _STORIES_SHOWN
    known = KeptFacts(view.log.directory)
    answer = why(lambda: by_blocks(view.log), query, view.at, most=most, known=known, log=view.log)
    if not answer.stories and parse_id(query) is not None:
        raise missing_id(view.world(only=frozenset()).memory, query)
    return WhyDocument(
        ledger=view.place.shown_directory,
        query=query,
        position=answer.position,
        now=answer.now,
        stories=answer.stories,
        more=answer.more,
        unseen=answer.unseen,
        later=answer.later,
        enabled=view.place.resolved.config.enabled,
    )


def _without_ledger(options: Namespace, query: str) -> WhyDocument | None:
    """What the configured rules say of a text where nothing was recorded yet; None where a ledger must answer."""
    place = reading_place(options)
    if options.ledger is not None or options.at is not None or parse_id(query) is not None or has_ledger(place):
        return None
    if lost := missing_log(options, place):
        raise lost
    world = World().initial()
    world.memory.context = Context(place.resolved.config.policy, place.root)
    world.memory.project = is_project(place.root, os.environ)
    return WhyDocument(
        ledger=place.shown_directory,
        query=query,
        position=world.memory.offset,
        now=format_time(now_ms()),
        stories=(),
        more=0,
        unseen=judge_unseen(world, query),
        recorded=False,
        enabled=place.resolved.config.enabled,
    )


def _never(document: WhyDocument, *, given: bool) -> tuple[str, str]:
    """A heading and a sentence for a text that no candidate has at the position."""
    if not document.recorded:
        return "never captured", "there is no ledger here yet; the configured rules have judged"
    if document.later is not None:
        return f"not yet captured as of #{document.position}", f"proposed later by {_event(document.later)}"
    behind = f" as of #{document.position}, nor behind it" if given else ""
    return "never captured", f"no candidate of the log has this text{behind}"


def print_story(console: Console, story: Story) -> None:
    """One candidate: the verdict first, then what led to it."""
    _print_verdict_line(console, story)
    console.out()
    if story.text:
        _print_marked(console, f"[{story.type}] " if story.type else "", story.text, story.reasons)
    else:
        console.wrapped("(the text is not kept)")
    if story.reasons:
        console.out()
        for reason in story.reasons:
            _print_reason(console, reason)
    console.out()
    console.fields(_facts(story))


def _print_verdict_line(console: Console, story: Story) -> None:
    style = console.style
    state = "active" if story.state == "promoted" else story.state
    colour = {"promoted": style.green, "absorbed": style.green, "rejected": style.red}.get(story.state, style.yellow)
    codes = ", ".join(reason.code for reason in story.reasons)
    first, *more = console.lines(f"{f'{story.id} ' if story.id else ''}{state}{f': {codes}' if codes else ''}", "")
    head, _, rest = first.partition(state)
    console.out(f"{style.cyan(head)}{style.bold(colour(state))}{rest}")
    for line in more:
        console.out(line)


def _facts(story: Story) -> list[tuple[str, str]]:
    """Name and value of what is known beside the reasons."""
    standing = story.standing
    same, waits = story.decided.id == story.proposed.id, story.state == "pending"
    return [
        ("wording", wording_words(story.wording)),
        ("proposed", f"{_event(story.proposed)}, {story.source}"),
        ("decided", WHEN_DECIDED if waits else "by the same event" if same else _event(story.decided)),
        ("part of", _related(story.into)),
        ("there", f"{story.outcome.text} ({story.outcome.code})" if story.outcome else ""),
        ("replaced by", _related(story.replaced_by)),
        ("rank", f"{standing.rank} of {standing.of}{_omission(standing.omitted)}" if standing else ""),
        ("hot state", _given(story)),
        ("prompts", _prompts(story)),
        ("note", "; ".join(note.text for note in story.notes)),
        ("would flip", _flip(story)),
    ]


def _event(event: EventLine) -> str:
    where = f", session {short_session(event.session)}" if event.session is not None else ""
    where += f", from {event.file}" if event.file else ""
    where += f"; because: {event.reason}" if event.reason else ""
    return f"#{event.offset} {event.type}, {event.time[:19].replace('T', ' ') or 'no time'}{where}"


def _related(other: Related | None) -> str:
    if other is None:
        return ""
    state = "active" if other.state == "promoted" else other.state
    return f"{other.id} ({state}): {other.text}"


def _omission(omitted: ReasonLine | None) -> str:
    if omitted is None:
        return ", in the block"
    return f", not in the block: {omitted.text} ({omitted.code}, {omitted.rule})"


def _given(story: Story) -> str:
    """Where the model has read it before any frozen block held it."""
    given = story.given
    return "" if given is None else f"given to session {short_session(given.session)} from #{given.offset} on (receipt)"


def _prompts(story: Story) -> str:
    """The frozen blocks that held it; a receipt says that a host was really given the block."""
    if not story.prompts:
        if story.state == "pending":
            return "none: frozen blocks hold memories, and it isn't one yet"
        return "none held it" if story.state in ("promoted", "absorbed") else ""
    latest = story.prompts[-_PROMPTS_SHOWN:]
    earlier = len(story.prompts) - len(latest)
    names = [
        f"session {short_session(one.session)} from #{one.offset}{' (receipt)' if one.receipt else ''}"
        for one in latest
    ]
    return ", ".join(names) + (f", and {earlier} earlier" if earlier else "")


def _flip(story: Story) -> str:
    """The smallest change that makes the verdict another one: a setting, or what the text would have to do without.

    What would keep a memory out that is in the block is of interest to nobody who reads this.
    """
    flip, standing = story.flip, story.standing
    if flip is None or (standing is not None and standing.omitted is None):
        return ""
    if flip.key is not None:
        return f"{flip.key} = {flip.value}" if flip.value and flip.value.isdigit() else f"{flip.key} {flip.value}"
    if story.state != "rejected":
        return ""
    words = {reason.code: f" (“{reason.matched}”)" if reason.matched else "" for reason in story.reasons}
    return "without " + " and ".join(f"{code}{words.get(code, '')}" for code in flip.codes)


def _print_reason(console: Console, reason: ReasonLine) -> None:
    matched = f": “{reason.matched}”" if reason.matched else ""
    console.wrapped(f"{reason.code} ({reason.rule}): {reason.text}{matched}", indent="    ")


def _print_marked(console: Console, label: str, text: str, reasons: tuple[ReasonLine, ...]) -> None:
    """The text with carets under the matched words, which are also coloured where there are colours."""
    shown = clean(label + text)
    words = [clean(reason.matched) for reason in reasons if reason.matched and clean(reason.matched) != clean(text)]
    for line in console.lines(shown, _TEXT_INDENT):
        runs = marked(line, words)
        console.out("".join(console.style.yellow(part) if hit else part for part, hit in runs))
        carets = "".join(("^" if hit else " ") * display_width(part) for part, hit in runs).rstrip()
        if carets:
            console.out(carets)


def _print_unseen(console: Console, document: WhyDocument, unseen: Unseen, never: tuple[str, str]) -> None:
    """A text that the log doesn't hold; where it would have no effect, that is said before what rules make of it."""
    heading, sentence = never
    console.out(console.style.bold(heading))
    console.wrapped(sentence)
    if not document.enabled:
        console.wrapped("memory is switched off (memfold config show): nothing would be recorded, let alone kept")
    if any(one.code == "not_a_project" for verdict in _verdicts(unseen) for one in verdict.reasons):
        console.wrapped("this folder is no project: nothing becomes memory in it")
    console.heading("what the rules say now" if document.enabled else "what the rules would say, were memory on")
    if unseen.as_message:
        for verdict in unseen.as_message:
            _print_verdict(console, "in a user's message", verdict)
    else:
        hint = f"; the pack {unseen.language!r} would find one, but it is off" if unseen.language else ""
        console.wrapped(f"in a user's message: no remember form in it{hint}")
    taken = unseen.as_candidate.type
    _print_verdict(console, f"as a candidate in a summary{f', taken as {taken}' if taken else ''}", unseen.as_candidate)
    if unseen.nearest:
        near = unseen.nearest
        console.heading("nearest in the log")
        console.wrapped(f"#{near.offset} {near.state}, {near.shared}% of the words: {near.text}")
    console.heading("what the log can't know")
    for limit in unseen.limits:
        console.wrapped(f"- {limit}", indent="  ")


def _verdicts(unseen: Unseen) -> tuple[Verdict, ...]:
    return (*unseen.as_message, unseen.as_candidate)


def _print_verdict(console: Console, where: str, verdict: Verdict) -> None:
    style = console.style
    answer, colour = ("kept", style.green) if verdict.accepted else ("refused", style.red)
    *lines, last = console.lines(f"{where}: {answer}", _TEXT_INDENT)
    for line in lines:
        console.out(line)
    console.out(last.removesuffix(answer) + colour(answer))
    console.wrapped(f"[{verdict.type}] {verdict.text}" if verdict.type else verdict.text, indent="    ")
    for reason in verdict.reasons:
        _print_reason(console, reason)
