"""Every way into memfold: hooks of the client, tools of the model, files, imports, commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from memfold.capture import ID_LIMIT
from memfold.imports.formats import FORMATS
from tests.corpus.project import Entry, Project
from tests.support.bridge import compacted, event, hook, ran, said, use
from tests.support.hook import repository, sent, taken
from tests.support.hook import tool as call_of
from tests.support.stores import mcp, memory_md, store

__all__ = ["ENTRIES", "SILENT"]

_LONGEST_NAME = 200
"""Bytes of a file's name."""
_LONGEST_WORD = 100
"""Characters of a word in a configuration."""

SILENT = frozenset({"memory_read", "rules file"})
"""Entries of which no word is written, only digests if anything."""

ENTRIES: dict[str, Entry] = {}
"""Name → what sends texts that way."""


def _entry(name: str) -> Callable[[Entry], Entry]:
    def known(entry: Entry) -> Entry:
        ENTRIES[name] = entry
        return entry

    return known


def _line(text: str) -> str:
    return " ".join(text.split())


@_entry("message of the user")
def _messages(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        project.client.ask(said(f"Remember: the box takes {text}", message=project.next("m")))
        project.client.ask(said(f"Remember these:\n- one fact about {text}\n- use tabs", message=project.next("m")))


@_entry("arguments of a tool")
def _arguments(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        project.client.ask(ran(f"deploy {text}", 1, call=project.next("c")))
        for tool, args in (
            ("grep", {"pattern": text, "path": text}),
            ("webfetch", {"url": text}),
            ("todo", {"a": text}),
        ):
            project.client.ask(_after(project, tool, args, text))


@_entry("paths of files")
def _paths(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        for tool in ("read", "edit", "write"):
            project.client.ask(_after(project, tool, {"filePath": f"{project.root}/src/{_line(text)}/a.ts"}, "done"))
        patch = f"*** Begin Patch\n*** Update File: src/{_line(text)}\n@@\n-a\n+b\n*** End Patch"
        project.client.ask(_after(project, "apply_patch", {"patchText": patch}, "done"))


@_entry("output of a tool")
def _outputs(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        project.client.ask(ran("npm test", 1, f"Error: refused {text}\nFAIL {_line(text)}", call=project.next("c")))
        project.client.ask(_after(project, "grep", {"pattern": "x"}, f"src/a.ts:1: {text}\n{_line(text)}.ts:2: x"))


@_entry("error of a tool")
def _errors(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        call = project.next("c")
        project.client.ask(hook("tool.execute.before", tool="edit", callID=call))
        state = {"status": "error", "error": f"Error: {text}", "input": {"filePath": f"src/{_line(text)}"}}
        part = {"id": call, "messageID": "x", "type": "tool", "tool": "edit", "callID": call, "state": state}
        project.client.ask(event("message.part.updated", part=part))


@_entry("summary of a compaction")
def _summaries(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        lines = f"- [project] The staging box needs {_line(text)} to start\n- project {_line(text)}\nREINFORCE {text}"
        summary = f"## Goal\n{text}\n\nMemory candidates:\n{lines}"
        for record in compacted(summary, message=project.next("s")):
            project.client.ask(record)


@_entry("memory_add")
def _adds(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        project.client.ask(use("memory_add", project.next("c"), title=_line(text), content=text, type=text))
        tags = [text, f"a,{text}"]
        project.client.ask(use("memory_add", project.next("c"), title=project.next("Box "), content=text, tags=tags))


@_entry("memory_update")
def _updates(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    project.client.ask(use("memory_add", project.next("c"), title="Box", content="of staging"))
    for text in texts:
        call, content = project.next("c"), f"It takes {text}"
        project.client.ask(use("memory_update", f"{call}a", id="MEM-001", title=_line(text)))
        for name in ("MEM-001", text):
            project.client.ask(use("memory_update", f"{call}{name}", id=name, content=content, tags=[text]))


@_entry("memory_delete")
def _deletes(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for number, text in enumerate(texts, 1):
        project.client.ask(use("memory_add", project.next("c"), title=project.next("Box "), content="of staging"))
        project.client.ask(use("memory_delete", project.next("c"), id=text, reason=text))
        project.client.ask(use("memory_delete", project.next("c"), id=f"MEM-{number:03}", reason=text))


@_entry("memory_read")
def _reads(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    project.client.ask(use("memory_add", project.next("c"), title="Box", content="of staging"))
    for text in texts:
        project.client.ask(use("memory_read", project.next("c"), query=text, limit=text))


@_entry("ids of the client")
def _ids(project: Project, texts: Sequence[str]) -> None:
    for text in texts:
        project.client.begin(instance=text)
        project.client.ask(hook("experimental.chat.system.transform", text))
        project.client.ask(said("Remember: use short names", session=text, message=text))
        project.client.ask(ran("npm test", 1, "FAIL a", session=text, call=text))
        project.client.ask(event("session.created", session=text, info={"id": f"{text}x", "parentID": text}))


@_entry("hand edit of MEMORY.md")
def _hand_edits(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    project.memory_file.parent.mkdir(parents=True)
    project.memory_file.write_bytes(memory_md(*_file_entries(texts), counter=len(texts) + 1))
    project.command("sync")
    kept = project.memory_file.read_text()
    new = [f"### [MEM-{number + 500}] Crate {line}" for number, line in enumerate(_file_entries(texts, "Crate"))]
    edited = kept.replace("## Archived", "\n".join([*new, "## Archived"]), 1).replace("Box", "Chest")
    project.memory_file.write_text(edited)
    project.command("sync")


def _file_entries(texts: Sequence[str], noun: str = "Box") -> list[str]:
    return [
        f"{number:03}] {noun} {number} {_line(text)}\n- tags: {_line(text)}\n{text}\n"
        for number, text in enumerate(texts, 1)
    ]


def _import(format_: str) -> Entry:
    def entry(project: Project, texts: Sequence[str]) -> None:
        path = project.file("store.file", _stores(texts)[format_])
        project.command("import", path, "--format", format_.replace("_", "-"))

    return entry


ENTRIES |= {f"import of {name}": _import(name) for name in FORMATS}


def _is_open(text: str) -> bool:
    """Whether a private span opens and doesn't end: in one long text it would take what stands behind it along."""
    return text.lower().count("<private>") > text.lower().count("</private>")


def _stores(texts: Sequence[str]) -> dict[str, bytes]:
    """The texts in each layout of other programs."""
    old = [
        {"type": "project", "text": f"{n} takes {text}", "rationale": text, "tags": [text], "status": "active"}
        for n, text in enumerate(texts)
    ]
    own = [
        {
            "state": "promoted",
            "type": "project",
            "text": text,
            "title": f"Box {n} {text}",
            "content": text,
            "tags": [text],
        }
        for n, text in enumerate(texts)
    ]
    entities = [
        {"type": "entity", "name": f"box {n}", "entityType": text, "observations": [text]}
        for n, text in enumerate(texts)
    ]
    relations = [{"type": "relation", "from": "a", "relationType": text, "to": "b"} for text in texts]
    return {
        "reference_a": store(*old),
        "reference_b": memory_md(*_file_entries(texts)),
        "mcp": mcp(*entities, *relations),
        "bullets": "".join(f"## {_line(text)}\n- box {_line(text)}\n" for text in sorted(texts, key=_is_open)).encode(),
        "memfold": json.dumps({"schema": "memfold.export/1", "memories": own}).encode(),
    }


@_entry("names of imported files")
def _names(project: Project, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts):
        name = _line(text)
        if "/" in name or len(name.encode()) > _LONGEST_NAME:
            continue  # no file has such a name
        path = project.file(f"{number} {name}", store({"type": "project", "text": f"Box {number} stays here"}))
        project.command("import", path, "--format", "reference-a")


@_entry("recording of a client")
def _recordings(project: Project, texts: Sequence[str]) -> None:
    records = [said(f"Remember: the box takes {text}", message=project.next("m")) for text in texts]
    records += [ran(text, 1, text, call=project.next("c")) for text in texts]
    path = project.file("hooks.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in records))
    project.command("ingest", "opencode", path)


@_entry("arguments of commands")
def _commands(project: Project, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts, 1):
        project.command("add", f"Box {number} takes {text}", "--title", f"Box {number} {text}", "--tag", text)
        if number % 2:
            project.command("edit", f"MEM-{number:03}", f"Chest {number} takes {text}", "--tag", text)
        else:
            project.command("forget", f"MEM-{number:03}", "--reason", text)
    for text in texts[::24]:
        for command in ("why", "show", "forget", "history"):
            project.command(command, f"x {text}")


@_entry("events of a hook")
def _hooks(project: Project, texts: Sequence[str]) -> None:
    home, root = project.home, repository(project.root)
    taken(sent("session.started", root, {"version": "1"}), home)
    for text in texts:
        line = _line(text)
        taken(sent("memory.requested", root, {"message": text, "text": f"Remember: the box takes {text}"}), home)
        summary = f"Memory candidates:\n- [project] The staging box needs {line} to start"
        taken(sent("session.compacted", root, {"message": text, "summary": summary}), home)
        for call in (
            {"name": "Bash", "args": {"command": f"deploy {text}"}, "output": text},
            {"name": "Bash", "args": {"command": f"deploy {line}"}, "exit": 1, "output": f"Error: refused {text}"},
            {"name": "Bash", "args": {"command": "deploy"}, "status": "failed", "output": text},
            {"name": "Read", "args": {"file_path": text}, "output": text},
            {"name": "Grep", "args": {"pattern": text}, "output": f"src/a.ts:1: {text}\n{line}.ts:2: x"},
            {"name": text, "args": {"command": text}},
            {"name": "Read", "call": text},
        ):
            taken(call_of(root, **call), home)
        if len(text) <= ID_LIMIT:  # a longer one is refused
            taken(call_of(root, "Read") | {"session": text}, home)
        taken(sent("rules.loaded", root, {"path": text, "text": f"Use {text}"}), home)


@_entry("rules file")
def _rules(project: Project, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts):
        (project.root / "AGENTS.md").write_text(f"# Rules\n- Use {text}\n{text}\n")
        project.client.begin(instance=f"i{number}")
        project.client.ask(hook("experimental.chat.system.transform", f"S{number}"))


@_entry("policy file")
def _policies(project: Project, texts: Sequence[str]) -> None:
    project.begin()
    for text in texts:
        if len(text) > _LONGEST_WORD:
            continue  # it is refused for its length
        word = json.dumps(_line(text), ensure_ascii=False)
        lists = f"[{word}]"
        project.client.configure(
            f"[patterns]\ntriggers = {lists}\nnegations = {lists}\ntimeWords = {lists}\ngate = {{ odd = {lists} }}\n"
            f"[redaction]\nextra = [{word}, {{ prefix = {word} }}]\n"
            f"[errorCategories.odd]\nprograms = {lists}\nscripts = {lists}\nsignals = {lists}\n"
            f"[[types]]\nname = {word}\n"
        )
        project.client.ask(said("Remember: use short names", message=project.next("m")))


def _after(project: Project, tool: str, args: dict[str, str], output: str) -> dict[str, object]:
    result = {"title": tool, "output": output, "metadata": {}}
    return hook("tool.execute.after", "S", result, tool=tool, callID=project.next("c"), args=args)
