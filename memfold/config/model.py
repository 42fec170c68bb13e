"""What configuration is made of: layers come in, a config and findings go out."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ledger.events import Delivery
from projections.policy import DEFAULT_POLICY, Policy

__all__ = ["Config", "Finding", "Layer", "LayerKind", "Resolved", "Settled"]

LayerKind = Literal["user", "workspace", "plugin", "environment"]


class Layer(Struct, frozen=True):
    """Settings from one place.

    Attributes:
        kind: decides which keys count here (SPEC 19).
        data: what was found there, of any shape; keys may be nested or dotted.
        source: what people call the place, such as a path or a variable; the kind if empty.
    """

    kind: LayerKind
    data: object
    source: str = ""


class Finding(Struct, frozen=True):
    """Something in the configuration that was ignored or lowered; never fatal (SPEC 19).

    Attributes:
        source: file, variable or layer.
        key: dotted key; empty where the source as a whole is meant.
        value: what was found, as text, shortened.
        problem: what is wrong with it.
        fix: what to write instead.
    """

    source: str
    key: str
    value: str
    problem: str
    fix: str

    def __str__(self) -> str:
        """The finding as one line for people."""
        subject = " = ".join(part for part in (self.key, self.value) if part)
        return f"{self.source}: {subject + ': ' if subject else ''}{self.problem}; {self.fix}"


class Config(Struct, frozen=True, kw_only=True):
    """The settings in force.

    Attributes:
        enabled: False while memory is switched off (SPEC 3.7).
        policy: what judges memories; recorded in the ledger (DESIGN 5).
        delivery: what a session records at its start.
        memory_file: whether MEMORY.md is kept; ``auto`` where the file exists.
        max_summary_chars: characters of the memory summary (SPEC 16.7).
        enable_log: whether tools write the operation log (SPEC 16.9).
        worktrees: whether the worktrees of a repository share a memory (SPEC 1.6).
        data_dir: the configured data folder as it was written; empty for the default (``memfold.paths.data_dir``).
    """

    enabled: bool = True
    policy: Policy = DEFAULT_POLICY
    delivery: Delivery = Delivery()
    memory_file: Literal["auto", "on", "off"] = "auto"
    max_summary_chars: int = 2000
    enable_log: bool = True
    worktrees: Literal["shared", "separate"] = "shared"
    data_dir: str = ""


class Settled(Struct, frozen=True):
    """What became of each dotted key of SPEC 19.

    Attributes:
        origins: source of its value, ``default`` where nobody set it.
        values: value in force, in SPEC's own words.
    """

    origins: dict[str, str]
    values: dict[str, Any]


class Resolved(Struct, frozen=True):
    """A config, what was found while it was made, and where each value came from.

    Attributes:
        config: the settings in force.
        findings: in the order of the layers.
        settled: key by key; None where nobody set anything.
    """

    config: Config
    findings: tuple[Finding, ...]
    settled: Settled | None = None

    @property
    def origins(self) -> dict[str, str]:
        """As in ``Settled``."""
        return self._every_key().origins

    @property
    def values(self) -> dict[str, Any]:
        """As in ``Settled``."""
        return self._every_key().values

    def _every_key(self) -> Settled:
        if self.settled is not None:
            return self.settled
        from memfold.config.resolving import unset  # imports us

        return unset()
