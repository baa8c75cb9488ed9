"""Programs run three ways: plain Python, our engine, and the installed `torch.compile`.

In: `programs/*.py`, small functions under `@program`. Out: a table that says for each whether results, side effects,
exceptions and printed text are those of plain Python, and whether graphs, operators and compilations are those of
`torch.compile`. With `--backend NAME` the engine runs with a back end that rewrites graphs (`rewriting.py`).
`python -m tests.conformance --help` shows how to run it; `test_conformance.py` and `test_rewriting.py` do so under
pytest.
"""
