"""Receipts to record: what a host was given is a fact, so it goes into the log (SPEC 12.3, DESIGN 3)."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from ledger.events import PromptRenderedData
from projections.hot.delivery import HotPart
from projections.prompts import Epoch, block_digest, current_epoch

if TYPE_CHECKING:
    from projections.world import WorldState

__all__ = ["frozen_due", "frozen_receipt", "hot_receipt"]


def frozen_due(world: WorldState, source: str, instance: str) -> bool:
    """Whether the frozen block of a session's open epoch has no receipt yet that names this process of the host.

    Reads the epoch's receipts from the end, up to the first that names another epoch.
    """
    epoch = current_epoch(world.prompts, source)
    if epoch is None:
        return False
    latest = reversed(world.prompts.receipts.get(source, ()))
    of_epoch = takewhile(lambda one: one.epoch == epoch.offset, latest)
    return not any(one.kind == "workspace" and one.instance == instance for one in of_epoch)


def frozen_receipt(epoch: Epoch, instance: str) -> PromptRenderedData:
    """That the frozen block of an open epoch, possibly an empty one, is handed to a process of the host."""
    return PromptRenderedData(
        kind="workspace",
        position=epoch.offset,
        epoch=epoch.offset,
        digest=epoch.digest,
        size=len(epoch.segment),
        instance=instance,
        targets=epoch.shown,
    )


def hot_receipt(part: HotPart, instance: str) -> PromptRenderedData:
    """That hot state, or a change of it, is handed to a process of the host."""
    return PromptRenderedData(
        kind=part.kind,
        position=part.position,
        epoch=part.epoch,
        digest=block_digest(part.text),
        size=len(part.text),
        instance=instance,
        lines=part.lines,
    )
