# ruff: noqa: PTH116 - pathlib costs more than the look itself
"""The settings of one folder, read anew when one of their files has changed: switching off needs no restart."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memfold.config import Config, Finding, config_files, load, locate, workspace_files
from memfold.errors import ConfigError
from memfold.paths import data_dir, ledger_dir, workspace_key

__all__ = ["Settings"]

_Signature = tuple[int, int, int] | None


class Settings:
    """Where a folder's ledger is, and the configuration in force there (SPEC 19).

    Args:
        directory: the folder that the client works in.
        environ: the environment.
        options: what the client's configuration gave the plugin.

    Attributes:
        root: real path of the workspace.
        data: the data folder.
        ledger: the folder of the ledger; neither of the two need be there. All three stay for good: where a memory
            is kept doesn't change under a running client.
        config: the configuration in force.
        findings: what in it was ignored or lowered when it was read last.

    Raises:
        ConfigError: if the data folder can't be named.
    """

    def __init__(self, directory: str, environ: Mapping[str, str], options: object = None) -> None:
        self.directory = directory
        self._environ = environ
        self._options = options
        self.root, resolved = locate(directory, environ, options)
        self.config: Config = resolved.config
        self.findings: tuple[Finding, ...] = resolved.findings
        self.data = data_dir(environ, resolved.config.data_dir)
        self.ledger = ledger_dir(self.data, workspace_key(self.root))
        self._files = _files(self.root, environ)
        self._seen: list[_Signature] | None = None
        self.refresh()

    def refresh(self) -> bool:
        """Read the files anew if one of them isn't what it was; whether it was so. Costs a look at each file."""
        # Looked at before they are read: a change while we read is then found at the next look.
        seen = [_signature(path) for path in self._files]
        if seen == self._seen:
            return False
        self._seen = seen
        resolved = load(self.root, self._environ, self._options)
        self.config, self.findings = resolved.config, resolved.findings
        return True


def _files(root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return tuple(config_files(root, environ).values())
    except ConfigError:  # no home folder: there is no file of the user's
        return tuple(workspace_files(root).values())


def _signature(path: str) -> _Signature:
    """What changes when a file does; None where there is none, or none that can be looked at."""
    try:
        if not os.access(path, os.F_OK):  # most files aren't there: cheaper than an exception
            return None
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
