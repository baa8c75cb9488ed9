"""Higher-order operators: operators that call functions, which are traced into graphs of their own (*bodies*).

`speculate.py` traces a body, with `inputs.py` (how its arguments are made), `structure.py` (containers of tensors,
flattened and built again), `effects.py` (what a body must not change) and `results.py` (trackers for what the
operator returns). Every other module is for one operator: it registers a handler (`@handles`) that traces the bodies
and adds the operator's node. Without a handler, a call breaks the graph by the operator's name
(`higher_order_table`).

In: calls of operators on trackers. Out: a node in the graph at work whose arguments are graph modules, and trackers
for its results.
"""
