"""Arithmetic and comparison on Python numbers, tensors and both."""

import math
import operator

import torch

from tests.conformance.program import call, program, t


@program("I2")
def add_and_multiply(x, y):
    return x * 2 + y


@program("I2")
def every_binary_operator(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, x**2, x @ y.T


@program("I2")
def reflected_operators(x):
    return 1 + x, 2 - x, 3 * x, 4 / x, 5 // x, 6 % x, 2**x


@program("I2", lambda: [(t(2, 3, dtype=torch.int64), t(2, 3, dtype=torch.int64, start=4))])
def bit_operators(x, y):
    return x & y, x | y, x ^ y, ~x, x << 1, x >> 1, 3 & x, 3 | x, 3 ^ x


@program("I2")
def unary_operators(x):
    return -x, +x, abs(x), ~(x > 0)


@program("I2")
def comparisons_of_tensors(x, y):
    return x < y, x <= y, x == y, x != y, x > y, x >= y


@program("I2")
def comparisons_with_numbers(x):
    return x < 1, 1 < x, x == 0, 0 != x, x >= 0.5, 0.5 >= x


@program("I2 O7")
def augmented_assignment_on_an_input(x, y):
    x += y
    x *= 2
    x -= 1
    return x


@program("I2")
def augmented_assignment_on_a_fresh_tensor(x, y):
    z = x + 0
    alias = z
    z += y
    z /= 4
    return z, alias


@program("I2 O7", lambda: [(t(3, dtype=torch.int32), t(3, dtype=torch.int32, start=3))])
def augmented_bit_operators(x, y):
    x |= y
    x &= 7
    x ^= y
    x <<= 2
    x >>= 1
    return x


@program("I2", lambda: [(t(3), 3), (t(3), 3)])
def int_arithmetic_folds(x, n):
    a = (n + 4) * 5 - 2
    b = a // 3 % 7
    c = -(a**2) if a > b else +b
    return x + a, b, c, divmod(a, 4), a / 2, a << 2 | 1, ~a & 0xFF


@program("I2", lambda: [(t(3), 0.5), (t(3), 0.5)])
def float_arithmetic_folds(x, s):
    a = s * 3.0 - 1e-3
    return x * a, a.is_integer(), round(a, 2), int(a), a // 0.25, a % 0.3


@program("I2", lambda: [(t(3), 1 + 2j)])
def complex_constant(x, z):
    w = z * z.conjugate()
    return x + w.real, w, abs(z), z.imag


@program("I2")
def chained_comparison(x):
    n = x.shape[0]
    return x + 1 if 1 < n < 10 else x - 1


@program("I2")
def is_and_in(x, y):
    same = x is x
    other = x is y
    return x + (1 if same and not other and x is not None else 2), 3 in (1, 2, 3), 4 not in [1, 2]


@program("I2", lambda: [(t(3), True), (t(3), False)])
def boolean_arithmetic(x, flag):
    return x + flag, flag + flag, flag * 3, not flag, flag and 5, flag or 7


@program("I2")
def integer_division_and_modulo_signs(x):
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2)]
    return x + 1, [(a // b, a % b, divmod(a, b)) for a, b in pairs]


@program(
    "I2", lambda: [(t(3), 0)], differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python"
)
def division_by_zero_leaves(x, n):
    y = x + 1
    return y / (1 // n)


@program("I2")
def big_integers(x):
    a = 2**100
    return x + 1, a, a % 97, a.bit_length(), (a + 1) // 3, int("123456789" * 4)


@program("I2 I12")
def math_on_constants(x):
    return x * math.sqrt(16), math.floor(2.7), math.ceil(2.1), math.pi, math.gcd(12, 18), math.prod([1, 2, 3])


@program("I12")
def operator_module(x, y):
    return operator.add(x, y), operator.mul(x, 2), operator.neg(x), operator.itemgetter(1)([1, 2, 3])


@program("I2", lambda: [(t(3), t(3, dtype=torch.int64)), (t(3, dtype=torch.float64), t(3, dtype=torch.bool))])
def mixed_dtypes(x, y):
    return x + y, x * y, (x > 0) & (y > 0)


@program("I2")
def matrix_multiplication(x, y):
    z = x @ y.t()
    z @= z
    return z


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        if isinstance(other, Money):
            return Money(self.amount + other.amount)
        return NotImplemented

    def __radd__(self, other):
        return Money(other + self.amount)

    def __lt__(self, other):
        return self.amount < other.amount

    def __eq__(self, other):
        return isinstance(other, Money) and self.amount == other.amount

    def __neg__(self):
        return Money(-self.amount)

    def __bool__(self):
        return self.amount != 0

    __hash__ = None


@program("I2 I10")
def dunder_arithmetic(x):
    total = Money(1) + Money(2)
    total = 5 + total
    return x + total.amount, -total == Money(-8), Money(1) < Money(2), bool(Money(0)), total != Money(8)


@program("I2 I10")
def no_operator_raises(x):
    try:
        Money(1) + "a"
    except TypeError as error:
        return x + 1, str(error)


class Left:
    def __sub__(self, other):
        return "left"


class Right(Left):
    def __rsub__(self, other):
        return "right of subclass"


@program("I2 I10")
def reflected_method_of_a_subclass_goes_first(x):
    return x + 1, Left() - Right(), Right() - Left()


@program("I2 I11")
def int_methods(x):
    n = 37
    return (
        x + 1,
        n.bit_length(),
        n.bit_count(),
        n.to_bytes(2, "big"),
        int.from_bytes(b"\x01\x02", "big"),
        (5).conjugate(),
    )


@program("I2 I11")
def float_methods(x):
    f = 2.5
    return x + 1, f.as_integer_ratio(), f.hex(), float.fromhex("0x1p-1"), f.is_integer(), float("inf"), float("-1e3")


@program("I2", lambda: [call(t(3), n=2), call(t(3), n=3), call(t(3), n=4)])
def int_argument_becomes_symbolic(x, *, n):
    return x * n


@program("I2", lambda: [(t(3), 1.5), (t(3), 2.5), (t(3), 3.5)])
def float_argument_varies(x, s):
    return x * s


@program("I2", lambda: [(t(3), 2), (t(3), 5), (t(3), 7)])
def arithmetic_on_symbolic_int(x, n):
    return x.sum() + (n * 3 - 1) // 2 + n % 3, n + 1, -n, n * n


@program("I2", lambda: [(t(6), 2), (t(6), 3)])
def symbolic_int_as_size(x, n):
    return x.reshape(n, -1), n in (2, 3), n == 3


@program("I2")
def round_and_divmod(x):
    return x + 1, round(2.567, 1), round(5), round(-0.5), divmod(-5, 3), pow(2, 10), pow(3, -1), pow(7, 2, 5)


@program(
    "I2",
    lambda: [(t(4), t(4, start=2)), (t(4), t(4))],
    differs="torch_differs",
    why="`in` gives a tensor instead of a bool",
)
def tensor_equality_in_list(x, y):
    return x in [x, y], [x, y].index(x)


@program("I2")
def conditional_arithmetic(x):
    n = x.numel()
    scale = 1 / n if n else 0.0
    return x.sum() * scale
