"""What a projection is: a name, a version, an initial state and a pure ``apply`` (DESIGN 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar, cast, runtime_checkable

from ledger.events import AnyEvent
from ledger.runs import Run, one_by_one

__all__ = ["InBulk", "InPlace", "Projection", "fold"]

S = TypeVar("S")


class Projection(Protocol[S]):
    """A pure fold. Nobody inherits from it; states are values that ``apply`` never mutates."""

    @property
    def name(self) -> str:
        """Stored in checkpoints; never changes."""
        ...

    @property
    def version(self) -> int:
        """Rises when the same events would give another state."""
        ...

    def initial(self) -> S:
        """The state before the first event."""
        ...

    def apply(self, state: S, event: AnyEvent) -> S:
        """The state after one more event; unknown events leave it as it is."""
        ...


@runtime_checkable
class InPlace(Protocol[S]):
    """The fast way through many events: ``fold`` copies once and then steps a state that only it can see."""

    def copy(self, state: S) -> S:
        """A state that shares nothing mutable with the given one; O(size of the state)."""
        ...

    def step(self, state: S, event: AnyEvent) -> None:
        """Change the state to what ``apply`` would return."""
        ...


@runtime_checkable
class InBulk(Protocol[S]):
    """The fastest way: a projection that takes many events in at once, where most of them concern it little."""

    def copy(self, state: S) -> S:
        """As in ``InPlace``."""
        ...

    def run(self, state: S, events: Iterable[AnyEvent | Run]) -> None:
        """Change the state to what ``apply``, event by event, would return."""
        ...


def fold(projection: Projection[S], events: Iterable[AnyEvent | Run], start: S | None = None) -> S:
    """Fold events onto a state (the initial one by default); ``start`` itself is left as it was.

    ``fold(p, a + b) == fold(p, b, fold(p, a))`` (law 2). A projection that can step in place is copied once
    per call instead of once per event; the laws prove all ways equal.
    """
    state = projection.initial() if start is None else start
    if isinstance(projection, InBulk):
        runner = cast("InBulk[S]", projection)
        state = runner.copy(state)
        runner.run(state, events)
        return state
    if isinstance(projection, InPlace):
        stepper = cast("InPlace[S]", projection)
        state = stepper.copy(state)
        for event in one_by_one(events):
            stepper.step(state, event)
        return state
    for event in one_by_one(events):
        state = projection.apply(state, event)
    return state
