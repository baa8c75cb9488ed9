"""`VariableBuilder` (values with a source), `SourcelessBuilder` (values the trace created) and `wrap_fx_proxy`
(results of nodes): the three ways to build a tracker.

In: a real value or a fake one. Out: its tracker, with the guards that it needs.
"""
