"""Programs that ask whether they are being compiled, and what becomes of it where they do not come to their end."""

import torch

from tests.conformance.program import program, t


class Stack(torch.nn.Module):
    """As some models of libraries: what a compiler need not see is left out, and then used."""

    def __init__(self, layers=2):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, x, mask=None):
        if mask is None and not torch.compiler.is_compiling():
            mask = torch.ones(x.shape[0], x.shape[1])
        wide = mask[:, None, :]
        for layer in self.layers:
            x = layer(x, wide)
        return x


class Layer(torch.nn.Module):
    def forward(self, x, mask):
        if torch.compiler.is_dynamo_compiling():
            return torch.where(mask[:, 0] > 0, x * mask[:, 0], mask[:, 0] * x) + 1
        return torch.where(mask[:, 0] >= 1, x * mask[:, 0], mask[:, 0] * x) + 1


class Told:
    """Keeps what it was told for later."""

    def __init__(self):
        self.scale = None

    def prepare(self):
        if not torch.compiler.is_compiling():
            self.scale = 2.0

    def apply(self, x):
        return x * self.scale


def show(*what):
    print(*what)


@program(
    "F10",
    lambda: [(t(2, 3), None), (t(2, 3), t(2, 3)), (t(4, 3), None)],
    differs="fewer_breaks",
    why="torch.compile gives up the frame where its trace raises, and captures nothing of it",
)
def a_mask_that_only_plain_python_makes(x, mask):
    return Stack()(x * 2, mask)


@program(
    "F10",
    lambda: [(Stack(), t(2, 3)), (Stack(), t(2, 3))],
    differs="fewer_breaks",
    why="torch.compile gives up the frame where its trace raises, and captures nothing of it",
)
def the_same_of_a_module_given(model, x):
    return model(x).sum()


@program(
    "F10 F5",
    differs="torch_differs",
    why="torch.compile goes on after print() without the mask, and raises TypeError",
)
def a_break_between_question_and_use(x):
    mask = None
    if not torch.compiler.is_compiling():
        mask = torch.ones(3)
    y = x + 1
    print("now")
    return y * mask[None]


@program(
    "F10 F5",
    differs="torch_differs",
    why="torch.compile goes on after print() without the scale, and raises TypeError",
)
def what_was_told_is_kept_in_an_object(x):
    told = Told()
    told.prepare()
    y = x + 1
    print("kept")
    return told.apply(y)


@program(
    "F10 F5",
    differs="torch_differs",
    why="torch.compile goes on after the operation that fails, which plain Python does not come to",
)
def an_operation_that_fails_after_the_question(x):
    other = torch.ones(5) if torch.compiler.is_compiling() else torch.ones(3)
    return x + other


@program(
    "F10",
    differs="fewer_breaks",
    why="torch.compile gives up the frame where its trace raises, and captures nothing of it",
)
def an_exception_that_plain_python_raises_too(x):
    y = x + 1
    if torch.compiler.is_compiling():
        raise ValueError("no")
    if y.shape[0] == 2:
        raise KeyError("not so")
    return y


@program(
    "F10",
    lambda: [(t(2, 3), [])],
    differs="fewer_breaks",
    why="torch.compile gives up the frame where its trace raises, and captures nothing of it",
)
def effects_before_the_exception_come_once(x, seen):
    seen.append(1)
    y = x * 2
    values = None if torch.compiler.is_compiling() else [3.0]
    seen.append(2)
    return y * values[0], list(seen)


@program("F10")
def the_exception_is_handled_by_a_caller_in_the_trace(x):
    def inner(y):
        scale = {} if torch.compiler.is_compiling() else {"scale": 1.0}
        return y * scale["scale"]

    try:
        return inner(x)
    except KeyError:
        return x * 1.0


@program(
    "F10 F5",
    lambda: [(t(2, 3), 3), (t(2, 3), 4)],
    differs="fewer_breaks",
    why="torch.compile runs a frame that breaks in a loop as plain Python",
)
def questions_in_a_loop_that_breaks(x, count):
    for index in range(count):
        weights = None
        if not torch.compiler.is_compiling():
            weights = [1.0, 2.0]
        show(index)
        x = x * (2.0 if weights is None else weights[1])
    return x


@program("F10 F5")
def where_plain_python_would_break_earlier_the_graph_stays(x):
    y = x * 2
    if not torch.compiler.is_compiling() and bool((y > 100).all()):
        y = y - 1
    print("here")
    return y + 1


@program("F10", lambda: [(t(2, 3),)])
def other_questions_have_plain_pythons_answers(x):
    asked = (torch.jit.is_tracing(), torch.jit.is_scripting(), torch.compiler.is_exporting())
    more = (torch._C._get_tracing_state(), torch._C._is_tracing(), torch.onnx.is_in_onnx_export())
    return x + 1, asked, more, torch._C._are_functorch_transforms_active()


@program("F10")
def what_is_a_method_of_tensors(x):
    asked = torch.overrides.is_tensor_method_or_property
    return x + 1, asked(torch.Tensor.add), asked(torch.add), asked(torch.Tensor.shape.__get__)
