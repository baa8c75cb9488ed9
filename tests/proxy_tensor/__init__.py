"""Our make_fx beside torch's, node by node.

`cases` says what is traced, `functions/`, `models` and `operators` list it, `tracing` traces a case with either
make_fx, `describe` and `compare` say how two graphs differ, `accepted` holds the differences that stand, with their
reasons. `python -m tests.proxy_tensor` compares everything; the tests here compare a part.
"""
