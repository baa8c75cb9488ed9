"""Read the text of a condition (`conditions.py` describes the language) into a function of a step.

`ast` parses the text, and each node that is allowed becomes a closure over the recording's data.
"""

from __future__ import annotations

import ast
import difflib
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tracer_core.recording import condition_values as values
from tracer_core.recording import schema, watching
from tracer_core.recording.columns import State
from tracer_core.recording.condition_facts import FACTS, OF_INSTRUCTIONS, Moment
from tracer_core.recording.index import Index
from tracer_core.recording.watching import MISSING, Binding, Seen


class ConditionError(ValueError):
    """A condition cannot be understood; the message says why in one sentence."""


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}
_EVENTS = ("changes", "reads", "writes")
_MOMENTARY = ("node", "guard", "graph_break")
_FUNCTIONS = (*_EVENTS, "value", "len")

_EXAMPLES = "write one such as `step.line == 12`, `changes(x.shape)` or `the shape of x changes`."

_PATH = r"`?([A-Za-z_][\w.]*(?:\[[^\]]*\][\w.]*)*)`?"
_IN_WORDS = re.compile(
    rf"(?:stop )?(?:where )?(?:the (?P<fact>\w+) of )?{_PATH} (?P<what>changes|is read|is written|is set)\.?", re.I
)


Evaluate = Callable[[Moment], Any]


@dataclass
class Condition:
    """A condition that was understood."""

    text: str
    holds: Evaluate
    states: bool = False  # whether the state of the frame is needed
    nodes: bool = False
    guards: bool = False
    only_instructions: bool = True  # whether the instruction alone decides
    names: bool = False  # whether it names variables, which may be those of any function
    momentary: bool = False  # whether it is about what a step does; else about what holds for a while


def read_condition(index: Index, text: str) -> Condition:
    """Return a condition on the steps of one recording.

    Raises:
        ConditionError: the condition cannot be understood.
    """
    return _Reader(index).read(text)


class _Reader:
    """Read the text of a condition over one recording."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._condition = Condition("", lambda moment: False)

    def read(self, text: str) -> Condition:
        found = self._condition
        found.text = in_python(text)
        if not found.text:
            raise ConditionError(f"A condition is missing: {_EXAMPLES}")
        try:
            tree = ast.parse(found.text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            where = f" at column {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
            wrong = f"`{text.strip()}` is not a condition, its syntax is wrong{where}"
            raise ConditionError(f"{wrong}: {_EXAMPLES}") from None
        evaluate = self._expression(tree.body)
        found.holds = lambda moment: values.truth(evaluate(moment))
        return found

    # --- expressions ----------------------------------------------------------------------------------------------

    def _expression(self, tree: ast.expr) -> Evaluate:
        match tree:
            case ast.Constant(value=value):
                return lambda moment: value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                items = [self._expression(part) for part in parts]
                return lambda moment: tuple(values.plain(item(moment)) for item in items)
            case ast.BoolOp(op=op, values=parts):
                tests = [self._expression(part) for part in parts]
                combine = all if isinstance(op, ast.And) else any
                return lambda moment: combine(values.truth(test(moment)) for test in tests)
            case ast.UnaryOp(op=ast.Not(), operand=part):
                test = self._expression(part)
                return lambda moment: not values.truth(test(moment))
            case ast.UnaryOp(op=ast.USub(), operand=part):
                number = self._expression(part)
                return lambda moment: values.calculated(operator.sub, 0, number(moment))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._calculation(_ARITHMETIC[type(op)], left, right)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                return self._comparison(left, ops, rights)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                return self._call(name, args)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._path(tree)
        raise ConditionError(
            f"`{ast.unparse(tree)}` cannot be part of a condition, which consists of comparisons, `and`, `or`, `not`,"
            f" numbers, texts, values, and the functions {', '.join(_FUNCTIONS)}."
        )

    def _calculation(self, calculate: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr) -> Evaluate:
        one, other = self._expression(left), self._expression(right)
        return lambda moment: values.calculated(calculate, one(moment), other(moment))

    def _comparison(self, left: ast.expr, ops: list[ast.cmpop], rights: list[ast.expr]) -> Evaluate:
        terms = [self._expression(term) for term in (left, *rights)]
        compares = [_COMPARISONS[type(op)] for op in ops]

        def holds(moment: Moment) -> bool:
            sides = [values.plain(term(moment)) for term in terms]
            return all(
                values.compared(compare, one, other)
                for compare, one, other in zip(compares, sides, sides[1:], strict=False)
            )

        return holds

    # --- values ---------------------------------------------------------------------------------------------------

    def _path(self, tree: ast.expr) -> Evaluate:
        """Return what reads a fact, a variable, or a part of a variable's value."""
        match tree:
            case ast.Name(id=name) if name in FACTS:
                return self._fact(name, next(iter(FACTS[name])))
            case ast.Attribute(value=ast.Name(id=name), attr=fact) if name in FACTS:
                return self._fact(name, fact)
            case ast.Name(id=name):
                return self._variable(name)
            case ast.Attribute(value=inner, attr=name):
                whole = self._expression(inner)
                return lambda moment: values.attribute(whole(moment), name)
            case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
                whole = self._expression(inner)
                return lambda moment: values.item(whole(moment), key)
            case ast.Subscript(value=inner, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(key)))):
                whole = self._expression(inner)
                return lambda moment: values.item(whole(moment), -key)
        raise ConditionError(f"`{ast.unparse(tree)}` has an index that is neither a number nor a text.")

    def _fact(self, name: str, fact: str) -> Evaluate:
        if fact not in FACTS[name]:
            close, known = _close(fact, FACTS[name]), ", ".join(FACTS[name])
            meant = "" if close is None else f" (did you mean `{close}`?)"
            raise ConditionError(f"`{name}` has no `{fact}`{meant}; it has {known}.")
        self._condition.momentary |= name in _MOMENTARY or fact == "raised"
        self._condition.only_instructions &= (name, fact) in OF_INSTRUCTIONS
        self._condition.nodes |= name == "node"
        self._condition.guards |= name == "guard"
        return FACTS[name][fact]

    def _variable(self, name: str) -> Evaluate:
        slots = {code.id: watching.slots_of(code, name) for code in self._index.data.codes}
        if not any(slots.values()):
            raise ConditionError(f"No function in this recording has a variable `{name}`{self._suggestion(name)}.")
        self._condition.states = self._condition.names = True
        self._condition.only_instructions = False
        index = self._index

        def read(moment: Moment) -> Any:
            if moment.event is not None:
                return moment.event
            tracker = None if moment.state is None else watching.bound(moment.state, slots[moment.code.id])
            return MISSING if tracker is None else Seen(index, tracker, moment.step - 1)

        return read

    def _suggestion(self, name: str) -> str:
        facts: dict[str, str] = {}
        for about, known in FACTS.items():
            for fact in known:
                facts.setdefault(fact, f"{about}.{fact}")
        names = {name for code in self._index.data.codes for name in (*code.locals, *code.cells)}
        close = _close(name, [*facts, *names, *FACTS])
        return "" if close is None else f" (did you mean `{facts.get(close, close)}`?)"

    # --- functions ------------------------------------------------------------------------------------------------

    def _call(self, name: str, args: list[ast.expr]) -> Evaluate:
        if len(args) != 1:
            raise ConditionError(f"`{name}` takes one argument, as in `{name}({'17' if name == 'value' else 'x'})`.")
        (arg,) = args
        if name == "len":
            measured = self._expression(arg)
            return lambda moment: values.length(measured(moment))
        if name == "value":
            tracker = self._tracker(arg)
            index = self._index
            self._condition.only_instructions = False
            return lambda moment: moment.event or Seen(index, tracker, moment.step - 1)
        self._condition.momentary = True
        self._condition.only_instructions = False
        steps = self._changes(arg) if name == "changes" else self._accesses(name, arg)
        return lambda moment: moment.step in steps

    def _tracker(self, arg: ast.expr) -> int:
        count = self._index.trackers.trackers
        if isinstance(arg, ast.Constant) and type(arg.value) is int and 0 <= arg.value < count:
            return arg.value
        raise ConditionError(f"`value({ast.unparse(arg)})` names no value; they are numbered from 0 to {count - 1}.")

    def _changes(self, arg: ast.expr) -> set[int]:
        index, root = self._index, _root(arg)
        needed_variables = self._condition.states
        read = self._expression(arg)
        self._condition.states = needed_variables  # (Their history is read here, and not at each step.)
        among: Iterable[Binding]
        if isinstance(root, ast.Name) and root.id not in FACTS:
            among = watching.bindings(index, root.id)
        elif isinstance(root, ast.Call) and isinstance(root.func, ast.Name) and root.func.id == "value":
            among = [watching.binding_of_value(index, self._tracker(root.args[0]))]
        else:
            raise ConditionError(
                f"`changes({ast.unparse(arg)})` is about no value; write `changes(x)` or `changes(x.shape)`."
            )
        code = index.data.codes[0] if index.data.codes else None
        if code is None:
            return set()
        return watching.changes(index, iter(among), lambda seen: read(Moment(index, 0, code, event=seen)))

    def _accesses(self, what: str, arg: ast.expr) -> set[int]:
        match arg:
            case ast.Name(id=name) if name not in FACTS:
                return self._of_variable(what, name)
            case ast.Attribute(value=base, attr=attribute):
                last: tuple[str, object] = ("attribute", attribute)
            case ast.Subscript(value=base, slice=ast.Constant(value=key)):
                last = ("item", key)
            case _:
                raise ConditionError(f"`{what}({ast.unparse(arg)})` names no variable, attribute or item.")
        root = base.id if isinstance(base, ast.Name) else None
        if root is not None and not self._is_variable(root):
            return watching.accesses(self._index, what, lambda code, state, at: None, last, root)
        needed_variables = self._condition.states
        read = self._expression(base)
        self._condition.states = needed_variables
        index = self._index

        def holder(code: schema.Code, state: State, at: int) -> int | None:
            found = read(Moment(index, at + 1, code, state))
            return found.tracker if isinstance(found, Seen) else None

        return watching.accesses(index, what, holder, last, root)

    def _is_variable(self, name: str) -> bool:
        """Whether `name` is a local variable of some function; a condition may name a global one as well."""
        codes = self._index.data.codes
        if any(watching.slots_of(code, name) for code in codes):
            return True
        loaded = any(watching.names_variable("reads", one, name) for code in codes for one in code.instructions)
        if not loaded:
            self._variable(name)  # (This says what is wrong.)
        return False

    def _of_variable(self, what: str, name: str) -> set[int]:
        self._is_variable(name)
        self._condition.names = True
        index, frames = self._index, self._index.data.frames
        named = [[watching.names_variable(what, one, name) for one in code.instructions] for code in index.data.codes]
        code_of = [frame.code for frame in frames]
        places = zip(index.steps.frame, index.steps.instruction, strict=True)
        return {step for step, (frame, at) in enumerate(places) if named[code_of[frame]][at]}


def in_python(text: str) -> str:
    """Return a condition given in words in the language's form; any other text as it is."""
    text = text.strip()
    said = _IN_WORDS.fullmatch(text)
    if said is None:
        return text.removeprefix("where ").strip()
    function = {"changes": "changes", "is read": "reads"}.get(said["what"].lower(), "writes")
    return f"{function}({said[2]}{'.' + said['fact'] if said['fact'] else ''})"


def _root(tree: ast.expr) -> ast.expr:
    """Return the variable, or the call of `value`, that an expression begins with."""
    while True:
        match tree:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                tree = inner
            case ast.Call(func=ast.Name(id="len"), args=[inner]):
                tree = inner
            case _:
                return tree


def _close(name: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, list(known), 1)), None)
