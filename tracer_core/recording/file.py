"""Read and write trace files: a small header, then compressed MessagePack. No part of a file is ever executed.

Header, little-endian: 8 bytes that name the format, u32 schema version, u32 CRC-32 of all that follows it and of the
version, u64 length of the data compressed, u64 its length once decompressed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import zlib
from collections.abc import Callable
from typing import Any

import msgspec

from tracer_core.recording import schema
from tracer_core.recording.checks import fits
from tracer_core.recording.damage import TraceFileError

MAGIC = b"\x89TWALK\r\n"
_HEAD = struct.Struct("<8sII")
_SIZES = struct.Struct("<QQ")
_LEVEL = 6
_MOST_COMPRESSED = 1100
"""One byte of zlib data never stands for more bytes than this."""

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each schema version, a function that converts the fields of such a trace to the next version."""


def write(data: schema.Recording, path: str | os.PathLike[str]) -> None:
    """Write a trace. An existing file is replaced atomically, or, if anything fails, left unchanged.

    Raises:
        TraceFileError: the file cannot be written.
    """
    content = pack(data)
    target = os.path.abspath(os.fspath(path))
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.part")
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(folder)
    except OSError as error:
        raise TraceFileError(f"The trace cannot be written to {target}: {error.strerror or error}.") from error


def read(path: str | os.PathLike[str]) -> schema.Recording:
    """Read a trace that `write` wrote.

    Raises:
        TraceFileError: there is no such file, it is not a trace, it is damaged, or another version of tracewalk wrote
            it in a format that this one does not read.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise TraceFileError(f"There is no file {name}.") from None
    except OSError as error:
        raise TraceFileError(f"{name} cannot be read: {error.strerror or error}.") from error
    return unpack(content, name)


def pack(data: schema.Recording) -> bytes:
    """Return a trace as the bytes of a file."""
    raw = msgspec.msgpack.encode(data)
    compressed = zlib.compress(raw, _LEVEL)
    sizes = _SIZES.pack(len(compressed), len(raw))
    return _HEAD.pack(MAGIC, data.version, _checksum(data.version, sizes, compressed)) + sizes + compressed


def unpack(content: bytes, name: str) -> schema.Recording:
    """Invert `pack`; `name` is what messages call the file. Raises TraceFileError."""
    if content[: len(MAGIC)] != MAGIC:
        raise TraceFileError(f"{name} is not a trace file.")
    start = _HEAD.size + _SIZES.size
    if len(content) < start:
        raise TraceFileError(_damaged(name))
    _, version, checksum = _HEAD.unpack_from(content)
    sizes = content[_HEAD.size : start]
    compressed = memoryview(content)[start:]
    packed_size, size = _SIZES.unpack(sizes)
    if len(compressed) != packed_size or _checksum(version, sizes, compressed) != checksum:
        raise TraceFileError(_damaged(name))
    if version > schema.SCHEMA_VERSION:
        raise TraceFileError(
            f"{name} was written by a newer version of tracewalk (file version {version}, this one reads up to "
            f"{schema.SCHEMA_VERSION}); update tracewalk to open it."
        )
    return _decode(_decompress(compressed, size, name), version, name)


def _damaged(name: str) -> str:
    return f"{name} is damaged or incomplete; save the trace again."


def _checksum(version: int, sizes: bytes, compressed: bytes | memoryview) -> int:
    return zlib.crc32(compressed, zlib.crc32(sizes, zlib.crc32(version.to_bytes(4, "little"))))


def _decompress(compressed: memoryview, size: int, name: str) -> bytes:
    """Decompress to exactly `size` bytes; refuse sizes that zlib data of this length cannot reach."""
    if size > len(compressed) * _MOST_COMPRESSED:
        raise TraceFileError(_damaged(name))
    machine = zlib.decompressobj()
    try:
        raw = machine.decompress(compressed, size + 1)
    except zlib.error:
        raise TraceFileError(_damaged(name)) from None
    if len(raw) != size or not machine.eof or machine.unused_data:
        raise TraceFileError(_damaged(name))
    return raw


def _decode(raw: bytes, version: int, name: str) -> schema.Recording:
    try:
        if version == schema.SCHEMA_VERSION:
            data = msgspec.msgpack.decode(raw, type=schema.Recording)
        else:
            data = msgspec.convert(_migrated(msgspec.msgpack.decode(raw), version, name), schema.Recording)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise TraceFileError(_damaged(name)) from None
    if not fits(data):
        raise TraceFileError(_damaged(name))
    return data


def _migrated(fields: Any, version: int, name: str) -> dict[str, Any]:
    while version < schema.SCHEMA_VERSION:
        migrate = MIGRATIONS.get(version)
        if migrate is None or not isinstance(fields, dict):
            raise TraceFileError(
                f"{name} was written by an older version of tracewalk (file version {version}, this one reads "
                f"{schema.SCHEMA_VERSION}): open it with that version, or trace the program again."
            )
        fields = migrate(fields)
        version += 1
    return {**fields, "version": version}


def _sync_folder(folder: str) -> None:
    """Make the new name durable where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
