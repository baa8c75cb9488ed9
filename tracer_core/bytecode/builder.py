"""`CodeBuilder`: collects the instructions of all generated code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tracer_core.bytecode.build import make
from tracer_core.bytecode.instruction import CallShape, Instruction
from tracer_core.bytecode.version import cpython

Push = Callable[[], object]
"""A function that writes the instructions that push one value."""


class CodeBuilder:
    """Collect canonical instructions. Methods that take parts of an expression take them as functions that push one
    value each, and call these in the order in which Python evaluates them."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []

    def emit(self, op: str, arg: Any = None, target: Instruction | None = None) -> Instruction:
        """Write one instruction."""
        instruction = make(op, arg, target)
        self.instructions.append(instruction)
        return instruction

    # --- values and variables ----------------------------------------------------------------------------

    def const(self, value: Any) -> None:
        """Push an object."""
        self.emit("LOAD_CONST", value)

    def load_local(self, name: str) -> None:
        self.emit("LOAD_FAST", name)

    def store_local(self, name: str) -> None:
        self.emit("STORE_FAST", name)

    def delete_local(self, name: str) -> None:
        self.emit("DELETE_FAST", name)

    def pop(self) -> None:
        self.emit("POP_TOP")

    def null(self) -> None:
        """Push an empty stack slot."""
        self.emit("PUSH_NULL")

    # --- parts of values ---------------------------------------------------------------------------------

    def attribute(self, owner: Push, name: str) -> None:
        """Push `owner.name`."""
        owner()
        self.emit("LOAD_ATTR", name)

    def set_attribute(self, owner: Push, name: str, value: Push) -> None:
        """Write `owner.name = value`; `value` comes first."""
        value()
        owner()
        self.emit("STORE_ATTR", name)

    def item(self, owner: Push, key: Any) -> None:
        """Push `owner[key]` for a constant key."""
        owner()
        self.const(key)
        self.emit("BINARY_SUBSCR")

    def set_item(self, owner: Push, key: Push, value: Push) -> None:
        """Write `owner[key] = value`; `value` comes first."""
        value()
        owner()
        key()
        self.emit("STORE_SUBSCR")

    def tuple_of(self, items: Sequence[Push]) -> None:
        self._built("BUILD_TUPLE", items)

    def list_of(self, items: Sequence[Push]) -> None:
        self._built("BUILD_LIST", items)

    def _built(self, op: str, items: Sequence[Push]) -> None:
        for push in items:
            push()
        self.emit(op, len(items))

    # --- calls -------------------------------------------------------------------------------------------

    def call(self, function: Push, arguments: Iterable[Push] = (), keywords: Iterable[str] = ()) -> Instruction:
        """Push the result of a call. `keywords` are the names of the last arguments.

        Returns:
            The instruction that calls, to be given a handler.
        """
        if cpython.NULL_BELOW_CALLABLE:
            self.null()
            function()
        else:
            function()
            self.null()
        count = 0
        for push in arguments:
            push()
            count += 1
        return self.emit("CALL", CallShape(count, tuple(keywords)))

    def call_const(self, function: Any, *arguments: Push) -> None:
        """Push `function(*arguments)` for an object known while tracing."""
        self.call(lambda: self.const(function), arguments)

    def call_method(self, owner: Push, name: str, *arguments: Push) -> None:
        """Push `owner.name(*arguments)`."""
        self.call(lambda: self.attribute(owner, name), arguments)

    def run_const(self, function: Any, *arguments: Push) -> None:
        """Call the function, and drop its result."""
        self.call_const(function, *arguments)
        self.pop()

    def run_method(self, owner: Push, name: str, *arguments: Push) -> None:
        """Call the method, and drop its result."""
        self.call_method(owner, name, *arguments)
        self.pop()

    def call_with_top(self, function: Any) -> None:
        """Push `function(top of the stack)`, which stays where it is."""
        # It lies below the empty slot and the callable.
        self.call_const(function, lambda: self.emit("COPY", 3))
