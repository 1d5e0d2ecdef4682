"""A message that shows a loss: one side's schemas allow it, the other side's refuse it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import islice
from math import prod
from random import Random
from typing import Any, Final, TypeAlias

from changewire_codegen.compat.differences import MISSING, Loss, SchemaDifference
from changewire_codegen.compat.judge import Judge
from changewire_codegen.compat.places import ITEM, At, Step, Trace, root
from changewire_codegen.compat.rules import Side
from changewire_codegen.compat.samples import TooLargeError, sample
from changewire_codegen.names import escape_pointer

Judges: TypeAlias = Mapping[Side, Judge | None]
"""By whose schemas the messages of each side are written; none if a family came or went."""

MOST_TRIES: Final = 2000
"""Of messages made from examples and samples."""

MOST_DRAWS: Final = 300
"""Of messages that Hypothesis draws where none of these is refused."""

_MOST_PLACES: Final = 100
_MOST_ELEMENTS: Final = 10_000

_UNSEEN: Final = frozenset({"format-name-changed", "numbers-exact", "numbers-rounded"})
"""Rules about a name, or about digits that only the text of a message shows."""


@dataclass(frozen=True)
class Witness:
    """A message, parsed, the schema file by which it is one, and how it is written."""

    message: Any
    file: str
    encoding: str


def find_witness(
    found: SchemaDifference, side: Side, judges: Judges, *, drawn: bool = True
) -> Witness | None:
    """Look for a message that a difference makes a side lose; None if the search ends.

    Tried are the examples of the schema, then examples and small messages with a value at the place
    of the difference that the other side may refuse, then what the generated strategy draws, where
    Hypothesis is installed.

    Args:
        found: The difference.
        side: ``readers`` for a message by the old schemas, ``writers`` for one by the new ones.
        judges: By whose schemas the messages are written.
        drawn: Whether to draw messages where no other one shows it.
    """
    if found.rule in _UNSEEN:
        return None
    search = _search(found, side, judges)
    for message in islice(_candidates(search, *found.lost[side]), MOST_TRIES):
        if search.is_lost(message):
            return search.witness(message)
    found_by_drawing = _drawn(search) if drawn else None
    return None if found_by_drawing is None else search.witness(found_by_drawing)


@dataclass(frozen=True)
class _Search:
    """Who writes and who reads, by which of their files, and where messages are lost."""

    writer: Judge
    reader: Judge | None
    file: str
    readers_file: str
    path: tuple[Step, ...]

    def is_lost(self, message: object) -> bool:
        """Return whether the writer's schemas allow a message that the reader's refuse there."""
        if self.writer.issues(message, self.file, closed=True):
            return False
        if self.reader is None or self.readers_file not in self.reader.family.schemas:
            return True
        issues = self.reader.issues(message, self.readers_file, closed=False)
        around = _around(self.path)
        return any(around.match(issue) for issue in issues)

    def witness(self, message: object) -> Witness:
        """Return a message that is lost."""
        return Witness(message, self.file, self.writer.family.encoding)


def _search(found: SchemaDifference, side: Side, judges: Judges) -> _Search:
    trace, loss = found.lost[side]
    path = (*(step for _, step in trace if step is not None), *([loss.step] if loss.step else ()))
    old, new = found.files
    if side == "writers":
        old, new = new, old
    other: Side = "writers" if side == "readers" else "readers"
    writer = judges[side]
    assert writer is not None  # noqa: S101 - who loses messages has a schema that allows them
    return _Search(writer, judges[other], old, new, path)


def _around(path: Sequence[Step]) -> re.Pattern[str]:
    """Return a pattern for the pointers of issues at a place, or at what holds it."""
    steps = [
        re.escape(f"/{escape_pointer(str(where))}") if kind in {"name", "index"} else "/[^/]*"
        for kind, where in path
    ]
    above = "".join(steps[:-1])
    last = "".join(steps[-1:])
    return re.compile(f"{above}(?:{last}(?:/.*)?)?\\Z", re.DOTALL)


def _candidates(search: _Search, trace: Trace, loss: Loss) -> Iterator[Any]:
    """Yield messages that may be lost, those first that look most like real ones."""
    examples = search.writer.examples(search.file)
    yield from examples
    for value in loss.values:
        for example in examples:
            yield from islice(_replaced(example, search.path, value), _MOST_PLACES)
    way = (*trace, (trace[-1][0], loss.step)) if loss.step else trace
    needed = [at.node.get("minItems", 1) for at, step in way if step == ITEM]
    if prod(needed) > _MOST_ELEMENTS:
        return
    with suppress(LookupError):
        yield from (_built(way, value) for value in loss.values)


def _replaced(message: Any, path: Sequence[Step], value: object) -> Iterator[Any]:
    """Yield copies of a message with a value at each place that a path leads to."""
    if not path:
        yield deepcopy(value)
        return
    step, below = path[0], path[1:]
    for key in _keys(message, step, is_last=not below):
        if not below and value is MISSING:
            yield {name: message[name] for name in message if name != key}
            continue
        inner = message.get(key) if isinstance(message, dict) else message[key]
        for changed in _replaced(inner, below, value):
            changed_copy: Any = copy(message)
            changed_copy[key] = changed
            yield changed_copy


def _keys(message: Any, step: Step, *, is_last: bool) -> list[Any]:
    """Return the keys or indices in a message that a step leads to."""
    kind, where = step
    if isinstance(message, dict):
        if kind == "entry":
            return list(message)
        return [where] if kind == "name" and (where in message or is_last) else []
    if not isinstance(message, list):
        return []
    if kind == "item":
        return list(range(len(message)))
    return [where] if kind == "index" and int(where) < len(message) else []


def _built(trace: Sequence[tuple[At, Step | None]], value: object) -> Any:
    """Return the smallest message with a value at the end of a way.

    Raises:
        LookupError: For a part beside the way no value was found.
    """
    steps = [i for i, (_, step) in enumerate(trace) if step is not None]
    if not steps:
        return deepcopy(value)
    at, step = trace[steps[0]]
    assert step is not None  # noqa: S101 - these are those that have one
    kind, where = step
    below = _built(trace[steps[0] + 1 :], value)
    if kind == "item":
        return [below] * max(1, at.node.get("minItems", 1))
    if kind == "entry":
        return {"a": below}
    whole = sample(at) if _HAS_NAMES & at.node.keys() else {}
    if below is MISSING:
        whole.pop(where, None)
    else:
        whole[where] = below
    return whole


_HAS_NAMES: Final = frozenset({"properties", "prefixItems"})


def _is_large(at: At) -> bool:
    """Return whether drawing would take long: already the smallest message is large."""
    try:
        sample(at)
    except TooLargeError:
        return True
    except LookupError:  # a pattern, for which Hypothesis finds text
        return False
    return False


def _drawn(search: _Search) -> Any:
    """Return the smallest message that Hypothesis finds to be lost, if any."""
    if _is_large(root(search.writer.family, search.file)):
        return None
    try:
        from hypothesis import HealthCheck, Phase, find, settings
        from hypothesis.errors import HypothesisException
    except ImportError:
        return None
    quietly = settings(
        max_examples=MOST_DRAWS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
    )
    try:
        return find(
            search.writer.strategy(search.file),
            search.is_lost,
            settings=quietly,
            random=Random(0),  # noqa: S311 - the same search each time, and no secret
        )
    except HypothesisException:  # none was found, or none can be drawn
        return None
