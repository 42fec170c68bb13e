"""Configuration: later layers win, whatever can't be used is a finding, and nothing is fatal."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.events import Delivery
from memfold.config import (
    HOOK_MARKER,
    Config,
    Finding,
    Layer,
    Resolved,
    as_document,
    environment_layers,
    load,
    locate,
    resolve,
)
from memfold.config.environment import variable_of
from memfold.config.keys import KEYS
from projections.policy import (
    CustomType,
    ErrorCategory,
    GatePattern,
    Policy,
    RedactionExtra,
    Retention,
    policy_digest,
)


def user(data: object) -> Resolved:
    """What a user's file alone gives."""
    return resolve([Layer("user", data)])


def complaints(resolved: Resolved) -> list[str]:
    """The keys that have findings, in order."""
    return [finding.key for finding in resolved.findings]


def test_what_nobody_has_set_is_not_looked_up(tmp_path: Path) -> None:
    """A start without settings needs no table of keys, and is told the same."""
    unset, defaults = load(str(tmp_path), {"HOME": str(tmp_path)}), resolve([])
    assert unset.settled is None
    assert (unset.config, unset.findings) == (defaults.config, defaults.findings)
    assert (unset.origins, unset.values) == (defaults.origins, defaults.values)
    assert policy_digest(unset.config.policy) == policy_digest(defaults.config.policy)


def test_the_defaults_are_those_of_the_specification() -> None:
    """SPEC 19 names each default; the policy is the default policy, and every origin says so."""
    resolved = resolve([])
    assert resolved.config == Config(policy=Policy(), delivery=Delivery())
    assert policy_digest(resolved.config.policy) == policy_digest(Policy())
    assert set(resolved.origins.values()) == {"default"}
    assert resolved.findings == ()
    assert as_document(resolved.values) == {
        "enabled": True,
        "triggers": {"languages": ["en", "zh", "ja", "ko"]},
        "prompt": {"workspaceChars": 3600, "maxEntries": 28, "hotChars": 700},
        "caps": {"feedback": 10, "decision": 10, "project": 8, "reference": 6},
        "injection": "workspace",
        "tools": True,
        "memoryFile": "auto",
        "maxSummaryChars": 2000,
        "enableLog": True,
        "worktrees": "shared",
        "placement": "user-part",
        "hotDelivery": "delta",
        "types": [],
        "errorCategories": {},
        "patterns": {"triggers": [], "negations": [], "timeWords": [], "gate": {}},
        "redaction": {"extra": []},
        "retention": {"halfLifeDays": 45, "dormantAfterDays": 14, "dormantRate": 0.25, "minReinforceHours": 1},
        "dataDir": "",
    }


@pytest.mark.parametrize(
    ("data", "changed"),
    [
        ({"enabled": False}, {"enabled": False, "delivery": Delivery(enabled=False)}),
        ({"placement": "system"}, {"delivery": Delivery(placement="system")}),
        ({"hotDelivery": "off"}, {"delivery": Delivery(hot_delivery="off")}),
        ({"injection": "summary"}, {"delivery": Delivery(injection="summary")}),
        ({"tools": False}, {"delivery": Delivery(tools=False)}),
        ({"memoryFile": "on"}, {"memory_file": "on"}),
        ({"maxSummaryChars": 3500}, {"max_summary_chars": 3500}),
        ({"maxSummaryChars": 3500.0}, {"max_summary_chars": 3500}),
        ({"enableLog": False}, {"enable_log": False}),
        ({"worktrees": "separate"}, {"worktrees": "separate"}),
        ({"dataDir": "~/mem"}, {"data_dir": "~/mem"}),
        ({"triggers": {"languages": ["ko", "en"]}}, {"policy": Policy(languages=("en", "ko"))}),
        ({"triggers": {"languages": []}}, {"policy": Policy(languages=())}),
        (
            {"prompt": {"workspaceChars": 800, "maxEntries": 5, "hotChars": 0}},
            {"policy": Policy(workspace_chars=800, max_entries=5, hot_chars=0)},
        ),
        ({"prompt.maxEntries": 5}, {"policy": Policy(max_entries=5)}),
        (
            {"caps": {"project": 2}},
            {"policy": Policy(caps=(("feedback", 10), ("decision", 10), ("project", 2), ("reference", 6)))},
        ),
        (
            {"retention": {"halfLifeDays": 30, "dormantAfterDays": 0, "dormantRate": 0.29, "minReinforceHours": 0.5}},
            {"policy": Policy(retention=Retention(30, 0, 29, 30))},
        ),
        (
            {
                "types": [
                    {"name": "glossary", "cap": 4, "factor": 1.5, "staleDays": 30},
                    {"name": "contact"},
                ]
            },
            {"policy": Policy(types=(CustomType("glossary", 4, 150, 30), CustomType("contact")))},
        ),
        (
            {"errorCategories": {"deploy": {"programs": ["kubectl"], "scripts": ["ship"], "signals": ["denied"]}}},
            {"policy": Policy(error_categories=(ErrorCategory("deploy", ("kubectl",), ("ship",), ("denied",)),))},
        ),
        (
            {"redaction": {"extra": ["kennwort", {"label": "code word"}, {"prefix": "tok_"}]}},
            {"policy": Policy(redaction=RedactionExtra(("kennwort", "code word"), ("tok_",)))},
        ),
    ],
)
def test_each_key_reaches_its_field(data: dict[str, Any], changed: dict[str, Any]) -> None:
    """A good value changes its own field alone, in the field's unit, without a finding."""
    resolved = user(data)
    expected: dict[str, Any] = {"policy": Policy(), "delivery": Delivery()} | changed
    assert resolved.config == Config(**expected)
    assert resolved.findings == ()


def test_a_default_that_is_written_down_is_no_other_policy() -> None:
    """Equal policies have one digest, so that no change is recorded where nothing changed."""
    written = user(json.loads(json.dumps(as_document(resolve([]).values))))
    assert policy_digest(written.config.policy) == policy_digest(Policy())


def test_configured_words_reach_the_policy() -> None:
    """SPEC 20.3: triggers, negations, time words and gate words with a code of their own."""
    words = {"triggers": ["note well"], "negations": ["ne"], "timeWords": ["mañana"], "gate": {"jira": ["JIRA-*"]}}
    patterns = user({"patterns": words}).config.policy.patterns
    assert (patterns.triggers, patterns.negations, patterns.time_words) == (("note well",), ("ne",), ("mañana",))
    assert patterns.gate == (GatePattern("jira", ("JIRA-*",)),)


def test_triggers_by_language_follow_the_language() -> None:
    """Words of a built-in language count while it is on; those of another language always do."""
    data = {
        "triggers": {"languages": ["en"]},
        "patterns": {"triggers": {"en": ["note well"], "ja": ["メモ"], "de": ["merke dir"]}},
    }
    assert user(data).config.policy.patterns.triggers == ("note well", "merke dir")


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"enabled": 1}, "enabled"),
        ({"enabled": "false"}, "enabled"),
        ({"enableLog": "false"}, "enableLog"),
        ({"tools": None}, "tools"),
        ({"maxSummaryChars": "3500"}, "maxSummaryChars"),
        ({"maxSummaryChars": 0.5}, "maxSummaryChars"),
        ({"maxSummaryChars": 0}, "maxSummaryChars"),
        ({"maxSummaryChars": -1}, "maxSummaryChars"),
        ({"maxSummaryChars": True}, "maxSummaryChars"),
        ({"maxSummaryChars": float("inf")}, "maxSummaryChars"),
        ({"maxSummaryChars": float("nan")}, "maxSummaryChars"),
        ({"maxSummaryChars": 16**6000}, "maxSummaryChars"),
        ({"memoryFile": True}, "memoryFile"),
        ({"placement": "elsewhere"}, "placement"),
        ({"placement": ["system"]}, "placement"),
        ({"dataDir": 3}, "dataDir"),
        ({"dataDir": "/a\ud800"}, "dataDir"),
        ({"triggers": {"languages": "en"}}, "triggers.languages"),
        ({"triggers": True}, "triggers"),
        ({"prompt": {"hotChars": -1}}, "prompt.hotChars"),
        ({"caps": [3]}, "caps"),
        ({"caps": {"glossary": 3}}, "caps.glossary"),
        ({"retention": {"halfLifeDays": 0}}, "retention.halfLifeDays"),
        ({"retention": {"halfLifeDays": 1.5}}, "retention.halfLifeDays"),
        ({"retention": {"dormantRate": 0.255}}, "retention.dormantRate"),
        ({"retention": {"dormantRate": 1.01}}, "retention.dormantRate"),
        ({"retention": {"dormantRate": True}}, "retention.dormantRate"),
        ({"retention": {"dormantRate": float("nan")}}, "retention.dormantRate"),
        ({"retention": {"minReinforceHours": 0.001}}, "retention.minReinforceHours"),
        ({"types": "glossary"}, "types"),
        ({"types": ["glossary"]}, "types[0]"),
        ({"errorCategories": []}, "errorCategories"),
        ({"errorCategories": {"Deploy": {}}}, "errorCategories.Deploy"),
        ({"errorCategories": {"deploy": "kubectl"}}, "errorCategories.deploy"),
        ({"patterns": {"triggers": "note"}}, "patterns.triggers"),
        ({"patterns": {"negations": {"en": ["no"]}}}, "patterns.negations"),
        ({"patterns": {"gate": {"a b": ["x"]}}}, "patterns.gate.a b"),
        ({"redaction": {"extra": "kennwort"}}, "redaction.extra"),
        ({"redaction": {"extra": [3]}}, "redaction.extra[0]"),
        ({"redaction": {"extra": [{"label": "a", "prefix": "b"}]}}, "redaction.extra[0]"),
        ({"unknown": 1}, "unknown"),
        ({"prompt": {"unknown": 1}}, "prompt.unknown"),
        ({3: 1}, "3"),
        ("yes", ""),
        (["enabled"], ""),
    ],
)
def test_what_cannot_be_used_is_a_finding_and_nothing_else(data: object, key: str) -> None:
    """SPEC 19: unknown keys and wrong types are reported, with a fix, and ignored."""
    resolved = user(data)
    assert resolved.config == Config()
    assert complaints(resolved) == [key]
    assert resolved.findings[0].fix
    assert set(resolved.origins.values()) <= {"default", "user"}


@pytest.mark.parametrize(
    ("data", "key", "limit"),
    [
        ({"prompt": {"workspaceChars": 3601}}, "prompt.workspaceChars", 3600),
        ({"prompt": {"maxEntries": 99}}, "prompt.maxEntries", 28),
        ({"prompt": {"hotChars": 5000}}, "prompt.hotChars", 700),
        ({"caps": {"feedback": 11}}, "caps.feedback", 10),
        ({"caps": {"reference": 7}}, "caps.reference", 6),
    ],
)
def test_what_is_above_a_limit_is_lowered(data: object, key: str, limit: int) -> None:
    """SPEC 2.6: configuration can lower the limits and not raise them; a finding says what is taken."""
    resolved = user(data)
    assert resolved.values[key] == limit
    assert resolved.origins[key] == "user"
    assert complaints(resolved) == [key]
    assert str(limit) in resolved.findings[0].fix
    assert resolved.config.policy == Policy()


def test_the_cap_of_a_configured_type_is_lowered_too() -> None:
    """SPEC 2.6: a custom type shows six entries at most."""
    resolved = user({"types": [{"name": "glossary", "cap": 7}]})
    assert resolved.config.policy.types == (CustomType("glossary", 6),)
    assert complaints(resolved) == ["types[0].cap"]


@pytest.mark.parametrize("name", ["feedback", "Glossary", "two words", "", "1st", "ü", "a" * 33, 7, "twice"])
def test_a_type_needs_a_name_of_its_own(name: object) -> None:
    """A built-in, repeated or unreadable name costs that type only."""
    resolved = user({"types": [{"name": "twice"}, {"name": name, "cap": 2}, {"name": "last"}]})
    assert resolved.config.policy.types == (CustomType("twice"), CustomType("last"))
    assert complaints(resolved) == ["types[1].name", "types[1]"]


def test_a_bad_field_costs_only_itself() -> None:
    """Fields of a type and items of a list are judged one by one, and named in the finding."""
    resolved = user(
        {
            "types": [{"name": "glossary", "cap": "4", "factor": 0.001, "colour": "red", "staleDays": 9}],
            "triggers": {"languages": ["en", "tlh", "ja", "en"]},
            "patterns": {"negations": ["ne", "*", 5, "", "x" * 101, "nie"]},
        }
    )
    assert resolved.config.policy.types == (CustomType("glossary", stale_days=9),)
    assert resolved.config.policy.languages == ("en", "ja")
    assert resolved.config.policy.patterns.negations == ("ne", "nie")
    assert complaints(resolved) == [
        "types[0].cap",
        "types[0].factor",
        "types[0].colour",
        "triggers.languages[1]",
        "patterns.negations[1]",
        "patterns.negations[2]",
        "patterns.negations[3]",
        "patterns.negations[4]",
    ]


def test_a_later_layer_wins() -> None:
    """Each value comes from the last layer that has a good one, and the origin names that layer."""
    resolved = resolve(
        [
            Layer("user", {"tools": False, "caps": {"feedback": 3, "decision": 3}}, "/u/config.toml"),
            Layer("workspace", {"caps": {"decision": 4}, "tools": "no"}, "/w/.memfold.toml"),
            Layer("plugin", {"placement": "system", "tools": True}),
            Layer("environment", {"placement": "user-part"}, "MEMFOLD_PLACEMENT"),
        ]
    )
    assert dict(resolved.config.policy.caps) == {"feedback": 3, "decision": 4, "project": 8, "reference": 6}
    assert resolved.config.delivery == Delivery()
    origins = {key: source for key, source in resolved.origins.items() if source != "default"}
    assert origins == {
        "tools": "plugin",
        "caps.feedback": "/u/config.toml",
        "caps.decision": "/w/.memfold.toml",
        "placement": "MEMFOLD_PLACEMENT",
    }
    assert [finding.source for finding in resolved.findings] == ["/w/.memfold.toml"]


def test_tables_of_names_add_up_and_lists_are_replaced() -> None:
    """Categories of two files stand side by side, the same name is the later one's; a later list is the list."""
    resolved = resolve(
        [
            Layer("user", {"errorCategories": {"a": {"programs": ["x"]}, "b": {}}, "patterns": {"negations": ["n"]}}),
            Layer("workspace", {"errorCategories": {"a": {"scripts": ["y"]}}, "patterns": {"negations": []}}),
        ]
    )
    assert resolved.config.policy.error_categories == (ErrorCategory("a", scripts=("y",)), ErrorCategory("b"))
    assert resolved.config.policy.patterns.negations == ()


_DELIVERY = {"enabled", "placement", "hotDelivery", "injection", "tools", "memoryFile"}
_TASTE = {"maxSummaryChars", "enableLog"}


def test_i8_a_word_that_holds_a_secret_does_not_count() -> None:
    """The policy is written into the log; and no text that is judged holds such a word any more."""
    token = "gh" + "p_" + "Kjhgfdsq2" * 3
    words = ["password: Kjhg", token, "<private>Kjhg</private>", "plain"]
    resolved = user(
        {"patterns": {"timeWords": words}, "redaction": {"extra": [{"prefix": token}, {"prefix": "acme_"}]}}
    )
    assert resolved.config.policy.patterns.time_words == ("plain",)
    assert resolved.config.policy.redaction.prefixes == ("acme_",)
    names = [f"patterns.timeWords[{index}]" for index in range(3)]
    assert complaints(resolved) == [*names, "redaction.extra[0].prefix", "redaction.extra[0]"]


@pytest.mark.parametrize("key", KEYS)
def test_hosts_and_variables_set_delivery_only(key: str) -> None:
    """SPEC 19: what judges candidates comes from files; elsewhere it is a finding and doesn't count."""
    changed = {"enabled": False, "tools": False, "enableLog": False, "maxSummaryChars": 9, "dataDir": "/d"}
    changed |= {"placement": "system", "hotDelivery": "off", "injection": "summary", "memoryFile": "off"}
    value = changed.get(key, "separate")
    allowed = {"plugin": _DELIVERY | _TASTE, "environment": _DELIVERY | _TASTE | {"dataDir"}}
    for kind, keys in allowed.items():
        resolved = resolve([Layer(kind, {key: value})])  # type: ignore[arg-type] # the kinds are the dict's keys
        assert (resolved.values[key] == value) is (key in keys)
        assert complaints(resolved) == ([] if key in keys else [key])


def test_a_misspelt_key_is_recognised() -> None:
    """The fix names the key that was meant, or the keys of the section."""
    fixes = [f.fix for f in user({"max_summary_chars": 5, "prompt": {"size": 1}, "x": 1, "Retention": {}}).findings]
    assert fixes == [
        "did you mean maxSummaryChars?",
        "known keys are prompt.workspaceChars, prompt.maxEntries, prompt.hotChars",
        "take it out",
        "did you mean retention?",
    ]


def test_a_finding_is_one_line_for_people() -> None:
    """Source, key, value, problem and fix; a long or unspeakable value is shortened."""
    assert str(user({"enabled": 1}).findings[0]) == (
        "user: enabled = 1: is not true or false; write true or false, without quotation marks"
    )
    assert str(Finding("/f", "", "", "is no TOML", "correct it")) == "/f: is no TOML; correct it"
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert [f.value for f in user({"x": "y" * 99, "z": 16**6000, "n": nested}).findings] == [
        "'" + "y" * 58 + "…",
        "int",
        "list",
    ]


@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("hotDelivery", "MEMFOLD_HOT_DELIVERY"),
        ("dataDir", "MEMFOLD_DATA_DIR"),
        ("prompt.workspaceChars", "MEMFOLD_PROMPT_WORKSPACE_CHARS"),
        ("enabled", "MEMFOLD_ENABLED"),
    ],
)
def test_variables_are_the_keys_in_capitals(key: str, variable: str) -> None:
    """A variable's name follows from the key."""
    assert variable_of(key) == variable


def test_variables_are_read_as_their_key_wants() -> None:
    """Words for true and false in any case, digits for numbers, other text as it is; blank is not set."""
    environ = {
        "MEMFOLD_TOOLS": " Off ",
        "MEMFOLD_ENABLE_LOG": "0",
        "MEMFOLD_MEMORY_FILE": "on",
        "MEMFOLD_MAX_SUMMARY_CHARS": "500",
        "MEMFOLD_DATA_DIR": "~/mem",
        "MEMFOLD_PLACEMENT": "  ",
        HOOK_MARKER: "1",
        "HOME": "/h",
    }
    resolved = resolve(environment_layers(environ))
    expected = Config(
        delivery=Delivery(tools=False),
        enable_log=False,
        memory_file="on",
        max_summary_chars=500,
        data_dir="~/mem",
    )
    assert resolved.config == expected
    assert resolved.findings == ()
    assert resolved.origins["tools"] == "MEMFOLD_TOOLS"


def test_bad_variables_are_findings() -> None:
    """What can't be read, what judges and what nobody knows is reported under the variable's name."""
    environ = {
        "MEMFOLD_TOOLS": "perhaps",
        "MEMFOLD_MAX_SUMMARY_CHARS": "9" * 5000,
        "MEMFOLD_PROMPT_HOT_CHARS": "1",
        "MEMFOLD_COLOUR": "red",
    }
    resolved = resolve(environment_layers(environ))
    assert resolved.config == Config()
    assert sorted(finding.source for finding in resolved.findings) == sorted(environ)


@pytest.mark.parametrize(
    ("environ", "enabled"),
    [
        ({"MEMFOLD": "off"}, False),
        ({"MEMFOLD": "OFF"}, False),
        ({"MEMFOLD": "0"}, False),
        ({"MEMFOLD": "off", "MEMFOLD_ENABLED": "true"}, False),
        ({"MEMFOLD": "on", "MEMFOLD_ENABLED": "false"}, False),
        ({"MEMFOLD": "on"}, True),
        ({"MEMFOLD": ""}, True),
        ({"MEMFOLD": "perhaps"}, True),
    ],
)
def test_one_variable_switches_off(environ: dict[str, str], enabled: bool) -> None:
    """SPEC 3.7: MEMFOLD=off wins over everything; another value never switches on what is off."""
    resolved = resolve(environment_layers(environ))
    assert resolved.config.enabled is resolved.config.delivery.enabled is enabled
    assert len(resolved.findings) == (environ["MEMFOLD"] == "perhaps")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with a home of its own."""
    (tmp_path / "home" / ".config" / "memfold").mkdir(parents=True)
    return {"HOME": str(tmp_path / "home")}


def _files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "work").mkdir(exist_ok=True)
    return tmp_path / "home" / ".config" / "memfold" / "config.toml", tmp_path / "work" / ".memfold.toml"


def test_load_reads_all_layers(tmp_path: Path, environ: dict[str, str]) -> None:
    """User file, workspace file (with a BOM), plugin options and variables, in this order."""
    mine, ours = _files(tmp_path)
    mine.write_text("maxSummaryChars = 1\nhotDelivery = 'full'\n[prompt]\nmaxEntries = 9\n")
    ours.write_text("\ufeffmaxSummaryChars = 2\r\n", newline="")
    options = {"maxSummaryChars": 3, "tools": False}
    resolved = load(str(ours.parent), environ | {"MEMFOLD_TOOLS": "on"}, options)
    assert resolved.findings == ()
    assert resolved.config.max_summary_chars == 3
    assert resolved.config.policy.max_entries == 9
    assert resolved.config.delivery == Delivery(hot_delivery="full")
    assert resolved.origins["hotDelivery"] == str(mine)
    assert resolved.origins["maxSummaryChars"] == "plugin options"
    assert load(str(ours.parent), environ).config.max_summary_chars == 2


def test_load_without_any_file_is_the_default(tmp_path: Path, environ: dict[str, str]) -> None:
    """No file, a root that isn't there, and no root at all are no reason for a finding."""
    for root in (str(tmp_path), "/w/app", ""):
        assert load(root, environ).config == Config()
        assert load(root, environ).findings == ()
    (tmp_path / "file").touch()
    assert load(str(tmp_path / "file"), environ).findings == ()


@pytest.mark.parametrize(
    "content",
    [
        b"enabled = ",
        b"\xff\xfe",
        b"a = 1\na = 2",
        b"a = " + b"[" * 5000,
        b"a = " + b"9" * 5000,
        b"#" * 300_000,
        b"a." * 16 + b"a.a = 1",
        b"[" + b"a." * 16 + b"a.a]",
        b'x = ["""\nit\'s""", {' + b"a . " * 16 + b"a.a = 1}] # '",
        b"'" * 30_000,
        b'"' + b'\\"' * 15_000,
        b"<<<<<<< ours\nenabled = false\n",
    ],
)
def test_a_file_that_is_no_toml_is_one_finding(tmp_path: Path, environ: dict[str, str], content: bytes) -> None:
    """A broken file is named and ignored as a whole; the other layers count."""
    mine, ours = _files(tmp_path)
    mine.write_text("tools = false")
    ours.write_bytes(content)
    resolved = load(str(ours.parent), environ)
    assert [finding.source for finding in resolved.findings] == [str(ours)]
    assert resolved.config == Config(delivery=Delivery(tools=False))


@pytest.mark.parametrize(
    "content",
    [
        "tools = false # " + "." * 99,
        'tools = false\npatterns.triggers = [\'....................x\', "....................\\"y"]',
        'tools = false\npatterns.negations = [\'\'\'x\n.....\'.......\'\'\'\'\', """y\n...... \\""" ......""""]',
        "tools = false\n" + "# a.b.c\n" * 100,
    ],
)
def test_dots_in_quotation_marks_and_comments_are_free(content: str, tmp_path: Path, environ: dict[str, str]) -> None:
    """Only keys cost time by their dots; texts and comments hold as many as they like."""
    _, ours = _files(tmp_path)
    ours.write_text(content)
    assert load(str(ours.parent), environ).config.delivery.tools is False


def test_a_stranger_cannot_choose_where_memories_are_written(tmp_path: Path, environ: dict[str, str]) -> None:
    """The data folder is the user's choice: a repository's own is a finding, the user's file and variable count."""
    mine, ours = _files(tmp_path)
    ours.write_text("dataDir = '/evil'")
    resolved = load(str(ours.parent), environ)
    assert resolved.config.data_dir == ""
    (finding,) = resolved.findings
    assert (finding.source, finding.key) == (str(ours), "dataDir")
    assert finding.fix == "set it in your own config.toml or MEMFOLD_DATA_DIR"
    mine.write_text("dataDir = '/mine'")
    assert load(str(ours.parent), environ).config.data_dir == "/mine"
    assert load(str(ours.parent), environ | {"MEMFOLD_DATA_DIR": "/v"}).config.data_dir == "/v"


def test_a_list_is_taken_as_far_as_its_limit() -> None:
    """Thousands of words would cost every message; the first ones count, and a finding says so."""
    listed = [f"word{number}" for number in range(300)]
    resolved = user({"patterns": {"triggers": listed, "gate": {"g": listed[:256]}}})
    assert resolved.config.policy.patterns.triggers == tuple(listed[:256])
    assert [(finding.key, "256" in finding.fix) for finding in resolved.findings] == [("patterns.triggers", True)]
    resolved = user({"patterns": {"gate": {name: ["x1"] for name in listed}}})
    assert len(resolved.config.policy.patterns.gate) == 256
    assert complaints(resolved) == ["patterns.gate"]


def test_a_file_that_cannot_be_read_is_one_finding(tmp_path: Path, environ: dict[str, str]) -> None:
    """A folder or a pipe of that name neither fails nor waits."""
    mine, ours = _files(tmp_path)
    mine.mkdir()
    os.mkfifo(ours)
    resolved = load(str(ours.parent), environ)
    assert [finding.source for finding in resolved.findings] == [str(mine), str(ours)]
    assert "regular file" in resolved.findings[0].problem
    assert resolved.config == Config()


def test_load_without_a_home_is_a_finding(tmp_path: Path) -> None:
    """Where there is no home folder the workspace's file still counts."""
    _, ours = _files(tmp_path)
    ours.write_text("tools = false")
    resolved = load(str(ours.parent), {"HOME": "relative"})
    assert resolved.config.delivery.tools is False
    assert [(finding.source, "HOME" in finding.fix) for finding in resolved.findings] == [("user", True)]


def test_locate_keeps_worktrees_together_unless_told_otherwise(tmp_path: Path, environ: dict[str, str]) -> None:
    """The main worktree's file, or the user's, decides; a worktree that is apart has its own file."""
    top = Path(os.path.realpath(tmp_path))
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    main, second = top / "main", top / "second"
    for command in (["init", "-q", "main"], ["-C", "main", "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *command], cwd=top, check=True, capture_output=True)
    subprocess.run([*git, "-C", "main", "worktree", "add", "-q", "../second"], cwd=top, check=True, capture_output=True)
    (second / ".memfold.toml").write_text("maxSummaryChars = 7")
    root, resolved = locate(str(second), environ)
    assert (root, resolved.config.max_summary_chars) == (str(main), 2000)
    (main / ".memfold.toml").write_text("worktrees = 'separate'")
    root, resolved = locate(str(second), environ, {"tools": False})
    assert (root, resolved.config.max_summary_chars, resolved.config.delivery.tools) == (str(second), 7, False)
    root, resolved = locate(str(main), environ)
    assert (root, resolved.config.worktrees) == (str(main), "separate")


def test_options_rows_of_the_conformance_cases() -> None:
    """The rows with ``op: options`` hold, whether the options come from a plugin or a file."""
    path = Path(__file__).parents[2] / "fixtures" / "cases" / "tools.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for row in rows:
        if row["input"].get("op") == "options":
            for kind in ("plugin", "user"):
                values = resolve([Layer(kind, row["input"]["options"])]).values
                assert {key: values[key] for key in row["expect"]["config"]} == row["expect"]["config"], row["id"]


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "cap", "en", "programs", "label"]) | st.text(max_size=3), inner)
    ),
    max_leaves=8,
)
_LAYERS = st.lists(
    st.builds(
        Layer,
        st.sampled_from(["user", "workspace", "plugin", "environment"]),
        _ANYTHING | st.dictionaries(st.sampled_from([*KEYS, "prompt", "caps"]), _ANYTHING, max_size=4),
    ),
    max_size=3,
)


@given(_LAYERS)
def test_whatever_comes_in_a_usable_config_comes_out(layers: list[Layer]) -> None:
    """Never an exception; limits hold, the policy has a digest and the same layers give the same config."""
    resolved = resolve(layers)
    policy = resolved.config.policy
    assert policy_digest(policy) == policy_digest(resolve(layers).config.policy)
    assert 0 <= policy.workspace_chars <= 3600
    assert 0 <= policy.max_entries <= 28
    assert 0 <= policy.hot_chars <= 700
    assert all(0 <= cap <= 10 for _, cap in policy.caps)
    assert all(isinstance(value, int) for value in (resolved.config.max_summary_chars, policy.max_entries))
    assert all(finding.fix and finding.problem in str(finding) for finding in resolved.findings)


@given(_LAYERS)
def test_the_values_shown_give_the_same_config(layers: list[Layer]) -> None:
    """What ``config show`` prints could be written into a file, and would mean the same."""
    resolved = resolve(layers)
    again = user(as_document(resolved.values))
    assert again.config == resolved.config
    assert again.findings == ()


@given(st.dictionaries(st.sampled_from(["MEMFOLD", *map(variable_of, KEYS)]) | st.text(max_size=9), st.text()))
def test_no_variable_is_fatal(environ: dict[str, str]) -> None:
    """Any environment gives a config, and never touches the policy."""
    assert resolve(environment_layers(environ)).config.policy == Policy()
