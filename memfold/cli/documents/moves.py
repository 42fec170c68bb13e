"""The JSON documents of the commands that move memories in and out: import, export, backup, restore-backup."""

from __future__ import annotations

from msgspec import Struct

from ledger.events import Skipped
from memfold.cli.documents.memories import DetailPart
from memfold.imports.outcomes import FileReport, LineReport

__all__ = [
    "MOVE_DOCUMENTS",
    "MOVE_PARTS",
    "BackupDocument",
    "BackupPart",
    "BackupsDocument",
    "ExportDocument",
    "ImportDocument",
    "RestoreBackupDocument",
]


class ImportDocument(Struct, frozen=True, tag_field="schema", tag="memfold.import/1"):
    """What an import brought (`memfold import --json`).

    Attributes:
        ledger: folder of the ledger.
        workspace: root of the workspace.
        dry_run: whether it only says what would come.
        files: in the order in which they were read.
        unknown: files whose layout isn't known; nothing of them was read.
        renumbered: former id to present id, of each memory that has another one here than in a copy of the ledger, or
            than before.
        events: number of events that were written.
        position: offset of the last event now.
    """

    ledger: str
    workspace: str
    dry_run: bool
    files: tuple[FileReport, ...]
    unknown: tuple[str, ...]
    renumbered: dict[str, str]
    events: int
    position: int


class ExportDocument(Struct, frozen=True, tag_field="schema", tag="memfold.export/1"):
    """All memories with their fields (`memfold export --format json`); `memfold import` reads it.

    Attributes:
        workspace: root of the workspace.
        ledger: id of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        next_number: number of the next new id.
        memories: in ledger order; not what was refused, went into another one or was purged.
    """

    workspace: str
    ledger: str
    position: int
    now: str
    next_number: int
    memories: tuple[DetailPart, ...]


class BackupPart(Struct, frozen=True):
    """A copy of a ledger.

    Attributes:
        folder: where it is.
        created: when it was made.
        ledger: id of the ledger.
        workspace: root of its workspace.
        events: number of events.
        size: bytes of the log.
        digest: SHA-256 of the log, in hex.
        trouble: what is wrong with it; empty if it can be restored.
    """

    folder: str
    created: str
    ledger: str
    workspace: str
    events: int
    size: int
    digest: str
    trouble: str


class BackupDocument(Struct, frozen=True, tag_field="schema", tag="memfold.backup/1"):
    """A copy that was made (`memfold backup --json`).

    Attributes:
        ledger: folder of the ledger.
        backup: the copy.
    """

    ledger: str
    backup: BackupPart


class BackupsDocument(Struct, frozen=True, tag_field="schema", tag="memfold.backups/1"):
    """The known copies of a ledger (`memfold backup --list --json`).

    Attributes:
        ledger: folder of the ledger.
        backups: oldest first.
    """

    ledger: str
    backups: tuple[BackupPart, ...]


class RestoreBackupDocument(Struct, frozen=True, tag_field="schema", tag="memfold.restore-backup/1"):
    """What restoring a copy does (`memfold restore-backup --json`).

    Attributes:
        ledger: folder of the ledger.
        dry_run: whether it was only shown.
        backup: the copy.
        lost: events that only the present log has, by type.
        leaving: texts that are active now and not in the copy.
        coming: texts that are active in the copy and not now.
        kept: folder of the copy of the present log; empty if there was none, or nothing was done.
        notes: what else a person should know.
    """

    ledger: str
    dry_run: bool
    backup: BackupPart
    lost: dict[str, int]
    leaving: tuple[str, ...]
    coming: tuple[str, ...]
    kept: str
    notes: tuple[str, ...]


MOVE_PARTS: tuple[type[Struct], ...] = (FileReport, LineReport, Skipped, BackupPart)
MOVE_DOCUMENTS: tuple[type[Struct], ...] = (
    ImportDocument,
    ExportDocument,
    BackupDocument,
    BackupsDocument,
    RestoreBackupDocument,
)
