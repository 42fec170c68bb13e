"""Configuration: layers of settings in, one ``Config`` out, with findings about what was ignored (SPEC 19, 20)."""

from memfold.config.environment import HOOK_MARKER, environment_layers
from memfold.config.load import config_files, load, locate, workspace_files
from memfold.config.model import Config, Finding, Layer, Resolved
from memfold.config.resolve import as_document, resolve

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
