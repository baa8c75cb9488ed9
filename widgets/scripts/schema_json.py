"""Write the JSON schema of what the explorer is sent, for `types.mjs` to turn into TypeScript.

`tests/widgets/test_schema_types.py` fails while `schema.json` differs from `schema.py` and `messages.py` of
`tracer_core/recording/`.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tracer_core.recording import beside_torch, conditions, fixes, messages, schema  # noqa: E402

ROOTS = (
    messages.Meta,
    messages.Window,
    messages.TrackerChunk,
    messages.LaterChunk,
    messages.TouchedChunk,
    messages.Differences,
    messages.Unfinished,
    fixes.FixesSoFar,
    beside_torch.BesideTorchSoFar,
    conditions.Stops,
)


def _tuples(definition: dict[str, Any], name: str) -> None:
    """Name the positions of a struct that travels as an array, which JSON schema itself cannot."""
    struct = getattr(schema if hasattr(schema, name) else messages, name)
    definition["x-fields"] = list(struct.__struct_fields__)


def build() -> dict[str, Any]:
    """The schema of all roots under one `definitions` object."""
    _, definitions = msgspec.json.schema_components(ROOTS, ref_template="#/definitions/{name}")
    for name, definition in definitions.items():
        if "description" in definition:  # a docstring; some releases of msgspec leave its indentation
            definition["description"] = inspect.cleandoc(definition["description"])
        if definition.get("type") == "array":
            _tuples(definition, name)
    return {
        "title": "Explorer",
        "type": "object",
        "properties": {root.__name__: {"$ref": f"#/definitions/{root.__name__}"} for root in ROOTS},
        "required": [root.__name__ for root in ROOTS],
        "definitions": dict(sorted(definitions.items())),
        "x-schema-version": schema.SCHEMA_VERSION,
    }


def text() -> str:
    """The file's exact text."""
    return json.dumps(build(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    (HERE.parent / "schema.json").write_text(text(), encoding="utf-8")
