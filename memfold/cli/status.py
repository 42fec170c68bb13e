"""``memfold status``: whether memory works, on one screen."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from ledger.check import Survey, survey
from ledger.times import DAY_MS, format_time, parse_time
from memfold.arrivals import Arrivals
from memfold.bridge.spool import spooled
from memfold.cli.account import adds_up, reason_counts, summary
from memfold.cli.config import finding_line, finding_parts
from memfold.cli.console import Console
from memfold.cli.documents.health import HealthPart, LastEventPart, MissingPathPart, PendingPart, StatusDocument
from memfold.cli.documents.prompts import SizePart
from memfold.cli.moved import former_parts, told
from memfold.cli.parsing import at_option, json_option, ledger_options, place_options
from memfold.cli.place import View, how_to_begin, open_view
from memfold.cli.words import WHEN_DECIDED, age, plural, tokens
from memfold.config import Config
from projections.accounting import counts
from projections.memory.model import MemoryState
from projections.memory.selection import active_entries
from projections.policy import policy_digest
from projections.reasons import explain
from projections.render import budget_of
from projections.rules.trigger_forms import PACKS
from projections.text.clean import decode
from projections.text.paths import path_words
from replay.sessions import all_sessions, warnings_of
from replay.state import state_of
from replay.views import present_block

__all__ = ["configure", "run", "status_document"]

_TOP = 5
_POLICY = "the policy in force in the ledger is not the configured one, which counts from the next event on"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the status."""
    view, console = open_view(options), Console(options)
    document = status_document(view, may_have_moved=options.ledger is None and options.at is None)
    if options.json:
        console.emit(document)
    else:
        _print(console, document, place_options(options), at_option_given=options.at is not None)
    return 0


def status_document(view: View, *, may_have_moved: bool = False) -> StatusDocument:
    """Everything ``status`` tells, from the log itself: what doubts whether all is well trusts no checkpoint.

    It is read for its health and problems, and folded by its outlines to memory, and to its sessions.

    Args:
        view: the ledger, and the position.
        may_have_moved: look for ledgers of vanished folders that may have been of this workspace.
    """
    world = state_of(view.log, frozenset()) if view.at is None else view.world(frozenset())
    memory, resolved = world.memory, view.place.resolved
    policy = memory.context.policy
    table = counts(world.accounts)
    block = present_block(world, omitted=False)
    found, arrivals = _looked_through(view)
    health, problems = found.health, sum(not one.is_note for one in found.problems)
    return StatusDocument(
        ledger=view.place.shown_directory,
        workspace=decode(view.place.root),
        project=memory.project,
        position=memory.offset,
        now=format_time(memory.now),
        enabled=resolved.config.enabled,
        received=arrivals.from_client is not None,
        counts=table,
        adds_up=adds_up(table),
        rejections=tuple(reason_counts(world.accounts, "rejected")),
        oldest_pending=_oldest_pending(memory),
        waiting=spooled(view.place.directory),
        block=SizePart(len(block.text), tokens(len(block.text))),
        block_limit=budget_of(policy),
        block_shown=len(block.shown),
        last_events=tuple(
            LastEventPart(name, count, event.seq, event.time or "") for name, count, event in arrivals.by_type()
        ),
        languages=policy.languages,
        languages_off=tuple(sorted(PACKS - set(policy.languages))),
        off=_switched_off(resolved.config),
        health=HealthPart(health.status, health.events, health.damaged, health.duplicates, health.unknown, problems),
        policy_differs=policy_digest(policy) != policy_digest(resolved.config.policy),
        warnings=warnings_of(memory, all_sessions(view.log, view.at)),
        missing_paths=_missing_paths(memory),
        findings=finding_parts(resolved.findings),
        moved_from=former_parts(view.place.root, view.place.directory, os.environ) if may_have_moved else (),
    )


def _oldest_pending(memory: MemoryState) -> PendingPart | None:
    oldest = min(memory.pending.values(), key=lambda one: one.time, default=None)
    if oldest is None:
        return None
    return PendingPart(oldest.text, format_time(oldest.time), max(0, memory.now - oldest.time) // DAY_MS)


def _looked_through(view: View) -> tuple[Survey, Arrivals]:
    """What the whole log holds, and what had come by the position."""
    arrivals = Arrivals()
    if view.at is None:
        return survey(view.place.directory, arrivals.take), arrivals
    for event in view.events():
        arrivals.take(event)
    return survey(view.place.directory), arrivals


def _switched_off(config: Config) -> tuple[str, ...]:
    """The settings that are off, in the words of the configuration."""
    return tuple(
        name
        for name, off in (
            ("enabled", not config.enabled),
            ("tools", not config.delivery.tools),
            ("hotDelivery", config.delivery.hot_delivery == "off"),
            ("memoryFile", config.memory_file == "off"),
            ("enableLog", not config.enable_log),
        )
        if off
    )


def _missing_paths(memory: MemoryState) -> tuple[MissingPathPart, ...]:
    """Paths below the workspace that active memories name and that are gone; others aren't judged."""
    root = memory.context.root
    if not root or not os.path.isdir(root):  # noqa: PTH112 - a path as the ledger holds it
        return ()
    return tuple(
        MissingPathPart(entry.id, path)
        for entry in sorted(active_entries(memory), key=lambda entry: entry.number)
        for path in dict.fromkeys(path_words(entry.proposal.text, root))
        if _is_below(path) and not os.path.lexists(os.path.join(root, path))  # noqa: PTH118
    )


def _is_below(path: str) -> bool:
    return not path.startswith(("/", "~")) and ".." not in path.split("/") and "/" in path


def _print(console: Console, document: StatusDocument, named: str, *, at_option_given: bool) -> None:
    style, health = console.style, document.health
    colour, headline = _headline(console, document, named)
    for line in console.lines(headline, ""):
        console.out(style.bold(colour(line)))
    if document.project and not document.received:
        console.wrapped(how_to_begin(document.workspace))
    console.out()
    waiting = document.oldest_pending
    console.fields(
        [
            ("workspace", document.workspace + ("" if document.project else " (no project)")),
            ("ledger", document.ledger),
            ("account", summary(document.counts) + ("" if document.adds_up else "; THE STATES DO NOT ADD UP")),
            ("pending", _pending(document) if waiting else ""),
            ("not stored", _not_stored(document)),
            ("block", _block(document)),
            ("triggers", _triggers(document)),
            ("off", ", ".join(document.off)),
            ("health", ("the whole log: " if at_option_given else "") + _health(health)),
        ]
    )
    warnings = _warnings(document)
    if warnings:
        console.heading("worth a look")
        for line in warnings:
            for part in console.lines(f"- {line}"):
                console.out(style.yellow(part))
    if document.rejections:
        console.heading("top reasons of refusals")
        console.table(
            [(f"{one.count:,}", one.code, one.text) for one in document.rejections[:_TOP]],
            ("count", "reason", "which says"),
            (0,),
            (1,),
        )
        more = len(document.rejections) - _TOP
        if more > 0:
            console.out(style.dim(f"and {plural(more, 'more reason')}: memfold account"))
    console.heading("last events")
    console.table(
        [
            (one.type, f"{one.count:,}", f"#{one.offset}", one.time[:19].replace("T", " "))
            for one in document.last_events
        ],
        ("type", "count", "last", "at (UTC)"),
        (1, 2),
    )
    if at_option_given:
        console.out()
        console.as_of(document.position, document.now)


def _headline(console: Console, document: StatusDocument, named: str) -> tuple[Callable[[str], str], str]:
    """The one sentence to read, and its colour."""
    said, is_well = _verdict(document)
    health = document.health
    troubles = [
        "its ledger was damaged and is read around the damage" if health.status != "ok" else "",
        f"{plural(health.problems, 'problem')}: memfold check{named}" if health.problems else "",
        f"{plural(len(document.findings), 'setting')} can't be used" if document.findings else "",
    ]
    colour = console.style.green if is_well and not any(troubles) else console.style.yellow
    return colour, "; ".join(filter(None, (said, *troubles)))


def _verdict(document: StatusDocument) -> tuple[str, bool]:
    """Whether memory works, in words."""
    if not document.enabled:
        return "memory is off: nothing is recorded, blocks are empty", False
    if not document.project:
        return "this folder is no project: nothing becomes memory in it", False
    if not document.received:
        by_hand = plural(document.counts["promoted"], "memory was", "memories were")
        added = f"; {by_hand} added without one" if document.counts["promoted"] else ""
        return f"no event of a client was ever received{added}", False
    if not document.counts["candidates"]:
        return "events arrive; nothing was proposed to be remembered", True
    return "memory works", True


def _block(document: StatusDocument) -> str:
    size, limit = document.block, document.block_limit
    memories = plural(document.block_shown, "memory", "memories")
    return f"{memories}, {size.characters:,} of {limit:,} characters, about {plural(size.tokens, 'token')}"


def _triggers(document: StatusDocument) -> str:
    off = f" (off: {' '.join(document.languages_off)})" if document.languages_off else ""
    return (" ".join(document.languages) or "none") + off


def _pending(document: StatusDocument) -> str:
    waiting, number = document.oldest_pending, document.counts["pending"]
    if waiting is None:
        return ""
    oldest = _age(document.now, waiting.proposed)
    return f"{number:,}, decided {WHEN_DECIDED}; the oldest is {oldest} old at the last event"


def _not_stored(document: StatusDocument) -> str:
    if not document.waiting:
        return ""
    return f"{plural(document.waiting, 'event')}, until a session's next event (memfold doctor says why)"


def _age(now: str, then: str) -> str:
    return age((parse_time(now) or 0) - (parse_time(then) or 0))


def _health(health: HealthPart) -> str:
    found = ((health.damaged, "damaged"), (health.duplicates, "duplicate"), (health.unknown, "unknown"))
    rest = "".join(f", {count:,} {word}" for count, word in found if count)
    return f"{health.status}: {plural(health.events, 'event')}{rest}"


def _warnings(document: StatusDocument) -> list[str]:
    return [
        *(f"{explain(code)}: {plural(count, 'time')} ({code})" for code, count in document.warnings.items()),
        *(f"{one.id} names {one.path}: path not found" for one in document.missing_paths),
        *map(finding_line, document.findings),
        *([_POLICY] if document.policy_differs else []),
        *([f"{told(document.moved_from)}: {document.moved_from[0].take_over}"] if document.moved_from else []),
    ]
