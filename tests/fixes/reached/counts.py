"""State that programs reach through the package."""

from __future__ import annotations

count = 0
names: list[str] = []
