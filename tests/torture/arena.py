"""One round of torture: writers are forked, killed at random moments, and replaced, until all kills are done."""

from __future__ import annotations

import os
import select
import signal
import time
from collections import defaultdict
from random import Random
from typing import NoReturn

from msgspec import Struct

from ledger.log import Cursor, FileLog
from tests.support.logs import KEY, ROOT
from tests.torture.texts import draft_of
from tests.torture.verdict import Verdict, judge
from tests.torture.writer import Delivery, live

__all__ = ["Round", "play"]

_PAUSE = 0.012
"""Seconds between two kills, on average: a life is as long as this times the number of writers."""
_LOOK = 20
"""Kills between two looks of a reader that follows the log."""
_BAIT = 0.7
"""How often a writer that says it is writing is killed at once, whatever the plan says."""


class Round(Struct):
    """What came of a round.

    Attributes:
        writers: number of writers at a time.
        kills: writers that were killed.
        acknowledged: events whose append had returned.
        redelivered: appends that a later life repeated.
        verdict: what was found in the ledger afterwards.
    """

    writers: int
    kills: int
    acknowledged: int
    redelivered: int
    verdict: Verdict


def play(folder: str, seed: str, *, writers: int, kills: int, seconds: float) -> Round:
    """Play a round in a folder that isn't there yet.

    Args:
        folder: of the ledger.
        seed: decides what writers write and how long the harness waits; what the system does between, nobody decides.
        writers: how many write at a time.
        kills: how many are killed, those included that still live at the end.
        seconds: after which the round ends in any case.
    """
    FileLog.create(folder, root=ROOT, key=KEY).close()
    arena = _Arena(folder, seed)
    end = time.monotonic() + seconds
    try:
        for _ in range(writers):
            arena.begin_life(())
        while arena.kills < kills - writers and time.monotonic() < end:
            arena.kill_one()
    finally:
        arena.kill_all()
    with FileLog.open(folder) as log:
        log.append([draft_of("last-0-500")])  # closes off what the last kill has torn
    verdict = judge(folder, arena.acknowledged)
    verdict.violations += arena.violations()
    return Round(writers, arena.kills, len(arena.acknowledged), arena.redelivered, verdict)


class _Arena:
    """The writers of a round that live, and what they have said."""

    def __init__(self, folder: str, seed: str) -> None:
        self.kills = self.redelivered = 0
        self.acknowledged: dict[str, int] = {}
        self._folder, self._seed = folder, seed
        self._random = Random(seed)  # noqa: S311 - a plan, no secret
        self._listen, self._told = os.pipe()
        os.set_blocking(self._listen, False)
        self._heard = b""
        self._lives: dict[str, int] = {}
        self._begun = 0
        self._intended: dict[str, list[Delivery]] = defaultdict(list)
        self._troubles: list[str] = []
        self._cursor = Cursor()
        self._seen: list[str] = []

    def begin_life(self, undelivered: tuple[Delivery, ...]) -> None:
        """Fork a writer, which first delivers again what an earlier one has intended."""
        self._begun += 1
        self.redelivered += len(undelivered)
        name = f"w{self._begun}"
        self._intended[name] += undelivered
        if (number := os.fork()) == 0:
            self._live(name, undelivered)
        self._lives[name] = number

    def _live(self, name: str, undelivered: tuple[Delivery, ...]) -> NoReturn:
        """In the child: whatever happens, it never goes on as the harness."""
        os.close(self._listen)  # the harness alone listens, so that writers end when it has
        try:
            live(self._folder, name, Random(f"{self._seed}/{name}"), self._told, undelivered)  # noqa: S311 - as above
        except BrokenPipeError:
            pass
        except BaseException as error:  # noqa: BLE001 - an append must not fail here: said, and found as a violation
            os.write(self._told, f"{name} failed {type(error).__name__}: {error}".encode()[:400] + b"\n")
        finally:
            os._exit(1)

    def kill_one(self) -> None:
        """Wait a moment, kill a writer, and let another take its place."""
        victim = self._wait(self._random.expovariate(1 / _PAUSE)) or self._random.choice(sorted(self._lives))
        self._kill(victim)
        self._listen_to_all()
        self.begin_life(tuple(self._intended.pop(victim, ())))
        if self.kills % _LOOK == 0:
            self._follow()

    def kill_all(self) -> None:
        """The end: nobody is replaced."""
        for name in list(self._lives):
            self._kill(name)
        self._listen_to_all()
        self._follow()
        os.close(self._listen)
        os.close(self._told)

    def violations(self) -> list[str]:
        """What went wrong while they lived, and whether a reader that followed has seen what stands there now."""
        ids = [event.id for event in FileLog.open(self._folder).read()][: len(self._seen)]
        followed = [] if ids == self._seen else ["a reader that followed the log has seen something else"]
        return self._troubles + followed

    def _kill(self, name: str) -> None:
        number = self._lives.pop(name)
        os.kill(number, signal.SIGKILL)
        if os.WIFSIGNALED(os.waitpid(number, 0)[1]):
            self.kills += 1

    def _wait(self, seconds: float) -> str:
        """Listen for a while; the name of a writer that is writing just now and has been chosen for it."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._listen], [], [], left)[0] and (writing := self._listen_to_all()):
                chosen = writing[-1]
                if chosen in self._lives and self._random.random() < _BAIT:
                    return chosen
        return ""

    def _listen_to_all(self) -> list[str]:
        """Take in what the pipe holds; who said last that it is writing."""
        try:
            while chunk := os.read(self._listen, 1 << 16):
                self._heard += chunk
        except BlockingIOError:
            pass
        *lines, self._heard = self._heard.split(b"\n")
        return [name for line in lines if (name := self._take(line.decode().split(" ")))]

    def _take(self, words: list[str]) -> str:
        """Take in a line; the writer's name if it is writing."""
        name, verb, *rest = words
        match verb:
            case "writes":
                return name
            case "intends":
                titles = [one.partition("=") for one in rest]
                self._intended[name].append(tuple((title, event_id) for title, _, event_id in titles))
            case "has":
                self._acknowledge(rest[0], int(rest[1]))
                waiting = self._intended[name]
                # A delivery is done when its last event is acknowledged; one that is half told comes again.
                if waiting and waiting[0][-1][0] == rest[0]:
                    del waiting[0]
            case _:
                self._troubles.append(" ".join(words))
        return ""

    def _acknowledge(self, title: str, seq: int) -> None:
        if seq >= 0 or title not in self.acknowledged:
            self.acknowledged[title] = seq

    def _follow(self) -> None:
        reader = FileLog.open(self._folder).reader(self._cursor)
        self._seen += [event.id for event in reader]
        self._cursor = reader.cursor
