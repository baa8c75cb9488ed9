"""Programs given as text, in files that need not exist: a person's, or an installed package's."""

from __future__ import annotations

import linecache
from typing import Any

import torch

import tracer_core
from tracer_core.names.folders import SITE_FOLDERS
from tracer_core.observer import observing
from tracer_core.recording import Trace
from tracer_core.recording.recorder import Recorder

USERS = "/home/me/model.py"
PACKAGES = SITE_FOLDERS[0] + "somelib/layers.py"


def module(text: str, filename: str = USERS, **names: Any) -> dict[str, Any]:
    """The names that the program defines. It stands in its file from line 1."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"__name__": filename.rsplit("/", 2)[-2], "torch": torch, **names}
    exec(compile(text, filename, "exec"), namespace)  # noqa: S102  the text is the test's
    return namespace


def recorded(function: Any, *calls: Any, **options: Any) -> Trace:
    """The recording of these calls of the function (each a tuple of arguments), compiled for the eager back end."""
    compiled = tracer_core.compile(function, backend="eager", **options)
    recorder = Recorder()
    with observing(recorder):
        for args in calls:
            compiled(*args)
    return Trace(recorder.finish())
