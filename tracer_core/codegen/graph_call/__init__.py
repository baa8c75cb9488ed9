"""The call of the graph: what is done before it, and what becomes of an exception that it raises.

In: a finished `OutputGraph`. Out: the function that generated code calls (`graph.GraphCall`, for which the back end
is asked last), code that draws random numbers before it (`draws`), that puts things back so that plain Python can
run instead (`recovery`), and that points a traceback at the user's line (`places`).
"""
