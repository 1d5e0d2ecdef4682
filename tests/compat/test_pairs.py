"""The rules by which two states of schemas are judged, each held against messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from docs.making import rules
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from tests.codegen.helpers import SCHEMAS
from tests.compat.pairs import (
    NAMES,
    compared,
    examples,
    expected,
    needs_leniency,
    sides,
    state,
    strategy,
    verdict_of,
)

from changewire_codegen.compat.diff import diff
from changewire_codegen.compat.rules import GRAVITY, RULES, SIDES, Side
from changewire_codegen.judge import Judge
from changewire_codegen.nodes import Family

DIALECT = json.loads((SCHEMAS / "dialect.json").read_text(encoding="utf-8"))["$defs"]
KEYWORDS = {*DIALECT["node"]["properties"], *DIALECT["family"]["properties"]}

QUICK = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

UNSEEN = {"FAMILY_SAME_FORMAT", "NUMBERS_NO_WIDEN", "NUMBERS_NO_NARROW"}
"""A name of a format, and digits that parsing already rounds, are in no parsed message."""

MANY = settings(
    max_examples=2_000, phases=[Phase.generate], deadline=None, derandomize=True, database=None
)
"""Any message that is found will do: none is made smaller."""

LOSSES: list[tuple[str, Side]] = [
    (name, side)
    for name in NAMES
    for side in SIDES
    if getattr(expected(name), side) != "compatible" and name not in UNSEEN
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


@pytest.mark.parametrize("keyword", sorted(KEYWORDS))
def test_each_keyword_has_a_rule(keyword: str) -> None:
    """No keyword of the dialect can change without a rule; references are resolved."""
    assert keyword in {"$ref", "$defs"} or [
        rule for rule in RULES.values() if keyword in rule.keywords
    ]


def test_page_has_the_table_of_rules() -> None:
    """The rules on the generated page are those of the program, in its order."""
    row = r"^\| `([\w-]+)` \| (.+) \| (.+) \| ([a-z]+) \| ([a-z]+) \|$"
    rows = re.findall(row, rules.page(), re.MULTILINE)
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


def refused_by(verdict: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the opposite of a verdict."""
    return lambda message: not verdict(message)


@pytest.mark.parametrize(("name", "side"), LOSSES)
def test_what_is_lost_is_refused(name: str, side: Side) -> None:
    """Where messages are lost there is one that jsonschema accepts on one side alone."""
    for one in compared(name):
        writer, reader = sides(one, side)
        for found in [item for item in one.found if side in item.lost]:
            file, other = found.files if side == "readers" else found.files[::-1]
            assert writer is not None
            if reader is not None and other in reader.schemas:
                messages = st.sampled_from(examples(writer, file)) | strategy(writer, file)
                message = find(messages, refused_by(verdict_of(reader, other)), settings=MANY)
                assert verdict_of(writer, file)(message)


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
            _check_messages(writer, reader, file, lenient=judged == "leniency gone")


def _check_messages(writer: Family, reader: Family, file: str, *, lenient: bool) -> None:
    schema, judge = writer.schemas[file], Judge(reader)

    @QUICK
    @given(strategy(writer, file))
    def holds(message: Any) -> None:
        if not lenient or not needs_leniency(writer, schema, message):
            assert judge.issues(message, file, strict=False) == []

    holds()


def test_differences_are_plain_data() -> None:
    """What the command gets holds places, words, verdicts and a message for each loss."""
    name = "MAXIMUM_NO_LOWER.leniency"
    found = [*diff(state(name, "old"), state(name, "new"))]
    lowered = next(item for item in found if item["rule"] == "MAXIMUM_NO_LOWER")
    assert lowered == {
        "rule": "MAXIMUM_NO_LOWER",
        "file": "schema/schema.json",
        "pointer": "/properties/value/maximum",
        "gone": False,
        "text": "the greatest value was 99999, is 65535",
        "readers": "leniency gone",
        "writers": "compatible",
        "witnesses": {"readers": {"schema": "schema.json", "message": '{"value": 65536}'}},
    }
    gone = next(item for item in found if item["rule"] == "LENIENCY_NO_DELETE")
    assert (gone["gone"], gone["pointer"]) == (True, "/properties/value/x-leniency")
    assert json.loads(json.dumps(found)) == found


def test_a_loss_that_no_example_shows_has_no_message() -> None:
    """Examples alone are tried; where none is refused at the place, there is no message."""
    name = "MAXIMUM_NO_LOWER"
    (found,) = diff(state(name, "old"), state(name, "new"))
    assert (found["readers"], found["witnesses"]) == ("breaking", {"readers": None})
    (found,) = diff(state(name, "old"), state(name, "new"), witnesses=False)
    assert found["witnesses"] == {}


@pytest.mark.parametrize(
    ("name", "side"), [("PROPERTY_NO_ADD", "readers"), ("PROPERTY_NO_DELETE", "writers")]
)
def test_a_property_that_was_not_described_may_be_refused(name: str, side: Side) -> None:
    """A value that one side does not name and the other does not allow is refused, as it says."""
    (one,) = compared(name)
    (found,) = [item for item in one.found if item.rule == name]
    writer, reader = sides(one, side)
    assert writer is not None
    assert reader is not None
    message = {"value": 1, "note": 5}
    assert Judge(writer).issues(message, "schema.json", strict=False) == []
    assert Judge(reader).issues(message, "schema.json", strict=False) == ["/note"]
    assert found.verdicts[side] == "compatible"
    assert "reject" in found.text
