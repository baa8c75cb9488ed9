"""Errors that Python itself raises, and exceptions beside other features."""

from tests.conformance.program import program


class Trouble(Exception):
    def __init__(self, code, note="n"):
        super().__init__(f"trouble {code}")
        self.code = code
        self.note = note


class WorseTrouble(Trouble):
    pass


@program("I5")
def attribute_error(x):
    try:
        x.no_such_thing
    except AttributeError as error:
        return x + 1, type(error).__name__


@program("I5", differs="fewer_breaks", why="torch does not raise the TypeError of a bad call itself")
def type_error_from_a_bad_call(x):
    def f(a, b):
        return a

    messages = []
    for args in ((1,), (1, 2, 3)):
        try:
            f(*args)
        except TypeError as error:
            messages.append(str(error))
    return x + 1, messages


@program("I5", differs="fewer_breaks", why="torch does not raise the NameError itself")
def name_error(x):
    try:
        undefined_name  # noqa: F821
    except NameError as error:
        return x + 1, str(error)


@program("I5", differs="fewer_breaks", why="torch does not raise the NameError itself")
def name_error_leaves(x):
    y = x + 1
    return undefined_name  # noqa: F821


@program("I5")
def zero_division(x):
    try:
        1 / 0
    except ZeroDivisionError as error:
        first = str(error)
    try:
        1 % 0
    except ArithmeticError as error:
        return x + 1, first, str(error)


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def except_all(x):
    try:
        raise Trouble(1)
    except:  # noqa: E722
        return x + 1


@program("I5")
def exception_hierarchy(x):
    caught = []
    for kind in (KeyError, IndexError, UnicodeError, FileNotFoundError, RecursionError):
        try:
            raise kind("m")
        except (LookupError, OSError) as error:
            caught.append(("lookup or os", type(error).__name__))
        except Exception as error:  # noqa: BLE001
            caught.append(("other", type(error).__name__))
    return x + 1, caught


@program("I5", differs="torch_differs", why="another message")
def raise_something_else(x):
    try:
        raise "text"
    except TypeError as error:
        return x + 1, str(error)


@program(
    "I5 I4", differs="fewer_breaks", why="torch.compile goes on after an assert, but not after an if that raises"
)
def exception_after_a_value_branch(x):
    if x.sum() < 1000:
        raise Trouble(8)
    return x


@program("I5 I14")
def exception_after_a_break(x):
    y = x + 1
    print("before")
    raise Trouble(y.shape[0])


@program("I5 I14", differs="fewer_breaks", why="torch leaves a frame that breaks in a try block to Python")
def exception_across_a_break_in_an_inlined_call(x):
    def f(v):
        print("in f")
        raise Trouble(11)

    try:
        f(x + 1)
    except Trouble as error:
        return x + error.code


@program("I5", differs="torch_differs", why="the error of the operator cannot be caught")
def shape_mismatch_caught(x):
    try:
        return x @ x
    except RuntimeError:
        return x + 1


@program("I5", differs="torch_differs", why="raises an error of its own")
def shape_mismatch_leaves(x):
    y = x + 1
    return y @ y


@program("I5")
def exception_group_star(x):
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        return_value = len(group.exceptions)
    except* TypeError:
        pass
    return x + return_value


@program("I5", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def notes_on_an_exception(x):
    try:
        error = Trouble(1)
        error.add_note("a note")
        raise error
    except Trouble as caught:
        return x + 1, caught.__notes__


@program(
    "I5 I6", differs="fewer_breaks", why="torch leaves a frame that breaks under a manager of the user to Python"
)
def exception_in_with_passes_exit(x):
    log = []

    class Guard:
        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, kind, value, trace):
            log.append((kind.__name__, str(value), trace is not None))
            return True

    with Guard():
        raise Trouble(1)
    return x + 1, log


@program("I5 I8", differs="fewer_breaks", why="torch cannot trace super().__init__ of an exception")
def exception_from_a_generator(x):
    def gen():
        yield 1
        raise Trouble(2)

    seen = []
    try:
        for v in gen():
            seen.append(v)
    except Trouble as error:
        return x + error.code, seen


@program("I5", differs="fewer_breaks", why="torch does not trace attributes of StopIteration")
def stop_iteration_has_a_value(x):
    try:
        raise StopIteration(5)
    except StopIteration as stop:
        return x + stop.value


@program("I5")
def lookup_with_fallback(x):
    d = {"a": 1}

    def get(key):
        try:
            return d[key]
        except KeyError:
            return -1

    return x + get("a") + get("b")


@program("I5 I10")
def exception_in_init_property_and_getitem(x):
    class Box:
        def __init__(self, n):
            if n < 0:
                raise ValueError("negative")

        @property
        def value(self):
            raise AttributeError("hidden")

        def __getitem__(self, key):
            raise KeyError(key)

    out = []
    for action in (lambda: Box(-1), lambda: Box(1).value, lambda: Box(1)["k"]):
        try:
            action()
        except Exception as error:  # noqa: BLE001
            out.append(repr(error))
    return x + 1, out, hasattr(Box(1), "value")


@program("I5", differs="fewer_breaks", why="torch leaves a frame that ends in an exception to Python")
def system_exit_leaves(x):
    y = x + 1
    raise SystemExit(3)


@program("I5 I3", differs="fewer_breaks", why="torch does not trace an assert whose message is no text")
def assertion_caught(x):
    try:
        assert x.shape[0] == 99, ("rows", x.shape[0])
    except AssertionError as error:
        return x + 1, error.args


@program("I5")
def deep_try_nesting(x):
    log = []
    try:
        try:
            try:
                raise KeyError(1)
            except ValueError:
                log.append("wrong")
            finally:
                log.append("f1")
        except KeyError:
            log.append("right")
            raise TypeError("t")
        finally:
            log.append("f2")
    except TypeError:
        log.append("outer")
    return x + 1, log
