"""Peers that others publish: installed on demand into ``bench/out``, at one version, and never a part of memfold."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["from_npm", "from_pypi"]

_OUT = Path(__file__).parents[1] / "out"
_WAIT = 180
"""Seconds that an installation may take."""


def from_npm(name: str, version: str, entry: str) -> Path | None:
    """The file of a package that Node runs; None, and a line that says so, where it can't be had.

    Args:
        name: of the package.
        version: the one that is measured.
        entry: the file in it.
    """
    place = _OUT / f"{name.replace('/', '-').lstrip('@')}-{version}"
    npm = shutil.which("npm")
    found = place / "node_modules" / name / entry
    if not found.exists():
        command = [npm or "npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--fetch-retries=1"]
        _install(f"{name}@{version}", [*command, "--ignore-scripts", f"{name}@{version}"], place)
    return found if found.exists() else None


def from_pypi(name: str, version: str) -> Path | None:
    """A folder with a package and all that it needs; None, and a line that says so, where it can't be had.

    Args:
        name: of the package.
        version: the one that is measured.
    """
    place = _OUT / f"{name}-{version}"
    if not (place / name).exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1"]
        _install(f"{name}=={version}", [*command, "--target", str(place), f"{name}=={version}"], place)
    return place if (place / name).exists() else None


def _install(what: str, command: list[str], place: Path) -> None:
    """Half an installation is none: the next run begins anew."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=_WAIT)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(place, ignore_errors=True)
        said = getattr(error, "stderr", None) or b""
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        print(f"    not measured: {what} can't be installed ({type(error).__name__}{': ' if last else ''}{last})")
