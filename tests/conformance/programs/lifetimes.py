"""When objects go: weak references and finalizers see it."""

import warnings
import weakref

import torch
import torch.fx.experimental.validator  # noqa: F401  (importing it inside the first frame holds that frame for ever)

from tests.conformance.program import program

DIFFERS = {"differs": "torch_differs", "why": "torch.compile holds what is alive at a break until the frame returns"}


class Thing:
    pass


def watched(thing):
    return weakref.ref(thing)


@program("I12 O6", **DIFFERS)
def dropped_after_a_break(x):
    y = x + 1
    thing = Thing()
    ref = weakref.ref(thing)
    print("break")
    del thing
    return y * 2, ref() is None


@program("I12 O6", **DIFFERS)
def watched_by_another_function(x):
    y = x + 1
    thing, other = Thing(), Thing()
    refs = watched(thing), watched(other)
    thing = other
    return y * 2, [ref() is None for ref in refs]


@program("I12 O6")
def weak_values(x):
    table = weakref.WeakValueDictionary()
    kept = [Thing() for _ in range(3)]
    for i, thing in enumerate(kept):
        table[i] = thing
    del thing
    y = x + len(table)
    kept.pop(1)
    return y, sorted(table)


class Loud:
    said = []
    name = None  # torch drops instances that it never initialized

    def __init__(self, name):
        self.name = name

    def __del__(self):
        self.said.append(self.name)


@program("I10 O7", **DIFFERS)
def finalizers(x):
    Loud("dropped at once")
    y = x + len(Loud.said)
    kept = Loud("replaced")
    kept = Loud("kept")
    print("break")
    del kept
    return y * len(Loud.said), list(Loud.said)


class SaysSo:
    def __del__(self):
        print("gone")


@torch.compiler.disable
def says_when_it_goes():
    return SaysSo()


async def never_awaited():
    pass


@program("I12 O6", **DIFFERS)
def result_that_nobody_wants(x):
    says_when_it_goes()
    y = x + 1
    print("after")
    return y * 2


@program("I12 O6", differs="fewer_breaks", why="torch.compile leaves the block to Python")
def coroutine_that_nobody_wants(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        never_awaited()
        y = x + 1
        count = len(seen)
    return y * 2, count
