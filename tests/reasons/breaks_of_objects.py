"""Breaks at Python objects: their classes, attributes, identity, order and lifetime."""

from __future__ import annotations

import itertools
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch._library.fake_class_registry import global_fake_class_registry

from tests.reasons.table import given_by


class Plain:
    value = 1

    def __init__(self, **held):
        self.__dict__.update(held)


class Hashed(Plain):
    count = 0

    def __hash__(self):
        self.count += 1
        return 1

    def __eq__(self, other):
        return self is other


class Meta(type):
    __call__ = staticmethod(lambda: 1)


class OfMeta(metaclass=Meta):
    pass


class EqualMeta(type):
    def __eq__(cls, other):
        return cls is other

    def __hash__(cls):
        return 1


class OfEqualMeta(metaclass=EqualMeta):
    pass


class LookingMeta(type):
    def __getattribute__(cls, name):
        return type.__getattribute__(cls, name)


class Looking(metaclass=LookingMeta):
    value = 1


class Loud(set):
    def __iter__(self):
        return super().__iter__()


class Finalized:
    def __del__(self):
        pass


def one(obj):
    return lambda: [(torch.ones(3), obj)]


def sharing():
    first, second = Plain(a=1), Plain()
    second.__dict__ = first.__dict__
    return [(torch.ones(3), first, second)]


@given_by("shared-instance-dict", sharing)
def takes_two_objects_with_one_dict(x, first, second):
    return x + first.a + second.a


@given_by("unknown-object", lambda: [(torch.ones(3), (torch.ones(3, requires_grad=True) * 2).grad_fn)])
def takes_a_node_of_autograd(x, node):
    return x + 1, node.name()


@given_by("builtin-subclass", one(Loud([1])))
def takes_a_set_of_a_class_of_its_own(x, numbers):
    return x + sum(numbers)


@given_by("hash-user-object")
def breaks_with_an_object_as_a_key(x):
    held = {Hashed(): x + 1, Hashed(): 1}
    print(end="")
    return held


@given_by("set-of-objects", one({Plain()}))
def takes_a_set_of_objects(x, objects):
    return x + len(objects)


@given_by("set-order")
def takes_any_of_a_set(x):
    return x + 1, [each.value for each in {Plain(), Plain()}]


@given_by("set-changed", one({1, 2}))
def takes_any_of_a_changed_set(x, numbers):
    numbers.add(3)
    return x + 1, list(numbers)


@given_by("dict-reshaped")
def takes_keys_out_while_iterating(x):
    held = {1: 1, 2: 2}
    for key in held:
        del held[key]
        held[key + 5] = x
        if key > 5:
            break
    return x + 1, held


@given_by("outside-iterator", one(iter(int, 1)))
def goes_on_with_an_iterator_over_calls(x, zeros):
    return x + next(zeros)


@given_by("generator-dropped")
def drops_a_generator(x):
    def numbers():
        try:
            yield x + 1
        finally:
            print(end="")

    for y in numbers():
        return y


@given_by("identity", lambda: [(torch.ones(3), n, int(str(n))) for n in (3, 1000, 1002)])
def compares_numbers_by_identity(x, n, m):
    k = n + 1
    return x * n, k is n + 1, k is m + 1


@given_by("object-id")
def asks_for_an_address(x):
    return x + 1, id(x) > 0


@given_by("finalizer")
def creates_an_object_with_a_finalizer(x):
    Finalized()
    return x + 1


@given_by("weak-reference")
def creates_a_weak_reference(x):
    return x + 1, weakref.ref(x)() is x


@given_by("weak-reference-after-change", lambda: [(torch.ones(3), p := Plain(), weakref.ref(p), [p])])
def calls_a_weak_reference_after_a_change(x, plain, reference, held):
    held.clear()
    return x + 1, reference() is plain


@given_by("object-address")
def shows_an_address(x):
    return x + 1, str(object())


@given_by("text")
def shows_a_text(x):
    return x + 1, str(itertools.count(1))


@given_by("attribute", lambda: [(torch.ones(3), np.ones(3))])
def reads_an_attribute(x, array):
    return x + 1, array.nbytes


@given_by("set-attribute")
def sets_an_attribute(x):
    x.names = None
    return x + 1


@given_by("set-special-attribute", one(Plain()))
def sets_a_class(x, plain):
    plain.__class__ = Hashed
    return x + 1


@given_by("set-class-attribute")
def sets_a_class_attribute(x):
    Plain.__call__ = len
    return x + 1


@given_by("descriptor", one(Plain()))
def uses_a_descriptor(x, plain):
    return x + 1, plain.__weakref__


@given_by("method", lambda: [(torch.ones(3), torch.ones(3))])
def calls_a_method(x, y):
    return (x + 1).untyped_storage().nbytes()


@given_by("metaclass")
def creates_an_object_of_a_metaclass(x):
    OfMeta()
    return x + 1


@given_by("class-equality")
def compares_classes(x):
    return x + 1, OfEqualMeta == Plain


@given_by("own-lookup")
def reads_an_attribute_by_own_code(x):
    return x + Looking.value


@given_by("class-created")
def creates_a_class(x):
    class Local:
        pass

    return x + 1, Local


@given_by("instance-dict-key", one(Plain()))
def uses_a_number_as_the_name_of_an_attribute(x, plain):
    plain.__dict__[1] = 2
    return x + 1


class FakeSum:
    """The fake of a class in torch's own test library."""

    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    @classmethod
    def __obj_unflatten__(cls, state: Any) -> FakeSum:
        return cls(**dict(state))

    def add_tensor(self, x: torch.Tensor) -> torch.Tensor:
        return (self.x + self.y) * x


def script_object(name: str, *args: Any) -> Any:
    torch.ops.load_library(str(Path(torch.__file__).parent / "lib" / "libtorchbind_test.so"))
    if not global_fake_class_registry.has_impl("__torch__.torch.classes._TorchScriptTesting._Foo"):
        torch._library.register_fake_class("_TorchScriptTesting::_Foo", FakeSum)
    return getattr(torch.classes._TorchScriptTesting, name)(*args)


@given_by("script-class", lambda: [(torch.ones(3), script_object("_FlattenWithTensorOp", torch.ones(3)))])
def object_without_a_fake_class(x: Any, holder: Any) -> Any:
    return x + holder.get()


@given_by("script-object-attribute", lambda: [(torch.ones(3), script_object("_Foo", 1, 2))])
def method_that_the_fake_class_lacks(x: Any, foo: Any) -> Any:
    foo.increment(1)
    return x + 1


@given_by("script-method", lambda: [(torch.ones(3, requires_grad=True), script_object("_Foo", 1, 2))])
def method_called_on_a_leaf(x: Any, foo: Any) -> Any:
    return foo.add_tensor(x)
