"""`not_yet.txt`: the programs that are known not to trace as `torch.compile` traces them, and in what."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

FILE = Path(__file__).parent / "not_yet.txt"
HEAD = (
    "# Programs whose graphs, operators or compilations are not yet those of torch.compile, and in what.\n"
    "# Results, side effects, exceptions and output have no such list. `--update` writes this one.\n"
)


def read(path: Path = FILE) -> dict[str, str]:
    """Program id -> what differs."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return {name.strip(): what.strip() for name, _, what in (line.partition(":") for line in lines)}


def write(entries: dict[str, str], judged: Iterable[str], path: Path = FILE) -> None:
    """Replace the entries of the `judged` programs by `entries`; those of others stay."""
    judged = set(judged)
    kept = {name: what for name, what in read(path).items() if name not in judged} if path.exists() else {}
    path.write_text(HEAD + "".join(f"{name}: {what}\n" for name, what in sorted({**kept, **entries}.items())))
