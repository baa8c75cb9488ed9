"""Each test starts and ends with nothing compiled and the hook off."""

from tests.clean_engine import nothing_compiled

__all__ = ["nothing_compiled"]
