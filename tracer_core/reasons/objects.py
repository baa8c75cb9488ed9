"""Reasons about objects and classes: their attributes, identity, lifetime and text."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "unknown-object",
    "{source} is a {type} object, which is not traced.",
    "It is implemented in C, or has state that Python code cannot read.",
    "Pass the parts that you need as plain numbers, strings, lists or tensors.",
)
reason(
    "script-class",
    "{source} is a script object of the class {cls}, which has no fake class.",
    "The class is implemented in C++. A fake class says in Python what its methods return, as far as sizes and types "
    "of tensors go, so that they can be part of a graph.",
    "Register one with torch._library.register_fake_class.",
)
reason(
    "script-object-attribute",
    "The code uses {name} of a script object of the class {cls}, which the fake class of that class does not have as "
    "a method.",
    "The class is implemented in C++. Only methods that its fake class has, too, can be part of a graph.",
    "Add the method to the fake class.",
)
reason(
    "script-method",
    "The code calls {method} {why}.",
    "A method of a script object may change the object, and its operator in the graph has no gradient.",
    "Call it outside the compiled function.",
)
reason(
    "builtin-subclass",
    "{cls} is a subclass of {base}.",
    "Its objects store data in their builtin part, which is not traced for subclasses yet.",
    "Keep the builtin object in an attribute instead of inheriting from it.",
)

# --- attributes ---
reason(
    "attribute",
    "The code reads the attribute {name} of a {type}, which is not traced.",
    "It is computed in C, from state that is not tracked.",
    "Read it before the compiled function runs and pass it in.",
)
reason(
    "set-attribute",
    "The code sets the attribute {name} of a {type}.",
    "Changes of such objects are not tracked.",
    "Set it outside the compiled function.",
)
reason(
    "set-special-attribute",
    "The code sets {name} of a {cls} object.",
    "The attribute is stored in C, which may refuse a value, or the object has no place for it.",
    "Set it outside the compiled function.",
)
reason(
    "set-class-attribute",
    "The code sets a class attribute, {what}.",
    "The change affects every instance, also those that other code uses.",
    "Set it on the instance, or outside the compiled function.",
)
reason(
    "descriptor",
    "The code uses {what}, whose code is in C and is not traced.",
    "What reading the attribute returns, or does, is not known while tracing.",
    "Read it before the compiled function runs and pass it in.",
)
reason(
    "own-lookup",
    "The class of a {cls} object runs code of its own whenever an attribute is read.",
    "Tracing, and the guards before each call, read attributes of the object often, and would run that code each "
    "time.",
    "Use __getattr__, which Python calls only for missing attributes, or keep the object out of the compiled "
    "function.",
)
reason(
    "shared-instance-dict",
    "The __dict__ of {source} is also the __dict__ of another object, or the code uses it as an ordinary dict.",
    "An attribute set on one object appears on the other, which tracing does not follow.",
    "Keep shared values in an attribute of the class instead.",
)
reason(
    "instance-dict-key",
    "The code uses {what} as a key of an object's __dict__.",
    "Attributes are tracked only by names that are known while tracing.",
    "Use getattr and setattr with a string.",
)

# --- classes ---
reason(
    "metaclass",
    "{cls} has a metaclass with its own __call__ ({meta}).",
    "Creating an instance calls it, which is not traced yet.",
    "Create the instance before the compiled function runs.",
)
reason(
    "class-equality",
    "{meta}, the class of {cls}, defines which classes are equal.",
    "Tracing compares classes by identity.",
    "Do not define __eq__ or __hash__ in the metaclass, or keep the class out of the compiled function.",
)
reason(
    "class-created",
    "The code creates a class ({what}).",
    "A class created while tracing would be a different class in each call.",
    "Define classes outside the compiled function.",
)

# --- identity, lifetime and text ---
reason(
    "identity",
    "The code compares {a} and {b} with `is`.",
    "A symbolic number is not an object of its own, and two equal inputs may be one object in one call and two "
    "objects in the next.",
    "Compare values with ==.",
)
reason(
    "object-id",
    "The code needs the address of an object (id or hash).",
    "An object created in the trace gets its address only when the compiled code runs.",
    "Use a name or a counter instead of an address.",
)
reason(
    "object-address",
    "The code turns {what} into text, which contains its address.",
    "An object created in the trace gets its address only when the compiled code runs.",
    "Define __repr__ or __str__ in the class.",
)
reason(
    "text",
    "The code turns {what} into text, which is not traced.",
    "The text is written in C, from values that are not known while tracing.",
    "Turn it into text outside the compiled function.",
)
reason(
    "finalizer",
    "The code creates a {cls}, which has a __del__ method.",
    "Python calls __del__ when the object is freed, which is known only when the program runs.",
    "Create the object before the compiled function runs.",
)
reason(
    "weak-reference",
    "The code creates a weak reference to {what}.",
    "When the object is freed is known only when the program runs.",
    "Create the weak reference before the compiled function runs.",
)
reason(
    "weak-reference-after-change",
    "The code calls a weak reference after a change that may have dropped the object.",
    "Objects that the code drops are freed only after the graph has run. Only then is it known whether the object "
    "is still alive.",
    "Call the weak reference before the changes, or keep the object in a variable while you use it.",
)
