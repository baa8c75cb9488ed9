"""The functions written for the comparison, by subject. Importing this registers them all in `cases.FUNCTIONS`."""

from tests.proxy_tensor.functions import (  # noqa: F401
    containers,
    data_dependent,
    differentiation,
    dtypes,
    higher_order,
    modules,
    mutation,
    random_numbers,
    subclasses,
    symbolic_shapes,
    views,
)
