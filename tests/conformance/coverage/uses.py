"""Which methods and functions the programs use: they run in plain Python, from source that notes it.

`a.append(b)` becomes `__notes__.attribute(a, "append").append(b)`, where the type of `a` is seen; `a + b` notes
`__add__` of the one and `__radd__` of the other, a subscript `__getitem__`, a loop `__iter__`, and so on; a call
notes the function. Each note gives its value back, so that the program does what it did.
"""

from __future__ import annotations

import ast
import contextlib
import types
from pathlib import Path
from typing import Any

from tests.conformance import program as programs
from tests.conformance.ways import captured, reset_world

LEFT = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor",
    ast.MatMult: "matmul",
}  # fmt: skip
COMPARED = {ast.Lt: ("lt", "gt"), ast.Gt: ("gt", "lt"), ast.LtE: ("le", "ge"), ast.GtE: ("ge", "le")}
COMPARED |= {ast.Eq: ("eq", "eq"), ast.NotEq: ("ne", "ne")}
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
SUBSCRIPT = {ast.Load: "getitem", ast.Store: "setitem", ast.Del: "delitem"}
CONVERTED = {-1: "format", ord("s"): "str", ord("r"): "repr", ord("a"): "repr"}

#: Builtin functions that call a method of their argument.
ASKED = {
    **{
        name: name
        for name in ("len", "hash", "repr", "str", "abs", "bool", "int", "float", "complex", "iter", "next")
    },
    **{name: name for name in ("reversed", "divmod", "pow", "round", "floor", "ceil", "trunc", "format", "index")},
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "sum", "sorted"), "iter"),
    **dict.fromkeys(("bin", "hex", "oct"), "index"),
    "ascii": "repr",
    "print": "str",
}
REFLECTED = {"divmod": "rdivmod", "pow": "rpow"}
#: Calls in which a type stands as an argument without being used.
QUESTIONS = ("isinstance", "issubclass", "getattr", "hasattr")


class Notes:
    """What was seen: `(type, method)`, and the functions and types that were called or handed to a call."""

    def __init__(self) -> None:
        self.methods: set[tuple[type, str]] = set()
        #: the ids of functions and types
        self.called: set[int] = set()
        #: the ids of decorators and base classes
        self.made_with: set[int] = set()

    def operand(self, value: Any, *names: str) -> Any:
        """`value` is asked for the first of the special methods `names` that it has."""
        for name in names:
            if hasattr(type(value), f"__{name}__"):
                self._method(type(value), f"__{name}__")
                break
        return value

    def attribute(self, value: Any, name: str) -> Any:
        self._method(value if _is_a(value, type) else type(value), name)
        return value

    def function(self, value: Any) -> Any:
        if _is_a(value, types.MethodDescriptorType, types.WrapperDescriptorType):
            self._method(value.__objclass__, value.__name__)
        self.called.add(id(value))
        return value

    def argument(self, value: Any) -> Any:
        """A function that is handed to a call is used there."""
        if _is_a(value, type, types.BuiltinFunctionType, types.MethodDescriptorType):
            self.function(value)
        return value

    def definition(self, value: Any) -> Any:
        """`value` is a decorator or a base class."""
        self.made_with.add(id(value))
        return value

    def _method(self, kind: type, name: str) -> None:
        self.methods.add((kind, name))
        for base in kind.__mro__:
            if name in vars(base):
                self.methods.add((base, name))
                return


def _is_a(value: Any, *kinds: type) -> bool:
    """Asked of the type alone: what a value says of itself may be the program's own code, with notes in it."""
    return issubclass(type(value), kinds)


class Noting(ast.NodeTransformer):
    """Puts the notes into a program's source."""

    def note(self, kind: str, value: ast.expr, *names: str) -> ast.expr:
        noted = ast.Call(
            ast.Attribute(ast.Name("__notes__", ast.Load()), kind, ast.Load()),
            [value, *(ast.Constant(name) for name in names)],
            [],
        )
        return ast.copy_location(noted, value)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = LEFT[type(node.op)]
        node.left = self.note("operand", node.left, name)
        node.right = self.note("operand", node.right, f"r{name}")
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Only names can be read once more without being seen."""
        target = node.target
        self.generic_visit(node)
        if not isinstance(target, ast.Name):
            return node
        name = LEFT[type(node.op)]
        read = self.note("operand", ast.copy_location(ast.Name(target.id, ast.Load()), target), f"i{name}", name)
        node.value = self.note("operand", node.value, f"r{name}")
        return [ast.copy_location(ast.Expr(read), node), node]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        names = ("bool", "len") if isinstance(node.op, ast.Not) else (UNARY[type(node.op)],)
        node.operand = self.note("operand", node.operand, *names)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for place, operator in enumerate(node.ops):
            if isinstance(operator, ast.In | ast.NotIn):
                node.comparators[place] = self.note("operand", node.comparators[place], "contains", "iter")
            elif type(operator) in COMPARED:
                left, right = COMPARED[type(operator)]
                node.comparators[place] = self.note("operand", node.comparators[place], right)
                if place:
                    node.comparators[place - 1] = self.note("operand", node.comparators[place - 1], left)
                else:
                    node.left = self.note("operand", node.left, left)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        node.value = self.note("operand", node.value, SUBSCRIPT[type(node.ctx)])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.value = self.note("attribute", node.value, node.attr)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        node.value = self.note("operand", node.value, CONVERTED[node.conversion])
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self.note("operand", node.iter, "iter")
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not node.is_async:
            node.iter = self.note("operand", node.iter, "iter")
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self.tested(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self.tested(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self.tested(node)

    def tested(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self.note("operand", node.test, "bool", "len")
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        """What stands in a pattern is no expression."""
        node.guard = self.visit(node.guard) if node.guard else None
        node.body = [each for statement in node.body for each in as_list(self.visit(statement))]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self.generic_visit(node)
        if name not in QUESTIONS:
            node.args = [each if isinstance(each, ast.Starred) else self.note("argument", each) for each in node.args]
            for keyword in node.keywords:
                keyword.value = self.note("argument", keyword.value) if keyword.arg else keyword.value
        if name in ASKED and node.args and not isinstance(node.args[0], ast.Starred):
            node.args[0] = self.note("operand", node.args[0], ASKED[name])
        if name in REFLECTED and len(node.args) > 1 and not isinstance(node.args[1], ast.Starred):
            node.args[1] = self.note("operand", node.args[1], REFLECTED[name])
        node.func = self.note("function", node.func)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self.defined(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.defined(node)

    def defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """The decorator `@program` and its arguments are not the program."""
        node.body = [each for statement in node.body for each in as_list(self.visit(statement))]
        node.args = self.visit(node.args)
        kept = [is_program(each) for each in node.decorator_list]
        node.decorator_list = [
            each if program else self.note("definition", self.visit(each))
            for each, program in zip(node.decorator_list, kept, strict=True)
        ]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.bases = [each if isinstance(each, ast.Starred) else self.note("definition", each) for each in node.bases]
        node.decorator_list = [self.note("definition", each) for each in node.decorator_list]
        return node


def as_list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def is_program(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "program"


def noted_code(path: Path) -> types.CodeType:
    tree = ast.fix_missing_locations(Noting().visit(ast.parse(path.read_text())))
    return compile(tree, str(path), "exec")


def found(files: list[Path]) -> Notes:
    """Run every program of these files, each from the same starting state, and note what it uses."""
    notes = Notes()
    for path in files:
        code = noted_code(path)
        with programs.loaded(path) as file:
            names = list(file.programs)
        for name in names:
            run(path, code, name, notes)
    return notes


def run(path: Path, code: types.CodeType, name: str, notes: Notes) -> None:
    reset_world()
    idle = Notes()
    with programs.loaded(path, code, {"__notes__": idle}) as file:
        calls = file.programs[name].make_calls()
        notes.made_with |= idle.made_with
        vars(file.module)["__notes__"] = notes
        for call in calls:
            with captured(file.module), contextlib.suppress(BaseException):
                file.programs[name].fn(*call.args, **call.kwargs)
    reset_world()
