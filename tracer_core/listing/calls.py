"""Calls, and the ways to leave a frame, in Python text."""

from __future__ import annotations

from tracer_core.bytecode import CallShape, Instruction, called
from tracer_core.listing.rules import writes
from tracer_core.listing.shown import LOOSE, POSTFIX, TERNARY, Shown, computed, name_of
from tracer_core.listing.state import NULL, State

# --- calls --------------------------------------------------------------------------------------------------


@writes("CALL")
def _call(state: State, instruction: Instruction) -> None:
    shape: CallShape = instruction.arg
    lower, upper, *given = state.pop_n(shape.count + 2)
    function, bound = called(lower, upper, NULL)
    texts = [argument.within(TERNARY) for argument in (*bound, *given)]
    plain = len(texts) - len(shape.keywords)
    keywords = (f"{name}={text}" for name, text in zip(shape.keywords, texts[plain:], strict=True))
    state.push(computed(f"{function.within(POSTFIX)}({', '.join([*texts[:plain], *keywords])})"))


@writes("CALL_FUNCTION_EX")
def _call_function_ex(state: State, instruction: Instruction) -> None:
    keywords = [f"**{state.pop().within(POSTFIX)}"] if instruction.arg & 1 else []
    lower, upper, arguments = state.pop_n(3)
    function, _ = called(lower, upper, NULL)
    texts = ", ".join([f"*{arguments.within(POSTFIX)}", *keywords])
    state.push(computed(f"{function.within(POSTFIX)}({texts})"))


@writes("MAKE_FUNCTION")
def _make_function(state: State, instruction: Instruction) -> None:
    *_, code = state.pop_n(1 + (instruction.arg & 0xF).bit_count())
    state.push(Shown(code.text))


@writes("LOAD_BUILD_CLASS")
def _load_build_class(state: State, instruction: Instruction) -> None:
    state.push(Shown("__build_class__"))


@writes("IMPORT_NAME")
def _import_name(state: State, instruction: Instruction) -> None:
    level, names = state.pop_n(2)
    state.push(computed(f"__import__({instruction.arg!r}, fromlist={names.text}, level={level.text})"))


@writes("GET_ITER")
def _get_iter(state: State, instruction: Instruction) -> None:
    state.push(computed(f"iter({state.pop().text})"))


@writes("YIELD_VALUE")
def _yield_value(state: State, instruction: Instruction) -> None:
    state.push(computed(f"yield {state.pop().text}", LOOSE))


@writes("BEFORE_WITH")
def _before_with(state: State, instruction: Instruction) -> None:
    manager = state.named(state.pop())
    leave = name_of(state.temporary("leave"))
    state.statement(f"{leave.text} = {manager.text}.__exit__")
    state.push(leave)
    state.push(computed(f"{manager.text}.__enter__()"))


# --- leaving ------------------------------------------------------------------------------------------------


@writes("RETURN_VALUE")
def _return_value(state: State, instruction: Instruction) -> None:
    value = state.pop()
    _drop(state)
    state.write(f"return {value.within(TERNARY)}")


@writes("RAISE_VARARGS")
def _raise(state: State, instruction: Instruction) -> None:
    values = state.pop_n(instruction.arg)
    _drop(state)
    state.write(" from ".join(["raise", *(value.text for value in values)]).replace("raise from ", "raise ", 1))


@writes("RERAISE")
def _reraise(state: State, instruction: Instruction) -> None:
    value = state.pop()
    _drop(state)
    state.write(f"raise {value.text}")


def _drop(state: State) -> None:
    """Write expressions that are pending when the frame is left, since they have been evaluated."""
    for value in state.stack:
        if value.names is None:
            state.write(value.text)
    state.stack.clear()


@writes("POP_EXCEPT")
def _pop_except(state: State, instruction: Instruction) -> None:
    state.pop()
    state.statement("# leaves the `except` block")
