"""Operators without torch's tag for those that work with compilers.

torch's own operators have the tag, and so have those that `torch.library.custom_op` defines. Of one that was defined
with `torch.library.define` or in C++ and not tagged, nobody has said that its fake agrees with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket


def untagged(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OpOverload | None:
    """Return the operator that a call of `target` with these fakes comes down to, if it is one without the tag."""
    if isinstance(target, OpOverload):
        return None if _has_tag(target) else target
    if not isinstance(target, OpOverloadPacket):
        return None
    overloads = [getattr(target, name) for name in target.overloads()]  # type: ignore[no-untyped-call]
    without = [overload for overload in overloads if not _has_tag(overload)]
    if 0 < len(without) < len(overloads):
        taken = torch._C._jit_resolve_packet(target._qualified_op_name, *args, **kwargs)
        without = [overload for overload in without if overload._overloadname == taken]
    return without[0] if without else None


def _has_tag(overload: OpOverload) -> bool:
    return torch.Tag.pt2_compliant_tag in overload.tags
