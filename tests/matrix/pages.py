"""What the pages of a format tell of each variant."""

import re

from tests.matrix.subject import Subject
from tests.runtime.codec.test_documents import DOCS


def check_page(subject: Subject) -> None:
    """The pages of a format have each variant: fields, meaning, example, change, differences."""
    name = f"{subject.form.folder}.md"
    reference, changes = (sections(f"{folder}/{name}") for folder in ("formats", "changes"))
    assert reference["Document and reality"].count("\n- ") > 1
    assert subject.variants.keys() <= changes.keys()
    for variant, model in subject.variants.items():
        # A section of the reference has all values of an enum tag: it is that of their base class.
        section = next(one.__name__ for one in model.__mro__ if one.__name__ in reference)
        own = reference[section]
        (heading,) = re.findall(r"^\| (?:property|position) \|.*$", own, re.MULTILINE)
        assert heading.endswith("| meaning |")
        assert all(row.split(" | ")[-1].strip(" |") for row in rows(own))
        assert any("Examples:\n\n```" in text for text in (own, *unions(reference, section)))
        message, change = re.findall(r"^```(?:json|text)\n(.*?)^```$", changes[variant], RULES)
        assert message
        assert '"op": ' in change


RULES = re.DOTALL | re.MULTILINE


def sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their headings."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, RULES))


def rows(section: str) -> list[str]:
    """Return the rows of the table of fields."""
    return re.findall(r"^\| `.*\|$", section, re.MULTILINE)


def unions(reference: dict[str, str], variant: str) -> list[str]:
    """Return the sections that tell the variant from others by a tag."""
    return [text for text in reference.values() if f"[{variant}](#{variant.lower()})" in text]
