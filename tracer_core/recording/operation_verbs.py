"""Describe each canonical operation in words: one small function for each kind of operation."""

from __future__ import annotations

from tracer_core.names.files import place
from tracer_core.recording.happened import Called, Described
from tracer_core.recording.sentence_parts import (
    MOST,
    FindVerbs,
    Verbs,
    describes,
    goal,
    is_null,
    jumped,
    operand,
    operands,
    pushed,
    result,
    show,
    show_all,
    took_and_pushed,
)
from tracer_core.recording.words import count, listed, quoted


def _fixed(first: str) -> FindVerbs:
    """Return a function that gives the same verbs each time; {arg} is the operand."""
    return lambda step: Verbs(first.format(arg=_name(step)))


def _then_pushed(first: str) -> FindVerbs:
    return lambda step: Verbs(first.format(arg=_name(step)), pushed(step))


def _of_top(first: str) -> FindVerbs:
    """Return a function that gives verbs about the top of the stack, `{top}`."""
    return lambda step: Verbs(first.format(arg=_name(step), top=show(operand(step, 1))))


def _of_top_then_pushed(first: str) -> FindVerbs:
    return lambda step: Verbs(first.format(arg=_name(step), top=show(operand(step, 1))), pushed(step))


def _name(step: Described) -> str:
    """Return the name that an instruction refers to, quoted."""
    return quoted(step.instruction.arg.removeprefix("NULL + "))


# --- markers and stack shuffling ---
describes("NOP")(_fixed("did nothing"))
describes("RESUME")(_fixed("marked where the function starts or resumes"))
describes("SETUP_ANNOTATIONS")(_fixed("made sure that `__annotations__` exists"))
describes("COPY_FREE_VARS")(_fixed("made the function's free variables available"))
describes("POP_TOP")(_of_top("popped {top}"))
describes("PUSH_NULL")(_fixed("began a call: pushed the NULL that precedes its callable"))


@describes("SWAP")
def _swap(step: Described) -> Verbs:
    return Verbs(f"swapped {show(operand(step, 1))} with {show(operand(step, step.instruction.takes))}")


@describes("COPY")
def _copy(step: Described) -> Verbs:
    return Verbs(f"pushed {show(operand(step, step.instruction.takes))} again")


# --- operators ---
describes(
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


@describes("BINARY_SUBSCR")
def _subscript(step: Described) -> Verbs:
    return Verbs(f"read item {show(operand(step, 1))} of {show(operand(step, 2))}", pushed(step))


@describes("STORE_SUBSCR")
def _store_subscript(step: Described) -> Verbs:
    return Verbs(f"set item {show(operand(step, 1))} of {show(operand(step, 2))} to {show(operand(step, 3))}")


@describes("DELETE_SUBSCR")
def _delete_subscript(step: Described) -> Verbs:
    return Verbs(f"deleted item {show(operand(step, 1))} of {show(operand(step, 2))}")


# --- constants and names ---
describes("LOAD_CONST", "LOAD_FAST", "LOAD_BUILD_CLASS", "LOAD_ASSERTION_ERROR")(lambda step: Verbs("", pushed(step)))
describes("LOAD_NAME")(_then_pushed("looked up {arg}"))
describes("LOAD_GLOBAL", "LOAD_GLOBAL_NULL")(_then_pushed("looked up the global {arg}"))
describes("LOAD_DEREF", "LOAD_CLASSDEREF")(_then_pushed("read the cell of {arg}"))
describes("LOAD_CLOSURE")(_fixed("pushed the cell of {arg}"))
describes("STORE_FAST", "STORE_NAME")(_of_top("bound {arg} to {top}"))
describes("STORE_GLOBAL")(_of_top("bound the global {arg} to {top}"))
describes("STORE_DEREF")(_of_top("put {top} into the cell of {arg}"))
describes("DELETE_FAST", "DELETE_NAME")(_fixed("deleted the variable {arg}"))
describes("DELETE_GLOBAL")(_fixed("deleted the global {arg}"))
describes("DELETE_DEREF")(_fixed("emptied the cell of {arg}"))
describes("MAKE_CELL")(_fixed("created a cell for {arg}"))
describes("LOAD_ATTR")(_of_top_then_pushed("read the attribute {arg} of {top}"))
describes("LOAD_METHOD")(_of_top_then_pushed("looked up the method {arg} of {top}"))
describes("DELETE_ATTR")(_of_top("deleted the attribute {arg} of {top}"))
describes("IMPORT_NAME")(_then_pushed("imported {arg}"))
describes("IMPORT_FROM")(
    lambda step: Verbs(f"took {_name(step)} from {show(operand(step, 1))}", f"pushed {result(step)}")
)
describes("IMPORT_STAR")(_of_top("imported all public names of {top}"))
describes("PRINT_EXPR")(_of_top("displayed {top}"))


@describes("STORE_ATTR")
def _store_attribute(step: Described) -> Verbs:
    return Verbs(f"set the attribute {_name(step)} of {show(operand(step, 1))} to {show(operand(step, 2))}")


# --- containers and text ---
describes("BUILD_TUPLE")(lambda step: _built(step, "a tuple", len(operands(step))))
describes("BUILD_LIST")(lambda step: _built(step, "a list", len(operands(step))))
describes("BUILD_SET")(lambda step: _built(step, "a set", len(operands(step))))
describes("BUILD_STRING")(lambda step: _built(step, "a string", len(operands(step)), "piece"))
describes("BUILD_SLICE")(lambda step: _built(step, "a slice", len(operands(step)), "bound"))
describes("BUILD_MAP")(lambda step: _built(step, "a dict", step.instruction.takes // 2))
describes("BUILD_CONST_KEY_MAP")(lambda step: _built(step, "a dict", step.instruction.takes - 1))


def _built(step: Described, what: str, items: int, noun: str = "item") -> Verbs:
    return Verbs(f"built {what} of {count(items, noun)}" if items else f"built {what} without items", pushed(step))


@describes("LIST_APPEND", "SET_ADD")
def _add(step: Described) -> Verbs:
    verb = "appended" if step.instruction.op == "LIST_APPEND" else "added"
    return Verbs(f"{verb} {show(operand(step, 1))} to {show(operand(step, step.instruction.takes))}")


@describes("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE")
def _update(step: Described) -> Verbs:
    verb = "extended" if step.instruction.op == "LIST_EXTEND" else "updated"
    return Verbs(f"{verb} {show(operand(step, step.instruction.takes))} with {show(operand(step, 1))}")


@describes("DICT_MERGE")
def _merge(step: Described) -> Verbs:
    return Verbs(
        f"added the keyword arguments {show(operand(step, 1))} to {show(operand(step, step.instruction.takes - 2))}"
    )


@describes("MAP_ADD")
def _map_add(step: Described) -> Verbs:
    container = show(operand(step, step.instruction.takes))
    return Verbs(f"set key {show(operand(step, 2))} of {container} to {show(operand(step, 1))}")


@describes("UNPACK_SEQUENCE", "UNPACK_EX")
def _unpack(step: Described) -> Verbs:
    return Verbs(f"unpacked {show(operand(step, 1))} into {count(step.instruction.leaves, 'value')}", pushed(step))


describes("FORMAT_VALUE")(
    lambda step: Verbs(f"formatted {show(operand(step, step.instruction.takes))} as a string", pushed(step))
)


# --- calls and functions ---
@describes("CALL")
def _call(step: Described) -> Verbs:
    taken = operands(step)
    if len(taken) < 2:
        return took_and_pushed(step)
    callee, args = (taken[1], taken[2:]) if is_null(taken[0]) else (taken[0], taken[1:])
    return _called(step, callee, f"with {show_all(args)}" if args else "without arguments")


@describes("CALL_FUNCTION_EX")
def _call_unpacked(step: Described) -> Verbs:
    taken = operands(step)
    if len(taken) < 3:
        return took_and_pushed(step)
    extra = f" and keywords {show(taken[3])}" if len(taken) > 3 else ""
    return _called(step, taken[1], f"with unpacked arguments {show(taken[2])}{extra}")


def _called(step: Described, callee: Called, how: str) -> Verbs:
    """Describe a call: the callee, its arguments, and the functions that were inlined for it."""
    first, inlined, left = f"called {show(callee)} {how}", step.inlined, result(step)
    if not inlined:
        return Verbs(first, f"pushed {left}")
    names = [f"{code.qualname} ({place(code.filename, code.first_line)})" for code in inlined[:MOST]]
    more = [f"{len(inlined) - MOST} more"] if len(inlined) > MOST else []
    return Verbs(first, f"pushed its result {left}", f"inlined {listed([*names, *more])}")


describes("MAKE_FUNCTION")(_then_pushed("created a function"))


@describes("RETURN_VALUE")
def _return(step: Described) -> Verbs:
    parent = step.frame.parent
    to = "" if parent is None else f" to {step._index.data.codes[step._index.data.frames[parent].code].qualname}"
    return Verbs(f"returned {show(operand(step, 1))}{to}")


# --- jumps and loops ---
describes("JUMP", "JUMP_NO_INTERRUPT")(lambda step: Verbs(f"jumped to {goal(step)}"))

_TRUTH = {
    "POP_JUMP_IF_FALSE": ("false", "true"),
    "POP_JUMP_IF_TRUE": ("true", "false"),
    "POP_JUMP_IF_NONE": ("to be None", "not to be None"),
    "POP_JUMP_IF_NOT_NONE": ("not to be None", "to be None"),
    "JUMP_IF_FALSE_OR_POP": ("false", "true"),
    "JUMP_IF_TRUE_OR_POP": ("true", "false"),
}


@describes(*_TRUTH)
def _branch(step: Described) -> Verbs:
    jumps, stays = _TRUTH[step.instruction.op]
    tested, went = show(operand(step, 1)), jumped(step)
    if went is None:
        return Verbs(f"tested {tested}")
    return Verbs(f"found {tested} {jumps if went else stays}", f"jumped to {goal(step)}" if went else "did not jump")


@describes("GET_ITER", "GET_YIELD_FROM_ITER")
def _get_iter(step: Described) -> Verbs:
    left = result(step)
    pushes = "pushed an iterator over it" if left.startswith("an iterator") else f"pushed its iterator, {left}"
    return Verbs(f"took {show(operand(step, 1))}", pushes)


@describes("FOR_ITER")
def _for(step: Described) -> Verbs:
    iterator = show(operand(step, 1))
    if jumped(step):
        return Verbs(f"found {iterator} exhausted", f"jumped to {goal(step)}")
    return Verbs(f"took the next item of {iterator}", f"pushed {result(step)}")


# --- pattern matching ---
describes("GET_LEN")(lambda step: Verbs(f"took the length of {show(operand(step, 1))}", f"pushed {result(step)}"))
describes("MATCH_MAPPING")(
    lambda step: Verbs(f"checked whether {show(operand(step, 1))} is a mapping", f"pushed {result(step)}")
)
describes("MATCH_SEQUENCE")(
    lambda step: Verbs(f"checked whether {show(operand(step, 1))} is a sequence", f"pushed {result(step)}")
)
describes("MATCH_KEYS")(
    lambda step: Verbs(
        f"looked up keys {show(operand(step, 1))} in {show(operand(step, 2))}", f"pushed {result(step)}"
    )
)


@describes("MATCH_CLASS")
def _match_class(step: Described) -> Verbs:
    return Verbs(f"matched {show(operand(step, 3))} against the class {show(operand(step, 2))}", pushed(step))


# --- exceptions and context managers ---
describes("PUSH_EXC_INFO")(_of_top("started handling {top}"))
describes("POP_EXCEPT")(_fixed("finished handling the exception"))


@describes("CHECK_EXC_MATCH", "CHECK_EG_MATCH")
def _check_match(step: Described) -> Verbs:
    exception, kind = show(operand(step, 2)), show(operand(step, 1))
    if step.instruction.op == "CHECK_EG_MATCH":
        return Verbs(f"split {exception} by {kind}", pushed(step))
    return Verbs(f"checked whether {exception} matches {kind}", f"pushed {result(step)}")


describes("PREP_RERAISE_STAR")(_then_pushed("collected the exceptions that no handler caught"))


@describes("RAISE_VARARGS")
def _raise(step: Described) -> Verbs:
    taken = operands(step)
    if not taken:
        return Verbs("raised the current exception again")
    return Verbs(f"took {show(taken[0])} to raise it" + (f" from {show(taken[1])}" if len(taken) > 1 else ""))


describes("RERAISE")(_of_top("took {top} to raise it again"))
describes("BEFORE_WITH", "BEFORE_ASYNC_WITH")(
    lambda step: Verbs(f"entered the context manager {show(operand(step, 1))}", pushed(step))
)
describes("WITH_EXCEPT_START")(
    lambda step: Verbs(f"left the context manager because of {show(operand(step, 1))}", f"pushed {result(step)}")
)

# --- generators and coroutines ---
describes("RETURN_GENERATOR")(_fixed("created a generator for this frame"))
describes("YIELD_VALUE")(_of_top("yielded {top}"))
describes("ASYNC_GEN_WRAP")(_of_top("wrapped {top} for the asynchronous generator"))
describes("GET_AWAITABLE")(lambda step: Verbs(f"took {show(operand(step, 1))} to await it", f"pushed {result(step)}"))
describes("GET_AITER")(
    lambda step: Verbs(f"took {show(operand(step, 1))}", f"pushed its asynchronous iterator {result(step)}")
)
describes("GET_ANEXT")(
    lambda step: Verbs(f"called `__anext__` of {show(operand(step, 1))}", f"pushed {result(step)} to await it")
)


@describes("SEND")
def _send(step: Described) -> Verbs:
    return Verbs(f"sent {show(operand(step, 1))} into {show(operand(step, 2))}", f"pushed {result(step)}")


@describes("END_ASYNC_FOR")
def _end_async_for(step: Described) -> Verbs:
    return Verbs(f"ended the loop because of {show(operands(step)[-1] if operands(step) else None)}")
