"""Describe each canonical operation in words: one small function for each kind of operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracer_core.names.files import place
from tracer_core.recording.summary import count
from tracer_core.recording.words import (
    MOST,
    Said,
    Saying,
    goal,
    is_null,
    jumped,
    listed,
    operand,
    operands,
    pushed,
    result,
    says,
    show,
    show_all,
    took_and_pushed,
)

if TYPE_CHECKING:
    from tracer_core.recording.steps import Step, Value


def _fixed(first: str) -> Saying:
    """Return a saying that is the same each time; `{arg}` stands for the operand."""
    return lambda step: Said(first.format(arg=_name(step)))


def _then_pushed(first: str) -> Saying:
    return lambda step: Said(first.format(arg=_name(step)), pushed(step))


def _of_top(first: str) -> Saying:
    """Return a saying about the top of the stack, `{top}`."""
    return lambda step: Said(first.format(arg=_name(step), top=show(operand(step, 1))))


def _of_top_then_pushed(first: str) -> Saying:
    return lambda step: Said(first.format(arg=_name(step), top=show(operand(step, 1))), pushed(step))


def _name(step: Step) -> str:
    """Return the name that an instruction refers to."""
    return step.instruction.arg.removeprefix("NULL + ")


# --- markers and stack shuffling ---
says("NOP")(_fixed("did nothing"))
says("RESUME")(_fixed("marked where the function starts or resumes"))
says("SETUP_ANNOTATIONS")(_fixed("made sure that `__annotations__` exists"))
says("COPY_FREE_VARS")(_fixed("made the function's free variables available"))
says("POP_TOP")(_of_top("popped {top}"))
says("PUSH_NULL")(_fixed("pushed the NULL that precedes a callable"))


@says("SWAP")
def _swap(step: Step) -> Said:
    return Said(f"swapped {show(operand(step, 1))} with {show(operand(step, step.instruction.takes))}")


@says("COPY")
def _copy(step: Step) -> Said:
    return Said(f"pushed {show(operand(step, step.instruction.takes))} again")


# --- operators ---
says(
    "UNARY_POSITIVE",
    "UNARY_NEGATIVE",
    "UNARY_NOT",
    "UNARY_INVERT",
    "BINARY_OP",
    "COMPARE_OP",
    "IS_OP",
    "CONTAINS_OP",
    "LIST_TO_TUPLE",
)(took_and_pushed)


@says("BINARY_SUBSCR")
def _subscript(step: Step) -> Said:
    return Said(f"read item {show(operand(step, 1))} of {show(operand(step, 2))}", pushed(step))


@says("STORE_SUBSCR")
def _store_subscript(step: Step) -> Said:
    return Said(f"set item {show(operand(step, 1))} of {show(operand(step, 2))} to {show(operand(step, 3))}")


@says("DELETE_SUBSCR")
def _delete_subscript(step: Step) -> Said:
    return Said(f"deleted item {show(operand(step, 1))} of {show(operand(step, 2))}")


# --- constants and names ---
says("LOAD_CONST", "LOAD_FAST", "LOAD_BUILD_CLASS", "LOAD_ASSERTION_ERROR")(lambda step: Said("", pushed(step)))
says("LOAD_NAME")(_then_pushed("looked up `{arg}`"))
says("LOAD_GLOBAL", "LOAD_GLOBAL_NULL")(_then_pushed("looked up the global `{arg}`"))
says("LOAD_DEREF", "LOAD_CLASSDEREF")(_then_pushed("read the cell of `{arg}`"))
says("LOAD_CLOSURE")(_fixed("pushed the cell of `{arg}`"))
says("STORE_FAST", "STORE_NAME")(_of_top("bound `{arg}` to {top}"))
says("STORE_GLOBAL")(_of_top("bound the global `{arg}` to {top}"))
says("STORE_DEREF")(_of_top("put {top} into the cell of `{arg}`"))
says("DELETE_FAST", "DELETE_NAME")(_fixed("deleted the variable `{arg}`"))
says("DELETE_GLOBAL")(_fixed("deleted the global `{arg}`"))
says("DELETE_DEREF")(_fixed("emptied the cell of `{arg}`"))
says("MAKE_CELL")(_fixed("created a cell for `{arg}`"))
says("LOAD_ATTR")(_of_top_then_pushed("read the attribute `{arg}` of {top}"))
says("LOAD_METHOD")(_of_top_then_pushed("looked up the method `{arg}` of {top}"))
says("DELETE_ATTR")(_of_top("deleted the attribute `{arg}` of {top}"))
says("IMPORT_NAME")(_then_pushed("imported `{arg}`"))
says("IMPORT_FROM")(
    lambda step: Said(f"took `{_name(step)}` from {show(operand(step, 1))}", f"pushed {result(step)}")
)
says("IMPORT_STAR")(_of_top("imported all public names of {top}"))
says("PRINT_EXPR")(_of_top("displayed {top}"))


@says("STORE_ATTR")
def _store_attribute(step: Step) -> Said:
    return Said(f"set the attribute `{_name(step)}` of {show(operand(step, 1))} to {show(operand(step, 2))}")


# --- containers and text ---
says("BUILD_TUPLE")(lambda step: _built(step, "a tuple", len(operands(step))))
says("BUILD_LIST")(lambda step: _built(step, "a list", len(operands(step))))
says("BUILD_SET")(lambda step: _built(step, "a set", len(operands(step))))
says("BUILD_STRING")(lambda step: _built(step, "a string", len(operands(step)), "piece"))
says("BUILD_SLICE")(lambda step: _built(step, "a slice", len(operands(step)), "bound"))
says("BUILD_MAP")(lambda step: _built(step, "a dict", step.instruction.takes // 2))
says("BUILD_CONST_KEY_MAP")(lambda step: _built(step, "a dict", step.instruction.takes - 1))


def _built(step: Step, what: str, items: int, noun: str = "item") -> Said:
    return Said(f"built {what} of {count(items, noun)}" if items else f"built {what} without items", pushed(step))


@says("LIST_APPEND", "SET_ADD")
def _add(step: Step) -> Said:
    verb = "appended" if step.instruction.op == "LIST_APPEND" else "added"
    return Said(f"{verb} {show(operand(step, 1))} to {show(operand(step, step.instruction.takes))}")


@says("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE")
def _update(step: Step) -> Said:
    verb = "extended" if step.instruction.op == "LIST_EXTEND" else "updated"
    return Said(f"{verb} {show(operand(step, step.instruction.takes))} with {show(operand(step, 1))}")


@says("DICT_MERGE")
def _merge(step: Step) -> Said:
    return Said(
        f"added the keyword arguments {show(operand(step, 1))} to {show(operand(step, step.instruction.takes - 2))}"
    )


@says("MAP_ADD")
def _map_add(step: Step) -> Said:
    container = show(operand(step, step.instruction.takes))
    return Said(f"set key {show(operand(step, 2))} of {container} to {show(operand(step, 1))}")


@says("UNPACK_SEQUENCE", "UNPACK_EX")
def _unpack(step: Step) -> Said:
    return Said(f"unpacked {show(operand(step, 1))} into {count(step.instruction.leaves, 'value')}", pushed(step))


says("FORMAT_VALUE")(
    lambda step: Said(f"formatted {show(operand(step, step.instruction.takes))} as a string", pushed(step))
)


# --- calls and functions ---
@says("CALL")
def _call(step: Step) -> Said:
    taken = operands(step)
    if len(taken) < 2:
        return took_and_pushed(step)
    callee, args = (taken[1], taken[2:]) if is_null(taken[0]) else (taken[0], taken[1:])
    return _called(step, callee, f"with {show_all(args)}" if args else "without arguments")


@says("CALL_FUNCTION_EX")
def _call_unpacked(step: Step) -> Said:
    taken = operands(step)
    if len(taken) < 3:
        return took_and_pushed(step)
    extra = f" and keywords {show(taken[3])}" if len(taken) > 3 else ""
    return _called(step, taken[1], f"with unpacked arguments {show(taken[2])}{extra}")


def _called(step: Step, callee: Value, how: str) -> Said:
    """Describe a call: the callee, its arguments, and the functions that were inlined for it."""
    first, inlined, left = f"called {show(callee)} {how}", step.inlined, result(step)
    if not inlined:
        return Said(first, f"pushed {left}")
    names = [f"{code.qualname} ({place(code.filename, code.first_line)})" for code in inlined[:MOST]]
    more = [f"{len(inlined) - MOST} more"] if len(inlined) > MOST else []
    return Said(first, f"pushed its result {left}", f"inlined {listed([*names, *more])}")


says("MAKE_FUNCTION")(_then_pushed("created a function"))


@says("RETURN_VALUE")
def _return(step: Step) -> Said:
    parent = step.frame.parent
    to = "" if parent is None else f" to {step._index.data.codes[step._index.data.frames[parent].code].qualname}"
    return Said(f"returned {show(operand(step, 1))}{to}")


# --- jumps and loops ---
says("JUMP", "JUMP_NO_INTERRUPT")(lambda step: Said(f"jumped to {goal(step)}"))

_TRUTH = {
    "POP_JUMP_IF_FALSE": ("false", "true"),
    "POP_JUMP_IF_TRUE": ("true", "false"),
    "POP_JUMP_IF_NONE": ("to be None", "not to be None"),
    "POP_JUMP_IF_NOT_NONE": ("not to be None", "to be None"),
    "JUMP_IF_FALSE_OR_POP": ("false", "true"),
    "JUMP_IF_TRUE_OR_POP": ("true", "false"),
}


@says(*_TRUTH)
def _branch(step: Step) -> Said:
    jumps, stays = _TRUTH[step.instruction.op]
    tested, went = show(operand(step, 1)), jumped(step)
    if went is None:
        return Said(f"tested {tested}")
    return Said(f"found {tested} {jumps if went else stays}", f"jumped to {goal(step)}" if went else "did not jump")


says("GET_ITER", "GET_YIELD_FROM_ITER")(
    lambda step: Said(f"took {show(operand(step, 1))}", f"pushed its iterator {result(step)}")
)


@says("FOR_ITER")
def _for(step: Step) -> Said:
    iterator = show(operand(step, 1))
    if jumped(step):
        return Said(f"found {iterator} exhausted", f"jumped to {goal(step)}")
    return Said(f"took the next item of {iterator}", f"pushed {result(step)}")


# --- pattern matching ---
says("GET_LEN")(lambda step: Said(f"took the length of {show(operand(step, 1))}", f"pushed {result(step)}"))
says("MATCH_MAPPING")(
    lambda step: Said(f"checked whether {show(operand(step, 1))} is a mapping", f"pushed {result(step)}")
)
says("MATCH_SEQUENCE")(
    lambda step: Said(f"checked whether {show(operand(step, 1))} is a sequence", f"pushed {result(step)}")
)
says("MATCH_KEYS")(
    lambda step: Said(
        f"looked up keys {show(operand(step, 1))} in {show(operand(step, 2))}", f"pushed {result(step)}"
    )
)


@says("MATCH_CLASS")
def _match_class(step: Step) -> Said:
    return Said(f"matched {show(operand(step, 3))} against the class {show(operand(step, 2))}", pushed(step))


# --- exceptions and context managers ---
says("PUSH_EXC_INFO")(_of_top("started handling {top}"))
says("POP_EXCEPT")(_fixed("finished handling the exception"))


@says("CHECK_EXC_MATCH", "CHECK_EG_MATCH")
def _check_match(step: Step) -> Said:
    exception, kind = show(operand(step, 2)), show(operand(step, 1))
    if step.instruction.op == "CHECK_EG_MATCH":
        return Said(f"split {exception} by {kind}", pushed(step))
    return Said(f"checked whether {exception} matches {kind}", f"pushed {result(step)}")


says("PREP_RERAISE_STAR")(_then_pushed("collected the exceptions that no handler caught"))


@says("RAISE_VARARGS")
def _raise(step: Step) -> Said:
    taken = operands(step)
    if not taken:
        return Said("raised the current exception again")
    return Said(f"took {show(taken[0])} to raise it" + (f" from {show(taken[1])}" if len(taken) > 1 else ""))


says("RERAISE")(_of_top("took {top} to raise it again"))
says("BEFORE_WITH", "BEFORE_ASYNC_WITH")(
    lambda step: Said(f"entered the context manager {show(operand(step, 1))}", pushed(step))
)
says("WITH_EXCEPT_START")(
    lambda step: Said(f"left the context manager because of {show(operand(step, 1))}", f"pushed {result(step)}")
)

# --- generators and coroutines ---
says("RETURN_GENERATOR")(_fixed("created a generator for this frame"))
says("YIELD_VALUE")(_of_top("yielded {top}"))
says("ASYNC_GEN_WRAP")(_of_top("wrapped {top} for the asynchronous generator"))
says("GET_AWAITABLE")(lambda step: Said(f"took {show(operand(step, 1))} to await it", f"pushed {result(step)}"))
says("GET_AITER")(
    lambda step: Said(f"took {show(operand(step, 1))}", f"pushed its asynchronous iterator {result(step)}")
)
says("GET_ANEXT")(
    lambda step: Said(f"called `__anext__` of {show(operand(step, 1))}", f"pushed {result(step)} to await it")
)


@says("SEND")
def _send(step: Step) -> Said:
    return Said(f"sent {show(operand(step, 1))} into {show(operand(step, 2))}", f"pushed {result(step)}")


@says("END_ASYNC_FOR")
def _end_async_for(step: Step) -> Said:
    return Said(f"ended the loop because of {show(operands(step)[-1] if operands(step) else None)}")
