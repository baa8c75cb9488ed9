"""Print, as `python -m tracer_core.recording.schema_json`, the JSON schema of the messages to the front end."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from tracer_core.recording import messages


def json_schema() -> dict[str, Any]:
    """Return `Meta`, `Window`, `TrackerChunk` and all their parts, under `$defs`."""
    _, components = msgspec.json.schema_components(
        [messages.Meta, messages.Window, messages.TrackerChunk], ref_template="#/$defs/{name}"
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": components}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=2, sort_keys=True) + "\n")
