"""Layers of settings → one config, with findings: pure, never fatal, and a later layer wins (SPEC 19)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from ledger.events import Delivery
from memfold.config.keys import KEYS, SECTIONS
from memfold.config.model import Config, Finding, Layer, Resolved, Settled
from memfold.config.readers import Notes, attempt
from projections.policy import (
    DEFAULT_POLICY,
    CustomType,
    ErrorCategory,
    GatePattern,
    Patterns,
    Policy,
    RedactionExtra,
    Retention,
    caps_of,
)

__all__ = ["as_document", "resolve", "unset"]


def resolve(layers: Iterable[Layer]) -> Resolved:
    """Apply layers over the defaults, in the order given.

    Tables of names (``errorCategories``, ``patterns.gate``) add up; every other value, lists included, is replaced by
    that of a later layer. What can't be used is a finding, and the value before it stays.
    """
    settled = unset()
    values, origins = settled.values, settled.origins
    findings: list[Finding] = []
    for layer in layers:
        notes = Notes(layer.source or layer.kind, findings)
        for name, value in _settings(layer.data, notes):
            key = KEYS[name]
            if layer.kind not in key.kinds:
                where = "a configuration file" if "workspace" in key.kinds else "your own config.toml"
                variable = " or MEMFOLD_DATA_DIR" if name == "dataDir" else ""
                notes.at(name).add(value, "does not count here", f"set it in {where}{variable}")
                continue
            for good in attempt(key.read, value, notes.at(name)):
                before = values[name]
                both = isinstance(good, dict) and isinstance(before, dict)
                values[name] = {**before, **good} if both else good
                origins[name] = notes.source
    return Resolved(_config(values), tuple(findings), settled)


def unset() -> Settled:
    """What every key is where nobody has set one."""
    return Settled(dict.fromkeys(KEYS, "default"), {name: key.default for name, key in KEYS.items()})


def as_document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as nested tables, as a configuration file would hold them."""
    document: dict[str, Any] = {}
    for name, value in values.items():
        section, dot, inner = name.partition(".")
        if dot:
            document.setdefault(section, {})[inner] = value
        else:
            document[name] = value
    return document


def _settings(data: object, notes: Notes, section: str = "") -> Iterator[tuple[str, object]]:
    """The known keys of a layer, nested or dotted; whatever else is there is noted."""
    if not isinstance(data, Mapping):
        notes.at(section).add(data, "is no table of settings", "write settings by name")
        return
    for inner, value in cast("Mapping[object, object]", data).items():
        name = f"{section}.{inner}" if section else str(inner)
        if name in KEYS:
            yield name, value
        elif name in SECTIONS:
            yield from _settings(value, notes, name)
        else:
            notes.at(name).add(value, "is no known key", _advice(name, section))


def _advice(name: str, section: str) -> str:
    plain = _plain(name)
    if similar := next((known for known in (*KEYS, *SECTIONS) if _plain(known) == plain), None):
        return f"did you mean {similar}?"
    siblings = [known for known in KEYS if known.startswith(f"{section}.")]
    return f"known keys are {', '.join(siblings)}" if section else "take it out"


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _config(values: Mapping[str, Any]) -> Config:
    return Config(
        enabled=values["enabled"],
        policy=_policy(values),
        delivery=Delivery(
            enabled=values["enabled"],
            placement=values["placement"],
            hot_delivery=values["hotDelivery"],
            injection=values["injection"],
            tools=values["tools"],
        ),
        memory_file=values["memoryFile"],
        max_summary_chars=values["maxSummaryChars"],
        enable_log=values["enableLog"],
        worktrees=values["worktrees"],
        data_dir=values["dataDir"],
    )


def _policy(values: Mapping[str, Any]) -> Policy:
    """What judges, in the policy's own units: percent, minutes, tuples."""
    extra: Sequence[dict[str, str]] = values["redaction.extra"]
    policy = Policy(
        languages=tuple(values["triggers.languages"]),
        workspace_chars=values["prompt.workspaceChars"],
        max_entries=values["prompt.maxEntries"],
        hot_chars=values["prompt.hotChars"],
        caps=tuple((name, values[f"caps.{name}"]) for name in caps_of(DEFAULT_POLICY)),
        types=tuple(map(_type, values["types"])),
        error_categories=tuple(
            ErrorCategory(name, **{field: tuple(words) for field, words in fields.items()})
            for name, fields in values["errorCategories"].items()
        ),
        patterns=Patterns(
            triggers=_triggers(values["patterns.triggers"], values["triggers.languages"]),
            negations=tuple(values["patterns.negations"]),
            time_words=tuple(values["patterns.timeWords"]),
            gate=tuple(GatePattern(name, tuple(words)) for name, words in values["patterns.gate"].items()),
        ),
        redaction=RedactionExtra(
            labels=tuple(field["label"] for field in extra if "label" in field),
            prefixes=tuple(field["prefix"] for field in extra if "prefix" in field),
        ),
        retention=Retention(
            half_life_days=values["retention.halfLifeDays"],
            dormant_after_days=values["retention.dormantAfterDays"],
            dormant_rate_percent=round(values["retention.dormantRate"] * 100),
            min_reinforce_minutes=round(values["retention.minReinforceHours"] * 60),
        ),
    )
    # The codec leaves a field out only where it is the very object of the default, not an equal one; without this
    # a default that someone writes down would be another policy by its digest.
    shared = {field: getattr(DEFAULT_POLICY, field) for field in Policy.__struct_fields__}
    return replace(policy, **{field: value for field, value in shared.items() if value == getattr(policy, field)})


def _type(fields: Mapping[str, Any]) -> CustomType:
    given: dict[str, Any] = {"name": fields["name"], "stale_days": fields.get("staleDays")}
    if "cap" in fields:
        given["cap"] = fields["cap"]
    if "factor" in fields:
        given["factor_percent"] = round(fields["factor"] * 100)
    return CustomType(**given)


def _triggers(configured: list[str] | dict[str, list[str]], languages: Sequence[str]) -> tuple[str, ...]:
    """The configured triggers; those of a built-in language count while it is on (SPEC 20.3)."""
    if isinstance(configured, list):
        return tuple(configured)
    off = set(DEFAULT_POLICY.languages).difference(languages)
    return tuple(word for language, listed in configured.items() if language not in off for word in listed)
