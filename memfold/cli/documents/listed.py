"""All documents and parts, in the order of the reference."""

from __future__ import annotations

from msgspec import Struct

from memfold.cli.documents.changes import CHANGE_DOCUMENTS, CHANGE_PARTS
from memfold.cli.documents.health import (
    CheckDocument,
    CheckPart,
    DoctorDocument,
    ErrorDocument,
    FindingPart,
    HealthPart,
    IngestDocument,
    LastEventPart,
    MissingPathPart,
    PendingPart,
    ProblemPart,
    StatusDocument,
)
from memfold.cli.documents.memories import (
    AccountDocument,
    DetailPart,
    ListDocument,
    MemoryPart,
    ReasonCountPart,
    ShowDocument,
)
from memfold.cli.documents.prompts import BlockPart, EpochPart, HotPart, LinePart, OmittedPart, PromptDocument, SizePart
from memfold.cli.documents.proofs import PROOF_DOCUMENTS, PROOF_PARTS
from memfold.cli.documents.settings import (
    ChangePart,
    ConfigDocument,
    ConfigFilePart,
    InstallDocument,
    PathsDocument,
    SettingPart,
    UninstallDocument,
    WorkspacePart,
    WorkspacesDocument,
)
from memfold.cli.documents.usage import CacheDocument, EpochUsePart, SessionUsePart, TokensPart

__all__ = ["DOCUMENTS", "PARTS"]

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

PARTS: tuple[type[Struct], ...] = (
    MemoryPart,
    DetailPart,
    BlockPart,
    LinePart,
    OmittedPart,
    SizePart,
    EpochPart,
    HotPart,
    ReasonCountPart,
    PendingPart,
    LastEventPart,
    HealthPart,
    MissingPathPart,
    FindingPart,
    ProblemPart,
    SettingPart,
    ConfigFilePart,
    WorkspacePart,
    SessionUsePart,
    EpochUsePart,
    TokensPart,
    ChangePart,
    CheckPart,
    *CHANGE_PARTS,
    *PROOF_PARTS,
)
