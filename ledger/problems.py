"""Problems of a ledger as values: where, what, and what to do about it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = ["DAMAGE", "KINDS", "NOTES", "STEPS", "TAKE_IN", "Kind", "Problem", "problem"]


class Kind(StrEnum):
    """The closed table of problems; what each means and what helps stands in ``KINDS``."""

    NOT_UTF8 = "not_utf8"
    NUL_BYTES = "nul_bytes"
    MERGE_MARKER = "merge_marker"
    NOT_JSON = "not_json"
    NOT_AN_EVENT = "not_an_event"
    INVALID_EVENT = "invalid_event"
    TORN_TAIL = "torn_tail"
    FUSED_LINE = "fused_line"
    DUPLICATE_ID = "duplicate_id"
    SEQ_GAP = "seq_gap"
    SEQ_BACK = "seq_back"
    SEQ_FAR = "seq_far"
    ID_FORMAT = "id_format"
    ID_REUSED = "id_reused"
    TIME_FORMAT = "time_format"
    TIME_BACK = "time_back"
    TIME_FAR = "time_far"
    UNKNOWN_TYPE = "unknown_type"
    DAMAGED_TYPE = "damaged_type"
    NO_CREATED = "no_created"
    NEWER_FORMAT = "newer_format"
    WRITABLE_FILE = "writable_file"
    READABLE_FILE = "readable_file"
    UNTRUSTED_FILE = "untrusted_file"
    CONFLICTED_COPY = "conflicted_copy"
    UNFINISHED_REWRITE = "unfinished_rewrite"


TAKE_IN = "memfold import BACKUP/events.jsonl"
"""The command where a copy of the log helps; whoever shows it can name the copy."""
_SKIPPED = (
    "reading skips these bytes, and what they said doesn't count: memfold repair sets them aside; "
    f"{TAKE_IN} takes in the whole line, if that copy holds it"
)
_KNOWN = "memfold repair notes that it is known"
_FOREIGN = "look for a program that changes this file or writes to it without the lock"
_MODES = "chmod -R go-rwx, with the folder of the ledger"
_ORDER = f"nothing is lost: order is the order of lines; {_KNOWN}; {_FOREIGN}"

KINDS: dict[Kind, tuple[str, str]] = {
    Kind.NOT_UTF8: ("the bytes are no UTF-8", _SKIPPED),
    Kind.NUL_BYTES: ("the line holds NUL bytes, as a power cut leaves them", _SKIPPED),
    Kind.MERGE_MARKER: ("a conflict marker of a version control system", _SKIPPED),
    Kind.NOT_JSON: ("torn text or garbage, no JSON", _SKIPPED),
    Kind.NOT_AN_EVENT: ("JSON, but no event object", _SKIPPED),
    Kind.INVALID_EVENT: ("an event of a known type whose fields don't fit", _SKIPPED),
    Kind.TORN_TAIL: ("the last line was not written to its end", "the next append closes it off"),
    Kind.FUSED_LINE: (
        "several events stand on one line",
        "nothing to do: each of them counts; memfold repair splits the line",
    ),
    Kind.DUPLICATE_ID: ("an event with this id came before", f"nothing is lost: the first one counts; {_KNOWN}"),
    Kind.SEQ_GAP: (
        "seq numbers are missing before this event",
        f"{TAKE_IN} takes in the missing lines that this copy holds; for those that none holds, {_KNOWN}",
    ),
    Kind.SEQ_BACK: ("a seq number came twice or too late", _ORDER),
    Kind.SEQ_FAR: (
        "a seq number so high that it can't have been counted",
        f"nothing is lost: the event counts where it stands, its number doesn't; {_KNOWN}; {_FOREIGN}",
    ),
    Kind.ID_FORMAT: ("the id is no UUIDv7", "nothing to do if another program wrote this event"),
    Kind.ID_REUSED: ("another event before it has this id; both count, for their seq differs", _FOREIGN),
    Kind.TIME_FORMAT: ("the time can't be read", "nothing to do: the event before gives the time"),
    Kind.TIME_BACK: (
        "the time is earlier than one before it",
        "nothing to do: now never runs backwards",
    ),
    Kind.TIME_FAR: (
        "the time lies more than a year after the one in the id",
        "set the clock of the program that wrote it: until then all later events count as happening at that time",
    ),
    Kind.UNKNOWN_TYPE: ("a type this release doesn't know; carried and skipped", "upgrade memfold to use it"),
    Kind.DAMAGED_TYPE: (
        "a type one slip away from a known one, whose data it has; carried and skipped",
        "put the type right in an editor while no client runs, or memfold restore-backup (memfold backup --list)",
    ),
    Kind.NO_CREATED: (
        "the ledger does not begin with ledger.created",
        "memfold restore-backup puts a copy in its place (memfold backup --list)",
    ),
    Kind.NEWER_FORMAT: ("a newer release wrote this ledger", "upgrade memfold to write to it"),
    Kind.WRITABLE_FILE: ("others than the owner may write to it", _MODES),
    Kind.READABLE_FILE: ("others than the owner may read it", _MODES),
    Kind.UNTRUSTED_FILE: (
        "another user may have written what stands here beside the log; it is not read",
        "look at what it holds, then remove it: what is in derived/ is computed again",
    ),
    Kind.CONFLICTED_COPY: (
        "a second copy of the log, as file synchronisation makes them",
        "memfold import takes in the events that only it holds, each once; then delete it or keep it elsewhere",
    ),
    Kind.UNFINISHED_REWRITE: (
        "a purge or repair is running, or was killed before it was done",
        "run it again: it begins anew, and removes this file",
    ),
}
"""Kind → what it means, what to do about it."""

DAMAGE = frozenset(
    {
        Kind.NOT_UTF8,
        Kind.NUL_BYTES,
        Kind.MERGE_MARKER,
        Kind.NOT_JSON,
        Kind.NOT_AN_EVENT,
        Kind.INVALID_EVENT,
        Kind.TORN_TAIL,
    }
)
"""Kinds that set bytes aside: each such problem is one contiguous piece (SPEC 21)."""

STEPS = frozenset({Kind.DUPLICATE_ID, Kind.SEQ_GAP, Kind.SEQ_BACK, Kind.SEQ_FAR})
"""Kinds that stay in a log for ever, for no line is ever changed: known ones are notes (``ledger.steps``)."""

NOTES = frozenset({Kind.TIME_BACK, Kind.UNKNOWN_TYPE, Kind.READABLE_FILE})
"""Kinds that only inform, always."""


class Problem(Struct, frozen=True):
    """Something wrong with a ledger, said and not raised.

    Attributes:
        line: number of the line, from 1; 0 where it concerns the folder or a file as a whole.
        byte: offset in the file where it begins; 0 there too.
        length: number of bytes concerned.
        kind: one of the closed table.
        message: what was found, with the values.
        fix: what to do about it.
        path: the file that it is about, where that is another one than the log.
        known: whether a repair or an import accounts for it.
    """

    line: int
    byte: int
    length: int
    kind: Kind
    message: str
    fix: str
    path: str = ""
    known: bool = False

    @property
    def is_note(self) -> bool:
        """Whether it only informs."""
        return self.known or self.kind in NOTES


def problem(kind: Kind, detail: str, *, line: int = 1, byte: int = 0, length: int = 0, path: str = "") -> Problem:
    """A problem of the table, with the values found at its place."""
    meaning, fix = KINDS[kind]
    return Problem(line, byte, length, kind, f"{meaning}: {detail}", fix, path)
