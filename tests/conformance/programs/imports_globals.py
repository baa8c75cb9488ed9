"""Global reads and writes, imports inside functions, module attributes, `del`."""

import math
import sys

import torch

from tests.conformance.program import program, t

COUNT = 0
NAMES = ["a"]
TABLE = {"k": 1}
WEIGHT = torch.ones(3)
TEMPORARY = 5
MISSING_LATER = 1
SCALE = 2.0
FLAG = True


@program("I13", lambda: [t(3), t(3)])
def global_read(x):
    return x * SCALE + WEIGHT if FLAG else x


@program("I13 O7", lambda: [t(3), t(3), t(3)])
def global_counter(x):
    global COUNT
    COUNT += 1
    return x + COUNT


@program("I13 O7")
def global_written_then_read(x):
    global SCALE
    SCALE = 5.0
    return x * SCALE


@program("I13 O7")
def global_tensor_written(x):
    global WEIGHT
    WEIGHT = x + 1
    return WEIGHT * 2


@program("I13 O7")
def global_tensor_changed_in_place(x):
    WEIGHT.add_(x[0])
    return WEIGHT + 1


@program("I13 O7", lambda: [t(3), t(3)])
def global_list_and_dict_mutated(x):
    NAMES.append("b")
    TABLE["n"] = len(NAMES)
    return x + TABLE["n"] + TABLE["k"]


@program("I13 O7", differs="fewer_breaks", why="torch does not raise the NameError itself")
def new_global_made(x):
    global MADE
    MADE = x + 1
    return MADE * 2


@program("I13 O7", differs="fewer_breaks", why="torch has no handler for one of the instructions")
def global_deleted(x):
    global TEMPORARY
    n = TEMPORARY
    del TEMPORARY
    return x + n


@program("I13 I5 O7", differs="fewer_breaks", why="torch has no handler for one of the instructions")
def deleted_global_read(x):
    global MISSING_LATER
    del MISSING_LATER
    try:
        MISSING_LATER
    except NameError as error:
        return x + 1, str(error)


def writes_global(v):
    global COUNT
    COUNT = v
    return COUNT


@program("I13 O7")
def global_written_by_an_inlined_function(x):
    before = COUNT
    writes_global(7)
    return x + COUNT, before


@program("I13 O7 I14")
def global_written_around_a_break(x):
    global COUNT
    COUNT = 1
    print("count", COUNT)
    COUNT += 1
    return x + COUNT


@program("I13 O7 I5")
def global_written_before_an_exception(x):
    global COUNT
    COUNT = 41
    raise ValueError(COUNT)


@program("I13")
def import_inside(x):
    import math as m
    from collections import OrderedDict

    return x * m.sqrt(4), OrderedDict(a=1)


@program("I13")
def import_of_a_submodule(x):
    import os.path

    import torch.nn.functional as F
    from torch import nn

    return F.relu(x), os.path.join("a", "b"), nn.__name__


@program("I13 I5")
def import_that_fails(x):
    try:
        import no_such_module_anywhere  # noqa: F401
    except ImportError as error:
        return x + 1, str(error)


@program("I13 I5")
def import_of_a_missing_name(x):
    try:
        from math import no_such_name  # noqa: F401
    except ImportError as error:
        return x + 1, type(error).__name__


@program("I13")
def module_attributes(x):
    return x * math.pi, math.__name__, torch.float32, torch.nn.functional.relu(x), hasattr(math, "nothing")


@program("I13")
def module_as_a_value(x):
    m = math
    f = getattr(m, "floor")
    return x + f(2.5), m is math, callable(f)


@program("I13 I5", differs="torch_differs", why="another message")
def missing_module_attribute(x):
    try:
        math.nothing
    except AttributeError as error:
        return x + 1, str(error)


@program("I13")
def dunder_name_and_file(x):
    return x + 1, __name__, __file__.endswith("imports_globals.py"), __doc__


@program("I13")
def sys_modules(x):
    return x + 1, "torch" in sys.modules, sys.version_info >= (3, 11), sys.maxsize > 1


@program("I13")
def torch_version(x):
    return x + 1, torch.__version__.startswith("2"), torch.version.cuda is None


@program("I13 O7", differs="torch_differs", why="the write is not seen")
def attribute_of_a_module_written(x):
    this = sys.modules[__name__]
    this.COUNT = 77
    return x + COUNT


@program("I13")
def builtins_by_name(x):
    import builtins

    return x + builtins.len([1, 2]), builtins.sum is sum


@program("I13")
def global_shadowed_by_local(x):
    SCALE = 100
    return x * SCALE


@program("I13")
def function_that_reads_a_global_defined_later(x):
    return x + LATER


LATER = 9


@program("I13", lambda: [t(3), t(3)], then=lambda r: NAMES.append("more"))
def list_global_changes_between_calls(x):
    return x + len(NAMES)


@program("I13 G1", lambda: [t(3), t(3)], then=lambda r: TABLE.update(k=TABLE["k"] + 1))
def dict_global_changes_between_calls(x):
    return x + TABLE["k"]


def helper(v):
    return v + 1


def replace_helper(_):
    global helper
    helper = lambda v: v * 10


@program("I13 G1", lambda: [t(3), t(3)], then=replace_helper)
def function_global_replaced_between_calls(x):
    return helper(x)


@program("I13")
def environment_variables(x):
    import os

    return x + 1, os.environ.get("NO_SUCH_VARIABLE_HERE", "unset"), os.getenv("ALSO_NOT_SET")


@program("I13", lambda: [(math, t(2)), (math, t(2))])
def module_as_argument(m, x):
    return x * m.pi
