"""``changewire schema diff``: two states of all schemas, and examples that one of them refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from changewire_codegen.compat.compare import compare
from changewire_codegen.compat.differences import Comparison, Pair, SchemaDifference, change
from changewire_codegen.compat.places import At, root
from changewire_codegen.compat.rules import RULES, SIDES, Side
from changewire_codegen.compat.sources import SourceError, families_of
from changewire_codegen.judge import Judge
from changewire_codegen.load import FAMILY_FILE
from changewire_codegen.nodes import Family

_UNSEEN: Final = frozenset({"FAMILY_SAME_FORMAT", "NUMBERS_NO_WIDEN", "NUMBERS_NO_NARROW"})
"""Rules about a name, or about digits that only the text of a message shows."""


def diff(old: str, new: str, *, witnesses: bool = True) -> Iterator[dict[str, Any]]:
    """Yield every difference between two states of schemas, sorted by family and place.

    Each has ``rule``, ``file``, ``pointer``, ``gone`` (the place is one of the old schemas),
    ``text``, ``readers`` and ``writers`` (the verdicts), and ``witnesses``: for each side that
    loses messages ``schema`` (a file) and ``message`` (JSON text, in MessagePack hex text) of an
    example in the schemas that is lost, or null if none is. Without ``witnesses`` none is sought.

    Raises:
        ValueError: There are no schemas (`SourceError`), or one is outside the dialect.
        OSError: A file cannot be read.
    """
    try:
        for compared in compare_families(families_of(old), families_of(new)):
            before = Judge(compared.old) if compared.old else None
            now = Judge(compared.new) if compared.new else None
            for found in compared.found:
                sides = found.lost if witnesses else []
                yield {
                    **{n: getattr(found, n) for n in ("rule", "file", "pointer", "gone", "text")},
                    **{side: found.verdicts[side] for side in SIDES},
                    "witnesses": {side: witness(found, side, before, now) for side in sides},
                }
    except RecursionError:
        raise SourceError(f"{new}: its schemas are nested too deeply") from None


@dataclass(frozen=True)
class Compared:
    """The differences of one family in two states; of a family that came or went, one state."""

    old: Family | None
    new: Family | None
    found: list[SchemaDifference]


def compare_families(old: Iterable[Family], new: Iterable[Family]) -> list[Compared]:
    """Compare all families by their names."""
    before, now = ({family.name: family for family in families} for families in (old, new))
    return [_compare(before.get(name), now.get(name)) for name in sorted({*before, *now})]


def _compare(old: Family | None, new: Family | None) -> Compared:
    metas = [_meta(family) for family in (old, new) if family]
    pair = Pair(metas[0], metas[-1])
    found = Comparison(old, (_first_file(pair.old), _first_file(pair.new)))
    if old and new:
        _compare_meta(found, pair)
        if old.encoding == new.encoding:
            _compare_messages(found, pair)
    else:
        words = (metas[0].family.title, metas[0].family.title)
        found.add(f"FAMILY_{change(old, new)}", pair, (metas[0], ""), words)
    differences = sorted(found.found.values(), key=lambda item: (item.file, item.pointer))
    return Compared(old, new, differences)


def _meta(family: Family) -> At:
    """Return the family file, with its defaults, and the files of its roles."""
    roles = {role: f"{stem}.json" for role, stem in family.meta.get("roles", {}).items()}
    return At(family, FAMILY_FILE, "", {"numbers": "binary64", **family.meta, "roles": roles})


def _first_file(at: At) -> str:
    return str(next(iter([*at.node["roles"].values(), *sorted(at.family.schemas)])))


def _compare_meta(found: Comparison, pair: Pair) -> None:
    before, now = pair.old.node, pair.new.node
    rules = {
        **dict.fromkeys(RULES["FAMILY_SAME_TEXT"].keywords, "FAMILY_SAME_TEXT"),
        "format": "FAMILY_SAME_FORMAT",
        "encoding": "FAMILY_SAME_ENCODING",
        "change": "CHANGE_SAME_VALUE",
        "numbers": "NUMBERS_NO_WIDEN" if now["numbers"] == "exact" else "NUMBERS_NO_NARROW",
    }
    for keyword, rule in rules.items():
        words = (before.get(keyword, "nothing"), now.get(keyword, "nothing"))
        if words[0] != words[1]:
            found.add(rule, pair, (pair.new, f"/{keyword}"), words)


def _compare_messages(found: Comparison, pair: Pair) -> None:
    """Compare what the records of a topic are made of, and then the other files."""
    old, new = pair.old.family, pair.new.family
    before, now, first = pair.old.node["roles"], pair.new.node["roles"], found.files
    for role in {**now, **before}:
        found.files = (before.get(role, first[0]), now.get(role, first[1]))
        if role in before and role in now:
            compare(found, Pair(root(old, before[role]), root(new, now[role])))
        else:
            rule = f"ROLE_{change(role in before, role in now)}"
            found.add(rule, pair, (pair.new, "/roles"), (role, role))
    for file in sorted({*old.schemas, *new.schemas}):
        found.files = (file, file)
        if file in old.schemas and file in new.schemas:
            both = Pair(root(old, file), root(new, file))
            if (both.old.place, both.new.place) not in found.compared:
                compare(found, both)
        elif not (old.roles and new.roles):
            at = root(old if file in old.schemas else new, file)
            rule = f"MESSAGE_{change(file in old.schemas, file in new.schemas)}"
            found.add(rule, pair, (at, ""), (at.node["title"], at.node["title"]))


def witness(
    found: SchemaDifference, side: Side, old: Judge | None, new: Judge | None
) -> dict[str, str] | None:
    """Return an example of a schema that a difference makes a side lose; None if none is lost."""
    writer, reader = (old, new) if side == "readers" else (new, old)
    file, readers_file = found.files if side == "readers" else found.files[::-1]
    if not writer or found.rule in _UNSEEN:
        return None
    above, last = "".join(found.path[:-1]), "".join(found.path[-1:])
    around = re.compile(f"{above}(?:{last}(?:/.*)?)?", re.DOTALL)  # there, or what holds it
    for text in writer.family.schemas[file]["examples"]:
        message = writer.parsed(text)
        if not writer.issues(message, file, strict=True) and (
            reader is None
            or readers_file not in reader.family.schemas
            or any(map(around.fullmatch, reader.issues(message, readers_file, strict=False)))
        ):
            is_json = writer.family.encoding == "json"
            shown = json.dumps(message, ensure_ascii=False) if is_json else text
            return {"schema": file, "message": shown}
    return None
