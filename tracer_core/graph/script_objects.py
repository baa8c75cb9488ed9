"""Nodes that use script objects, which change where no graph sees it, and keep the tensors that they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._library.fake_class_registry import FakeScriptObject
from torch.fx import Node
from torch.utils._pytree import tree_map_only


def uses_script_object(node: Node) -> bool:
    return any(isinstance(each.meta.get("example_value"), FakeScriptObject) for each in node.all_input_nodes)


def anew_of_script_objects(result: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the fake result of an operation: of one on a script object, as tensors of their own. Which object it
    returns, and with which data, no fake class says; its result may share memory with what the object was given."""
    if not any(isinstance(each, FakeScriptObject) for each in (*args, *kwargs.values())):
        return result
    return tree_map_only(torch.Tensor, torch.Tensor.detach, result)
