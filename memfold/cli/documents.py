"""The JSON documents of ``--json``, one struct each; ``docs/reference/json.md`` is generated from them.

Keys are stable: one may be added, none is renamed or given another meaning without another number in ``schema``. The
document of ``why`` stands beside its command: what it is made of is dear to import.
"""

from __future__ import annotations

from msgspec import Struct

from memfold.cli.change_documents import CHANGE_DOCUMENTS
from memfold.cli.parts import (
    BlockPart,
    ChangePart,
    CheckPart,
    ConfigFilePart,
    DetailPart,
    EpochPart,
    FindingPart,
    FormerPart,
    HealthPart,
    HotPart,
    LastEventPart,
    MemoryPart,
    MissingPathPart,
    PendingPart,
    ProblemPart,
    ReasonCountPart,
    SessionUsePart,
    SettingPart,
    SizePart,
    TokensPart,
    WorkspacePart,
)
from memfold.cli.proof_documents import PROOF_DOCUMENTS

__all__ = [
    "DOCUMENTS",
    "AccountDocument",
    "CacheDocument",
    "CheckDocument",
    "ConfigDocument",
    "DoctorDocument",
    "ErrorDocument",
    "IngestDocument",
    "InstallDocument",
    "ListDocument",
    "PathsDocument",
    "PromptDocument",
    "ShowDocument",
    "StatusDocument",
    "UninstallDocument",
    "WorkspacesDocument",
]


class PromptDocument(Struct, frozen=True, tag_field="schema", tag="memfold.prompt/1"):
    """The blocks of a prompt (`memfold prompt --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        kind: `frozen` for a session's block, `present` as of the last event, `next` for a session that starts now,
            `numbered` for the list that a compaction is given.
        session: id of the session, or null.
        epoch: the session's open epoch, or null.
        block: the block.
        hot: the hot block if `--hot` was given, else null.
        note: why the block is empty, or null.
    """

    ledger: str
    position: int
    now: str
    kind: str
    session: str | None
    epoch: EpochPart | None
    block: BlockPart
    hot: HotPart | None = None
    note: str | None = None


class ListDocument(Struct, frozen=True, tag_field="schema", tag="memfold.list/1"):
    """Memories or candidates (`memfold list --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        memories: active ones by rank; others newest first, behind them.
    """

    ledger: str
    position: int
    now: str
    memories: tuple[MemoryPart, ...]


class ShowDocument(Struct, frozen=True, tag_field="schema", tag="memfold.show/1"):
    """Everything about the memories that a name fits (`memfold show --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        memories: newest first.
        more: how many further ones fit.
    """

    ledger: str
    position: int
    now: str
    memories: tuple[DetailPart, ...]
    more: int


class AccountDocument(Struct, frozen=True, tag_field="schema", tag="memfold.account/1"):
    """The account of all candidates (`memfold account --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        counts: candidates, and how many are in each of the seven states.
        adds_up: whether the seven states add up to the candidates; anything but true is a bug of memfold.
        reasons: candidates by state and reason.
    """

    ledger: str
    position: int
    now: str
    counts: dict[str, int]
    adds_up: bool
    reasons: tuple[ReasonCountPart, ...]


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


class CacheDocument(Struct, frozen=True, kw_only=True, tag_field="schema", tag="memfold.cache/1"):
    """What memory costs the provider's prompt cache (`memfold cache --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        missing: what would have to be in the log to say more, as sentences; empty if nothing is missing.
        sessions: the latest sessions, the latest first, or the one that was asked for.
        more: how many further sessions were measured or given a block.
        subagents: how many sub-agents there are; they are given no block and left out.
        total: sums over these sessions.
        first_block: tokens taken for the client's first system block and its tools; 0 if no turn tells.
        assumptions: what the estimates assume, as sentences.
    """

    ledger: str
    position: int
    now: str
    missing: tuple[str, ...]
    sessions: tuple[SessionUsePart, ...]
    more: int
    subagents: int
    total: TokensPart
    first_block: int
    assumptions: tuple[str, ...]


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


class ConfigDocument(Struct, frozen=True, tag_field="schema", tag="memfold.config/1"):
    """The configuration in force (`memfold config show --json`).

    Attributes:
        workspace: root of the workspace.
        settings: every setting.
        findings: settings that were ignored or lowered.
    """

    workspace: str
    settings: tuple[SettingPart, ...]
    findings: tuple[FindingPart, ...]


class WorkspacesDocument(Struct, frozen=True, tag_field="schema", tag="memfold.workspaces/1"):
    """All workspaces that have a ledger (`memfold workspaces --json`).

    Attributes:
        folder: where their ledgers are.
        workspaces: the one that was written last first.
    """

    folder: str
    workspaces: tuple[WorkspacePart, ...]


class PathsDocument(Struct, frozen=True, tag_field="schema", tag="memfold.paths/1"):
    """Where things are (`memfold paths --json`).

    Attributes:
        workspace: root of the workspace.
        key: key of the workspace; empty where a ledger was named.
        ledger: folder of the ledger.
        events: the ledger's file.
        exists: whether that file is there.
        data: folder of all ledgers.
        config: folder of the user's configuration.
        files: the configuration files, the user's first.
        hook: the fast command line of `memfold hook`, word by word; empty where there is none.
    """

    workspace: str
    key: str
    ledger: str
    events: str
    exists: bool
    data: str
    config: str
    files: tuple[ConfigFilePart, ...]
    hook: tuple[str, ...] = ()


class InstallDocument(Struct, frozen=True, tag_field="schema", tag="memfold.install/1"):
    """What an installation did (`memfold install --json`).

    Attributes:
        host: the client.
        dry_run: whether it only says what it would do.
        changes: the files.
        notes: remarks, as sentences.
    """

    host: str
    dry_run: bool
    changes: tuple[ChangePart, ...]
    notes: tuple[str, ...]


class UninstallDocument(Struct, frozen=True, tag_field="schema", tag="memfold.uninstall/1"):
    """What an uninstallation did (`memfold uninstall --json`).

    Attributes:
        host: the client.
        dry_run: whether it only says what it would do.
        changes: the files; empty if nothing is installed.
        data: the data folder; if anything is in it, it stays, with all memories.
        notes: remarks, as sentences.
    """

    host: str
    dry_run: bool
    changes: tuple[ChangePart, ...]
    data: str
    notes: tuple[str, ...]


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


DOCUMENTS: tuple[type[Struct], ...] = (
    StatusDocument,
    ListDocument,
    ShowDocument,
    PromptDocument,
    AccountDocument,
    CheckDocument,
    CacheDocument,
    IngestDocument,
    ConfigDocument,
    PathsDocument,
    WorkspacesDocument,
    InstallDocument,
    UninstallDocument,
    DoctorDocument,
    *CHANGE_DOCUMENTS,
    *PROOF_DOCUMENTS,
    ErrorDocument,
)
