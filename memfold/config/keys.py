"""The closed table of keys: default, reader, and the layers that may set each (SPEC 19, 20)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ledger.events import Delivery
from memfold.config.model import LayerKind
from memfold.config.readers import (
    Notes,
    Reader,
    Refusal,
    boolean,
    choice,
    items,
    name_reader,
    named,
    number,
    string,
    subset,
    table,
    whole,
    word,
    words,
)
from projections.policy import BUILT_IN_TYPES, DEFAULT_POLICY, CustomType, caps_of
from projections.rules.trigger_forms import PACKS

__all__ = ["KEYS", "SECTIONS", "Key"]

_FILES: frozenset[LayerKind] = frozenset({"user", "workspace"})
# A repository may be a stranger's, and must not choose where memories are written.
_USER_OR_VARIABLE: frozenset[LayerKind] = frozenset({"user", "environment"})
_ANYWHERE: frozenset[LayerKind] = frozenset({"user", "workspace", "plugin", "environment"})
_MOST = 2**31 - 1
_DAYS = 36_500


class Key(Struct, frozen=True):
    """One setting: what it means, its default, how it is read, and the kinds of layers where it counts."""

    meaning: str
    default: Any
    read: Reader
    kinds: frozenset[LayerKind] = _FILES


def _types(value: object, notes: Notes) -> list[dict[str, Any]]:
    """Further types; their order is that of their sections (SPEC 20.1)."""
    known: dict[str, dict[str, Any]] = {}

    def read(item: object, inner: Notes) -> None:
        fields = table(
            {
                "name": name_reader((*BUILT_IN_TYPES, *known)),
                "cap": whole(0, _MOST, limit=CustomType("").cap),
                "factor": number(0.01, 10, parts=100, unit="hundredths"),
                "staleDays": whole(1, _DAYS),
            }
        )(item, inner)
        if "name" not in fields:
            raise Refusal("has no name that can be used", "give it a 'name' of its own")
        known[fields["name"]] = fields

    items(read)(value, notes)
    return list(known.values())


def _triggers(value: object, notes: Notes) -> Any:
    """More triggers: a list, or lists by language, of which those of a switched-off language don't count."""
    by_language = isinstance(value, Mapping)
    read = named(words) if by_language else words
    return read(value, notes)


def _redaction(value: object, notes: Notes) -> list[dict[str, str]]:
    """Labels and token prefixes; a bare word is a label (SPEC 20.3)."""

    def read(item: object, inner: Notes) -> dict[str, str]:
        given = {"label": item} if isinstance(item, str) else item
        fields: dict[str, str] = table({"label": word, "prefix": word})(given, inner)
        if len(fields) != 1:
            raise Refusal("is neither a label nor a prefix", "write one of { label = … } and { prefix = … }")
        return fields

    listed: list[dict[str, str]] = items(read)(value, notes)
    return listed


_POLICY = DEFAULT_POLICY
_DELIVERY = Delivery()
_RETENTION = _POLICY.retention
_LANGUAGES = (*_POLICY.languages, *sorted(PACKS - set(_POLICY.languages)))
"""All shipped packs, those that are on by default first (SPEC 4.3)."""

KEYS: dict[str, Key] = {
    "enabled": Key("whether anything is recorded and shown", True, boolean, _ANYWHERE),
    "triggers.languages": Key(
        f"languages whose remember forms count, out of {' '.join(_LANGUAGES)}",
        list(_POLICY.languages),
        subset(_LANGUAGES),
    ),
    "prompt.workspaceChars": Key(
        "characters of the block of memories", _POLICY.workspace_chars, whole(0, _MOST, limit=_POLICY.workspace_chars)
    ),
    "prompt.maxEntries": Key("memories in the block", _POLICY.max_entries, whole(0, _MOST, limit=_POLICY.max_entries)),
    "prompt.hotChars": Key("characters of the hot block", _POLICY.hot_chars, whole(0, _MOST, limit=_POLICY.hot_chars)),
    **{
        f"caps.{name}": Key(f"memories of type {name} in the block", cap, whole(0, _MOST, limit=cap))
        for name, cap in caps_of(_POLICY).items()
    },
    "injection": Key(
        "whether a session gets the block, or the summary of the memory file",
        _DELIVERY.injection,
        choice("workspace", "summary"),
        _ANYWHERE,
    ),
    "tools": Key("whether the model gets tools to change memories", _DELIVERY.tools, boolean, _ANYWHERE),
    "memoryFile": Key(
        "whether `MEMORY.md` is kept; `auto`: where it is there",
        "auto",
        choice("auto", "on", "off"),
        _ANYWHERE,
    ),
    # These two judge nothing either: a host's options have always held them.
    "maxSummaryChars": Key("characters of the summary of the memory file", 2000, whole(1, _MOST), _ANYWHERE),
    "enableLog": Key("whether the tools keep a log of operations", True, boolean, _ANYWHERE),
    "worktrees": Key("whether the worktrees of a repository share a memory", "shared", choice("shared", "separate")),
    "placement": Key(
        "where the hot block stands in a prompt", _DELIVERY.placement, choice("user-part", "system"), _ANYWHERE
    ),
    "hotDelivery": Key(
        "whether the hot block is sent as changes, as a whole, or not at all",
        _DELIVERY.hot_delivery,
        choice("delta", "full", "off"),
        _ANYWHERE,
    ),
    "types": Key("further types, tables of `name`, `cap`, `factor`, `staleDays`", [], _types),
    "errorCategories": Key(
        "further categories of errors: name → table of `programs`, `scripts`, `signals`",
        {},
        named(table({"programs": words, "scripts": words, "signals": words})),
    ),
    "patterns.triggers": Key("further remember forms, as a list or as lists by language", [], _triggers),
    "patterns.negations": Key("further words that negate a request", [], words),
    "patterns.timeWords": Key("further words that make a request one for a day", [], words),
    "patterns.gate": Key("further words that refuse a candidate: name of the reason → list of words", {}, named(words)),
    "redaction.extra": Key(
        "further secrets: labels, as words or `{ label = … }`, and `{ prefix = … }` of tokens", [], _redaction
    ),
    "retention.halfLifeDays": Key(
        "days in which the strength of a memory halves", _RETENTION.half_life_days, whole(1, _DAYS)
    ),
    "retention.dormantAfterDays": Key(
        "days without activity after which time runs slower", _RETENTION.dormant_after_days, whole(0, _DAYS)
    ),
    "retention.dormantRate": Key(
        "how fast it runs then, as a part of one",
        _RETENTION.dormant_rate_percent / 100,
        number(0, 1, parts=100, unit="hundredths"),
    ),
    "retention.minReinforceHours": Key(
        "hours between two reinforcements",
        _RETENTION.min_reinforce_minutes // 60,
        number(0, 24 * 365, parts=60, unit="minutes"),
    ),
    "dataDir": Key(
        "the folder of all ledgers; empty: `$XDG_DATA_HOME/memfold`, by default `~/.local/share/memfold`",
        "",
        string,
        _USER_OR_VARIABLE,
    ),
}
"""Every key of SPEC 19, dotted."""

SECTIONS = frozenset(name.partition(".")[0] for name in KEYS if "." in name)
"""The tables that hold keys."""
