"""The page of the rules of compatibility, from the rules of the program."""

from __future__ import annotations

from collections.abc import Iterator

from changewire_codegen.compat.rules import RULES
from docs.making.markdown import table


def page() -> str:
    """Return the page: each rule with its keywords and verdicts."""
    return (
        "---\norphan: true\n---\n\n"
        "# Rules of compatibility\n\n"
        "[Schemas and formats](../guides/schemas.md#compare-two-states-of-schemas) explains the\n"
        "verdicts. `A` is the old state and `B` the new one.\n\n"
        + table(("rule", "keywords", "what happened", "readers", "writers"), _rows())
    )


def _rows() -> Iterator[tuple[str, ...]]:
    for name, rule in RULES.items():
        keywords = ", ".join(f"`{keyword}`" for keyword in rule.keywords)
        text = rule.text.format(old="A", new="B")
        yield f"`{name}`", keywords, text, rule.readers, rule.writers
