"""Configuration: layers of settings in, one ``Config`` out, with findings about what was ignored (SPEC 19, 20)."""

TYPE_CHECKING = False  # as in ``memfold``: a start without settings doesn't pay for reading them
if TYPE_CHECKING:
    from memfold.config.environment import HOOK_MARKER, environment_layers
    from memfold.config.loading import config_files, load, locate, workspace_files
    from memfold.config.model import Config, Finding, Layer, Resolved
    from memfold.config.resolving import as_document, resolve

__all__ = [
    "HOOK_MARKER",
    "Config",
    "Finding",
    "Layer",
    "Resolved",
    "as_document",
    "config_files",
    "environment_layers",
    "load",
    "locate",
    "resolve",
    "workspace_files",
]

_MODULES = {
    "environment": ("HOOK_MARKER", "environment_layers"),
    "loading": ("config_files", "load", "locate", "workspace_files"),
    "model": ("Config", "Finding", "Layer", "Resolved"),
    "resolving": ("as_document", "resolve"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
