"""In place of mutmut's trampoline: a slot for each function, which calls the function, a mutant of it, or counts first.

mutmut's own asks the environment which mutant is meant at each call, which makes property tests ten times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from mutmut.mutation import trampoline

_ORIGINAL = "_mutmut_orig"


@dataclass(slots=True, eq=False)
class Slot:
    """One function or method and its mutants."""

    module: str
    mutants: dict[str, Callable[..., Any]]
    of_class: bool
    call: Callable[..., Any]

    @property
    def name(self) -> str:
        """What mutmut calls the function: the name of its mutants without their numbers."""
        return f"{self.module}.{self.mutants[_ORIGINAL].__name__.partition('__mutmut_')[0]}"

    def count(self, *args: Any, **kwargs: Any) -> Any:
        """Note the first call since ``begin``, then step aside."""
        _called.add(self)
        self.put(_ORIGINAL)
        return self.call(*args, **kwargs)

    def put(self, key: str) -> None:
        """From now on, call this one."""
        function = self.mutants[key]
        if self.of_class:
            name = function.__name__
            self.call = lambda cls, *args, **kwargs: getattr(cls, name)(*args, **kwargs)
        else:
            self.call = function


_slots: list[Slot] = []
_called: set[Slot] = set()


def install() -> None:
    """Take the place of mutmut's trampoline; before any module with mutants is imported."""
    setattr(trampoline, trampoline.wrap_in_trampoline.__name__, wrap)


def wrap(mutants: dict[str, Callable[..., Any]], is_classmethod: bool = False) -> Callable[..., Any]:
    """Decorate a function as mutmut's ``wrap_in_trampoline`` does."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        slot = Slot(function.__module__, mutants, is_classmethod, function)
        slot.call = slot.count
        _slots.append(slot)

        @wraps(function)
        def through(*args: Any, **kwargs: Any) -> Any:
            return slot.call(*args, **kwargs)

        return through

    return decorate


def begin() -> None:
    """Count from here on: nothing has been called."""
    for slot in _called:
        slot.call = slot.count
    _called.clear()


def called() -> set[str]:
    """Names of the functions that were called since ``begin``."""
    return {slot.name for slot in _called}


def activate(mutant: str) -> None:
    """Let this mutant stand for its function.

    Raises:
        LookupError: It isn't in any module that was imported.

    """
    module, _, key = mutant.rpartition(".")
    for slot in _slots:
        if slot.module == module and key in slot.mutants:
            slot.put(key)
            return
    raise LookupError(mutant)
