"""Number trackers as they appear, and take their snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tracer_core.recording import schema, snapshots
from tracer_core.recording.facts import PARTS_LIMIT, TEXT_LIMIT, FakeMetas, clean
from tracer_core.recording.losses import Losses
from tracer_core.recording.snapshots import BLOCK, NOTHING, Row
from tracer_core.recording.source_names import Named, SourceNames


class NodeNumbers(Protocol):
    """The lookup of the graph's nodes by number."""

    def number(self, node: Any, source: Named | None) -> int: ...


class _Class(NamedTuple):
    """What is known of a class of trackers: the numbers of its name and kind, and what its trackers may have."""

    number: int
    kind: int
    describe: bool
    in_graph: bool
    parts: bool


class Trackers:
    """The trackers of a recording. `ids` has the number of every tracker, by its uid."""

    def __init__(self, nodes: NodeNumbers, metas: FakeMetas, losses: Losses) -> None:
        self.ids: dict[int, int] = {}
        self.writer = snapshots.Writer()
        self._nodes = nodes
        self._metas = metas
        self._losses = losses
        self.dirty: dict[int, Any] = {}
        """The trackers that need another snapshot, by uid."""
        self._classes: dict[type, _Class] = {}
        self._numbers_of_texts: dict[str, int] = {}
        self._literals: dict[Any, Row] = {}
        self.sources = SourceNames(losses)
        self._numbers_of_sources: dict[int, tuple[Any, int, int]] = {}
        self._fakes: dict[int, tuple[Any, int]] = {}
        # By the address of metadata: they and their number.
        self._fake_numbers: dict[int, tuple[schema.FakeMeta, int]] = {}

    def number(self, tracker: Any, step: int) -> int:
        """Return the tracker's number. Add a new tracker, as left by `step`."""
        number = self.ids.get(tracker.uid)
        return self.add(tracker, step) if number is None else number

    def add(self, tracker: Any, step: int) -> int:
        """Number a new tracker. Take snapshots of it and of its new parts, as left by `step`."""
        ids, writer = self.ids, self.writer
        number = len(ids)
        if number != len(writer.packed) * BLOCK + len(writer.open):
            self._fill_gaps()
        ids[tracker.uid] = number
        found: list[Any] = []
        row = self._first(tracker, found)
        block = writer.open
        block.append((step, row))
        if len(block) == BLOCK:
            writer.close_block()
        if found:
            self._snapshot_all(found, step)
        return number

    def changed(self, tracker: Any) -> None:
        """Mark a tracker, so that the next `flush` takes another snapshot."""
        if tracker.uid in self.ids:
            self.dirty[tracker.uid] = tracker

    def flush(self, step: int) -> None:
        """Take snapshots of the trackers that changed, as left by `step`."""
        self._fill_gaps()
        found: list[Any] = []
        changed = list(self.dirty.items())
        self.dirty.clear()  # (Describing a tracker may build others, and run steps.)
        for uid, tracker in changed:
            self.writer.add_later(self.ids[uid], step, self._pack(tracker, found, fresh=True))
        if found:
            self._snapshot_all(found, step)

    def snapshots(self) -> schema.Snapshots:
        """Return all snapshots so far."""
        self._fill_gaps()
        return self.writer.snapshots()

    def release(self) -> None:
        """Release the engine's objects."""
        self.dirty.clear()
        self.sources.release()
        self._numbers_of_sources.clear()
        self._fakes.clear()
        self._metas.release()

    def fake_number(self, fake: Any, *, fresh: bool = False) -> int:
        """Return the number of a fake tensor's metadata; `fresh` if it may have changed in place."""
        known = self._fakes.get(id(fake))
        if known is not None and not fresh:
            return known[1]
        meta = None
        try:
            meta = self._metas.of(fake) if fresh else self._metas.of_new(fake)
        except Exception as error:  # noqa: BLE001  whatever it is must not stop the user's program
            self._losses.note("what is known of a tensor", error)
        if meta is None:
            return NOTHING
        numbered = self._fake_numbers.get(id(meta))
        if numbered is None:
            numbered = self._fake_numbers[id(meta)] = (meta, len(self.writer.fakes))
            self.writer.fakes.append(meta)
        self._fakes[id(fake)] = (fake, numbered[1])
        return numbered[1]

    def _fill_gaps(self) -> None:
        """Take the missing first snapshots of numbered trackers, where an interrupt prevented them: the first
        snapshot of tracker `i` must be number `i`."""
        for _ in range(len(self.ids) - self.writer.trackers):
            unknown = self._text("not recorded")
            row = (unknown, unknown, unknown, "?", NOTHING, NOTHING, NOTHING, (), (), 0, NOTHING)
            self.writer.add_first(NOTHING, row)

    def _snapshot_all(self, queue: list[Any], step: int) -> None:
        """Take snapshots of `queue` and of the parts found on the way, in the order of their numbers."""
        for tracker in queue:
            self.writer.add_first(step, self._first(tracker, queue))

    def _first(self, tracker: Any, found: list[Any]) -> Row:
        """Return the first snapshot of a tracker: for equal literals the same."""
        literal = tracker.literal
        if literal is None:
            return self._pack(tracker, found)
        row = self._literals.get(literal)
        if row is None:
            row = self._literals[literal] = self._pack(tracker, found)
        return row

    def _pack(self, tracker: Any, found: list[Any], *, fresh: bool = False) -> Row:
        """Return a snapshot of the tracker. Number new parts and add them to `found`."""
        cls = type(tracker)
        known = self._classes.get(cls) or self._new_class(cls)
        number, kind, has_description, in_graph, has_parts = known
        try:
            py_type = tracker.python_type_name()
            text = tracker.describe() if has_description else py_type
        except Exception as error:  # noqa: BLE001  whatever a description raises must not stop the user's program
            self._losses.note("the description of a value", error)
            py_type, text = "?", f"a {tracker.kind}"
        if not (len(text) <= TEXT_LIMIT and text.isprintable()):
            text = clean(text)
        source_number = name = node_number = fake_number = NOTHING
        source = tracker.source
        if source is not None:
            source_number, name = self._source(source)
        if in_graph:
            node, fake = tracker.node, tracker.fake
            if node is not None:
                node_number = self._node(node, source)
            if fake is not None:
                fake_number = self.fake_number(fake, fresh=fresh)
        labels: Sequence[int] = ()
        parts: Sequence[int] = ()
        more = 0
        if has_parts:
            try:
                has = tracker.parts()
            except Exception as error:  # noqa: BLE001  an odd user object must not stop the user's program
                self._losses.note("the parts of a value", error)
                has = []
            if has:
                labels, parts = self._parts(has, found)
                more = max(0, len(has) - PARTS_LIMIT)
        py_type_number = self._numbers_of_texts.get(py_type)
        if py_type_number is None:
            py_type_number = self._text(py_type)
        return kind, number, py_type_number, text, source_number, node_number, fake_number, labels, parts, more, name

    def _source(self, source: Any) -> tuple[int, int]:
        """Return the numbers of a source and of its name."""
        known = self._numbers_of_sources.get(id(source))
        if known is None:
            named, pool = self.sources.of(source), self.writer.pool
            known = self._numbers_of_sources[id(source)] = (source, pool(named.exact), pool(named.name))
        return known[1], known[2]

    def _text(self, text: str) -> int:
        """Return the number of a text that may need escaping."""
        number = self._numbers_of_texts.get(text)
        if number is None:
            number = self._numbers_of_texts[text] = self.writer.pool(clean(text))
        return number

    def _node(self, node: Any, source: Any) -> int:
        return self._nodes.number(node, None if source is None else self.sources.of(source))

    def _parts(self, parts: list[tuple[str, Any]], found: list[Any]) -> tuple[list[int], list[int]]:
        """Return the numbers of the parts' labels and trackers."""
        ids, numbers_of_texts = self.ids, self._numbers_of_texts
        labels: list[int] = []
        numbers: list[int] = []
        for label, part in parts if len(parts) <= PARTS_LIMIT else parts[:PARTS_LIMIT]:
            number = ids.get(part.uid)
            if number is None:
                number = ids[part.uid] = len(ids)
                found.append(part)
            labels.append(numbers_of_texts.get(label) or self._text(label))
            numbers.append(number)
        return labels, numbers

    def _new_class(self, cls: Any) -> _Class:
        has = cls.may_have
        known = self._classes[cls] = _Class(
            number=self.writer.pool(cls.__name__),
            kind=self._text(cls.kind),
            describe="describe" in has,
            in_graph="node" in has or "fake" in has,
            parts="parts" in has,
        )
        return known
