"""``changewire schema diff``: two states of schemas as plain data, for programs and people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from changewire_codegen.compat.families import Compared, compare_families
from changewire_codegen.compat.judge import Judge
from changewire_codegen.compat.rules import SIDES, Side
from changewire_codegen.compat.sources import SourceError, families_of
from changewire_codegen.compat.witness import Judges, Witness, find_witness


def diff(old: str, new: str, *, witnesses: bool = True) -> Iterator[dict[str, Any]]:
    """Yield every difference between two states of schemas, sorted by family and place.

    Each has ``rule``, ``file``, ``pointer``, ``gone`` (the place is one of the old schemas),
    ``text``, ``readers`` and ``writers`` (the verdicts), and ``witnesses``: for each side that
    loses messages ``schema`` (a file) and ``message`` (JSON text, in MessagePack hex text) of one
    that shows it, or null if none was found.

    Args:
        old: ``installed``, a folder or file of schemas, or a git revision.
        new: The same.
        witnesses: Whether to look for messages that are lost.

    Raises:
        ValueError: There are no schemas (`SourceError`), or one is outside the dialect
            (`SchemaError`).
        OSError: A file cannot be read.
    """
    try:
        for compared in compare_families(families_of(old), families_of(new)):
            yield from _listed(compared, witnesses=witnesses)
    except RecursionError:
        raise SourceError(new, "its schemas are nested too deeply") from None


def _listed(compared: Compared, *, witnesses: bool) -> Iterator[dict[str, Any]]:
    judges: Judges = {
        "readers": None if compared.old is None else Judge(compared.old),
        "writers": None if compared.new is None else Judge(compared.new),
    }
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
            "witnesses": {side: _shown(find_witness(found, side, judges)) for side in lost},
        }


def _shown(witness: Witness | None) -> dict[str, str] | None:
    if witness is None:
        return None
    message = witness.message
    is_json = witness.encoding == "json"
    text = (
        json.dumps(message, ensure_ascii=False)
        if is_json
        else msgspec.msgpack.encode(message).hex(" ")
    )
    return {"schema": witness.file, "message": text}
