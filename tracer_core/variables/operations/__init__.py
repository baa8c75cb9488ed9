"""Operations on any value: attributes, calls, operators, truth, identity, iteration, items, special methods,
and the calls that become nodes.

The interpreter puts these together as `Tracing`; a handler calls them as `tx.truth(x)`.
"""
