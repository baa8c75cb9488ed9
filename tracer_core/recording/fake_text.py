"""Write the metadata of a tensor as people write it: `f32[2, s0]`."""

from __future__ import annotations

from tracer_core.recording.schema import FakeMeta

_SHORT = {"bfloat": "bf", "float": "f", "complex": "c", "uint": "u", "int": "i"}


def fake_text(fake: FakeMeta) -> str:
    """Return the dtype and the shape of a tensor, or the text of a symbolic number."""
    if fake.type.startswith("Sym"):
        return fake.shape[0]
    return f"{_dtype(fake.dtype)}[{', '.join(fake.shape)}]"


def _dtype(name: str) -> str:
    for long, short in _SHORT.items():
        if name.startswith(long) and name[len(long) :].isdigit():
            return short + name[len(long) :]
    return name
