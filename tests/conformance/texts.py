"""Every text of a recording that a person reads, and the names that none of them may hold.

A name of the engine's own means nothing to its reader: an argument that only a resume function has, an object's
address, a symbol without what it stands for. Generated code is shown as Python text and names what it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tracer_core.names.symbols import SYMBOL
from tracer_core.recording import Trace, schema
from tracer_core.recording.views import CHUNK, LATER, WINDOW, chunk_view, later_view, window_view

NAMES = {
    "a name of generated code": r"__[_]\w|__t[w]_",
    "an iterator's items by our name": r"\bu[p]coming\(",
    "an address": r"\bat 0x[0-9a-f]",
    "nn.Module's machinery for the module's class": r"\bModule\._(?:wrapped_)?cal[l]_impl\b(?!\.)",
    "a name of pybind11": r"pybin[d]11",
    "a resume function for the user's": r"\b(?:torch_dynamo_)?resum[e]_in_",
    "a class of the engine": r"\b[A-Z]\w*Variabl[e]\b|\bVariableTracke[r]\b",
}
NUMPY = sorted(name for name in dir(np) if name.islower() and not name.startswith("_"))
OF_MESSAGES = {
    "a function of a node for NumPy's": rf"\b(?:wrappe[d]_(?:{'|'.join(NUMPY)})\b|numpy_attr_wrappe[r])",
    "a place in C++": r"\.(?:cp[p]|c[u]|[h])[:\"]|INTERNAL ASSER[T]|\bunhinte[d]\b",
    "a symbol of torch's alone": r"(?<![\w.'])u[0-9]+\b(?!\[)",
    "what only fakes raise": r"data is not allocate[d]|report a bug to PyTorc[h]",
    "a number as sympy writes it": r"\d\.\d*0{8}(?![\de])",
    "no English": r"\b[Aa] (?:ndarra[y]|in[t]|arra[y]|iterato[r]|objec[t]|elemen[t]|inde[x])\b"
    r"|\bits [a-z ]+ o[f] a\b",
}
"""What no message may hold: graphs do have nodes of such names, and programs may name their variables so."""

MESSAGES = ("break", "call", "end of an attempt", "guard", "failed guard")

# (None of them matches itself: the cache of `re`, which a program may look into, has them all.)
FORBIDDEN = {what: re.compile(pattern) for what, pattern in NAMES.items()}
FORBIDDEN_IN_MESSAGES = {what: re.compile(pattern) for what, pattern in OF_MESSAGES.items()}


_QUOTED = re.compile(r"'[^']*'|The code issues a warning: .*", re.DOTALL)
"""The program's own strings, and what torch warns of."""

ALLOWED = {("source", "nn.Module's machinery for the module's class")}
"""A source names attributes as the program reads them, and torch's own code reads this one."""


def faults(trace: Trace) -> list[str]:
    """What is wrong with the recording's texts: one line for each kind of text and of name, with an example."""
    found: dict[tuple[str, str], str] = {}
    # Building the sentences is most of the work, so it is done once; many steps have the same.
    explained = list(dict.fromkeys(explained_texts(trace)))
    for kind, text in dict.fromkeys([*texts(trace), *((kind, text) for kind, text, _ in explained)]):
        more = FORBIDDEN_IN_MESSAGES if kind in MESSAGES else {}
        for what, pattern in FORBIDDEN.items():
            if pattern.search(text) and (kind, what) not in ALLOWED:
                found.setdefault((kind, what), text)
        for what, pattern in more.items():
            if pattern.search(_QUOTED.sub("", text)):
                found.setdefault((kind, what), text)
    for kind, text, meanings in explained:
        for name in SYMBOL.findall(text) if meanings else ():
            if name in meanings and f"{name} = " not in text and f"symbol {name} (" not in text:
                found.setdefault((kind, "a symbol without what it stands for"), text)
    return [f"{kind}: {what}: {' '.join(text.split())[:400]}" for (kind, what), text in sorted(found.items())]


def texts(trace: Trace) -> Iterator[tuple[str, str]]:
    """All that say nothing of symbols, each with its kind."""
    yield "summary", str(trace)
    for code in trace.codes:
        yield "function's name", code.name
        yield "function's name", code.qualname
        yield from (("variable", name) for name in (*code.locals, *code.cells))
        yield from (("operand", instruction.arg) for instruction in code.instructions)
    for attempt in trace.attempts:
        yield "end of an attempt", attempt.message
    for broken in trace.breaks:
        yield from (("break", text) for text in (broken.message, broken.explanation, *broken.hints, broken.action))
    for body in trace.bodies:
        yield from (("body", text) for text in (body.operator, body.function, body.text))
        yield from (("lifted value", text) for lift in body.lifted for text in (lift.name, lift.text))
    for guard in trace.guards:
        yield "guard", guard.text
        yield from (("source", name) for name in guard.names)
    for call in trace.calls:
        yield "call", call.message
        yield from (("failed guard", text) for check in call.checks for text in (check.text, check.seen))
    for symbol in trace.symbols:
        yield "symbol", symbol.meaning
    for effect in trace.side_effects:
        yield "side effect", effect.message
    for raised in trace.data.raised:
        yield "exception", raised.text
    for node in trace.nodes:
        yield from (("node", text) for text in (node.name, node.target, node.args, node.label))


def explained_texts(trace: Trace) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Those of steps, values, breaks and calls, each with the symbols of which it must say what they stand for."""
    of_attempt: dict[int, set[str]] = {}
    for symbol in trace.symbols:
        of_attempt.setdefault(symbol.attempt, set()).add(symbol.name)
    known = {attempt: frozenset(names) for attempt, names in of_attempt.items()}
    for step, sentence in sentences(trace):
        yield "sentence", sentence, known.get(trace.frames[trace.index.steps.frame[step]].attempt, frozenset())
    for broken in trace.breaks:
        yield "break", broken.message, known.get(broken.attempt, frozenset())
    everywhere = frozenset().union(*known.values())
    for call in trace.calls:
        yield "call", call.message, everywhere
    for snapshot in snapshots(trace):
        yield "value", snapshot.text, everywhere
        yield "source", snapshot.name, frozenset()
        yield from (("label of a part", label, frozenset()) for label, _ in snapshot.parts)


def sentences(trace: Trace) -> Iterator[tuple[int, str]]:
    """The sentence of each step, as the explorer is sent it."""
    for window in range(-(-len(trace) // WINDOW)):
        view = window_view(trace, window)
        yield from enumerate((view.texts[number] for number in view.sentence), view.first)


def snapshots(trace: Trace) -> Iterator[schema.Snapshot]:
    """Each value at each time it changed, as the explorer is sent it."""
    for chunk in range(-(-trace.data.snapshots.trackers // CHUNK)):
        for tracker in chunk_view(trace, chunk).trackers:
            yield from tracker.snapshots
    for chunk in range(-(-trace.index.trackers.later_count // LATER)):
        yield from later_view(trace, chunk).snapshots
