"""A package with state in a module of its own, for `test_reached_state.py`."""
