"""Saving and loading: everything comes back, nothing is run, and each kind of bad file gives one clear error."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recording.synthetic import example
from tracer_core.recording import Trace, TraceFileError, file, load, save, schema, snapshots

CONTENT = file.pack(example())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "model.trace"
    target.write_bytes(CONTENT)
    return target


def test_everything_comes_back(tmp_path: Path) -> None:
    trace = Trace(example())
    target = tmp_path / "one.trace"
    trace.save(target)
    again = load(str(target))
    assert again.data == trace.data
    assert str(again) == str(trace)
    assert again.steps[30].sentence == trace.steps[30].sentence
    assert os.listdir(tmp_path) == ["one.trace"]


def test_saving_twice_replaces(path: Path) -> None:
    data = example()
    data.label = "another"
    save(data, path)
    assert load(path).label == "another"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match=r"^There is no file .*nothing\.trace\.$"):
        load(tmp_path / "nothing.trace")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="cannot be read: Is a directory"):
        load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + bytes(100), b"\x80\x04K\x01."])
def test_a_foreign_file(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(TraceFileError, match=r"model\.trace is not a trace file\.$"):
        load(path)


def test_a_truncated_file(path: Path) -> None:
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(TraceFileError, match=r"is damaged or incomplete; save the trace again\.$"):
        load(path)


def test_a_newer_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = example()
    data.version = schema.SCHEMA_VERSION + 1
    save(data, path)
    with pytest.raises(TraceFileError, match="newer version of tracewalk .*; update tracewalk to open it"):
        load(path)


def test_an_older_file_is_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "label": fields["label"] + ", migrated"}

    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    monkeypatch.setitem(file.MIGRATIONS, schema.SCHEMA_VERSION - 1, rename)
    trace = load(path)
    assert trace.label == "the example, migrated"
    assert trace.data.version == schema.SCHEMA_VERSION


def test_an_older_file_without_a_migration(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    with pytest.raises(TraceFileError, match=r"older version of tracewalk .*, or trace the program again\.$"):
        load(path)


LAYOUTS = {2: "092f33f5"}
"""For each schema version, the checksum of its layout."""


def test_a_new_layout_has_a_new_version() -> None:
    """Files of another layout would be called damaged. A new field with a default, in a struct that is stored by
    names, changes nothing for old files."""
    assert layout() == LAYOUTS.get(schema.SCHEMA_VERSION), "Raise SCHEMA_VERSION, and add the layout's checksum here."


def layout() -> str:
    """A checksum of all that a file must have: fields without a default, all fields of structs stored as arrays, and
    their types."""
    found, waiting = {}, [msgspec.inspect.type_info(schema.Recording), msgspec.inspect.type_info(snapshots.Packed)]
    while waiting:
        match waiting.pop():
            case msgspec.inspect.StructType(cls=cls, fields=fields, array_like=in_order):
                if cls.__name__ not in found:
                    kept = [field for field in fields if in_order or field.required]
                    found[cls.__name__] = [
                        (field.encode_name, str(cls.__annotations__[field.name])) for field in kept
                    ]
                    waiting += [field.type for field in fields]
            case msgspec.inspect.UnionType(types=types):
                waiting += types
            case msgspec.inspect.ListType(item_type=item) | msgspec.inspect.VarTupleType(item_type=item):
                waiting.append(item)
            case msgspec.inspect.TupleType(item_types=items):
                waiting += items
            case msgspec.inspect.DictType(value_type=value):
                waiting.append(value)
    return f"{zlib.crc32(repr(sorted(found.items())).encode()):08x}"


@given(st.integers(0, len(CONTENT) - 1))
def test_any_truncation_is_one_clear_error(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    with pytest.raises(TraceFileError):
        file.unpack(CONTENT[:length], "x")


FLIPS = st.dictionaries(st.integers(0, len(CONTENT) - 1), st.integers(1, 255), min_size=1, max_size=4)


@given(FLIPS)
def test_any_damage_is_one_clear_error(flips: dict[int, int]) -> None:
    content = bytearray(CONTENT)
    for at, mask in flips.items():
        content[at] ^= mask
    with pytest.raises(TraceFileError):
        file.unpack(bytes(content), "x")


def forged(raw: bytes, size: int | None = None, compressed: bytes | None = None) -> bytes:
    """A file with a right checksum around any data."""
    compressed = zlib.compress(raw) if compressed is None else compressed
    sizes = struct.pack("<QQ", len(compressed), len(raw) if size is None else size)
    checksum = file._checksum(schema.SCHEMA_VERSION, sizes, compressed)
    return file.MAGIC + struct.pack("<II", schema.SCHEMA_VERSION, checksum) + sizes + compressed


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.integers(0, 9), lambda x: st.lists(x)).map(msgspec.msgpack.encode)
)
def test_forged_contents_are_one_clear_error(raw: bytes) -> None:
    with pytest.raises(TraceFileError):
        file.unpack(forged(raw), "x")


def test_deep_nesting_is_one_clear_error() -> None:
    with pytest.raises(TraceFileError):
        file.unpack(forged(b"\x91" * 1_000_000), "x")


def test_a_bomb_is_refused_before_it_grows() -> None:
    bomb = zlib.compress(bytes(50_000_000))
    with pytest.raises(TraceFileError):
        file.unpack(forged(b"", size=100, compressed=bomb), "x")
    with pytest.raises(TraceFileError):
        file.unpack(forged(b"", size=2**60, compressed=zlib.compress(b"small")), "x")


def test_parts_that_do_not_fit_together(path: Path) -> None:
    data = example()
    data.columns.frame = data.columns.frame[:-4]
    save(data, path)
    with pytest.raises(TraceFileError, match="damaged"):
        load(path)


def test_an_interrupted_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        save(example(), path)
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == [path.name]


def test_a_save_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="cannot be written to .*: No such file or directory"):
        save(example(), tmp_path / "no" / "folder" / "x.trace")


def test_loading_needs_no_torch_and_no_pickle(path: Path) -> None:
    program = (
        "import sys, builtins\n"
        "from tracer_core.recording import load, views\n"
        "t = load(sys.argv[1])\n"
        "assert t.steps[30].sentence and str(t) and views.window(t, 0) and views.chunk(t, 0) and views.meta(t)\n"
        "assert t.find(line=20) and t.breaks\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'torch', 'pandas', 'pickle'}))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], cwd=root, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() in ("[]", "['pickle']")


def test_traces_are_not_pickled(path: Path) -> None:
    import pickle

    with pytest.raises(TypeError, match=r"use save\(path\)"):
        pickle.dumps(load(path))
