"""The documents of commands that look at the ledger as a whole, and of an error."""

from __future__ import annotations

from msgspec import Struct

from memfold.cli.documents.memories import ReasonCountPart
from memfold.cli.documents.prompts import SizePart

__all__ = [
    "CheckDocument",
    "CheckPart",
    "DoctorDocument",
    "ErrorDocument",
    "FindingPart",
    "FormerPart",
    "HealthPart",
    "IngestDocument",
    "LastEventPart",
    "MissingPathPart",
    "PendingPart",
    "ProblemPart",
    "StatusDocument",
]


class PendingPart(Struct, frozen=True):
    """The oldest candidate that is undecided.

    Attributes:
        text: its text.
        proposed: when it was proposed.
        age_days: whole days since then, as of the position.
    """

    text: str
    proposed: str
    age_days: int


class LastEventPart(Struct, frozen=True):
    """The events of one type.

    Attributes:
        type: stored name of the type.
        count: number of events.
        offset: offset of the last one.
        time: its time; empty if it has none.
    """

    type: str
    count: int
    offset: int
    time: str


class HealthPart(Struct, frozen=True):
    """What reading the whole ledger found.

    Attributes:
        status: `ok`, or `recovered` if anything was damaged.
        events: events that count.
        damaged: pieces that were set aside.
        duplicates: events that came twice and count once.
        unknown: events of a type that this release doesn't know.
        problems: what `memfold check` finds, notes left out.
    """

    status: str
    events: int
    damaged: int
    duplicates: int
    unknown: int
    problems: int


class MissingPathPart(Struct, frozen=True):
    """A path that a memory names and that isn't there any more.

    Attributes:
        id: id of the memory.
        path: the path below the workspace root.
    """

    id: str
    path: str


class FindingPart(Struct, frozen=True):
    """A setting that was ignored or lowered.

    Attributes:
        source: file, variable or layer.
        key: the setting; empty where the source as a whole is meant.
        value: what was found.
        problem: what is wrong with it.
        fix: what to write instead.
    """

    source: str
    key: str
    value: str
    problem: str
    fix: str


class FormerPart(Struct, frozen=True):
    """A workspace whose folder is gone, and which this one may have been before it was renamed or moved.

    Attributes:
        workspace: where it was.
        why: what makes that plausible.
        memories: how many an export of it holds.
        take_over: what to type in the workspace to take them over.
    """

    workspace: str
    why: str
    memories: int
    take_over: str


class StatusDocument(Struct, frozen=True, kw_only=True, tag_field="schema", tag="memfold.status/1"):
    """How memory is doing (`memfold status --json`).

    Attributes:
        ledger: folder of the ledger.
        workspace: root of the workspace.
        project: whether the folder is a project; if not, nothing becomes workspace memory.
        position: offset of the last event that counts.
        now: time at that position.
        enabled: whether memory is on.
        received: whether any event of a host was ever received.
        counts: candidates, and how many are in each of the seven states.
        adds_up: whether the seven states add up to the candidates.
        rejections: reasons of rejected candidates, the most frequent first.
        oldest_pending: the oldest undecided candidate, or null.
        waiting: events that couldn't be stored yet and are kept beside the log; a session's next event stores them.
        block: size of the block as of the last event.
        block_limit: characters that the block may have.
        block_shown: memories that the block shows.
        last_events: events by type.
        languages: trigger languages that are on.
        languages_off: trigger languages that are off.
        off: settings that switch something off.
        health: what reading the whole ledger found, whatever the position.
        policy_differs: whether the policy in force at the position is another one than is configured now.
        warnings: counts by code: deliveries and conflicts.
        missing_paths: paths that active memories name and that don't exist; empty where the workspace isn't there.
        findings: settings that were ignored or lowered.
        moved_from: workspaces that this one may have been before it was moved, the likeliest first.
    """

    ledger: str
    workspace: str
    project: bool
    position: int
    now: str
    enabled: bool
    received: bool
    counts: dict[str, int]
    adds_up: bool
    rejections: tuple[ReasonCountPart, ...]
    oldest_pending: PendingPart | None
    waiting: int
    block: SizePart
    block_limit: int
    block_shown: int
    last_events: tuple[LastEventPart, ...]
    languages: tuple[str, ...]
    languages_off: tuple[str, ...]
    off: tuple[str, ...]
    health: HealthPart
    policy_differs: bool
    warnings: dict[str, int]
    missing_paths: tuple[MissingPathPart, ...]
    findings: tuple[FindingPart, ...]
    moved_from: tuple[FormerPart, ...] = ()


class ProblemPart(Struct, frozen=True):
    """A problem of the ledger.

    Attributes:
        line: number of the line, from 1; 0 for a file or the folder as a whole.
        byte: offset in the file; 0 there too.
        length: number of bytes concerned.
        kind: what it is.
        message: what was found.
        fix: what to do about it.
        note: whether it only informs, so that the exit code doesn't count it.
    """

    line: int
    byte: int
    length: int
    kind: str
    message: str
    fix: str
    note: bool


class CheckDocument(Struct, frozen=True, tag_field="schema", tag="memfold.check/1"):
    """Problems of the ledger (`memfold check --json`).

    Attributes:
        ledger: folder of the ledger.
        findings: number of problems that are more than notes; the exit code is 3 unless it is 0.
        problems: in the order of the file.
    """

    ledger: str
    findings: int
    problems: tuple[ProblemPart, ...]


class CheckPart(Struct, frozen=True):
    """One check of `memfold doctor`.

    Attributes:
        name: what was looked at.
        outcome: `ok`; `note` for what is worth knowing; `warn` and `fail` for what needs an action.
        seen: what was found.
        action: what to do about it; may be empty.
        details: more of what was found, a line each.
    """

    name: str
    outcome: str
    seen: str
    action: str
    details: tuple[str, ...]


class DoctorDocument(Struct, frozen=True, tag_field="schema", tag="memfold.doctor/1"):
    """Whether memory can work here (`memfold doctor --json`).

    Attributes:
        workspace: root of the workspace; empty if it isn't known.
        ledger: folder of the ledger, there or not.
        outcomes: number of checks by outcome; the exit code is 3 unless `warn` and `fail` are 0.
        checks: in the order in which they were made.
    """

    workspace: str
    ledger: str
    outcomes: dict[str, int]
    checks: tuple[CheckPart, ...]


class IngestDocument(Struct, frozen=True, tag_field="schema", tag="memfold.ingest/1"):
    """What an ingestion did (`memfold ingest --json`).

    Attributes:
        recording: the file.
        workspace: root of the workspace.
        ledger: folder of the ledger.
        records: number of records in the recording.
        added: events written now.
        own: types of the events that memfold wrote beside them, such as `policy.set`.
        late: how many of the added events are older than the last event that stood in the ledger.
        known: events of the recording that stood in the ledger already.
        events: events of the recording by type.
        sessions: ids of its sessions.
        skipped: why records were skipped, and how often.
        findings: settings that were ignored or lowered.
    """

    recording: str
    workspace: str
    ledger: str
    records: int
    added: int
    own: tuple[str, ...]
    late: int
    known: int
    events: dict[str, int]
    sessions: tuple[str, ...]
    skipped: dict[str, int]
    findings: tuple[FindingPart, ...]


class ErrorDocument(Struct, frozen=True, tag_field="schema", tag="memfold.error/1"):
    """Why a command failed: the last line of stderr of any command with `--json`.

    Attributes:
        code: the exit code.
        error: name of the error.
        message: what is wrong.
        fix: what to do about it; may be empty.
    """

    code: int
    error: str
    message: str
    fix: str
