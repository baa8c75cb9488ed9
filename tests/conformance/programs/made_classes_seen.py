"""Classes made while tracing, seen from the classes they derive from; metaclasses that say how classes derive."""

import abc
import typing

import torch

from tests.conformance.program import program


class Base:
    pass


class Slotted:
    __slots__ = ("a",)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def f(self): ...


class Failure(Exception):
    pass


class Hooked:
    def __init_subclass__(cls, **keywords):
        pass


class Generic(typing.Generic[typing.TypeVar("T")]):
    pass


class Model(torch.nn.Module):
    pass


@program("I10", differs="stricter", why="what counts classes sees when they go, so the frame is left to Python")
def subclasses_one_by_one(x):
    class Parent:
        pass

    counts = [len(Parent.__subclasses__())]

    class First(Parent):
        pass

    counts.append(len(Parent.__subclasses__()))
    return x + sum(counts), counts, First.__name__


@program("I10 O6", differs="stricter", why="what counts classes sees when they go, so the frame is left to Python")
def subclasses_of_every_kind(x):
    class A(Base):
        pass

    class B(Slotted):
        pass

    class C(Slotted):
        __slots__ = ()

    class D(Abstract):
        pass

    class E(Failure):
        pass

    class F(Model):
        pass

    class G(Generic):
        pass

    class H(Hooked):
        pass

    class J(A, H):
        pass

    x = x + 1
    bases = (Base, Slotted, Abstract, Failure, Model, Generic, Hooked, A, H)
    return x, [[cls.__name__ for cls in base.__subclasses__()] for base in bases]


@program("I10 O6", differs="stricter", why="what counts classes sees when they go, so the frame is left to Python")
def subclasses_after_a_break(x):
    class Late(Base):
        pass

    y = x + 1
    print("made")
    return y, [cls.__name__ for cls in Base.__subclasses__()], Late.__name__


@program("I10")
def metaclass_with_an_mro(x):
    class Backwards(type):
        def mro(cls):
            print("asked", cls.__name__)
            return type.mro(cls)

    class Made(metaclass=Backwards):
        k = 1

    return x + Made.k


@program("I10")
def metaclass_with_an_mro_that_is_none(x):
    class Wrong(type):
        def mro(cls):
            return [1]

    try:

        class Made(metaclass=Wrong):
            pass

    except TypeError as error:
        return x + 1, str(error)
    return x


@program("I10", differs="torch_differs", why="torch fails at a class without bases")
def metaclass_that_looks_at_a_class_in_the_making(x):
    class Looks(type):
        def mro(cls):
            print(cls.__mro__, hasattr(cls, "k"), x.sum().item() if cls.__mro__ else None)
            return type.mro(cls)

    class Made(metaclass=Looks):
        k = 1

    return x + Made.k
