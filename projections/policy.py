"""The policy: what may be configured about judging memories, as data with a digest (SPEC 19, 20)."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ledger.digests import sha256

__all__ = [
    "BUILT_IN_TYPES",
    "DEFAULT_POLICY",
    "RULES_VERSION",
    "Context",
    "CustomType",
    "ErrorCategory",
    "GatePattern",
    "Patterns",
    "Policy",
    "RedactionExtra",
    "Retention",
    "caps_limit",
    "caps_of",
    "policy_digest",
    "policy_document",
    "policy_from_document",
    "type_order",
]

RULES_VERSION = 1
"""Version of the built-in rules. It changes whenever the same event could be judged otherwise."""

BUILT_IN_TYPES = ("feedback", "decision", "project", "reference")
_CAP_LIMITS = {"feedback": 10, "decision": 10, "project": 8, "reference": 6}
_CUSTOM_CAP = 6

# A recorded policy outside these bounds is no policy: no fold may divide by zero or grow a memory with age.
Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Percent = Annotated[int, Meta(ge=0, le=100)]


class CustomType(Struct, frozen=True):
    """A further memory type (SPEC 20.1). ``factor_percent`` 125 stands for 1.25; ``stale_days`` None for never."""

    name: str
    cap: Natural = _CUSTOM_CAP
    factor_percent: Natural = 125
    stale_days: Natural | None = None


class ErrorCategory(Struct, frozen=True):
    """A further error category (SPEC 20.2): programs or script names, and words that signal an error."""

    name: str
    programs: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()


class GatePattern(Struct, frozen=True):
    """Words that refuse a candidate with the code ``custom:<name>`` (SPEC 20.3)."""

    name: str
    words: tuple[str, ...]


class RedactionExtra(Struct, frozen=True):
    """Further redaction labels and token prefixes (SPEC 20.3)."""

    labels: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


class Patterns(Struct, frozen=True):
    """Further extraction words (SPEC 20.3). A ``*`` in a word stands for up to 40 non-space characters."""

    triggers: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    time_words: tuple[str, ...] = ()
    gate: tuple[GatePattern, ...] = ()


class Retention(Struct, frozen=True):
    """Decay and reinforcement (SPEC 10), in whole days, hundredths and minutes: no float enters the log."""

    half_life_days: Positive = 45
    dormant_after_days: Natural = 14
    dormant_rate_percent: Percent = 25
    min_reinforce_minutes: Natural = 60


class Policy(Struct, frozen=True, cache_hash=True):
    """What judges, ranks and limits memories. Hashable, so that compiled tables can be memoised by it."""

    languages: tuple[str, ...] = ("en", "zh", "ja", "ko")
    workspace_chars: Natural = 3600
    max_entries: Natural = 28
    hot_chars: Natural = 700
    caps: tuple[tuple[str, Natural], ...] = tuple(_CAP_LIMITS.items())
    types: tuple[CustomType, ...] = ()
    error_categories: tuple[ErrorCategory, ...] = ()
    patterns: Patterns = Patterns()
    redaction: RedactionExtra = RedactionExtra()
    retention: Retention = Retention()


DEFAULT_POLICY = Policy()


class Context(Struct, frozen=True, cache_hash=True):
    """What a rule needs beside the text: the policy in force and the workspace root (SPEC 8.3)."""

    policy: Policy = DEFAULT_POLICY
    root: str = ""


def type_order(policy: Policy) -> tuple[str, ...]:
    """All memory types in the order of SPEC 2.2: the four built in, then the configured ones."""
    return BUILT_IN_TYPES + tuple(custom.name for custom in policy.types)


def caps_limit(type_: str) -> int:
    """The highest cap a type may have (SPEC 2.6)."""
    return _CAP_LIMITS.get(type_, _CUSTOM_CAP)


@lru_cache(maxsize=16)
def caps_of(policy: Policy) -> Mapping[str, int]:
    """The cap of each type; a configured cap can only lower the limits of SPEC 2.6."""
    caps = dict(_CAP_LIMITS)
    for name, cap in policy.caps:
        if name in caps:
            caps[name] = max(0, min(cap, _CAP_LIMITS[name]))
    for custom in policy.types:
        caps[custom.name] = max(0, min(custom.cap, _CUSTOM_CAP))
    return MappingProxyType(caps)


def policy_document(policy: Policy) -> dict[str, Any]:
    """The policy as the JSON object that ``policy.set`` records, with the version of the built-in rules."""
    document: dict[str, Any] = msgspec.to_builtins(policy)
    return {"rules": RULES_VERSION, **document}


def policy_from_document(document: dict[str, Any]) -> Policy:
    """Read a recorded policy; unknown keys are ignored, a document that can't be read is the default policy.

    A fold never raises on an event (DESIGN 3), so a damaged document falls back rather than stops; ``check``
    names it by its digest.
    """
    try:
        return msgspec.convert(document, Policy)
    except msgspec.ValidationError:
        return DEFAULT_POLICY


def policy_digest(policy: Policy) -> str:
    """SHA-256 (first 16 hex digits) of the policy's canonical JSON."""
    body = msgspec.json.encode(policy_document(policy), order="deterministic")
    return sha256(body).hexdigest()[:16]
