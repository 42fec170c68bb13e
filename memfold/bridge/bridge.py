"""The bridge: lines of a plugin in, answers out; nothing that is sent, and nothing of ours, raises here."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from memfold.bridge.hooks import Hooks
from memfold.bridge.lines import LineWriter
from memfold.bridge.protocol import Answer, Refusal, Request, encode, read_request
from memfold.bridge.settings import Settings
from memfold.errors import ConfigError, StorageFailure
from memfold.hosts.opencode_payloads import mapping

__all__ = ["EARLY_LIMIT", "HELD_LIMIT", "Bridge", "serve"]

HELD_LIMIT = 100
"""Answers that may be held back together."""
EARLY_LIMIT = 500
"""Lines that are kept until the workspace can be seen: as many as a plugin keeps."""
_OF_TOOLS = frozenset({"tools", "tool"})


class Bridge:
    """Answers the lines of one client. The first of them says where it works.

    Args:
        environ: the environment.
        clock: seconds that only rise.
        warmed: called once the log is read.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        warmed: Callable[[], object] = lambda: None,
    ) -> None:
        self._environ = environ
        self._clock = clock
        self._warmed = warmed
        self._hooks: Hooks | None = None
        self._directory = ""
        self._early: list[Request] = []
        self._is_warm = False

    @property
    def unfinished(self) -> bool:
        """See ``Hooks.unfinished``."""
        return self._hooks is not None and self._hooks.unfinished

    def answer(self, line: bytes | None) -> Answer:
        """The answer to a line; None stands for one that was too long to keep."""
        number = None
        try:
            request = read_request(line)
            number = request.id
            return self._ready(request).take(request)
        except Refusal as refusal:
            if self._hooks is not None:
                self._hooks.refused(str(refusal))
            return Answer(refusal.id, refused=str(refusal))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the client its session
            if self._hooks is not None:
                self._hooks.surprised(error)
            return Answer(number, refused=f"failed: an unexpected {type(error).__name__}")

    def settle(self) -> None:
        """Do what could wait until the answer was out."""
        if self._hooks is None:
            return
        try:
            self._hooks.settle()
            if not self._is_warm:
                self._is_warm = True
                self._hooks.warm_up()
                self._warmed()
        except Exception as error:  # noqa: BLE001 - as above
            self._hooks.surprised(error)

    def close(self) -> None:
        """The client has ended: a last try to store what waits."""
        if self._hooks is None and self._early:
            with suppress(Refusal):
                self._begin(self._early[0], None).catch_up(self._early)
        if self._hooks is None:
            return
        try:
            self._hooks.close()
        except Exception as error:  # noqa: BLE001 - as above
            self._hooks.surprised(error)

    def _ready(self, request: Request) -> Hooks:
        """The hooks of the workspace, once ``init`` has named it.

        Where it couldn't be seen, each line looks again, and those that came meanwhile are kept for then; but for calls
        of tools, of which the model was told that nothing is stored.
        """
        if request.hook == "init":
            self._begin(request, request.id)
        elif self._hooks is None and self._early:
            try:
                self._begin(self._early[0], request.id).catch_up(self._early)
            except Refusal:
                if request.hook not in _OF_TOOLS and len(self._early) < EARLY_LIMIT:
                    self._early.append(request)
                raise
        if self._hooks is None:
            raise Refusal("not ready: the first line must be init", request.id)
        return self._hooks

    def _begin(self, request: Request, number: int | None) -> Hooks:
        """The hooks for the directory of an ``init``; ``number`` is the line that is refused if there are none."""
        place = mapping(request.record.get("input"))
        directory = place.get("directory")
        if not isinstance(directory, str) or not os.path.isabs(directory) or "\0" in directory:  # noqa: PTH117 - a text
            raise Refusal("unreadable: init names no absolute directory", number)
        directory = os.path.normpath(directory)
        if self._hooks is None:
            try:
                settings = Settings(directory, self._environ, place.get("options"))
            except ConfigError as error:
                raise Refusal(f"no data folder: {error}", number) from error
            except StorageFailure as error:
                self._early = self._early or [request]
                raise Refusal(f"no workspace: {error}", number) from error
            self._hooks, self._directory = Hooks(settings, self._environ, self._clock), directory
        elif directory != self._directory:
            raise Refusal("elsewhere: this process serves another directory", number)
        return self._hooks


def serve(lines: Iterable[bytes | None], writer: LineWriter, bridge: Bridge) -> None:
    """Answer lines until they end.

    Each answer is written at once and in order, but for one case: a line that is one half of something whose other
    half is still to come is answered together with that. An answer says that a line need not come again, and what
    stands nowhere but in this process would be lost with it. Nobody waits for those lines.
    """
    held: list[bytes] = []
    for line in lines:
        held.append(encode(bridge.answer(line)))
        if bridge.unfinished and len(held) < HELD_LIMIT:
            continue
        if writer.write(b"".join(held)):
            bridge.settle()
        held.clear()
    if held and writer.write(b"".join(held)):
        bridge.settle()
    bridge.close()
