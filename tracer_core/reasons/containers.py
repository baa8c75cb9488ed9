"""Reasons about containers and iterators."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "hash-user-object",
    "The code uses a {cls} object, which has its own __hash__ or __eq__, as a key.",
    "To look the key up, Python calls these methods, and it does not define how often or in which order.",
    "Use a plain value, such as a string or a number, as the key.",
)
reason(
    "set-of-objects",
    "{source} is a set of objects, whose order depends on their addresses.",
    "Addresses differ from run to run, so the next run may iterate over the set in another order.",
    "Use a list or a dict, whose order is fixed.",
)
reason(
    "set-order",
    "The code depends on the order of {what}, which depends on the addresses of objects.",
    "Addresses differ from run to run.",
    "Use a list or a dict, whose order is fixed.",
)
reason(
    "set-changed",
    "The code depends on the order of a {what} that was created before this point and that it changes.",
    "That order depends on how Python stored its items in memory.",
    "Create the set inside the compiled function.",
    "Use a list or a dict, whose order is fixed.",
)
reason(
    "set-kept",
    "A function that is passed to a torch operator changes a {what} that was created outside the function.",
    "If the rest of the function cannot be traced, the change must be undone, but the order of a set cannot be "
    "restored.",
    "Create the set inside the function.",
    "Use a list or a dict.",
)
reason(
    "dict-reshaped",
    "The code iterates over a {what} while it adds and removes keys.",
    "The next key then depends on how Python stores the keys in memory.",
    "Iterate over a copy: for key in list(d).",
)
reason(
    "outside-iterator",
    "The code takes an item from a {type} that was created before this point.",
    "While tracing, the next item is read without taking it, because taking it cannot be undone. This is possible "
    "only where it runs no code of the program (an iterator over a list, for example), and only while the code has "
    "not changed the container. This item is taken as plain Python.",
    "Start the iteration inside the compiled function, or pass a list.",
)
reason(
    "generator-dropped",
    "{name} is dropped before its end, while it is in a try or with block.",
    "When Python frees the generator, it runs the rest of the block. When that happens is known only when the "
    "program runs.",
    "Iterate over the generator to its end, or close it.",
)
reason(
    "match",
    "A match statement looks up keys in {what}.",
    "The keys of such a mapping are not tracked.",
    "Use plain dicts in patterns.",
)
