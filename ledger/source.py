"""The ``source`` attribute of an event: ``<host>/<session>``, or ``<host>`` alone where there is no session."""

from __future__ import annotations

__all__ = ["OWN_SOURCE", "is_from_client", "make_source", "split_source"]

OWN_SOURCE = "memfold"
"""Source of what no client reports: commands, hand edits, imports, and what memfold itself notes."""


def is_from_client(source: str) -> bool:
    """Whether a client has reported the event, and no command, import or hand edit made it."""
    return split_source(source)[0] != OWN_SOURCE


def make_source(host: str, session: str | None) -> str:
    """Build a source from a host name and a session id of any shape.

    The session is percent-encoded, so that ids such as ``../../evil`` or ``a:b`` stay distinct and the result
    is a URI reference (CloudEvents 1.0). An empty session id is a session; None is none.
    """
    if session is None:
        return host
    if session.isascii() and session.replace("_", "").replace("-", "").isalnum():
        return f"{host}/{session}"
    from urllib.parse import quote

    return f"{host}/{quote(session, safe='', errors='replace')}"


def split_source(source: str) -> tuple[str, str | None]:
    """Split a source into host and session id; the session is None where the event belongs to none."""
    host, slash, session = source.partition("/")
    if "%" not in session:
        return host, session if slash else None
    from urllib.parse import unquote

    return host, unquote(session)
