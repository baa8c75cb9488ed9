"""Imports."""

from __future__ import annotations

import importlib.util
import sys

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.ops.table import op
from tracer_core.sources import AttrSource, ConstantSource
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame


@op("IMPORT_NAME")
def import_name(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    level, names = (tracker.realize().value() for tracker in frame.pop_n(2))
    name = ins.arg
    if level:
        name = _absolute(frame, "." * level + name)
    if name not in sys.modules:
        raise Unsupported("import", name=name)
    module = sys.modules[name]
    if not names and not level and "." in name:
        module = sys.modules[name.partition(".")[0]]
    frame.push(tx.build(module, ConstantSource.of_object(module, module.__name__)))


def _absolute(frame: Frame, relative: str) -> str:
    """Return the full name of a module named relative to its package. Outside a package the import breaks, and plain
    Python raises the error."""
    package = frame.globals.get("__package__")
    if not isinstance(package, str) or not package:
        raise Unsupported("import", name=relative)
    try:
        return importlib.util.resolve_name(relative, package)
    except ImportError:
        raise Unsupported("import", name=relative) from None


@op("IMPORT_FROM")
def import_from(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    module = frame.stack[-1]
    found = tx.find_attr(module, ins.arg)
    if found is None:
        known = module.realize().value()
        submodule = sys.modules.get(f"{known.__name__}.{ins.arg}")
        if submodule is None:
            raise Unsupported("import", name=f"{known.__name__}.{ins.arg}")
        found = tx.build(submodule, AttrSource(ConstantSource.of_object(known, known.__name__), ins.arg))
    assert found is not None
    frame.push(found)
