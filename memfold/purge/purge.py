# ruff: noqa: PTH112 - os.path strings, as in ``memfold.paths``
"""A purge from its first look to its end: what goes, where it stands, and the order in which it goes (SPEC 15.4).

Copies and whatever can be computed again go first, the log last, by one rename that brings the record of the purge.
So a purge that is killed either hasn't happened, and can be done again, or has, and only disposable files are left.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from ledger.codec import encode
from ledger.drafts import stamp
from ledger.errors import storage_error
from ledger.events import Draft, Event
from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.rewrite import rewrite
from memfold.backups import backups_folder, known_backups, noted_elsewhere, require_note
from memfold.bridge.spool import Spool, read_spool
from memfold.errors import MemfoldError
from memfold.links import require_unlinked
from memfold.purge.copies import Copy, erase_copy, look_at_copy
from memfold.purge.log import LogEraser
from memfold.purge.places import Place, clear, survey
from projections.erasure.texts import Choice, Containing, History, choose, history_of
from projections.memory.model import Ref
from projections.world import WorldState
from replay.kept import KeptFacts

__all__ = ["Named", "Preview", "Purge"]

_PATIENCE = 10.0
"""Seconds to wait for another writer: a person waits, and hosts hold the lock for a moment only."""

Named = Callable[[WorldState], Sequence[Ref]]
"""Says which memories are to be purged, at the end of the log."""


class Preview(Struct, frozen=True):
    """What a purge would do, told before it does anything.

    Attributes:
        world: the state at the end of the log.
        choice: the texts; if it is empty there is nothing to purge, with ``also_in`` a person has to choose first.
        changed: number of events of the ledger that change, by type; damaged pieces as ``damage``.
        left: lines of the ledger that hold a text and keep it: that of a memory that stays, or an id.
        stays: the fields that hold it there, such as ``tool.completed data.call``, and in how many lines.
        maybe: the fields that hold a short text among other words, likewise: they keep it.
        copies: backups that hold one of the texts.
        places: files that hold one, or may.
        absent: folders of backups that were made elsewhere and aren't there now.
    """

    world: WorldState
    choice: Choice
    changed: dict[str, int] = {}
    left: int = 0
    stays: dict[str, int] = {}
    maybe: dict[str, int] = {}
    copies: tuple[Copy, ...] = ()
    places: tuple[Place, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def does_anything(self) -> bool:
        """Whether there is something that memfold can erase; what is derived says nothing, for it goes unread."""
        own = (place for place in self.places if place.action != "tell" and place.kind != "derived")
        return bool(self.choice.keys or self.changed or self.copies or any(own))

    @property
    def is_found(self) -> bool:
        """Whether one of the texts stands anywhere at all."""
        return self.does_anything or self.left > 0 or any(place.action == "tell" for place in self.places)


class Purge:
    """Purges texts of one ledger.

    Args:
        directory: the ledger's folder.
        data: the data folder.
        key: the workspace's key, by which its backups are found.
        named: the memories that are to be purged.
        texts: texts to erase from all events, whether they are a memory's or not.
        containing: what to do about other memories that hold one of the texts in theirs.
        reason: why; kept in the record, without the texts.
        time: when.
    """

    def __init__(
        self,
        directory: str,
        *,
        data: str,
        key: str,
        named: Named,
        texts: Sequence[str] = (),
        containing: Containing = "ask",
        reason: str = "",
        time: str | None,
    ) -> None:
        self._directory, self._data, self._key = directory, data, key
        self._named, self._texts = named, tuple(texts)
        self._containing: Containing = containing
        self._reason, self._time = reason, time
        self._log = FileLog(directory)
        self._new_key = secrets.token_hex(32)

    def look(self) -> Preview:
        """What the purge would do; nothing is changed. Three folds of the log, and as many of each backup.

        What waits in the spool counts as stored: it will be, before anything is erased.

        Raises:
            LedgerError: if the log can't be read.
            MemfoldError: if it can't be done.
        """
        require_unlinked(self._directory)
        require_note(self._data, self._key)
        waiting = self._waiting()
        history, choice, eraser = self._choose(waiting)
        world = history.world
        if choice.is_empty or choice.also_in:
            return Preview(world, choice)
        # Others may append meanwhile, and nothing was chosen of what they say.
        eraser.rehearse(self._log.path, history.events - len(waiting), waiting)
        looks = (look_at_copy(folder, choice, self._digest_key(world)) for folder in self._copies())
        return Preview(
            world=world,
            choice=choice,
            changed=dict(+eraser.changed),
            left=eraser.left,
            stays=dict(eraser.stays),
            maybe=dict(eraser.maybe),
            copies=tuple(copy for copy in looks if copy is not None),
            places=self.places(choice),
            absent=tuple(one for one in noted_elsewhere(self._data, self._key) if not os.path.isdir(one)),
        )

    def run(self, preview: Preview) -> tuple[Event, ...]:
        """Do what was shown.

        Returns:
            The event that records it.

        Raises:
            MemfoldError: if the log has changed meanwhile so that something else would go, or it can't be done; the
                log is as it was then.
            LedgerError: if the system refused, or another process held the lock all the time.
        """
        require_unlinked(self._directory)
        self._store_waiting()
        run = _Run(self, preview)
        events = rewrite(self._log.path, run, new_id=MonotonicIds())
        # Once more: a reader may have kept facts of the old log while the new one was written.
        self.clear(preview.choice)
        return events

    def places(self, choice: Choice) -> tuple[Place, ...]:
        """The files beside the log that hold one of the texts, or may, as they are now."""
        handled = (backups_folder(self._data, self._key), *self._copies())
        return survey(self._directory, self._data, choice.needles, handled)

    def left(self, choice: Choice) -> tuple[Place, ...]:
        """Those that hold one after a purge too: what isn't memfold's to change, and what came to the spool since."""
        places = (place for place in self.places(choice) if place.action in ("tell", "store"))
        return tuple(replace(place, action="tell") for place in places)

    def clear(self, choice: Choice) -> None:
        """Remove or rewrite these files.

        Raises:
            LedgerError: if the system refused.
        """
        try:
            clear(self.places(choice), choice.needles)
        except OSError as error:
            raise storage_error(error, error.filename or self._directory) from error

    def eraser(self, preview: Preview) -> LogEraser:
        """What makes the new log out of the present one.

        Raises:
            MemfoldError: if something else would go than was shown.
        """
        waiting = self._waiting()
        _, choice, eraser = self._choose(waiting)
        is_other = (choice.keys, choice.targets) != (preview.choice.keys, preview.choice.targets)
        # One that waits since what waited was stored: it has to stand in the log, or nothing could be erased in it.
        waits = any(choice.needles.are_in_bytes(encode(event)) for event in waiting)
        if is_other or choice.also_in or waits:
            raise MemfoldError("the memory has changed meanwhile; nothing was purged", "memfold purge, again")
        return eraser

    def erase_copies(self, preview: Preview) -> None:
        """Rewrite the backups, those included that were made since the look.

        Raises:
            LedgerError: if the system refused.
            MemfoldError: if one can't be done.
        """
        key = self._digest_key(preview.world)
        known = {copy.folder: copy for copy in preview.copies}
        for folder in self._copies():
            copy = known.get(folder) or look_at_copy(folder, preview.choice, key)
            if copy is not None:
                erase_copy(copy, preview.choice, key, reason=self._reason, time=self._time)

    def _copies(self) -> tuple[str, ...]:
        return known_backups(self._data, self._key)

    def _choose(self, waiting: Sequence[Event]) -> tuple[History, Choice, LogEraser]:
        known = KeptFacts(self._directory)
        known.hold()  # the file goes before the log does
        history = history_of(chain(self._log.read(), waiting), known)
        choice = choose(history, self._named(history.world), self._containing, texts=self._texts)
        key = self._digest_key(history.world)
        return history, choice, LogEraser(choice, key, reason=self._reason, time=self._time, known=known)

    def _waiting(self) -> tuple[Event, ...]:
        """What waits in the spool and isn't stored, as it will stand in the log."""
        drafts = {draft.id: draft for draft in read_spool(self._directory)}
        if not drafts:
            return ()
        for event in self._log.read():
            drafts.pop(event.id, None)
        return tuple(stamp(tuple(drafts.values()), self._log.size(), MonotonicIds(), frozenset())[0])

    def _store_waiting(self) -> None:
        """Store what waits in the spool: what isn't purged of it must not be lost.

        Raises:
            LedgerError: if it can't be.
        """
        spool = Spool(self._directory)
        if drafts := spool.take():
            with FileLog(self._directory, lock_timeout=_PATIENCE) as log:
                log.append(drafts, durable=True)
            spool.clear()

    def _digest_key(self, world: WorldState) -> str:
        """One key for all purges of a ledger: else a text that is purged again would have two digests."""
        return next(reversed(world.memory.erasures), self._new_key)


class _Run:
    """A purge while it runs (``ledger.rewrite.Change``)."""

    def __init__(self, purge: Purge, preview: Preview) -> None:
        self._purge, self._preview = purge, preview
        self._eraser: LogEraser

    def begin(self) -> None:
        """Look again, now that nobody can append any more."""
        self._eraser = self._purge.eraser(self._preview)

    def content(self, path: str) -> Iterator[bytes]:
        return self._eraser.content(path)

    def drafts(self, path: str) -> Sequence[Draft]:
        return self._eraser.drafts(path)

    def approve(self, path: str) -> None:
        """The new log is good: everything else goes now, and then it takes the place of the old one."""
        self._eraser.approve(path)
        self._purge.erase_copies(self._preview)
        self._purge.clear(self._preview.choice)
