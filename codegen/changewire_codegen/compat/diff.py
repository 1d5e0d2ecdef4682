"""``changewire schema diff``: two states of schemas as plain data, for programs and people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from changewire_codegen.compat.families import Compared, compare_families
from changewire_codegen.compat.judge import Judge
from changewire_codegen.compat.rules import SIDES, Side
from changewire_codegen.compat.sources import families_of
from changewire_codegen.compat.witness import Witness, find_witness


def diff(old: str, new: str, *, witnesses: bool = True) -> Iterator[dict[str, Any]]:
    """Yield every difference between two states of schemas, sorted by family and place.

    Each has ``rule``, ``file``, ``pointer``, ``gone`` (the place is one of the old schemas),
    ``text``, ``readers`` and ``writers`` (the verdicts), and ``witnesses``: for each side that
    loses messages ``schema`` (a file) and ``message`` (JSON text, in MessagePack hex text) of one
    that shows it, or null where none was found.

    Args:
        old: ``installed``, a folder or file of schemas, or a git revision.
        new: The same.
        witnesses: Whether to look for messages that are lost.

    Raises:
        ValueError: There are no schemas (`SourceError`), or one is outside the dialect
            (`SchemaError`).
        OSError: A file cannot be read.
    """
    for compared in compare_families(families_of(old), families_of(new)):
        yield from _listed(compared, witnesses=witnesses)


def _listed(compared: Compared, *, witnesses: bool) -> Iterator[dict[str, Any]]:
    judges = judges_of(compared)
    for found in compared.found:
        lost: list[Side] = [side for side in SIDES if side in found.lost] if witnesses else []
        yield {
            "rule": found.rule,
            "file": found.file,
            "pointer": found.pointer,
            "gone": found.gone,
            "text": found.text,
            "readers": found.verdicts["readers"],
            "writers": found.verdicts["writers"],
            "witnesses": {
                side: _shown(find_witness(found, side, judges), judges[side]) for side in lost
            },
        }


def judges_of(compared: Compared) -> Mapping[Side, Judge]:
    """Return who judges the messages that each side is about to read: those of the other state."""
    old, new = compared.old or compared.new, compared.new or compared.old
    assert old is not None  # noqa: S101 - a family has one state or both
    assert new is not None  # noqa: S101 - as above
    return {"readers": Judge(old), "writers": Judge(new)}


def _shown(witness: Witness | None, judge: Judge) -> dict[str, str] | None:
    if witness is None:
        return None
    return {"schema": witness.file, "message": _text(witness.message, judge)}


def _text(message: object, judge: Judge) -> str:
    if judge.family.encoding == "msgpack":
        return msgspec.msgpack.encode(message).hex(" ")
    return json.dumps(message, ensure_ascii=False)
