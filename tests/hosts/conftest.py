"""Fixtures of the stories in the real client."""

from __future__ import annotations

from tests.hosts.opencode.stage import client, start

__all__ = ["client", "start"]
