"""Checks on data that only raise: the graph makes them and goes on, and gives way to Python where they fail."""

import torch
from torch import distributions, nn

from tests.conformance.program import program, t

RAISES_OTHERWISE = "what torch.compile's check raises is a RuntimeError, past the function's handlers"
CHECKS_RAISES = "torch.compile goes on after an assert, but not after an if that raises"


def good_and_bad():
    return [(t(2, 3),), (t(2, 3) / 0,), (t(4, 3),)]


@program("I4", good_and_bad, differs="torch_differs", why=RAISES_OTHERWISE)
def asserted(x):
    y = x * 2
    assert torch.isfinite(y).all(), "not finite"
    return y + 1


@program("I4", lambda: [(t(2, 3),), (t(2, 3, start=3),), (t(4, 3),)])
def asserted_and_right(x):
    y = x * 2
    assert torch.isfinite(y).all(), "not finite"
    return y + 1


@program("I4 I5", good_and_bad, differs="fewer_breaks", why=CHECKS_RAISES)
def raised(x):
    y = x * 2
    if torch.isnan(y).any():
        raise ValueError(f"bad {y.shape}")
    return y + 1


@program("I4 I5", good_and_bad, differs="fewer_breaks", why=CHECKS_RAISES)
def raised_and_caught(x):
    y = x * 2
    try:
        if torch.isnan(y).any() or torch.isinf(y).any():
            raise ValueError(f"bad {y.shape}")
        return y + 1
    except ValueError as error:
        return x, str(error)


def checked(x):
    if not torch.isfinite(x).all():
        print("bad")
        raise ValueError("x")
    return x


@program("I4 I9", lambda: [(t(2, 3),), (t(4, 3),)], differs="fewer_breaks", why=CHECKS_RAISES)
def raised_in_a_call(x):
    return checked(x * 2) + 1


@program("I4 I9", lambda: [(t(2, 3) / 0,)], differs="fewer_breaks", why=CHECKS_RAISES)
def raised_in_a_call_and_printed(x):
    try:
        return checked(x * 2) + 1
    except ValueError:
        return x - 1


@program("I4 O6", good_and_bad, differs="torch_differs", why=RAISES_OTHERWISE)
def asserted_after_a_change(x):
    x.add_(1)
    assert torch.isfinite(x).all()
    x.mul_(2)
    return x + 1


@program("I4 O7", good_and_bad, differs="torch_differs", why=RAISES_OTHERWISE)
def asserted_with_side_effects(x):
    out = []
    out.append(x * 2)
    assert torch.isfinite(out[0]).all()
    return out


def weights():
    module = nn.Linear(3, 2)
    with torch.no_grad():
        module.weight.copy_(t(2, 3))
        module.bias.copy_(t(2))
    return [(module, t(2, 3)), (module, t(2, 3) / 0), (module, t(2, 3))]


@program("I4 O6", weights, differs="torch_differs", why=RAISES_OTHERWISE)
def asserted_after_weights_changed(m, x):
    with torch.no_grad():
        m.weight.mul_(2)
    y = m(x)
    assert torch.isfinite(y).all()
    return y.detach()


def large():
    return [(torch.zeros(600, 600), t(2, 3)), (torch.zeros(600, 600), t(2, 3) / 0)]


@program("I4 O6", large, differs="torch_differs", why=RAISES_OTHERWISE)
def asserted_after_a_large_change(big, x):
    big.add_(1)
    assert torch.isfinite(x).all()
    return big.sum() + x


@program("I4 O9", good_and_bad, differs="torch_differs", why=RAISES_OTHERWISE)
def asserted_between_draws(x):
    y = x + torch.rand(3)
    assert torch.isfinite(y).all()
    return y + torch.rand(3)


@program("I4", good_and_bad)
def both_sides_raise(x):
    if torch.isfinite(x).all():
        raise ValueError("a")
    else:
        raise TypeError("b")


def two_sizes():
    return [(t(4, 3),), (t(5, 3),)]


CHECKS_ARGUMENTS = "torch.compile leaves out that the arguments of distributions are checked"


@program("I10", two_sizes, differs="fewer_breaks", why=CHECKS_ARGUMENTS)
def normal_distribution(x):
    d = distributions.Normal(x, x.abs() + 1)
    s = d.rsample()
    return s, d.log_prob(s), d.entropy(), d.mean, d.cdf(x)


@program("I10", two_sizes, differs="fewer_breaks", why=CHECKS_ARGUMENTS)
def categorical_distribution(x):
    d = distributions.Categorical(logits=x)
    action = d.sample()
    return action, d.log_prob(action), d.entropy()


@program("I10", two_sizes, differs="fewer_breaks", why=CHECKS_ARGUMENTS)
def divergence_of_distributions(x):
    return distributions.kl_divergence(distributions.Normal(x, 1.0), distributions.Normal(x * 0, x * 0 + 1))


@program("I10", two_sizes, differs="fewer_breaks", why=CHECKS_ARGUMENTS)
def distributions_of_many_kinds(x):
    c = x.abs() + 1
    return (
        distributions.Beta(c, c).log_prob(torch.sigmoid(x)),
        distributions.Gamma(c, c).log_prob(c),
        distributions.StudentT(c).log_prob(x),
        distributions.Bernoulli(logits=x).log_prob((x > 0).float()),
        distributions.Independent(distributions.Laplace(x, c), 1).log_prob(x + 1),
    )


def scales():
    return [(t(4, 3), t(4, 3).abs() + 1), (t(4, 3), t(4, 3))]


@program("I10 I5", scales, differs="fewer_breaks", why=CHECKS_RAISES)
def distribution_refuses(x, scale):
    try:
        return distributions.Normal(x, scale, validate_args=True).log_prob(x + 1)
    except ValueError as error:
        return str(error)
