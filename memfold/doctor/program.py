# ruff: noqa: PTH100, PTH113, PTH118, PTH120 - os.path strings, as in ``memfold.paths``
"""Checks of memfold itself: switched on, one installation, and nothing of the project in its way."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator

import ledger
import memfold
import projections
import replay
from memfold.cli.moved import former_parts, told
from memfold.doctor.model import Check, Scene
from memfold.hosts.starting import INSTALL_AGAIN, child_environment, found, start_trouble
from memfold.paths import is_project

__all__ = ["check_imports", "check_memory", "check_moved", "check_program", "check_project"]

_PACKAGES = (memfold, replay, projections, ledger)
_NEEDED = ("msgspec", "filelock")


def check_memory(scene: Scene) -> Iterator[Check]:
    """Whether memory is switched on, and where it is switched off (SPEC 3.7)."""
    off = [scene.resolved.origins["enabled"]] if not scene.resolved.config.enabled else []
    off += [
        f"the plugin's options in {one.file}" for one in scene.mentions.found if one.options.get("enabled") is False
    ]
    if off:
        yield Check("memory", "warn", f"switched off by {' and '.join(off)}", "memfold config show tells each setting")
    else:
        yield Check("memory", "ok", "switched on")
    if findings := scene.resolved.findings:
        details = tuple(str(one) for one in findings)
        yield Check("settings", "warn", f"{len(findings)} can't be used", "memfold config show", details)


def check_project(scene: Scene) -> Iterator[Check]:
    """Whether this is a place whose memories are kept (SPEC 1.6)."""
    if not scene.root:
        yield Check("workspace", "note", "this ledger doesn't tell its workspace")
    elif is_project(scene.root, scene.environ):
        yield Check("workspace", "ok", scene.root)
    else:
        seen = f"{scene.root} is no project: sessions have hot state there, and nothing becomes memory"
        yield Check("workspace", "note", seen, "start the client in the folder of a project")


def check_moved(scene: Scene) -> Iterator[Check]:
    """Whether the memories of a folder that is gone may be of this one; nothing where none may."""
    formers = former_parts(scene.root, scene.ledger, scene.environ) if scene.ledger else ()
    if formers:
        yield Check("moved", "note", told(formers), f"if so: {formers[0].take_over}")


def check_program(scene: Scene) -> Iterator[Check]:
    """Which release runs, and whether all of it comes from one installation."""
    del scene
    places = {package.__name__: _home(package.__file__) for package in _PACKAGES}
    version = f"memfold {memfold.__version__}, Python {platform.python_version()}"
    if len(set(places.values())) > 1:
        details = tuple(f"{name} comes from {place}" for name, place in places.items())
        action = f"install memfold in an environment of its own; {INSTALL_AGAIN}"
        yield Check("program", "fail", f"{version}: its packages are from several places", action, details)
    else:
        yield Check("program", "ok", f"{version}, in {places['memfold']}")


def check_imports(scene: Scene) -> Iterator[Check]:
    """Whether modules of the project have our names, and whether the plugin's command is immune to them."""
    mine = {_home(package.__file__) for package in _PACKAGES}
    names = (*(package.__name__ for package in _PACKAGES), *_NEEDED)
    folders = [folder for folder in dict.fromkeys((scene.directory, scene.root)) if folder]
    same = [
        path
        for folder in folders
        if os.path.realpath(folder) not in mine
        for name in names
        for path in (os.path.join(folder, name, "__init__.py"), os.path.join(folder, f"{name}.py"))
        if os.path.isfile(path)
    ]
    if not same:
        yield Check("imports", "ok", "nothing in this folder has the name of a package of ours")
        return
    command = next((one for one in scene.commands if found(one, scene.environ)), None)
    if command is None:
        yield Check("imports", "note", "modules here have names of ours; no command to try", "", tuple(same))
        return
    environ = child_environment(scene.environ)
    bare, with_path = ({**environ, **more} for more in ({}, {"PYTHONPATH": "."}))
    if not start_trouble(command, with_path, cwd=scene.directory):
        seen = "modules here have names of ours; the plugin's command isn't touched by them"
        yield Check("imports", "ok", seen, "", tuple(same))
    elif not start_trouble(command, bare, cwd=scene.directory):
        seen = "modules here have names of ours; the plugin's command starts since the plugin drops PYTHONPATH"
        yield Check("imports", "note", seen, "", tuple(same))
    else:
        trouble = start_trouble(command, bare, cwd=scene.directory)
        seen = f"modules here are imported instead of ours: {trouble}"
        yield Check(
            "imports", "fail", seen, "memfold install opencode, with memfold in its own environment", tuple(same)
        )


def _home(file: str | None) -> str:
    """The folder that holds a package."""
    return os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(file or ""))))
