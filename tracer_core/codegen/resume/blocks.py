"""Emit code that leaves `with` and `except` blocks where a function breaks, and enters them where it resumes."""

from __future__ import annotations

from functools import partial

from tracer_core.bytecode import CodeBuilder, Handler


def enter_block(code: CodeBuilder, manager: str) -> None:
    """Enter the manager in a variable and push its exit."""
    code.load_local(manager)
    code.emit("BEFORE_WITH")
    code.pop()


def make_and_enter_block(code: CodeBuilder, maker: str) -> None:
    """Enter the manager that the function in a variable returns, and push its exit."""
    code.call(lambda: code.load_local(maker))
    code.emit("BEFORE_WITH")
    code.pop()


def leave_block(code: CodeBuilder, exit_: str, manager: str) -> None:
    """Leave a block by its exit in the variable `exit_`, and store in its place what enters the block again."""
    code.call(lambda: code.load_local(exit_), [partial(code.const, None)] * 3)
    code.pop()
    code.load_local(manager)
    code.store_local(exit_)


def raise_and_catch(code: CodeBuilder, depth: int) -> None:
    """Make Python handle the exception on top of `depth` items, and leave its mark in the exception's place."""
    raising = code.emit("RAISE_VARARGS", 1)
    raising.handler = Handler(code.emit("PUSH_EXC_INFO"), depth, False)
    code.pop()
