"""``memfold account``: how many candidates are in each state, and for which reasons."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.memories import AccountDocument, ReasonCountPart
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import open_view
from memfold.cli.words import plural
from projections.accounting import Accounts, counts
from projections.memory.model import CANDIDATE_STATES, CandidateState
from projections.reasons import explain, rule_of
from projections.world import WorldState

__all__ = ["account_document", "adds_up", "configure", "print_account", "reason_counts", "run", "state_name"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the account."""
    view, console = open_view(options), Console(options)
    document = account_document(view.place.shown_directory, view.world(only=frozenset()))
    if options.json:
        console.emit(document)
    else:
        print_account(console, document)
    return 0


def account_document(ledger: str, world: WorldState) -> AccountDocument:
    """The account of a state."""
    table = counts(world.accounts)
    return AccountDocument(
        ledger=ledger,
        position=world.memory.offset,
        now=format_time(world.memory.now),
        counts=table,
        adds_up=adds_up(table),
        reasons=tuple(part for state in CANDIDATE_STATES for part in reason_counts(world.accounts, state)),
    )


def adds_up(table: dict[str, int]) -> bool:
    """Whether the seven states add up to the candidates (I4)."""
    return table["candidates"] == sum(table[state] for state in CANDIDATE_STATES)


def reason_counts(accounts: Accounts, state: CandidateState) -> list[ReasonCountPart]:
    """The reasons of a state's candidates, the most frequent first, then by name; O(candidates)."""
    found = Counter(code for record in accounts.records.values() if record.state == state for code in record.reasons)
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [ReasonCountPart(state, code, rule_of(code), explain(code), count) for code, count in ordered]


def print_account(console: Console, document: AccountDocument) -> None:
    """The two tables: by state, by reason."""
    states = [(state_name(state), f"{document.counts[state]:,}") for state in CANDIDATE_STATES]
    console.table([*states, ("candidates", f"{document.counts['candidates']:,}")], ("state", "count"), (1,))
    if not document.adds_up:
        console.note("the states do not add up: this is a bug of memfold, please report it")
    if document.reasons:
        console.out()
        rows = [(one.state, f"{one.count:,}", one.code, one.rule, one.text) for one in document.reasons]
        console.table(rows, ("state", "count", "reason", "rule", "which says"), (1,), (2, 3))
    console.out()
    console.as_of(document.position, document.now)


def state_name(state: CandidateState) -> str:
    """A state in a table of all: lists call a promoted candidate active."""
    return "promoted (active)" if state == "promoted" else state


def summary(table: dict[str, int]) -> str:
    """The counts as one line: ``17 candidates = 7 promoted + 8 rejected``."""
    parts = [f"{table[state]:,} {state}" for state in CANDIDATE_STATES if table[state]]
    return f"{plural(table['candidates'], 'candidate')}{' = ' if parts else ''}{' + '.join(parts)}"
