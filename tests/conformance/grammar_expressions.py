"""What each kind of value can be computed from. Part of `grammar`."""

from __future__ import annotations

from tests.conformance.grammar import Expression, Writer


def literal(*texts: str) -> Expression:
    return lambda w, depth: w.pick(texts)


def template(text: str) -> Expression:
    """Fills `{kind}` in `text` with expressions of that kind."""
    parts = text.replace("}", "{").split("{")

    def write(w: Writer, depth: int) -> str:
        return "".join(part if i % 2 == 0 else w.expression(part, depth) for i, part in enumerate(parts))

    return write


def templates(*texts: str) -> list[Expression]:
    return [template(text) for text in texts]


EXPRESSIONS: dict[str, list[Expression]] = {
    "tensor": [
        literal("x", "y", "x", "y", "torch.ones(3)"),
        *templates(
            "({tensor} + {tensor})",
            "({tensor} * {int})",
            "({tensor} - {tensor})",
            "({int} - {tensor})",
            "{tensor}.relu()",
            "torch.sin({tensor})",
            "(-{tensor})",
            "torch.where({tensor} > {int}, {tensor}, {tensor})",
            "({tensor} if {bool} else {tensor})",
            "twice({tensor})",
            "{tensor}.view(3)",
            "{tensor}.clone()",
            "{tensor}[[2, 0, 1]]",
            "torch.stack([{tensor}, {tensor}]).sum(0)",
            "sum({tensors}, {tensor})",
            "{tensors}[{int}]",
            "{function}({tensor})",
            "(lambda v: v * {int})({tensor})",
            "(lambda v, k={int}: v + k)({tensor})",
            "{box}.double",
            "{box}.value",
            "{tensor}.sum().expand(3)",
            "torch.cat([{tensor}[:1], {tensor}[1:]])",
            "max([{tensor}, {tensor}], key=lambda v: v.dim())",
        ),
    ],
    "int": [
        literal("0", "1", "2", "3", "-1", "5"),
        *templates(
            "({int} + {int}) % 11",
            "({int} * {int}) % 7",
            "({int} - {int})",
            "len({ints})",
            "len({dict})",
            "sum({ints})",
            "{tensor}.shape[0]",
            "({int} if {bool} else {int})",
            "max({int}, {int})",
            "len({str})",
            "{dict}.get({str}, {int})",
            "{box}.bump({int})",
            "{box}.count",
            "(7 // {int})",
            "(5 % {int})",
            "{ints}[{int}]",
            "{dict}[{str}]",
            "sum(k * {int} for k in {ints})",
            "abs({int})",
            "len({set})",
            "next(iter({ints}), {int})",
            "sum(numbers({int}))",
            "(lambda: {int})()",
            "int({bool})",
            "{ints}.count({int})",
            "min({ints}, default={int})",
            "divmod({int}, 3)[1]",
            "TALLY",
        ),
    ],
    "bool": [
        literal("True", "False"),
        *templates(
            "{int} > {int}",
            "({int} == {int})",
            "(not {bool})",
            "({bool} and {bool})",
            "({bool} or {bool})",
            "{int} in {ints}",
            "{str} in {dict}",
            "({int} < {int} <= {int})",
            "({tensor} is {tensor})",
            "({tensor}.dim() == 1)",
            "isinstance({int}, int)",
            "any(k > {int} for k in {ints})",
            "all({ints})",
            "bool({ints})",
            "hasattr({box}, {str})",
            "({ints} == {ints})",
            "({ints} is {ints})",
        ),
    ],
    "str": [
        literal("'a'", "'b'", "'value'", "''"),
        *templates(
            "({str} + {str})[:4]",
            "'%d' % ({int})",
            "str({int})",
            "{str}.upper()",
            "({str} * 2)[:3]",
            "'-'.join([{str}, {str}])",
            "('yes' if {bool} else {str})",
        ),
    ],
    "ints": [
        literal("[]", "[1, 2]", "[3]"),
        *templates(
            "[{int}, {int}]",
            "[k + {int} for k in {ints}]",
            "[k for k in {ints} if k > {int}]",
            "({ints} + [{int}])",
            "{ints}[1:]",
            "{ints}[::-1]",
            "list(range({int}))",
            "sorted({ints})",
            "list({dict}.values())",
            "list(map(lambda k: k + {int}, {ints}))",
            "[*{ints}, {int}]",
            "[a + b for a, b in zip({ints}, {ints})]",
            "[i * k for i, k in enumerate({ints})]",
            "sorted({set})",
            "{ints}.copy()",
            "list(reversed({ints}))",
            "[k for k in numbers({int})]",
        ),
    ],
    "tensors": [
        *templates(
            "[{tensor}]",
            "[{tensor}, {tensor}]",
            "[v + {int} for v in {tensors}]",
            "({tensors} + [{tensor}])",
            "[{tensor} for _ in range({int})]",
            "list(map(twice, {tensors}))",
            "[{tensor} * k for k in {ints}]",
            "list(v for v in {tensors})",
        ),
    ],
    "dict": [
        literal("{}", "{'a': 1}"),
        *templates(
            "dict(a={int}, value={int})",
            "dict({dict}, b={int})",
            "dict([({str}, {int})])",
            "dict(zip('ab', {ints}))",
            "dict((str(k), k) for k in {ints})",
            "({dict} | {dict})",
            "{dict}.copy()",
        ),
    ],
    "set": [
        literal("set()", "{1, 2}"),
        *templates("set({ints})", "({set} | {set})", "({set} & {set})", "set(k % 2 for k in {ints})"),
    ],
    "function": [
        literal("twice", "torch.neg"),
        *templates("(lambda v: v + {int})", "(lambda v: v * {tensor})", "({function} if {bool} else {function})"),
    ],
    "box": templates("Box({tensor})", "Box(x)"),
}
