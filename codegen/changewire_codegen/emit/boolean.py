"""Tests as trees, which are combined and negated before they are printed as Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Operator = Literal["is", "is not", "in", "not in", "==", "!=", "<", "<=", ">", ">="]

_OPPOSITES: dict[Operator, Operator] = {
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
    "==": "!=",
    "!=": "==",
}
"""An order has no opposite: NaN is neither less than a number nor at least as large."""


@dataclass(frozen=True)
class Compare:
    """Two expressions and the text between them; the expressions are never looked into."""

    left: str
    operator: Operator
    right: str


@dataclass(frozen=True)
class Every:
    """All of several tests are true; without any, it is always true."""

    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Some:
    """At least one of several tests is true; without any, it is never true."""

    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Not:
    """A test is false."""

    of: Test


Test = Compare | Every | Some | Not

ALWAYS = Every(())
NEVER = Some(())


def every(*tests: Test) -> Test:
    """Return a test that all tests are true, without those that always are."""
    if NEVER in tests:
        return NEVER
    flat = [part for test in tests for part in (test.tests if isinstance(test, Every) else (test,))]
    return flat[0] if len(flat) == 1 else Every(tuple(flat))


def some(*tests: Test) -> Test:
    """Return a test that one of several tests is true, without those that never are."""
    if ALWAYS in tests:
        return ALWAYS
    flat = [part for test in tests for part in (test.tests if isinstance(test, Some) else (test,))]
    return flat[0] if len(flat) == 1 else Some(tuple(flat))


def negated(test: Test) -> Test:
    """Return the test that is true exactly if ``test`` is false."""
    if test in {ALWAYS, NEVER}:
        return NEVER if test == ALWAYS else ALWAYS
    if isinstance(test, Not):
        return test.of
    if isinstance(test, Compare) and test.operator in _OPPOSITES:
        return Compare(test.left, _OPPOSITES[test.operator], test.right)
    return Not(test)


def where(guard: Test, test: Test) -> Test:
    """Return a test that says nothing unless the guard is true."""
    return some(negated(guard), test)


def known(guard: Test, test: Test) -> Test:
    """Return a test of `where` without the guard, which is known to be true."""
    alternatives = test.tests if isinstance(test, Some) else ()
    if negated(guard) not in alternatives:
        return test
    return some(*(part for part in alternatives if part != negated(guard)))


def printed(test: Test) -> str:
    """Return a test as a Python expression; one with ``and`` or ``or`` is not in parentheses."""
    if isinstance(test, Compare):
        return f"{test.left} {test.operator} {test.right}"
    if isinstance(test, Not):
        return f"not ({printed(test.of)})"
    if not test.tests:
        return str(test == ALWAYS)
    word = " and " if isinstance(test, Every) else " or "
    return word.join(
        f"({printed(part)})" if isinstance(part, (Every, Some)) else printed(part)
        for part in test.tests
    )
