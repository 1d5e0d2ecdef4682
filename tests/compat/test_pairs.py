"""The rules by which two states of schemas are judged, each held against messages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.codegen.helpers import SCHEMAS
from tests.compat.pairs import (
    NAMES,
    compared,
    expected,
    judges,
    needs_leniency,
    sides,
    state,
    verdict_of,
)

from changewire_codegen.compat.diff import diff
from changewire_codegen.compat.judge import Judge
from changewire_codegen.compat.rules import GRAVITY, RULES, SIDES, Side
from changewire_codegen.compat.witness import find_witness

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
DIALECT = json.loads((SCHEMAS / "dialect.json").read_text(encoding="utf-8"))["$defs"]
KEYWORDS = {*DIALECT["node"]["properties"], *DIALECT["family"]["properties"]}

QUICK = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

WITHOUT_WITNESS = {"format-name-changed", "numbers-exact", "numbers-rounded"}
"""A name of a format, and digits that parsing already rounds, are in no parsed message."""

LOSSES: list[tuple[str, Side]] = [
    (name, side)
    for name in NAMES
    for side in SIDES
    if getattr(expected(name), side) != "compatible" and name not in WITHOUT_WITNESS
]


@pytest.mark.parametrize("name", NAMES)
def test_pair_is_judged_as_expected(name: str) -> None:
    """A pair differs by these rules, and hurts readers and writers as much as it says."""
    found = [item for one in compared(name) for item in one.found]
    assert sorted({item.rule for item in found}) == expected(name).rules
    for side in SIDES:
        verdicts = {item.verdicts[side] for item in found}
        worst = [verdict for verdict in GRAVITY if verdict in verdicts][-1]
        assert worst == getattr(expected(name), side)


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_a_pair_with_its_verdicts(rule: str) -> None:
    """Each rule is shown by a pair named after it, with the verdicts that the table gives it."""
    all_found = [item for one in compared(rule) for item in one.found if item.rule == rule]
    assert all_found
    for found in all_found:
        assert found.verdicts == {"readers": RULES[rule].readers, "writers": RULES[rule].writers}
        assert found.text == RULES[rule].text.format(old=found.old, new=found.new)


@pytest.mark.parametrize("keyword", sorted(KEYWORDS))
def test_each_keyword_has_a_rule(keyword: str) -> None:
    """No keyword of the dialect can change without a rule that judges it."""
    assert [rule for rule in RULES.values() if keyword in rule.keywords]


def test_page_has_the_table_of_rules() -> None:
    """The rules on the page are those of the program, in its order."""
    row = r"^\| `([\w-]+)` \| (.+) \| (.+) \| ([a-z]+) \| ([a-z]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [
        (
            name,
            ", ".join(f"`{keyword}`" for keyword in rule.keywords),
            rule.text.format(old="A", new="B"),
            rule.readers,
            rule.writers,
        )
        for name, rule in RULES.items()
    ]


@pytest.mark.parametrize(("name", "side"), LOSSES)
def test_loss_is_shown_by_a_message(name: str, side: Side) -> None:
    """Where messages are lost one is found: jsonschema takes it on one side, not on the other."""
    for one in compared(name):
        writer, reader = sides(one, side)
        assert writer is not None
        for found in [item for item in one.found if side in item.lost]:
            witness = find_witness(found, side, judges(one))
            assert witness is not None
            assert verdict_of(writer, witness.file)(witness.message)
            other = found.files[1 if side == "readers" else 0]
            if reader is not None and other in reader.schemas:
                assert not verdict_of(reader, other)(witness.message)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_lost_is_accepted(name: str, side: Side) -> None:
    """Compatible: the other state takes each message. Leniency gone: each that needs none."""
    judged = getattr(expected(name), side)
    for one in compared(name) if judged != "breaking" else ():
        writer, reader = sides(one, side)
        if writer is None or reader is None:
            continue
        for file in sorted({*writer.schemas} & {*reader.schemas}):
            _check_messages(Judge(writer), Judge(reader), file, lenient=judged == "leniency gone")


def _check_messages(writer: Judge, reader: Judge, file: str, *, lenient: bool) -> None:
    schema = writer.family.schemas[file]

    @QUICK
    @given(writer.strategy(file))
    def holds(message: Any) -> None:
        if not lenient or not needs_leniency(writer.family, schema, message):
            assert reader.issues(message, file, closed=False) == []

    holds()


def test_differences_are_plain_data() -> None:
    """What the command gets holds places, words, verdicts and a message for each loss."""
    name = "maximum-lowered.leniency"
    found = [*diff(state(name, "old"), state(name, "new"))]
    lowered = next(item for item in found if item["rule"] == "maximum-lowered")
    assert lowered == {
        "rule": "maximum-lowered",
        "file": "schema/schema.json",
        "pointer": "/properties/value/maximum",
        "gone": False,
        "text": "the greatest value was 99999, is 65535",
        "readers": "leniency gone",
        "writers": "compatible",
        "witnesses": {"readers": {"schema": "schema.json", "message": '{"value": 65536}'}},
    }
    gone = next(item for item in found if item["rule"] == "leniency-removed")
    assert (gone["gone"], gone["pointer"]) == (True, "/properties/value/x-leniency")
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("name", "side"), [("property-added", "readers"), ("property-removed", "writers")]
)
def test_a_property_that_was_not_described_may_be_refused(name: str, side: Side) -> None:
    """A value that one side does not name and the other does not allow is refused, as it says."""
    (one,) = compared(name)
    (found,) = [item for item in one.found if item.rule == name]
    writer, reader = sides(one, side)
    assert writer is not None
    assert reader is not None
    message = {"value": 1, "note": 5}
    assert Judge(writer).issues(message, "schema.json", closed=False) == []
    assert Judge(reader).issues(message, "schema.json", closed=False) == ["/note"]
    assert found.verdicts[side] == "compatible"
    assert "refuse" in found.text
