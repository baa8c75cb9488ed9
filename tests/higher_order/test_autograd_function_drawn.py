"""Functions put together at random give what plain Python gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from torch.autograd import Function

from tests.higher_order.autograd_programs import WEIGHT, captured, leaf

pytestmark = pytest.mark.row("H14")


# --- any function -------------------------------------------------------------------------------------------


@st.composite
def functions(draw: st.DrawFn) -> tuple[Any, int]:
    """Return a Function whose methods are put together at random, and how many tensors it takes."""
    count = draw(st.integers(1, 3))
    places = st.integers(0, count - 1)
    results = draw(st.lists(st.sampled_from(["input", "product", "number", "index", "list"]), min_size=1, max_size=3))
    saved = draw(st.lists(places, max_size=3))
    uses = [draw(st.sampled_from(["saved", "kept", "weight", "nothing"])) for _ in range(count)]
    given = [draw(st.sampled_from(["gradient", "none", "needed"])) for _ in range(count)]
    returned = [draw(places) for _ in results]
    # (What is returned as it is cannot be saved there.)
    separate, alone = draw(st.booleans()) and "input" not in results, draw(st.booleans())

    note(f"{results} of {returned}, saves {saved}, uses {uses}, gives {given}, {separate=}, {alone=}")

    def compute(inputs: Any) -> Any:
        kinds = {
            "input": lambda x: x,
            "product": lambda x: x * inputs[0] * 2,
            "number": lambda x: x.shape[0],
            "index": lambda x: x.argmax(),
            "list": lambda x: [x, x + 1],
        }
        found = [kinds[kind](inputs[place]) for kind, place in zip(results, returned, strict=True)]
        return found[0] if alone and len(found) == 1 else tuple(found)

    def set_up(ctx: Any, inputs: Any, result: Any) -> None:
        ctx.save_for_backward(*(inputs[place] for place in saved))
        ctx.kept = inputs[-1].sin()
        ctx.count = len(inputs)

    class Drawn(Function):
        @staticmethod
        def forward(*given: Any) -> Any:
            if separate:
                return compute(given)
            ctx, *inputs = given
            result = compute(inputs)
            set_up(ctx, inputs, result)
            return result

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            total = sum(g for g in gradients if g is not None and g.is_floating_point())
            found = []
            for place in range(ctx.count):
                g = total * (place + 1)
                if uses[place] == "saved":
                    g = g + sum(ctx.saved_tensors)
                elif uses[place] == "kept":
                    g = g * ctx.kept
                elif uses[place] == "weight":
                    g = g * WEIGHT
                needed = given[place] == "gradient" or (given[place] == "needed" and ctx.needs_input_grad[place])
                found.append(g if needed else None)
            return found[0] if count == 1 else tuple(found)

    if separate:
        Drawn.setup_context = staticmethod(set_up)  # type: ignore[method-assign]
    return Drawn, count


@settings(max_examples=25)
@given(functions(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_any_function_gives_what_plain_python_gives(drawn: tuple[Any, int], needs: list[bool]) -> None:
    function, count = drawn

    def arguments() -> tuple[Any, ...]:
        return tuple(leaf(2, 3, start=place).detach().requires_grad_(needs[place]) for place in range(count))

    def program(*inputs: Any) -> Any:
        return function.apply(*inputs), function.apply(*(x * 2 for x in inputs))

    captured(program, arguments, as_torch=False)
