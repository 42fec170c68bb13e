"""What the calls of the log's blocks mean for hot state, kept in ``derived/calls.jsonl``."""

from __future__ import annotations

from itertools import islice

import msgspec

from ledger.blocks import BLOCK, Block
from ledger.codec import UNREADABLE
from ledger.log import FileLog
from ledger.outlines import NO_OUTLINE, outline_of, runs_of
from ledger.pin import Pin
from ledger.runs import Run
from projections.facts import context_key
from projections.hot.calls import BlockCalls, RunCalls, block_calls
from projections.policy import Context
from replay.blocklines import BlockLines, append, new_blocks

__all__ = ["CALLS_NAME", "KeptCalls", "keep_calls"]

CALLS_NAME = "calls.jsonl"
_VERSION = 2
"""Rises when what is kept has another form."""

_decode = msgspec.json.Decoder(BlockCalls).decode


class KeptCalls:
    """The calls of runs; for one pass over a log, from its beginning.

    Args:
        directory: the ledger's folder.
    """

    def __init__(self, directory: str) -> None:
        self._kept = BlockLines(directory, CALLS_NAME, _VERSION)
        self._begin = -1
        self._block: BlockCalls | None = None
        self._context: Context | None = None
        self._key = ""

    def __call__(self, run: Run, context: Context) -> RunCalls | None:
        """The calls of a run as they were read under a policy and root; runs are asked for in order."""
        if run.block.begin != self._begin:
            self._begin = run.block.begin
            # Of all of its bytes: what is kept holds texts of calls, and a call may have been purged.
            body = self._kept.find(run.block.begin, run.block.checksum)
            try:
                self._block = None if body is None else _decode(body)
            except UNREADABLE:
                self._block = None
        if context is not self._context:  # to tell whether it is an equal one costs as much as a run
            self._context, self._key = context, context_key(context).hex()
        block = self._block
        if block is None or block.context != self._key:
            return None
        sessions = block.runs[run.place] if run.place < len(block.runs) else None
        return None if sessions is None else RunCalls(block, sessions)


def keep_calls(log: FileLog, context: Context, most: int | None = None) -> int:
    """Read the calls of whole blocks behind the last one whose calls are kept, and keep them; how many blocks.

    Args:
        log: the log.
        context: the policy and root in force at its end. Calls of before they changed are kept under a key that nobody
            asks for.
        most: blocks to read; None for all. One takes some 10 ms.

    Raises:
        LedgerError: if the log can't be read.
        OSError: if the system doesn't say how long it is.
    """
    with Pin(log) as pin:
        blocks = islice(new_blocks(log.directory, CALLS_NAME, log.path), most)
        found = ((block.begin, block.checksum, _calls_in(block, context)) for block in blocks)
        return append(log.directory, CALLS_NAME, _VERSION, found, pin)


def _calls_in(block: Block, context: Context) -> BlockCalls:
    """The calls of a block; none of one that isn't healthy, or has more to say than a block of usual length."""
    outline = outline_of(block.data) or NO_OUTLINE
    calls = block_calls(runs_of(block.data, outline), context)
    if len(msgspec.json.encode(calls)) <= BLOCK:
        return calls
    return msgspec.structs.replace(calls, paths=(), errors=(), successes=(), runs=(None,) * len(calls.runs))
