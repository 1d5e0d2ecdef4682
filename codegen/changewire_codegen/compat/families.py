"""Two states of all schemas: families, what their records are made of, and their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from changewire_codegen.compat.differences import Comparison, Pair, SchemaDifference
from changewire_codegen.compat.places import At, root
from changewire_codegen.compat.walk import compare
from changewire_codegen.load import FAMILY_FILE
from changewire_codegen.nodes import Family

_TEXTS: Final = ("title", "description", "differences", "kind", "more")


@dataclass(frozen=True)
class Compared:
    """The differences of one family in two states; of a family that came or went, one state."""

    old: Family | None
    new: Family | None
    found: Sequence[SchemaDifference]


def compare_families(old: Iterable[Family], new: Iterable[Family]) -> list[Compared]:
    """Compare all families by their names."""
    before, now = ({family.name: family for family in families} for families in (old, new))
    return [_compare(before.get(name), now.get(name)) for name in sorted({*before, *now})]


def _compare(old: Family | None, new: Family | None) -> Compared:
    comparison = Comparison(compare, old)
    if old is not None and new is not None:
        _compare_meta(comparison, old, new)
        if old.encoding == new.encoding:
            _compare_messages(comparison, old, new)
    else:
        family = old or new
        assert family is not None  # noqa: S101 - its name is that of one of them
        at = _meta(family)
        rule = "family-removed" if old else "family-added"
        words = (family.title, family.title)
        comparison.files = (_first_file(family), _first_file(family))
        comparison.add(rule, Pair(at, at), (at, ""), words)
    found = sorted(comparison.found.values(), key=lambda item: (item.file, item.pointer))
    return Compared(old, new, found)


def _meta(family: Family) -> At:
    """Return the family file, with what it says by leaving it out."""
    return At(family, FAMILY_FILE, "", {"numbers": "binary64", **family.meta})


def _roles(family: Family) -> dict[str, str]:
    return {role: f"{stem}.json" for role, stem in family.meta.get("roles", {}).items()}


def _compare_meta(comparison: Comparison, old: Family, new: Family) -> None:
    pair = Pair(_meta(old), _meta(new))
    before, now = pair.old.node, pair.new.node
    files = (_first_file(old), _first_file(new))
    comparison.files = files
    for keyword in _TEXTS:
        if before.get(keyword) != now.get(keyword):
            comparison.add("family-text-changed", pair, (pair.new, f"/{keyword}"))
    rules = {
        "format": "format-name-changed",
        "encoding": "encoding-changed",
        "numbers": "numbers-exact" if new.exact else "numbers-rounded",
    }
    for keyword, rule in rules.items():
        if before.get(keyword) != now.get(keyword):
            words = (before.get(keyword, "nothing"), now.get(keyword, "nothing"))
            comparison.add(rule, pair, (pair.new, f"/{keyword}"), words)


def _first_file(family: Family) -> str:
    return next(iter([*_roles(family).values(), *sorted(family.schemas)]))


def _compare_messages(comparison: Comparison, old: Family, new: Family) -> None:
    """Compare what the records of a topic are made of, and then the files beside."""
    before, now = _roles(old), _roles(new)
    meta = Pair(_meta(old), _meta(new))
    for role in [*now, *(role for role in before if role not in now)]:
        if role in before and role in now:
            _compare_files(comparison, root(old, before[role]), root(new, now[role]))
        elif role in now:
            comparison.files = (_first_file(old), now[role])
            comparison.add("role-added", meta, (meta.new, "/roles"), ("", role))
        else:
            comparison.files = (before[role], _first_file(new))
            comparison.add("role-removed", meta, (meta.new, "/roles"), (role, ""))
    for file in sorted({*old.schemas, *new.schemas}):
        if file in old.schemas and file in new.schemas:
            _compare_files(comparison, root(old, file), root(new, file))
        else:
            _one_sided(comparison, old, new, file)
    _compare_definitions(comparison, old, new)


def _compare_files(comparison: Comparison, old: At, new: At) -> None:
    if (old.place, new.place) in comparison.visited:
        return
    comparison.files = (old.file, new.file)
    comparison.compare(comparison, Pair(old, new))


def _one_sided(comparison: Comparison, old: Family, new: Family, file: str) -> None:
    """Note a file that came or went: where no role says so, it is a message of its own."""
    is_gone = file in old.schemas
    at = root(old if is_gone else new, file)
    comparison.files = (file, file)
    rule = "file-removed" if is_gone else "file-added"
    if is_gone and not old.roles:
        rule = "message-removed"
    words = (at.node["title"], at.node["title"])
    comparison.add(rule, Pair(at, at), (at, ""), words)


def _compare_definitions(comparison: Comparison, old: Family, new: Family) -> None:
    before, now = _definitions(old), _definitions(new)
    for place in sorted({*before} ^ {*now}):
        at = before.get(place) or now[place]
        rule = "definition-removed" if place in before else "definition-added"
        words = (at.node["title"], at.node["title"])
        comparison.add(rule, Pair(at, at), (at, ""), words)


def _definitions(family: Family) -> Mapping[tuple[str, str], At]:
    found = [
        root(family, file).at("$defs", name)
        for file, document in family.schemas.items()
        for name in document.get("$defs", {})
    ]
    return {(at.file, at.pointer): at for at in found}
