"""Record the engine's work and traces at the dispatcher together."""

from __future__ import annotations

from tracer_core.recording import schema
from tracer_core.recording.dispatching import DispatchSteps
from tracer_core.recording.recorder import Recorder


class DispatchRecorder(DispatchSteps, Recorder):
    """Record the engine's work and the steps of the dispatcher."""

    def __init__(self, label: str = "") -> None:
        Recorder.__init__(self, label)
        DispatchSteps.__init__(self, schema.Dispatcher())

    def _dispatcher(self) -> schema.Dispatcher:
        while self._open:
            self.on_dispatch_exit(None, None)
        return self._data_of_dispatcher
