"""Readers of other programs' files: what they take, leave out and repair; nothing in a file raises."""

from __future__ import annotations

import json

import pytest

from memfold.imports.formats import FORMATS, recognise
from memfold.imports.model import Format, Import
from tests.support.stores import found, mcp, memory_md, store

STORE, JOURNAL = "workspace-memory.json", "workspace-pending-journal.json"
RULE = {"type": "feedback", "text": "Use small commits", "source": "explicit", "status": "active"}


def _texts(file: Import) -> list[str]:
    return [line.text for line in file.lines]


def _skipped(file: Import) -> list[tuple[int, str]]:
    return [(one.line, one.reason) for one in file.file.skipped]


def test_a_store_gives_all_fields() -> None:
    """Source, confidence, times, count, importance, safety flag, tags and rationale are taken over."""
    entry = RULE | {
        "confidence": 0.8,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-05T10:00:00+02:00",
        "lastReinforcedAt": 1_767_571_200_000,
        "reinforcementCount": 3,
        "userImportance": "high",
        "safetyCritical": True,
        "tags": ["git, review", "git", 7],
        "rationale": "Reviews stay quick",
    }
    (line,) = found(STORE, store(entry), "reference_a").lines
    assert (line.text, line.title, line.content) == ("Use small commits", "Use small commits", "")
    assert (line.source, line.confidence, line.state) == ("explicit", 80, "active")
    assert (line.created, line.updated) == ("2026-01-01T00:00:00.000Z", "2026-01-05T08:00:00.000Z")
    assert (line.clock, line.reinforcements) == ("2026-01-05T00:00:00.000Z", 3)
    assert (line.importance, line.safety_critical) == ("high", True)
    assert (line.tags, line.rationale) == (("git", "review"), "Reviews stay quick")


@pytest.mark.parametrize(
    ("field", "value", "name", "taken"),
    [
        ("source", "telepathy", "source", "manual"),
        ("confidence", 2, "confidence", 100),
        ("confidence", True, "confidence", 100),
        ("confidence", "high", "confidence", 100),
        ("createdAt", "yesterday", "created", None),
        ("createdAt", -1, "created", None),
        ("createdAt", 10**20, "created", None),
        ("createdAt", 1e30, "created", None),
        ("reinforcementCount", -4, "reinforcements", 0),
        ("reinforcementCount", 10**40, "reinforcements", 0),
        ("reinforcementCount", 2.5, "reinforcements", 0),
        ("userImportance", "utmost", "importance", "normal"),
        ("safetyCritical", "yes", "safety_critical", False),
        ("tags", "a,b", "tags", ()),
        ("status", "archived?", "state", "active"),
        ("status", "superseded", "state", "superseded"),
    ],
)
def test_odd_fields_of_a_store_are_tolerated(field: str, value: object, name: str, taken: object) -> None:
    """A field that can't be what it should be is as if it were missing."""
    (line,) = found(STORE, store(RULE | {field: value}), "reference_a").lines
    assert getattr(line, name) == taken


def test_what_is_no_entry_is_named_with_its_line() -> None:
    """Entries without text or type, and what is no object at all, are left out; lines are those of the file."""
    file = found(STORE, store(RULE, {"type": "feedback", "text": " "}, {"text": "x"}, "junk", None), "reference_a")
    assert _texts(file) == ["Use small commits"]
    assert [line.line for line in file.lines] == [4]
    reasons = ["it has no text", "its type is none of ours", "it has no text", "it has no text"]
    assert [reason for _, reason in _skipped(file)] == reasons
    assert [line for line, _ in _skipped(file)] == [10, 14, 17, 18]


def test_entries_of_one_line_have_places_of_their_own() -> None:
    """A minified store has one line; each of its memories is told apart by its item."""
    data = json.dumps({"entries": [RULE, RULE | {"text": "Use tabs"}, RULE]}).encode()
    lines = found(STORE, data, "reference_a").lines
    assert [(line.line, line.item) for line in lines] == [(1, 0), (1, 1), (1, 2)]


def test_a_list_that_is_not_found_again_has_the_first_line() -> None:
    """Where a key stands twice, or in another object too, lines can't be told."""
    for before in (b'"entries": [\n7]', b'"x": {"entries": []}'):
        data = b"{\n" + before + b',\n"entries": [\n{"type": "feedback", "text": "Use tabs"}]}'
        assert [line.line for line in found(STORE, data, "reference_a").lines] == [1]


def test_journal_and_sessions_are_pending() -> None:
    """The journal's entries and what a session left wait; a renamed store doesn't."""
    session = json.dumps({"sessionID": "s", "pendingMemories": [RULE], "openErrors": [{"text": "x"}]}).encode()
    assert [line.state for line in found(JOURNAL, store(RULE), "reference_a").lines] == ["pending"]
    assert [line.state for line in found("sessions/ab.json", session, "reference_a").lines] == ["pending"]
    assert [line.state for line in found("old.json", store(RULE), "reference_a").lines] == ["active"]
    assert [line.state for line in found("list.json", json.dumps([RULE]).encode(), "reference_a").lines] == ["active"]


def test_an_older_copy_that_retired_does_not_keep_the_active_one_away() -> None:
    """What a file has as active comes before what it retired of the same text; all else keeps file order."""
    old = RULE | {"status": "superseded"}
    file = found(STORE, store(old | {"text": "Use yarn"}, old | {"text": "use small commits."}, RULE), "reference_a")
    assert [(line.text, line.state) for line in file.lines] == [
        ("Use yarn", "superseded"),
        ("Use small commits", "active"),
        ("use small commits.", "superseded"),
    ]


def test_memory_md_keeps_ids_days_tags_and_archive() -> None:
    """Each entry names its line; a number that stands twice is wanted once."""
    data = memory_md(
        "002] Ports\n- added: 2026-01-02\n- updated: 2026-01-03\n- tags: net\nLocal services start at 7400",
        "002] Hosts\nAll hosts are in hosts.toml",
        archived=["001] Old proxy\nThe proxy is named pluto"],
        counter=9,
    )
    file = found("MEMORY.md", data, "reference_b")
    ports, hosts, proxy = file.lines
    assert (ports.number, hosts.number, proxy.number) == (2, None, 1)
    assert (ports.created, ports.updated, ports.tags) == ("2026-01-02", "2026-01-03", ("net",))
    assert (ports.title, ports.content) == ("Ports", "Local services start at 7400")
    assert (proxy.state, hosts.state) == ("deleted", "active")
    assert [line.line for line in file.lines] == [6, 12, 17]
    assert file.file.counter == 9


def test_a_counter_beyond_all_numbers_is_named() -> None:
    """The event holds no number that a JSON reader can't; the file goes on without its counter."""
    file = found("MEMORY.md", memory_md("001] Ports\nLocal services start at 7400", counter=2**53), "reference_b")
    assert file.file.counter is None
    assert _skipped(file) == [(1, "the counter is too large to be kept")]
    assert len(file.lines) == 1


@pytest.mark.parametrize("marker", ["<<<<<<< ours", ">>>>>>> theirs"])
def test_a_file_with_conflict_markers_is_not_imported(marker: str) -> None:
    """Which side holds is nobody's guess."""
    file = found("MEMORY.md", memory_md(f"001] Ports\n{marker}\nx"), "reference_b")
    assert not file.lines
    assert "conflict" in file.file.damaged


def test_observations_and_relations_become_memories() -> None:
    """An observation stands behind its entity, a relation is a sentence; the kind is type or tag."""
    data = mcp(
        {"type": "entity", "name": "auth", "entityType": "service", "observations": ["uses JWT", "owns src/auth"]},
        {"type": "entity", "name": "Jo", "entityType": "Feedback", "observations": ["Jo prefers short names"]},
        {"type": "relation", "from": "auth", "to": "db", "relationType": "reads"},
    )
    lines = found("memory.jsonl", data, "mcp").lines
    assert [line.text for line in lines] == [
        "auth: uses JWT",
        "auth: owns src/auth",
        "Jo prefers short names",
        "auth reads db",
    ]
    assert [(line.line, line.item) for line in lines] == [(1, 0), (1, 1), (2, 0), (3, 0)]
    assert [line.tags for line in lines] == [("service",), ("service",), (), ()]
    assert [line.type for line in lines] == ["feedback", "feedback", "feedback", "feedback"]


def test_what_is_no_line_of_the_mcp_server_is_named() -> None:
    """Broken lines, other objects and incomplete ones are left out, and the rest goes on."""
    good = {"type": "relation", "from": "a", "to": "b", "relationType": "reads"}
    data = b"\n".join(
        [
            b"{",
            b"[1]",
            b'{"type": "entity", "name": " ", "observations": ["x"]}',
            b'{"type": "entity", "name": "a", "observations": []}',
            b'{"type": "entity", "name": "a", "observations": "x"}',
            b'{"type": "entity", "name": "a", "observations": ["fine", 3, " "]}',
            b'{"type": "relation", "from": "a"}',
            b'{"type": "entity", "name": "a", "observations": ' + b"[" * 5000,
            json.dumps(good).encode(),
        ]
    )
    file = found("memory.jsonl", data, "mcp")
    assert _texts(file) == ["a: fine", "a reads b"]
    assert [line for line, _ in _skipped(file)] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_bullets_stand_behind_their_heading() -> None:
    """A heading or a line that ends in a colon may turn the meaning of a bullet; the title of the file can't."""
    text = """# Project
- Use tabs
1. Keep functions short
## Never
- use any
* push to main
  without a review
### C#
- name files like classes
When testing:
- run pytest -q
- Python:
    - use mypy
      everywhere
- back at the top

Some text.
- under the heading again
"""
    lines = found("CLAUDE.md", text.encode(), "bullets").lines
    assert [(line.line, line.text) for line in lines] == [
        (2, "Use tabs"),
        (3, "Keep functions short"),
        (5, "Never: use any"),
        (6, "Never: push to main without a review"),
        (9, "C#: name files like classes"),
        (11, "When testing: run pytest -q"),
        (13, "Python: use mypy everywhere"),
        (15, "When testing: back at the top"),
        (18, "C#: under the heading again"),
    ]


def test_bullets_in_code_comments_and_tasks_are_none() -> None:
    """Code and comments are passed over, to the end where they aren't closed; a task is named."""
    parts = (
        "- [ ] write tests",
        "```\n- code\n```",
        "- ~~~\n- more code\n~~~",
        "<!-- - hidden\n- hidden -->",
        "- kept",
    )
    file = found("AGENTS.md", "\n".join([*parts, "<!--", "- lost"]).encode(), "bullets")
    assert _texts(file) == ["kept"]
    assert _skipped(file) == [(1, "it is a task")]
    assert _texts(found("AGENTS.md", b"- one\n```\n- two\n", "bullets")) == ["one"]


def test_a_title_heading_that_is_not_the_first_counts() -> None:
    """Only the first heading of a file is its title; signs that close a heading are none of it."""
    lines = found("AGENTS.md", b"# Rules\n- a b c\n# Never ##\n- d e f\n## **Style:**\n- g h i\n", "bullets").lines
    assert [line.text for line in lines] == ["a b c", "Never: d e f", "Style: g h i"]


def test_an_export_of_ours_comes_back() -> None:
    """States, ids and dates are read; what had expired is named."""
    memory = {"id": "MEM-004", "state": "promoted", "type": "decision", "text": "Use tabs", "proposed": "2026-01-01"}
    document = {
        "schema": "memfold.export/1",
        "next_number": 9,
        "memories": [
            memory | {"title": "Use tabs", "content": "in Makefiles", "reinforced": "2026-02-01", "confidence": 60},
            memory | {"id": None, "state": "pending", "text": "Use spaces"},
            memory | {"state": "expired"},
            memory | {"text": ""},
            3,
        ],
    }
    file = found("e.json", json.dumps(document).encode(), "memfold")
    first, second = file.lines
    assert (first.title, first.content, first.number, first.confidence) == ("Use tabs", "in Makefiles", 4, 60)
    assert (first.created, first.clock) == ("2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z")
    assert (second.state, second.number, second.text) == ("pending", None, "Use spaces")
    assert len(file.file.skipped) == 3
    assert file.file.counter == 9


def test_secrets_are_redacted_in_every_field() -> None:
    """Text, title and content together, rationale, tags: none of them brings a secret."""
    hidden = "hunter2example"
    entry = RULE | {
        "text": f"the password: {hidden} opens it",
        "rationale": f"token={hidden}",
        "tags": [f"password={hidden}"],
    }
    files = [
        found(STORE, store(entry), "reference_a"),
        found("MEMORY.md", memory_md(f"001] password\n- tags: token={hidden}\n{hidden}"), "reference_b"),
        found("m.jsonl", mcp({"type": "entity", "name": "password", "observations": [hidden]}), "mcp"),
        found("CLAUDE.md", f"## password\n- {hidden}\n".encode(), "bullets"),
        found(f"password={hidden}", b"- x y z\n", "bullets"),
    ]
    for file in files:
        assert hidden not in repr((file.file, file.lines))
    assert [one.kind for one in files[0].repairs] == ["redacted"]


def test_repairs_say_what_was_changed() -> None:
    """A secret, a text over its limit and unseen characters are told apart; a text that stays has no repair."""
    entries = (
        RULE,
        RULE | {"text": "x" * 261},
        RULE | {"text": "Use\u200b tabs"},
        RULE | {"text": "a <private>b</private> c"},
        RULE | {"text": "the [REDACTED] stays"},
    )
    file = found(STORE, store(*entries), "reference_a")
    kinds = {one.line: one.kind for one in file.repairs}
    assert [kinds.get(line.line) for line in file.lines] == [None, "cut", "cleaned", "redacted", None]
    assert len(file.lines[1].text) == 260
    assert file.lines[1].content == "x" * 261


HOSTILE = {
    "nothing": b"",
    "blanks": b" \n\t ",
    "a BOM": b"\xef\xbb\xbf",
    "UTF-16": '{"entries": []}'.encode("utf-16"),
    "latin 1": b'{"entries": ["\xe9"]}',
    "NaN": b'{"entries": [{"type": "feedback", "text": "Use tabs", "confidence": NaN}]}',
    "infinity": b'{"entries": [{"type": "feedback", "text": "Use tabs", "confidence": -Infinity}]}',
    "endless number": b'{"entries": [{"type": "feedback", "text": "Use tabs", "createdAt": ' + b"9" * 5000 + b"}]}",
    "depth": b"[" * 100_000,
    "deep values": b'{"entries": [' + b"[" * 900 + b"]" * 900 + b"]}",
    "surrogates": b'{"entries": [{"type": "feedback", "text": "Use \\ud800 tabs"}]}',
    "a cut file": b'{"entries": [{"type": "feedback", "te',
    "a number": b"3",
    "text": b"hello",
    "zeros": b"\0" * 100,
    "a list of lists": b"[[[]]]",
    "many keys": b'{"entries": {"entries": []}}',
}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_no_content_raises(format_: Format, data: bytes) -> None:
    """Whatever stands in a file, the reader says what it took or why it took nothing."""
    file = found("f", data, format_)
    assert len(file.file.digest) == 64
    recognise("f", data)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", "it is empty"),
        ("UTF-16", "it is no UTF-8 text, at byte 0"),
        ("latin 1", "it is no UTF-8 text, at byte 14"),
        ("depth", "it is nested too deeply"),
        ("a cut file", "it is no JSON, at line 1"),
        ("a number", "it holds no list of entries"),
    ],
)
def test_a_damaged_store_says_why(name: str, why: str) -> None:
    """The reason is a sentence that quotes nothing of the file."""
    file = found(STORE, HOSTILE[name], "reference_a").file
    assert file.damaged == why


@pytest.mark.parametrize("name", ["NaN", "infinity", "endless number", "surrogates"])
def test_one_odd_value_does_not_cost_the_file(name: str) -> None:
    """What is no number is none; half a character is replaced."""
    (line,) = found(STORE, HOSTILE[name], "reference_a").lines
    assert line.text in ("Use tabs", "Use \ufffd tabs")
    assert line.confidence == 90


def test_a_file_over_the_limit_is_not_parsed() -> None:
    """50 MB are a thousand stores; whoever has more splits them."""
    assert "50,000,000" in found(STORE, b"[" + b" " * 50_000_000 + b"]", "reference_a").file.damaged


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        (STORE, b"", "reference_a"),
        (JOURNAL, b"broken", "reference_a"),
        ("sessions/ab12.json", b"{}", "reference_a"),
        ("renamed.json", store(RULE), "reference_a"),
        ("list.json", b"[1]", "reference_a"),
        ("MEMORY.md", b"", "reference_b"),
        ("notes.md", b"text\n### [MEM-001] Ports\n", "reference_b"),
        ("notes.md", b"# OpenCode Memory\n", "reference_b"),
        ("memory.jsonl", mcp({"type": "entity", "name": "a"}), "mcp"),
        ("memory.json", b'\n{"type": "relation"}', "mcp"),
        ("e.json", b'{"schema": "memfold.export/1", "memories": []}', "memfold"),
        ("CLAUDE.md", b"- Use tabs\n", None),
        ("package.json", b'{"name": "x"}', None),
        ("x.json", b"{", None),
        ("x", b"\xff", None),
    ],
)
def test_layouts_are_told_from_name_and_content(name: str, data: bytes, format_: Format | None) -> None:
    """Instruction files and unknown ones are none: they are read where a person says so."""
    assert recognise(name, data) == format_


def test_i8_a_pair_in_the_tags_of_a_file_is_a_pair() -> None:
    """The comma that parts two tags also stands between a user and a password (SPEC 7.4)."""
    read = found("MEMORY.md", memory_md("001] Box\n- tags: username: Kjhgfdsq, password: Kjhgfdsq\n"), "reference_b")
    assert read.lines[0].tags == ("username: [REDACTED]", "password: [REDACTED]")


def test_a_private_span_around_bullets_takes_them_all() -> None:
    """A list may stand between its tags; what follows keeps its line (SPEC 7.2)."""
    read = found("CLAUDE.md", b"- a\n<private>\n- the client is Kjhgfdsq\n- b\n</private>\n- c\n", "bullets")
    assert [(line.line, line.text) for line in read.lines] == [(1, "a"), (6, "c")]
