"""Training steps: gradients, optimizers of every kind, clipping, schedulers."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.program import program, t

BREAKS_ITSELF = "torch's optimizers end torch.compile's graph twice in each step, for its own back ends' sake"
ROUNDS = "torch.compile has torch.optim compute with tensors what plain Python computes with floats"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)
        with torch.no_grad():
            for number, parameter in enumerate(self.parameters()):
                parameter.copy_(t(*parameter.shape, start=number))

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def trained(make, **options):
    """A model and its optimizer, in three calls, the last with another batch size."""

    def calls():
        model = Net()
        optimizer = make(model.parameters(), **options)
        batches = [(t(4, 3), t(4, 2)), (t(4, 3, start=3), t(4, 2, start=1)), (t(5, 3), t(5, 2))]
        return [(model, optimizer, x, y) for x, y in batches]

    return calls


def stepped(make, **options):
    """An optimizer with gradients, in three calls."""

    def calls():
        model = Net()
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        return [(make(model.parameters(), **options),)] * 3

    return calls


def train(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


@program("B12", trained(torch.optim.SGD, lr=0.1), differs="fewer_breaks", why=BREAKS_ITSELF)
def sgd(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program(
    "B12",
    trained(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    differs="fewer_breaks",
    why=BREAKS_ITSELF,
)
def sgd_with_momentum(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", trained(torch.optim.Adam, lr=0.1), differs="torch_differs", why=ROUNDS)
def adam(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", trained(torch.optim.AdamW, lr=0.1, amsgrad=True), differs="torch_differs", why=ROUNDS)
def adamw(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", trained(torch.optim.Adam, lr=0.1, foreach=True), differs="torch_differs", why=ROUNDS)
def adam_for_each(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", trained(torch.optim.Adam, lr=0.1, fused=True), differs="fewer_breaks", why=BREAKS_ITSELF)
def adam_fused(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", trained(torch.optim.RMSprop, lr=0.1, centered=True), differs="torch_differs", why=ROUNDS)
def rmsprop(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", trained(torch.optim.Adagrad, lr=0.1), differs="torch_differs", why=ROUNDS)
def adagrad(model, optimizer, x, y):
    return train(model, optimizer, x, y)


@program("B12", stepped(torch.optim.Adadelta, lr=0.1), differs="torch_differs", why=ROUNDS)
def adadelta_alone(optimizer):
    optimizer.step()


@program("B12", stepped(torch.optim.RAdam, lr=0.1), differs="torch_differs", why=ROUNDS)
def radam_alone(optimizer):
    optimizer.step()


@program("B12", stepped(torch.optim.AdamW, lr=torch.tensor(0.1)), differs="torch_differs", why=ROUNDS)
def adamw_with_a_tensor_as_rate(optimizer):
    optimizer.step()


@program("B12", trained(torch.optim.SGD, lr=0.1), differs="fewer_breaks", why=BREAKS_ITSELF)
def gradients_clipped(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    nn.utils.clip_grad_value_(model.parameters(), 0.1)
    optimizer.step()
    return loss.detach(), norm


def scheduled(make, schedule):
    def calls():
        model = Net()
        optimizer = make(model.parameters(), lr=0.1)
        scheduler = schedule(optimizer)
        return [(model, optimizer, scheduler, t(4, 3, start=i), t(4, 2, start=i)) for i in range(3)]

    return calls


@program(
    "B12",
    scheduled(torch.optim.SGD, lambda o: torch.optim.lr_scheduler.StepLR(o, 1)),
    differs="fewer_breaks",
    why=BREAKS_ITSELF,
)
def scheduler_of_steps(model, optimizer, scheduler, x, y):
    loss = train(model, optimizer, x, y)
    scheduler.step()
    return loss, scheduler.get_last_lr()


@program(
    "B12",
    scheduled(torch.optim.AdamW, lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 10)),
    differs="torch_differs",
    why=ROUNDS,
)
def scheduler_of_cosines(model, optimizer, scheduler, x, y):
    loss = train(model, optimizer, x, y)
    scheduler.step()
    return loss
