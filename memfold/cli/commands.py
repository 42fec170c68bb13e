"""The table of commands: what each is for, what it writes, and the module that is imported only when it runs."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Command"]

_NOTHING = "Writes nothing."
_LEDGER = "Writes the ledger, and MEMORY.md if one is kept here."


class Command(NamedTuple):
    """One command. ``module`` has ``configure(parser)`` and ``run(arguments) -> exit code``."""

    name: str
    module: str
    summary: str
    examples: tuple[str, ...]
    writes: str = _NOTHING


_COMMANDS = (
    Command(
        "ingest",
        "ingest",
        "Feed a recording of a host's hooks into the ledger of its workspace.",
        (
            "memfold ingest opencode session.jsonl",
            "memfold ingest opencode session.jsonl --workspace ~/src/app",
        ),
        "Writes the ledger, once: the same recording adds nothing a second time.",
    ),
    Command(
        "import",
        "import_",
        "Take in memories of other programs, or exported ones; a report tells what came of each.",
        (
            "memfold import .opencode/memory/MEMORY.md --dry-run",
            "memfold import ~/.local/share/opencode-working-memory/workspaces/0123456789abcdef",
            "memfold import CLAUDE.md --format bullets",
            "memfold export --workspace ~/src/old-name | memfold import -",
        ),
        "Writes the ledger, once: the same file adds nothing a second time. Files that are read stay as they are.",
    ),
    Command(
        "export",
        "export",
        "Print or write the memories: as JSON with all fields, as MEMORY.md, as another program's store.",
        (
            "memfold export --output ~/memories.json",
            "memfold export --format markdown --at 2026-01-31",
            "memfold export --format reference-a --output store",
        ),
        "Writes the file that is named, if it isn't there yet.",
    ),
    Command(
        "backup",
        "backup",
        "Copy the ledger, with a manifest; or list the copies.",
        ("memfold backup", "memfold backup --to /media/stick", "memfold backup --list"),
        "Writes the copy, and if it is made elsewhere, where that is: a purge looks there too.",
    ),
    Command(
        "restore-backup",
        "restore_backup",
        "Put a copy in the ledger's place; says first what that would lose.",
        (
            "memfold restore-backup 20260131T120000000Z --dry-run",
            "memfold restore-backup /media/stick/20260131T120000000Z",
        ),
        "Replaces the ledger, after keeping it as a copy.",
    ),
    Command(
        "status",
        "status",
        "Tell at a glance whether memory works: counts, refusals, sizes, health.",
        ("memfold status", "memfold status --json"),
    ),
    Command(
        "list",
        "list_",
        "List memories, strongest first.",
        ("memfold list", "memfold list --state rejected"),
    ),
    Command(
        "show",
        "show",
        "Show the fields of one memory, named by id or text.",
        ("memfold show MEM-003", 'memfold show "small commits"'),
    ),
    Command(
        "why",
        "why",
        "Explain what became of a memory or of any text, and for which reasons.",
        ("memfold why MEM-003", 'memfold why "3 tests passed"', 'memfold why "Remember: use tabs"'),
        f"{_NOTHING} SPEC 6.2 is section 6.2 of docs/specification.md in the source tree.",
    ),
    Command(
        "history",
        "history",
        "Show every event of one memory, with its texts before and after.",
        ("memfold history MEM-003", 'memfold history "small commits"'),
    ),
    Command(
        "add",
        "add",
        "Store a memory by hand.",
        ('memfold add "use small commits"', "memfold add --title Ports --type reference - < ports.txt"),
        _LEDGER,
    ),
    Command(
        "edit",
        "edit",
        "Change title, content, tags or type of a memory; without options, in $EDITOR.",
        ('memfold edit MEM-003 --title "Use small commits"', "memfold edit MEM-003 --tag git --type decision"),
        _LEDGER,
    ),
    Command(
        "forget",
        "forget",
        "Take a memory out of all future blocks; it can be restored.",
        ("memfold forget MEM-003", 'memfold forget "small commits" --reason "we squash now"'),
        _LEDGER,
    ),
    Command(
        "restore",
        "restore",
        "Make a deleted, superseded or expired memory active again.",
        ("memfold restore MEM-003",),
        _LEDGER,
    ),
    Command(
        "undo",
        "undo",
        "Revert the latest change, or a given one; shows first what else changes.",
        ("memfold undo --dry-run", "memfold undo", "memfold undo 42 --yes"),
        _LEDGER,
    ),
    Command(
        "purge",
        "purge",
        "Erase a memory's texts, or any text, for good, wherever memfold knows it; shows first what and where.",
        ("memfold purge MEM-003 --dry-run", "memfold purge MEM-003", "memfold purge - --yes < token.txt"),
        "Rewrites the ledger, its log of operations, backups and the memory file, and removes what is derived from it.",
    ),
    Command(
        "repair",
        "repair",
        "Set damaged bytes of the ledger aside, after showing which; healthy lines stay as they are.",
        ("memfold repair --dry-run", "memfold repair"),
        "Rewrites the ledger if it is damaged, keeps the bytes in `quarantine/`, and removes what is derived from it.",
    ),
    Command(
        "pin",
        "pin",
        "Exempt a memory from the limit of its type, and let it rank higher.",
        ("memfold pin MEM-003",),
        _LEDGER,
    ),
    Command(
        "unpin",
        "pin",
        "Let a pinned memory count like any other again.",
        ("memfold unpin MEM-003",),
        _LEDGER,
    ),
    Command(
        "sync",
        "sync",
        "Record what was changed in MEMORY.md, and write what the ledger says. Exit 3 if something can't be taken.",
        ("memfold sync", "memfold sync --json"),
        "Writes the ledger, and `.opencode/memory/` of the project if a memory file is kept there.",
    ),
    Command(
        "prompt",
        "prompt",
        "Print the block of memories that a prompt held, byte for byte.",
        ("memfold prompt", "memfold prompt --session a1b2c3 --at 120 --hot"),
        f"{_NOTHING} Through a pipe no line feed follows the block:\nthese are the bytes that a host gets.",
    ),
    Command(
        "log",
        "log",
        "List the events of the ledger.",
        ("memfold log --limit 20", "memfold log --at 19", "memfold log --type memory.requested --json"),
    ),
    Command(
        "account",
        "account",
        "Count candidates by state and by reason; the states add up.",
        ("memfold account", "memfold account --at 2026-01-31T12:00:00Z"),
    ),
    Command(
        "cache",
        "cache",
        "Show what blocks of memory cost the provider's prompt cache.",
        ("memfold cache", "memfold cache --session a1b2c3"),
    ),
    Command(
        "check",
        "check",
        "Look for damage in the ledger. Exit 3 if there is any.",
        ("memfold check", "memfold check --json"),
    ),
    Command(
        "doctor",
        "doctor",
        "Look whether memory works here, and tell what to do if not. Exit 3 if something is wrong.",
        ("memfold doctor", "memfold doctor --json"),
        "Writes nothing but an empty file into the ledger's folder, which it removes again.",
    ),
    Command(
        "install",
        "install",
        "Put the plugin for a client in place.",
        ("memfold install opencode --dry-run", "memfold install opencode", "memfold install opencode --project"),
        "Writes one file where the client looks for plugins, and what it did into the data folder. No setting of the\n"
        "client is changed.",
    ),
    Command(
        "uninstall",
        "uninstall",
        "Take the plugin for a client away again.",
        ("memfold uninstall opencode --dry-run", "memfold uninstall opencode"),
        "Removes what install has made, and puts back what stood there before. Memories stay.",
    ),
    Command(
        "bridge",
        "bridge",
        "Serve a client's plugin on stdin and stdout. Plugins start it; nobody else needs it.",
        ("memfold bridge < session.jsonl",),
        "Writes the ledger of the workspace that the first line names.",
    ),
    Command(
        "hook",
        "hook",
        "Record one event of a host whose hooks are processes. It prints nothing and ends with 0, whatever happens.",
        (
            "memfold hook < event.json",
            "memfold paths  # its line `hook` is the same command, started fast",
        ),
        "Writes the ledger of the workspace that the event names. docs/reference/hook.md tells what an event is.",
    ),
    Command(
        "head",
        "head",
        "Print the head of the ledger's hash tree: kept elsewhere, it shows later that nothing before it has changed.",
        ("memfold head > harbour.head",),
    ),
    Command(
        "verify",
        "verify",
        "Show that the ledger is what its heads say, and where it isn't; that prompts come out as they were given.",
        (
            "memfold verify",
            "memfold verify --since harbour.head",
            "ssh other cat harbour.head | memfold verify --since -",
            "memfold verify --proof event-12.tlog-proof --since harbour.head",
            "memfold verify --prompts --json",
        ),
        "Removes what is kept for fast starts where it isn't what the ledger gives; writes nothing else.",
    ),
    Command(
        "prove",
        "prove",
        "Print the proof that an event stands in the ledger.",
        ("memfold prove 12 > event-12.tlog-proof", "memfold prove 12 --json > event-12.json"),
    ),
    Command(
        "config",
        "config",
        "Show each setting and where its value comes from.",
        ("memfold config show", "memfold config show --json"),
    ),
    Command(
        "paths",
        "paths",
        "Show where things are: ledger, data and configuration.",
        ("memfold paths", "memfold paths --json"),
    ),
    Command(
        "workspaces",
        "workspaces",
        "List all workspaces that have a ledger, and how to take over what is left of one that is gone.",
        ("memfold workspaces", "memfold workspaces --json"),
    ),
    Command(
        "schema",
        "schema",
        "Print the JSON Schema of the ledger's events, or of those that hooks read.",
        ("memfold schema events > events.schema.json", "memfold schema hook"),
    ),
    Command(
        "completion",
        "completion",
        "Print the completion script of a shell.",
        (
            "mkdir -p ~/.local/share/bash-completion/completions",
            "memfold completion bash > ~/.local/share/bash-completion/completions/memfold",
        ),
    ),
)
COMMANDS: dict[str, Command] = {command.name: command for command in _COMMANDS}
"""Name → command, in the order of help."""
