"""Where a value came from: a tree of `Source` nodes, each able to name, find and rebuild it.

In: roots (a frame's local, global, cell) and steps from a value to a part of it. Out: a name people read
(`L['x'].weight`), the value itself (`find`), an expression over variables (`expr`, for compiled guards), and code
that loads it again (`rebuild`). Sources compare by value, so that one place is one node.
"""

from tracer_core.sources.base import ById, FoundById, Scope, Source, SourceCode, Step, known_expr
from tracer_core.sources.converted import ConvertedSource
from tracer_core.sources.draws import DrawnSource
from tracer_core.sources.numbers import FloatTensorSource, IntTensorSource, NumberTensorSource
from tracer_core.sources.parts import (
    AttrSource,
    CellContentsSource,
    ClosureSource,
    DefaultsSource,
    FunctionPartSource,
    GetItemSource,
    InstanceDictSource,
    KwDefaultsSource,
    MemberSource,
    ObjectAttrSource,
)
from tracer_core.sources.plain import PlainValueSource
from tracer_core.sources.results import (
    BehindSource,
    DictKeySource,
    DictKeysSource,
    DictValueSource,
    DictValuesSource,
    LenSource,
    TypeSource,
)
from tracer_core.sources.roots import (
    BuiltinSource,
    CellSource,
    ConstantSource,
    FrameGlobalsSource,
    FrameLocalsSource,
    GlobalSource,
    GlobalStateSource,
    LocalSource,
)
from tracer_core.sources.tensors import GradSource, OffsetSource, SizeSource, StrideSource
from tracer_core.sources.upcoming import AllUpcomingSource, UpcomingSource
from tracer_core.sources.weak import ReferentSource

__all__ = [
    "AllUpcomingSource",
    "AttrSource",
    "BehindSource",
    "BuiltinSource",
    "ById",
    "CellContentsSource",
    "CellSource",
    "ClosureSource",
    "ConstantSource",
    "ConvertedSource",
    "DefaultsSource",
    "DictKeySource",
    "DictKeysSource",
    "DictValueSource",
    "DictValuesSource",
    "DrawnSource",
    "FloatTensorSource",
    "FoundById",
    "FrameGlobalsSource",
    "FrameLocalsSource",
    "FunctionPartSource",
    "GetItemSource",
    "GlobalSource",
    "GlobalStateSource",
    "GradSource",
    "InstanceDictSource",
    "IntTensorSource",
    "KwDefaultsSource",
    "LenSource",
    "LocalSource",
    "MemberSource",
    "NumberTensorSource",
    "ObjectAttrSource",
    "OffsetSource",
    "PlainValueSource",
    "ReferentSource",
    "Scope",
    "SizeSource",
    "Source",
    "SourceCode",
    "Step",
    "StrideSource",
    "TypeSource",
    "UpcomingSource",
    "known_expr",
]
