"""What imports what: the rooms of the runtime stand in a row, and heavy libraries stay outside."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOMS = ["framing", "codec", "changes", "tables", "engines"]
"""In the order of a message's way."""

SHARED = {"extras", "generator", "msgpack_heads", "tested", "version"}
"""What every room may use: facts, and the way to the generator; they import nothing of ours."""
HEAVY = [
    "pyspark",
    "pyarrow",
    "jsonschema",
    "datamodel_code_generator",
    "hypothesis",
    "confluent_kafka",
    "pandas",
    "msgpack",
    "Crypto",
]


def root_of(package: str) -> Path:
    """Return the folder of an installed package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def imports(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, wherever in it; a relative one begins with a dot."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def rooms_used(path: Path) -> set[str]:
    """Return the parts of the runtime that a file imports."""
    names = [name.split(".") for name in imports(path)]
    return {parts[1] for parts in names if parts[0] == "changewire" and len(parts) > 1}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_those_before_them(room: str) -> None:
    """A message walks through the rooms in one direction; nothing in them calls what calls them."""
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *SHARED}
    for path in (root_of("changewire") / room).rglob("*.py"):
        assert rooms_used(path) <= allowed, path
        assert "changewire" not in set(imports(path)), f"{path} imports the whole package"


def test_explaining_needs_messages_and_changes_only() -> None:
    """What a message means is told by codec, changes and schemas; printing it is for the caller."""
    for path in (root_of("changewire") / "explain").rglob("*.py"):
        assert rooms_used(path) <= {"explain", "codec", "changes"}, path
        assert "rich" not in {name.partition(".")[0] for name in imports(path)}, path


def test_inferring_needs_messages_and_changes_only() -> None:
    """A draft is made of records, changes and names of tables; it only finds the generator."""
    allowed = {"infer", "framing", "codec", "changes", "generator", "tables"}
    for path in (root_of("changewire") / "infer").rglob("*.py"):
        assert rooms_used(path) <= allowed, path


def test_serializers_need_messages_and_changes_only() -> None:
    """They call what there is, and one module of them knows confluent-kafka."""
    users = set[str]()
    for path in (root_of("changewire") / "kafka").rglob("*.py"):
        assert rooms_used(path) <= {"kafka", "codec", "changes"}, path
        if "confluent_kafka" in {name.partition(".")[0] for name in imports(path)}:
            users.add(path.name)
    assert users == {"interface.py"}


def test_the_rooms_are_there() -> None:
    """The test above looks at rooms that exist."""
    for room in ROOMS:
        assert list((root_of("changewire") / room).glob("*.py"))


def test_no_relative_imports_hide_a_room() -> None:
    """Imports name their module in full, so that the test above sees all of them."""
    for path in root_of("changewire").rglob("*.py"):
        assert not [name for name in imports(path) if name.startswith(".")], path


@pytest.mark.parametrize(
    ("package", "strangers"),
    [
        ("changewire", {"changewire_codegen"}),
        ("changewire_messages", {"changewire", "changewire_codegen"}),
        ("changewire_codegen", {"changewire", "changewire_messages"}),
        ("changewire_library", {"changewire", "changewire_codegen", "changewire_messages"}),
    ],
)
def test_packages_do_not_know_each_other(package: str, strangers: set[str]) -> None:
    """The runtime uses generated code; generated code and generator use nothing of ours."""
    for path in root_of(package).rglob("*.py"):
        assert not strangers & {name.partition(".")[0] for name in imports(path)}, path


def test_one_module_leads_to_the_generator() -> None:
    """The rest of the runtime does not name it, and works without the extra that it needs."""
    texts = {path: path.read_text(encoding="utf-8") for path in root_of("changewire").rglob("*.py")}
    users = {path.name for path, text in texts.items() if "changewire_codegen" in text}
    assert users == {"generator.py"}


def test_codec_knows_no_vendor() -> None:
    """Vendor words appear in schemas and adapters, never in the codec."""
    for path in (root_of("changewire") / "codec").rglob("*.py"):
        text = path.read_text(encoding="utf-8").lower()
        assert not [word for word in ("aerospike", "lindorm", "dataworks") if word in text], path


@pytest.mark.parametrize(
    "call",
    ["", "cw.decode(b'', format='aerospike-json')", "cw.changes(None)", "import changewire.tables"],
)
def test_importing_loads_nothing_heavy(call: str) -> None:
    """Importing and using the core loads no library that belongs to an extra."""
    code = f"import sys\nimport changewire as cw\ntry: {call or 'pass'}\nexcept Exception: pass\n"
    code += f"print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == ""
