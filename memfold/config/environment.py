"""Settings from ``MEMFOLD_*`` variables, whose names are the keys in capitals (SPEC 3.7, 19)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memfold.config.keys import KEYS
from memfold.config.model import Layer

__all__ = ["HOOK_MARKER", "environment_layers", "variable_of"]

HOOK_MARKER = "MEMFOLD_IN_HOOK"
"""Set for processes that a hook starts, whose own hooks do nothing (SPEC 3.3); it is no setting."""

_PREFIX = "MEMFOLD_"
_SWITCH = "MEMFOLD"
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def variable_of(key: str) -> str:
    """The variable of a key: ``hotDelivery`` is ``MEMFOLD_HOT_DELIVERY``."""
    return _PREFIX + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.replace(".", "_")).upper()


_KEY_OF = {variable_of(key): key for key in KEYS}


def environment_layers(environ: Mapping[str, str]) -> list[Layer]:
    """A layer for each variable, sorted by name, so that a finding can name it; ``MEMFOLD=off`` comes last.

    A blank variable counts as not set. What a variable holds is left as text where it can't be what the key wants:
    the key's reader then says so.
    """
    layers = [
        Layer("environment", {_KEY_OF.get(name, name): _value(_KEY_OF.get(name, ""), text)}, name)
        for name, text in sorted(environ.items())
        if name.startswith(_PREFIX) and name != HOOK_MARKER and text.strip()
    ]
    switch = environ.get(_SWITCH, "").strip()
    if switch and switch.lower() not in _TRUE:  # on is no order: it doesn't undo an off from elsewhere
        layers.append(Layer("environment", {"enabled": _value("enabled", switch)}, _SWITCH))
    return layers


def _value(key: str, text: str) -> object:
    """The text as the type of the key's default."""
    default = KEYS[key].default if key else None
    plain = text.strip().lower()
    if isinstance(default, bool) and plain in _TRUE | _FALSE:
        return plain in _TRUE
    if isinstance(default, int) and re.fullmatch(r"[0-9]{1,18}", plain):
        return int(plain)
    return text.strip()
