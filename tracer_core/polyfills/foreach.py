"""What `torch._higher_order_ops.foreach_map` calls its function with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def side_by_side(op: Callable[..., Any], *operands: Any) -> Any:
    """Call `op` on the items of the lists among `operands`, side by side, and on the others as they are."""
    lengths = [len(each) for each in operands if isinstance(each, (list, tuple))]
    if not lengths:
        return op(*operands)
    return [
        op(*[each[place] if isinstance(each, (list, tuple)) else each for each in operands])
        for place in range(min(lengths))
    ]
