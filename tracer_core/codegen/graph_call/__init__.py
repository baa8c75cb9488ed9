"""The call of the graph, the code before it, and the handling of an exception that it raises.

In: a finished `OutputGraph`. Out: the function that generated code calls (`graph.GraphCall`, for which the back end
is called last), code that draws random numbers before it (`draws`), that restores the state so that plain Python can
run instead (`recovery`), and that points a traceback at the user's line (`places`).
"""
