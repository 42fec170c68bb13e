"""The payloads of events: what stands under ``data`` in a line, one frozen struct per type (DESIGN 3).

Rules for whoever extends them: new fields have defaults and a field never changes its type, so that every release reads
every ledger; no float anywhere, since NaN would be written as null (confidence is in hundredths, times are RFC 3339
text); free text has passed redaction before it comes here (SPEC 7.1).
"""

# No annotations of the future here: msgspec would evaluate each of them as a text, and a start waits for that.

from typing import Any, Literal

from msgspec import Struct

__all__ = [
    "CompactionPreparedData",
    "Delivery",
    "ErasedText",
    "FileImportedData",
    "FileWrittenData",
    "JudgedLine",
    "LedgerCreatedData",
    "LedgerErasedData",
    "LedgerRepairedData",
    "LedgerSealedData",
    "MemoryAddedData",
    "MemoryDeletedData",
    "MemoryImportedData",
    "MemoryRequestedData",
    "MemoryRestoredData",
    "MemoryUndoneData",
    "MemoryUpdatedData",
    "NumberedTarget",
    "Outcome",
    "PolicySetData",
    "PromptRenderedData",
    "RulesLoadedData",
    "SessionCompactedData",
    "SessionDeletedData",
    "SessionLinkedData",
    "SessionMeasuredData",
    "SessionStartedData",
    "Skipped",
    "Target",
    "ToolArguments",
    "ToolCompletedData",
]

Origin = Literal["tool", "cli", "hand_edit"]
"""Who wrote a ``memory.*`` event: a tool the model called, a command of a person, an edit of MEMORY.md."""


class Target(Struct, frozen=True, gc=False):
    """Names a candidate for ever: the event that proposed it and its index among that event's candidates."""

    event: str
    index: int


class NumberedTarget(Struct, frozen=True, gc=False):
    """One line of a numbered list (SPEC 11.4): what ``[M<n>]`` meant when the list was made.

    ``key`` is a digest of the exact key, so that a purge need not look for text here.
    """

    event: str
    index: int
    key: str
    source: str


class ErasedText(Struct, frozen=True, omit_defaults=True, gc=False):
    """What a purge leaves of a text: keyed digests, in hex, so that what had met still meets (SPEC 15.4).

    ``key`` stands for its text key, ``identity`` for its identity key where that is another one (SPEC 8), ``fact`` for
    what it says of the thing it is about; ``same`` has one digest for each other text of the same purge that agrees
    with it, which has it too. The key of all digests stands in the ``ledger.erased`` event. ``length`` is its length in
    characters, which a merge compares, ``reasons`` what stood against it where no other field says so.
    """

    key: str
    identity: str = ""
    fact: str = ""
    same: tuple[str, ...] = ()
    length: int = 0
    reasons: tuple[str, ...] = ()


class JudgedLine(Struct, frozen=True, omit_defaults=True, gc=False):
    """A candidate of an event whose text can't be read for candidates any more, as it was judged before a purge.

    ``text`` is empty where ``erased`` is given; the fields are those of ``projections.facts.LineFacts``.
    """

    kind: Literal["request", "candidate", "reinforce", "replace", "malformed"]
    type: str
    text: str = ""
    reasons: tuple[str, ...] = ()
    ref: int | None = None
    erased: ErasedText | None = None


class LedgerCreatedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """First line of every ledger. ``root`` is the workspace's real path, ``key`` its digest (SPEC 1.6)."""

    format: int
    ledger: str
    root: str
    key: str
    project: bool = True
    """False for places that are no project (home, ``/``, temporary folders): hot state only (SPEC 1.6)."""


class Delivery(Struct, frozen=True, omit_defaults=True, gc=False):
    """Delivery settings of a session (SPEC 19): fixed for its epoch, never part of the policy."""

    enabled: bool = True
    placement: Literal["user-part", "system"] = "user-part"
    hot_delivery: Literal["delta", "full", "off"] = "delta"
    injection: Literal["workspace", "summary"] = "workspace"
    tools: bool = True
    memory_file: Literal["auto", "on", "off"] = "auto"
    summary_chars: int = 2000


class SessionStartedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A session's first hook that can lead to a prompt; again, with another reason, on resume or restart."""

    session: str
    parent: str | None = None
    host: str = ""
    host_version: str = ""
    instance: str = ""
    reason: Literal["new", "resume", "restart"] = "new"
    delivery: Delivery = Delivery()


class SessionLinkedData(Struct, frozen=True, gc=False):
    """The parent of a session became known late (SPEC 3.4)."""

    session: str
    parent: str


class MemoryRequestedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A user's message that holds a remember form, reduced to what extraction reads (DESIGN 3).

    ``notes`` say what taking the text in has changed (``invisible_removed``, SPEC 1.3). ``judged`` stands in place of
    the text after a purge (SPEC 15.4).
    """

    message: str
    text: str
    notes: tuple[str, ...] = ()
    judged: tuple[JudgedLine, ...] = ()


class ToolArguments(Struct, frozen=True, omit_defaults=True, gc=False):
    """The tool arguments that matter, redacted: a file, a command line."""

    path: str = ""
    command: str = ""


class ToolCompletedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A tool call that ended. ``output`` is the bounded excerpt of DESIGN 3, never the whole output.

    ``status``: ``completed`` ran to its end, whatever the exit; ``failed`` was reported as a failure;
    ``aborted`` never ran to an exit (denied, cancelled, timed out). ``exit`` is the structured code or None.
    """

    call: str
    tool: str
    args: ToolArguments = ToolArguments()
    exit: int | None = None
    status: Literal["completed", "failed", "aborted"] = "completed"
    output: str = ""


class CompactionPreparedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A numbered list was given to the host; the event's id is the snapshot id (SPEC 5.4)."""

    position: int
    targets: tuple[NumberedTarget, ...] = ()


class SessionCompactedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A compaction summary exists. ``section`` holds the lines that extraction reads (SPEC 5).

    ``digest`` is the SHA-256 (hex) of the redacted summary; empty means the summary was empty or missing. After a
    purge ``judged`` and ``snapshot``, the snapshot id that it named, stand in place of the section (SPEC 15.4).
    """

    message: str = ""
    section: str = ""
    digest: str = ""
    notes: tuple[str, ...] = ()
    judged: tuple[JudgedLine, ...] = ()
    snapshot: str | None = None


class SessionDeletedData(Struct, frozen=True, gc=False):
    """The host deleted the session."""


class SessionMeasuredData(Struct, frozen=True, omit_defaults=True, gc=False):
    """End of a turn: requests made and tokens as the host reported them."""

    requests: int
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0


class RulesLoadedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """The host loaded an instruction file; digests of its canonical lines and sentences (SPEC 3.6)."""

    path: str
    digests: tuple[str, ...] = ()


class MemoryAddedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A memory written by a tool, a command or a hand edit (SPEC 14.6).

    ``call`` is the host's id of a tool call, which takes effect once (SPEC 3.5); ``number`` the one that a person gave
    the memory in MEMORY.md, taken if it is free (SPEC 16.5).
    """

    title: str
    content: str = ""
    tags: tuple[str, ...] = ()
    type: str | None = None
    origin: Origin = "tool"
    reason: str = ""
    call: str = ""
    number: int | None = None
    erased: ErasedText | None = None


class MemoryUpdatedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """New fields of a memory; None means unchanged, an empty tuple of tags clears them."""

    target: Target
    title: str | None = None
    content: str | None = None
    tags: tuple[str, ...] | None = None
    type: str | None = None
    origin: Origin = "tool"
    reason: str = ""
    call: str = ""
    erased: ErasedText | None = None


class MemoryDeletedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A delete (SPEC 15.1): of one target, or of all that a message proposed, even if it comes later."""

    target: Target | None = None
    message: str | None = None
    origin: Origin = "tool"
    reason: str = ""
    call: str = ""


class MemoryRestoredData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A deleted, superseded or expired memory is active again (SPEC 15.3)."""

    target: Target
    origin: Origin = "cli"
    reason: str = ""


class Outcome(Struct, frozen=True, omit_defaults=True, gc=False):
    """What an undo makes of one candidate (SPEC 15.3).

    ``state`` is what it becomes; ``into`` the entry that has its text then. The other fields are its wording, given
    where that changes; None leaves a field as it is.
    """

    target: Target
    state: Literal["promoted", "pending", "deleted", "superseded"]
    into: Target | None = None
    type: str | None = None
    title: str | None = None
    content: str | None = None
    tags: tuple[str, ...] | None = None
    erased: ErasedText | None = None


class MemoryUndoneData(Struct, frozen=True, omit_defaults=True, gc=False):
    """The change made by the event with id ``undone`` is reverted (SPEC 15.3).

    ``outcomes`` were told by a fold of the log without that event, when the command ran.
    """

    undone: str
    outcomes: tuple[Outcome, ...] = ()
    origin: Origin = "cli"
    reason: str = ""


class MemoryImportedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of an imported file (SPEC 17); times are RFC 3339 text, confidence in hundredths.

    ``item`` tells several memories of one line apart; ``clock`` is when the memory was last reinforced.
    """

    file: str
    digest: str
    line: int
    text: str
    type: str = "feedback"
    source: Literal["explicit", "compaction", "manual"] = "manual"
    state: Literal["active", "pending", "deleted", "superseded"] = "active"
    confidence: int = 90
    title: str = ""
    content: str = ""
    tags: tuple[str, ...] = ()
    rationale: str = ""
    importance: Literal["low", "normal", "high"] = "normal"
    safety_critical: bool = False
    reinforcements: int = 0
    created: str | None = None
    updated: str | None = None
    number: int | None = None
    erased: ErasedText | None = None
    item: int = 0
    clock: str | None = None


class Skipped(Struct, frozen=True, omit_defaults=True, gc=False):
    """A piece of an imported file that is no memory: its line (from 1), and why it was left out."""

    line: int
    reason: str


class FileImportedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A file was imported; its memories follow as ``memory.imported`` events caused by this one (SPEC 17).

    ``digest`` is the SHA-256 (hex) of the file's bytes. ``counter`` is the next number that the file names.
    ``damaged`` says why nothing could be read of it, ``skipped`` what was left out.
    """

    file: str
    digest: str
    format: str
    counter: int | None = None
    damaged: str = ""
    skipped: tuple[Skipped, ...] = ()
    origin: Origin = "cli"


class FileWrittenData(Struct, frozen=True, gc=False):
    """MEMORY.md was written: as of which position, and the SHA-256 (hex) of our part of it (SPEC 16.1)."""

    position: int
    digest: str


class PromptRenderedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A receipt: a block was handed to a host. What the host was given is a fact (DESIGN 3)."""

    kind: Literal["workspace", "hot", "delta"]
    position: int
    epoch: int
    digest: str
    size: int
    instance: str = ""
    targets: tuple[Target, ...] = ()
    lines: tuple[str, ...] = ()
    program: str = ""


class PolicySetData(Struct, frozen=True, gc=False):
    """The policy changed. Appended in the same write, before the first event judged by it (DESIGN 5)."""

    digest: str
    policy: dict[str, Any]


class LedgerSealedData(Struct, frozen=True, gc=False):
    """A Merkle head: number of leaves and root in hex (RFC 6962)."""

    size: int
    root: str


class LedgerRepairedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """Damaged bytes were set aside by ``repair``: how many pieces, and where they are kept.

    ``steps`` counts the breaks in the numbers before it that were not known yet; from here on all of them are.
    """

    pieces: int
    quarantine: str = ""
    steps: int = 0


class LedgerErasedData(Struct, frozen=True, omit_defaults=True, gc=False):
    """A purge (SPEC 15.4): what was erased, by digest only, and the Merkle roots before and after."""

    targets: tuple[Target, ...]
    old_root: str = ""
    new_root: str = ""
    key: str = ""
    digests: tuple[str, ...] = ()
    reason: str = ""
    origin: Origin = "cli"
