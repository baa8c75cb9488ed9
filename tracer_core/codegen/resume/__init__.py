"""Resume functions: the rest of a function after an instruction in its middle.

In: a decoded code, and the `Point` to resume at, with its state. Out: the code of a resume function
(`functions.make_resume`), the same for the same point, and the state that each such code resumes from. `alive` says
what a frame still needs there, and what lies on its stack; `boxes` what must not be held on to; `blocks`
enters and leaves the blocks around; `raising` has code raise where it would have resumed.
"""

from tracer_core.codegen.resume.functions import forget, name_of, origin_of, resume_of, starts_at
from tracer_core.codegen.resume.raising import raising, raising_at_start

__all__ = ["forget", "name_of", "origin_of", "raising", "raising_at_start", "resume_of", "starts_at"]
