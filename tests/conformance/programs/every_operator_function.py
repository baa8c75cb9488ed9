"""The functions of `operator` and `math` on constants, containers and tensors."""

import math
import operator

from tests.conformance.program import program, t


@program("I2 I12", differs="fewer_breaks", why="torch does not know operator.inv")
def operator_functions_on_tensors(x):
    y = x + 2
    i = x.to(int) + 12
    return (
        [f(x, y) for f in (operator.add, operator.sub, operator.mul, operator.pow, operator.floordiv, operator.mod)],
        [f(x, y) for f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)],
        [f(i, 3) for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)],
        [f(x) for f in (operator.neg, operator.pos, operator.abs)],
        operator.invert(i),
        operator.inv(i),
        operator.truediv(x, y),
        operator.matmul(x, y.T),
    )


@program("I2 I12")
def operator_functions_on_numbers(x):
    return (
        x + 1,
        [f(17, 5) for f in (operator.sub, operator.pow, operator.floordiv, operator.mod, operator.truediv)],
        [f(17, 5) for f in (operator.eq, operator.ne, operator.le, operator.gt, operator.ge, operator.is_not)],
        [f(17, 5) for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)],
        [f(-3) for f in (operator.abs, operator.pos, operator.inv, operator.invert, operator.index, operator.not_)],
        operator.call(divmod, 7, 2),
    )


@program("I2 I12")
def in_place_operator_functions_on_tensors(x):
    y = x.clone()
    i = x.to(int)
    same = [
        operator.iadd(y, 1) is y,
        operator.isub(y, 2) is y,
        operator.imul(y, 3) is y,
        operator.itruediv(y, 4) is y,
        operator.ipow(y, 2) is y,
        operator.ifloordiv(y, 2) is y,
        operator.imod(y, 3) is y,
        operator.iand(i, 7) is i,
        operator.ior(i, 8) is i,
        operator.ixor(i, 3) is i,
        operator.ilshift(i, 2) is i,
        operator.irshift(i, 1) is i,
    ]
    return y, i, same, operator.imatmul(x, y.T)


@program("I2 I12")
def in_place_operator_functions_on_containers(x):
    a, s, d = [1], {1, 2}, {"k": 1}
    alias, n = a, 5
    b = operator.iconcat(a, (2,))
    operator.iadd(a, [x])
    operator.imul(a, 2)
    operator.ior(s, {3})
    operator.iand(s, {2, 3, 4})
    operator.ixor(s, {4})
    operator.isub(s, {2})
    operator.ior(d, {"z": 2})
    return (
        x + 1,
        (b is a, alias, s, d),
        [f(n, 3) for f in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv)],
        [f(n, 3) for f in (operator.imod, operator.ipow, operator.iand, operator.ior, operator.ixor)],
        [f(n, 3) for f in (operator.ilshift, operator.irshift)],
        n,
    )


@program("I12")
def math_functions_of_one_constant(x):
    functions = (
        math.acos, math.asin, math.atan, math.asinh, math.atanh, math.sin, math.cos, math.tan, math.sinh, math.cosh,
        math.tanh, math.cbrt, math.degrees, math.radians, math.erf, math.erfc, math.exp2, math.expm1, math.fabs,
        math.gamma, math.lgamma, math.log10, math.log1p, math.ulp, math.isfinite, math.isinf, math.isnan, math.sqrt,
    )  # fmt: skip
    return x + math.acosh(1.5), [f(0.5) for f in functions]


@program("I12")
def math_functions_of_two_constants(x):
    functions = (math.atan2, math.fmod, math.pow, math.remainder, math.nextafter, math.copysign, math.hypot)
    return x + math.ldexp(0.5, 3), [f(5.5, 2.0) for f in functions]


@program("I5 I12")
def math_functions_that_refuse(x):
    messages = []
    for f, args in (
        (math.acos, (2,)),
        (math.acosh, (0.5,)),
        (math.fmod, (1, 0)),
        (math.pow, (-1, 0.5)),
        (math.log10, (0,)),
        (math.gamma, (-1,)),
        (math.sin, ("x",)),
        (math.ldexp, (1.0, 10000)),
        (math.isinf, ()),
    ):
        try:
            f(*args)
        except (ValueError, TypeError, OverflowError) as error:
            messages.append(repr(error))
    return x + 1, messages


@program("I12", lambda: [(t(2), 0.5, 2), (t(2), 0.5, 3)])
def math_functions_of_the_callers_numbers(x, f, n):
    return x + 1, math.cos(f), math.atan2(f, n), math.log1p(f), math.isfinite(f), math.degrees(f), math.fabs(-f)
