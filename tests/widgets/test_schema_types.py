"""The front end's types follow the recording's schema."""

from __future__ import annotations

import runpy
from pathlib import Path

WIDGETS = Path(__file__).resolve().parents[2] / "widgets"


def test_the_json_schema_is_up_to_date() -> None:
    """`npm test` then holds src/schema.ts against schema.json."""
    made = runpy.run_path(str(WIDGETS / "scripts" / "schema_json.py"))["text"]()
    committed = (WIDGETS / "schema.json").read_text(encoding="utf-8")
    assert committed == made, "run `npm run types` in widgets/ and commit what it changes"
