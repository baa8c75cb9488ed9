"""Higher-order operators: operators that call functions, which are traced into graphs of their own (*bodies*).

`speculate.py` traces a body, with `inputs.py` (how its arguments are made), `structure.py` (containers of tensors,
flattened and built again), `effects.py` (what a body must not change) and `results.py` (trackers for what the
operator returns). They share `metadata.py` and `merge.py` (checks of arguments and results; one list of inputs for
two bodies), `slices.py` (tensors that are taken apart along a dimension), `real_functions.py` (options) and
`reach.py` (what a result leads to). Every other module is for one operator or kind of operator: it registers a
handler (`@handles`) that traces the bodies and adds the operator's node; `autograd_function.py` is in several parts.
Without a handler, a call breaks the graph by the operator's name (`higher_order_table`).

In: calls of operators on trackers. Out: a node in the graph at work whose arguments are graph modules, and trackers
for its results.
"""
