"""``python -m bench write``: one memory written beside many, by us and by a server that keeps a JSON file."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from bench.bridge import BRIDGE, Place, Records, place_of, quiet
from bench.measure import in_turn, median, ratio
from bench.peers.installed import from_npm
from bench.pipes import Pipe
from ledger.events import Draft, MemoryAddedData
from ledger.ids import MonotonicIds
from ledger.log import LOG_NAME, FileLog
from ledger.times import format_time
from replay.kept import keep_all
from replay.live import Live

__all__ = ["Server", "measure_writes"]

_MEMORIES = 10_000
_ROUNDS = 8
"""Writes of each for a round that was asked for."""
_IN_FLIGHT = 100
_RAW = "one raw write and sync"
_PEER, _VERSION = "@modelcontextprotocol/server-memory", "2026.8.31"
_PACKAGE_ENTRY = "dist/index.js"
_SOUNDS = ("ba", "di", "fo", "gu", "ke", "la", "mi", "no", "pu", "re", "sa", "ti", "vo", "zu")
_START = 1_700_000_000_000


class _Store(Protocol):
    """A store behind a pipe."""

    def send(self, text: str) -> None:
        """Ask for a text to be kept, without waiting."""

    def is_kept(self) -> bool:
        """Whether the next answer says that it is."""

    def stored(self) -> str:
        """All that is on the disk."""

    def cpu(self) -> float:
        """Seconds of CPU that the process has taken."""

    def close(self) -> None:
        """End the process."""


class _Bridge:
    """``memory_add`` through a bridge, as a client's plugin asks for it."""

    def __init__(self, place: Place, log: Path) -> None:
        self._log = log
        self._numbers = count(1)
        self._child = Pipe(BRIDGE, place.environ)
        records = Records(place.root, "ses_write")
        for first in (records.init(), records.message(), records.prompt()):
            self._child.ask({"id": next(self._numbers), **first})

    def send(self, text: str) -> None:
        number = next(self._numbers)
        args = {"title": f"about {number}", "content": text}
        call = {"sessionID": "ses_write", "tool": "memory_add", "callID": f"call_{number}", "args": args}
        self._child.send({"id": number, "hook": "tool", "t": time.time(), "pid": os.getpid(), "input": call})

    def is_kept(self) -> bool:
        return bool(self._child.answer().get("result", "").startswith("Saved"))

    def stored(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def cpu(self) -> float:
        return self._child.cpu()

    def close(self) -> None:
        self._child.close()


class Server:
    """``create_entities`` of the reference memory server, over stdio."""

    def __init__(self, node: str, entry: Path, file: Path) -> None:
        self._file = file
        self._numbers = count(1)
        environ = {"PATH": os.environ.get("PATH", ""), "HOME": str(file.parent), "MEMORY_FILE_PATH": str(file)}
        self._child = Pipe([node, str(entry)], environ)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._ask("initialize", hello)
        self._child.answer()
        self._child.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def fill(self, texts: Iterator[str]) -> None:
        """Have many kept with one call."""
        self._create(list(texts))
        self.is_kept()

    def look(self, name: str) -> None:
        """Have one entity found.

        Raises:
            RuntimeError: if it isn't there.
        """
        self._ask("tools/call", {"name": "open_nodes", "arguments": {"names": [name]}})
        if name not in json.dumps(self._child.answer()):
            raise RuntimeError("the server has forgotten an entity")

    def send(self, text: str) -> None:
        """Ask for a text to be kept, without waiting."""
        self._create([text])

    def is_kept(self) -> bool:
        """Whether the next answer says that it is."""
        answer = self._child.answer()
        return "error" not in answer and not answer["result"].get("isError")

    def stored(self) -> str:
        """All that is on the disk."""
        return self._file.read_text(encoding="utf-8")

    def cpu(self) -> float:
        """Seconds of CPU that the process has taken."""
        return self._child.cpu()

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def _create(self, texts: list[str]) -> None:
        entities = [{"name": text, "entityType": "fact", "observations": [text]} for text in texts]
        self._ask("tools/call", {"name": "create_entities", "arguments": {"entities": entities}})

    def _ask(self, method: str, params: dict[str, Any]) -> None:
        self._child.send({"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params})


def measure_writes(folder: Path, rounds: int) -> None:
    """Measure and print; without Node or the network ours alone.

    Args:
        folder: an empty folder.
        rounds: an eighth of the writes of each.

    Raises:
        RuntimeError: if a store doesn't hold what it was filled with.
    """
    print(f"\n(o) one memory written beside {_MEMORIES:,}, over a pipe to a child; wall; each to its answer")
    with ExitStack() as stack:
        stores: dict[str, _Store] = {"memfold bridge": _our_store(folder)}
        stack.callback(stores["memfold bridge"].close)
        node = shutil.which("node")
        entry = from_npm(_PEER, _VERSION, _PACKAGE_ENTRY) if node else None
        if node and entry:
            server = Server(node, entry, folder / "graph.jsonl")
            stack.callback(server.close)
            server.fill(map(_text, range(_MEMORIES)))
            stores["server-memory"] = server
        elif not node:
            print(f"    not measured: {_PEER}, since there is no node")
        numbers = count(_MEMORIES)
        with quiet():
            _one_by_one(stores, numbers, folder / "raw", rounds * _ROUNDS)
            for name, store in stores.items():
                _at_once(name, store, numbers)


def _one_by_one(stores: dict[str, _Store], numbers: Iterator[int], raw: Path, rounds: int) -> None:
    def write(store: _Store) -> Callable[[], None]:
        def one() -> None:
            store.send(_text(next(numbers)))
            if not store.is_kept():
                raise RuntimeError("a write was refused")

        return one

    descriptor = os.open(raw, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    line = b"x" * 600 + b"\n"

    def raw_write() -> None:
        os.write(descriptor, line)
        getattr(os, "fdatasync", os.fsync)(descriptor)

    cases = {name: write(store) for name, store in stores.items()}
    in_turn({_RAW: raw_write, **cases}, 2)
    before = {name: store.cpu() for name, store in stores.items()}
    samples = in_turn({_RAW: raw_write, **cases}, rounds, time.perf_counter)
    os.close(descriptor)
    spent = {name: (store.cpu() - before[name]) / rounds for name, store in stores.items()}
    for name in samples:
        cpu = f", CPU of the process {spent[name] * 1e3:.1f} ms" if name in spent else ""
        print(
            f"    {name}: median {median(samples, name) * 1e3:.2f} ms, highest {max(samples[name]) * 1e3:.2f} ms{cpu}"
        )
    ours, *others = list(stores)
    for name in others:
        middle, low, high = ratio(samples, name, ours, share=0.5)
        print(f"    {name} / {ours}: {middle:.0f} (middle half {low:.0f} to {high:.0f}, {rounds} rounds)", end="")
        print(f"; CPU {spent[name] / spent[ours]:.0f}; beside {_RAW} {ratio(samples, name, _RAW)[0]:.0f}")


def _at_once(name: str, store: _Store, numbers: Iterator[int]) -> None:
    """How many of the writes that were acknowledged are on the disk, where nobody waited between them."""
    texts = [_text(next(numbers)) for _ in range(_IN_FLIGHT)]
    begin = time.perf_counter()
    for text in texts:
        store.send(text)
    acknowledged = sum(store.is_kept() for _ in texts)
    seconds = time.perf_counter() - begin
    content = store.stored()
    there = sum(json.dumps(text, ensure_ascii=False) in content for text in texts)
    print(f"    {name}, {_IN_FLIGHT} in flight: {acknowledged} acknowledged, {there} on the disk, {seconds:.2f} s")


def _our_store(folder: Path) -> _Bridge:
    """A bridge on a ledger of so many active memories, with the checkpoint that an earlier one leaves."""
    ledger = folder / "ledger"
    ids = MonotonicIds(lambda: _START)
    # The root that the workspace will have: facts are kept under it.
    root = os.path.realpath(folder / f"workspace-{ledger.name}" / "shop")
    with FileLog.create(ledger, root=root, key="0" * 16, clock=lambda: _START, new_id=ids, durability="never") as log:
        for first in range(0, _MEMORIES, 1000):
            log.append([_draft(number) for number in range(first, first + 1000)])
    log = FileLog.open(ledger)
    keep_all(log.directory, log.read())
    live = Live(log)
    active = sum(entry.state == "promoted" for entry in live.memory().entries.values())
    if active != _MEMORIES:
        raise RuntimeError(f"the ledger has {active:,} active memories")
    live.keep(every=0)
    place = place_of(folder, "write", ledger)
    return _Bridge(place, next(Path(place.environ["HOME"]).rglob(LOG_NAME)))


def _draft(number: int) -> Draft:
    return Draft(source="bench/s", time=format_time(_START + number), data=MemoryAddedData(title=_text(number)))


def _text(number: int) -> str:
    """A sentence of its own: common words, and as many that few others have."""
    chance = random.Random(number)
    names = (f"{chance.choice(_SOUNDS)}{chance.choice(_SOUNDS)}{chance.choice(_SOUNDS)}" for _ in range(6))
    return "the {} of {} and {} is kept in {} by {}, for {} {}".format(*names, number)
