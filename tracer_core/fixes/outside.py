"""Notice calls that change something outside the process: files, other processes, connections. They are not repeated.

Functions are replaced only while calls are repeated as plain Python, which comes first, and only for that thread: the
engine traces the real ones.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch


class ChangesOutside(Exception):
    """A repeated call would change something outside the process; the text says what, after "it would"."""


_Describe = Callable[..., str | None]
"""Returns what a call with these arguments would do; None if it may be repeated."""


def _opened(file: Any, mode: Any = "r", *_: Any, **__: Any) -> str | None:
    if not isinstance(mode, str) or set(mode).isdisjoint("wax+") or file == os.devnull:
        return None
    return f"open {_shown(file)} for writing"


def _opened_with_flags(file: Any, flags: Any = 0, *_: Any, **__: Any) -> str | None:
    writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    return f"open {_shown(file)} for writing" if writes else None


def _shown(file: Any) -> str:
    return f"`{os.fspath(file)!s}`" if isinstance(file, str | bytes | os.PathLike) else "a file"


def _always(what: str) -> _Describe:
    return lambda *_, **__: what


def _on_file(what: str) -> _Describe:
    return lambda file=None, *_, **__: f"{what} {_shown(file)}"


_FUNCTIONS: list[tuple[Any, str, _Describe]] = [
    (builtins, "open", _opened),
    (io, "open", _opened),
    (os, "open", _opened_with_flags),
    *((os, name, _on_file("remove")) for name in ("remove", "unlink", "rmdir")),
    *((os, name, _on_file("rename")) for name in ("rename", "replace")),
    *((os, name, _on_file("link to")) for name in ("link", "symlink")),
    *((os, name, _on_file("change")) for name in ("truncate", "chmod")),
    (os, "mkdir", _on_file("create")),
    (os, "system", _always("start another process")),
    (subprocess.Popen, "__init__", _always("start another process")),
    (socket.socket, "connect", _always("connect to another process")),
    (torch.serialization._open_zipfile_writer_file, "__init__", lambda _, file=None, *__: _opened(file, "w")),
]


@contextlib.contextmanager
def nothing_outside(scopes: Iterable[dict[str, Any]] = ()) -> Iterator[None]:
    """Raise ChangesOutside in place of calls that would change something outside the process; and at the end, if the
    program has caught that. `scopes` are globals that may have such functions under names of their own."""
    thread, tried = threading.get_ident(), []

    def refusing(original: Any, describe: _Describe) -> Any:
        @functools.wraps(original)
        def refuse(*args: Any, **kwargs: Any) -> Any:
            what = describe(*args, **kwargs) if threading.get_ident() == thread else None
            if what is None:
                return original(*args, **kwargs)
            tried.append(what)
            raise ChangesOutside(what)

        return refuse

    originals = [(owner, name, vars(owner).get(name)) for owner, name, _ in _FUNCTIONS]
    refused = [(owner, name, getattr(owner, name), describe) for owner, name, describe in _FUNCTIONS]
    instead = {id(function): refusing(function, describe) for _, _, function, describe in refused}
    imported = [
        (scope, name, value) for scope in scopes for name, value in list(scope.items()) if id(value) in instead
    ]

    def restore() -> None:
        for scope, name, original in imported:
            scope[name] = original
        for owner, name, original in originals:
            if original is not None:
                setattr(owner, name, original)
            elif name in vars(owner):
                delattr(owner, name)

    try:
        for scope, name, original in imported:
            scope[name] = instead[id(original)]
        for owner, name, function, _ in refused:
            setattr(owner, name, instead[id(function)])
        yield
    finally:
        try:
            restore()
        except BaseException:
            restore()
            raise
    if tried:
        raise ChangesOutside(tried[0])
