"""For each reason of `tracer_core/reasons.py` a small program that gives it, in files by subject."""
