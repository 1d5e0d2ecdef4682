"""Pages, docstrings, help and error texts are in plain English, as far as patterns can tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.making.prose import (
    IN_CHINESE,
    ON_PAGES,
    PATTERNS,
    ROOT,
    found_in,
    is_chinese,
    is_for_users,
    modules,
    pages,
    problems,
)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_are_plain(page: Path) -> None:
    """No page has one of the patterns; ``python -m docs.making.prose`` lists them all."""
    assert [*found_in(page)] == []


def test_texts_of_modules_are_plain() -> None:
    """No module of the packages has one of the patterns in a docstring, help or error text."""
    found = [(path.name, *problem) for path in modules() for problem in found_in(path)]
    assert found == []


def test_texts_of_modules_are_found(tmp_path: Path) -> None:
    """Docstrings, help and error texts are read, at their lines; single words are not."""
    module = tmp_path / "module.py"
    module.write_text(
        '"""It holds."""\n\nA = "holds"\n"""A\n\nstands."""\nraise E(f"{a} is told")\n'
        'option(help="told")\n',
        "utf-8",
    )
    assert [(line, words) for line, words, _ in found_in(module)] == [
        (1, "holds"),
        (6, "stands"),
        (7, "told"),
        (8, "told"),
    ]


FOR_USERS = ("README.md", "docs/operate/sizing.md")
FOR_OTHERS = ("docs/contributing/kernel.md", "docs/formats/tables.md")

EXAMPLES = (
    "Users are told.",
    "It is no model.",
    "The table is made anew.",
    "the table beside it",
    "A row holds it.",
    "This stands for a key.",
    "The row is not there.",
    "It does what the log says.",
    "It fails where a key is long.",
    "the row that has the key that names that table",
    "Changes that no table took.",
    "These are the facts.",
    "A batch has a floor.",
    "It costs a look at the log.",
    "It heeds the option.",
    "Which change is newer the sequence decides.",
)

ON_USERS_PAGES = (
    "It stays as JSON has it.",
    "It rejects them.",
    "The text is kept.",
    "It is plain text.",
    "They are in one place.",
    "The text looks good.",
)

IN_CHINESE_PAGES = (
    "请安装,然后运行。",
    "用DataWorks 写入。",
    "读取消息，\n然后写入。",
    "读取话题。",
)
GOOD_CHINESE = "变更数据捕获 (CDC)，用 `x` 写入 [表](t.md)；UTC 偏移和偏移量：Told places。\n"


def test_each_pattern_is_found() -> None:
    """Each example breaks one rule, each rule has one, and a line and words are reported."""
    found = [[*problems(f"Text.\n\n{example}\n")] for example in EXAMPLES]
    assert [advice for ((line, _, advice),) in found if line == 3] == [*PATTERNS.values()]
    texts = (f"Text.\n\n{example}\n" for example in ON_USERS_PAGES)
    found = [[*problems(text, ON_PAGES)] for text in texts]
    assert [advice for ((line, _, advice),) in found if line == 3] == [*ON_PAGES.values()]
    assert [is_for_users(ROOT / page) for page in (*FOR_USERS, *FOR_OTHERS)] == [True] * 2 + [
        False
    ] * 2


def test_patterns_of_chinese_pages_are_found() -> None:
    """Each example breaks one rule; English patterns do not judge a page in Chinese."""
    found = [[*problems(f"文档。\n\n{text}\n", IN_CHINESE)] for text in IN_CHINESE_PAGES]
    assert [advice for ((line, _, advice),) in found if line == 3] == [*IN_CHINESE.values()]
    assert [*problems(GOOD_CHINESE, IN_CHINESE)] == []
    names = ("README.zh.md", "docs/zh/index.md", "README.md", "docs/index.md")
    assert [is_chinese(ROOT / name) for name in names] == [True, True, False, False]


def test_code_is_left_out() -> None:
    """Code, comments and links may have any words; a word across two lines is found."""
    text = "`told`\n```sh\ntold\n```\n<!-- told -->\n[a](told.md)\n\nThere is no key.\n\n"
    text += "in place\nof it\n"
    assert [(line, words) for line, words, _ in problems(text)] == [(10, "in place of")]
