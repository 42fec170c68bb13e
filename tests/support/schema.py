"""What a type looks like when it is stored: names and types of all fields, as a text that changes with any of them."""

from __future__ import annotations

import hashlib
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

__all__ = ["schema_digest"]


def schema_digest(*types: Any) -> str:
    """First 16 hex digits of SHA-256 over the description of types and of all that they are made of."""
    found: dict[str, str] = {}
    roots = [_name(type_, found) for type_ in types]
    text = "\n".join([*roots, *(f"{name} {found[name]}" for name in sorted(found))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _name(type_: Any, found: dict[str, str]) -> str:
    if isinstance(type_, type) and get_origin(type_) is None:
        if issubclass(type_, Struct):
            _describe(type_, found)
        elif hasattr(type_, "_fields"):
            hints = get_type_hints(type_)
            found.setdefault(type_.__name__, "")
            found[type_.__name__] = ", ".join(f"{name}: {_name(hint, found)}" for name, hint in hints.items())
        return type_.__name__
    arguments = ", ".join(_name(one, found) for one in get_args(type_))
    return f"{get_origin(type_) or type_!r}[{arguments}]"


def _describe(type_: type[Struct], found: dict[str, str]) -> None:
    if type_.__name__ in found:
        return
    found[type_.__name__] = ""
    config = type_.__struct_config__
    parts = [
        f"{one.encode_name}: {_name(one.type, found)} = {'' if one.required else repr(one.default)}"
        for one in fields(type_)
    ]
    found[type_.__name__] = f"{config.array_like} {config.tag} {', '.join(parts)}"
