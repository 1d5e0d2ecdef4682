"""How to work on changewire: every task is a session.

Plain ``nox`` runs those marked ``*``, which a change must pass. Environments are kept, so a second
run is quick. ``nox -s tests -P 3.13`` takes another Python, and what follows ``--`` goes to the
program that the session runs: ``nox -s tests -- tests/codegen -k union``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import chain, compress
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
# pip would ask for hashes of our own wheels, as soon as constraints have hashes.
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = True
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "codegen_check", "typing", "tests", "docs", "build"]
nox.options.sessions += ["native_lint", "native_tests"]

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml("pyproject.toml")
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
SPARK = "spark"
PYTHON_OF_SPHINX = (3, 11)
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SOURCE_FOLDERS = ("codegen", "generated", "runtime")
SOURCES = {"PYTHONPATH": os.pathsep.join(SOURCE_FOLDERS)}
PINS = "constraints/dev.txt"
BILL = "constraints/sbom.cdx.json"
PINS_OF_FLINK = "constraints/flink.txt"
WITHOUT_FLINK = (3, 13)
# Two processes, each with its own Spark and Kafka where a file of its tests asks for them.
PROCESSES = ("--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder", "--durations=20")
DECODE = ("test_decode", "test_spark_engine", "test_spark_schemas", "test_variant")
TYPED = ("test_typed_rows", "test_rows_by_json_schema")
STREAM = ("stream/test_landing", "stream/test_once", "stream/test_start")
KAFKA = ("kafka/test_read",)
TABLES = tuple(f"merge/test_{name}" for name in ("adopt", "cases", "once", "tables"))
LINES = {
    "4.0": (*DECODE, *TYPED, *STREAM, *KAFKA, *TABLES),
    "4.2": (*DECODE, *TYPED, *STREAM, *KAFKA, *TABLES),
    "4.3": (*DECODE, *TYPED, *STREAM),
    "connect": ("test_connect",),
}
"""Lines of Spark, and files of tests of its engine; Spark Connect is that of the first."""
LOWEST = (
    *(f"codegen/test_{name}" for name in ("models", "project", "row_type")),
    *(f"runtime/cli/test_{name}" for name in ("explain", "help", "run")),
    "runtime/changes/test_aerospike_digest",
    *("runtime/codec/test_round_trip", "runtime/codec/test_verdicts"),
    *("runtime/engines/merge_local/test_constraints", "runtime/engines/merge_local/test_runs"),
    *("runtime/engines/merge_local/test_verify", "runtime/engines/test_arrays"),
    *("runtime/engines/merge/test_once", "runtime/engines/stream/test_once"),
    *("runtime/engines/test_arrow", "runtime/engines/test_spark_engine"),
    *("runtime/kafka/test_on_a_broker", "runtime/kafka/test_serializer"),
    "runtime/kafka/test_without_confluent",
)
"""Files of tests that run on the oldest versions: each extra has some."""
WITHOUT_EXTRAS = (
    "import changewire, changewire.tables; "
    "[getattr(changewire, name) for name in changewire.__all__]"
)
"""What works where no extra is installed."""
CONDA = """
import sys
from rattler_build import Stage0Recipe

recipe = Stage0Recipe.from_file("packaging/recipe.yaml")
for built in recipe.run_build(output_dir="build/conda", channels=sys.argv[1:]):
    print(*built.packages)
"""
"""What builds the conda package by the channels of its arguments."""
REPRODUCIBLE = {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1767225600")}
MUTATED_BY = ("codegen", "docs", "examples", "generated", "schemas", "tests")
"""Folders that the tests of mutants read."""
KILLED = 0.9
"""Share of the mutants that tests must find."""
QUICK = "--profile=quick --features=panics"
"""Options of maturin for the kernel of tests, which is built in half a minute."""
RELEASE = "--release"
MANYLINUX = {
    f"{machine}-unknown-linux-gnu": "--zig --compatibility=manylinux2014"
    for machine in ("x86_64", "aarch64")
}
"""Targets of published wheels, and how each is built on any Linux."""

HOST = "x86_64-unknown-linux-gnu"
"""Where the kernel is fuzzed; the address sanitizer needs a target by its name."""
SANITIZED = (
    "-Zsanitizer=address",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
)
"""Flags of rustc for what libFuzzer follows, as cargo-fuzz has them."""


def install(
    session: nox.Session, *requirements: str, groups: tuple[str, ...] = (), pins: str = PINS
) -> None:
    """Install requirements and dependency groups in the versions that a file of pins has."""
    session.install(
        f"--constraint={pins}",
        "--no-compile",  # a third quicker: Python compiles what it imports, not all of pandas
        *requirements,
        *nox.project.dependency_groups(PYPROJECT, *groups),
        env={"DIST_EXTRA_CONFIG": str(ROOT / "constraints" / "sdist.cfg")},
    )


def build_into(
    session: nox.Session, target: Path, *options: str, kernel: str | None = None
) -> None:
    """Build the project in the current folder, replacing what ``target`` holds.

    Args:
        session: What builds it.
        target: Folder of what is built.
        options: Options of hatchling.
        kernel: Options of maturin for the kernel in the wheel; None leaves the kernel out.
    """
    shutil.rmtree(target, ignore_errors=True)
    command = ("python", "-m", "hatchling", "build", "--directory", str(target), *options)
    if kernel is None:
        session.run(*command, env={**REPRODUCIBLE, "CHANGEWIRE_KERNEL": "off"}, silent=True)
        return
    install(session, groups=("native",))
    of_kernel = {"CHANGEWIRE_KERNEL": "require", "CHANGEWIRE_MATURIN": kernel}
    session.run(*command, env={**REPRODUCIBLE, **of_kernel})


def install_wheel(
    session: nox.Session,
    extras: tuple[str, ...],
    groups: tuple[str, ...] = (),
    pins: str = PINS,
    kernel: str | None = None,
) -> None:
    """Install the project as users get it: as a wheel, with extras, beside dependency groups.

    ``kernel`` is as for `build_into`; without cargo there is none.
    """
    install(session, "hatchling", "hatch-fancy-pypi-readme")
    folder = Path(session.virtualenv.location, "dist")
    if kernel is not None and shutil.which("cargo") is None:
        session.log("without the native kernel: cargo is not installed (https://rustup.rs)")
        kernel = None
    build_into(session, folder, "--target", "wheel", kernel=kernel)
    (wheel,) = folder.glob("*.whl")
    session.install("--no-deps", "--force-reinstall", str(wheel))
    install(session, f"{wheel}[{','.join(extras)}]", groups=groups, pins=pins)


@nox.session
def native_lint(session: nox.Session) -> None:
    """Check the native kernel by rustfmt and clippy, where cargo is."""
    if shutil.which("cargo") is None:
        session.skip("cargo is not installed: https://rustup.rs")
    with session.chdir("native"):
        target = {"CARGO_TARGET_DIR": str(ROOT / "build" / "cargo")}
        session.run("cargo", "fmt", "--check", external=True)
        session.run(
            *("cargo", "clippy", "--locked", "--profile", "quick", "--all-features"),
            *("--", "-D", "warnings"),
            external=True,
            env=target,
        )


@nox.session
def native_tests(session: nox.Session) -> None:
    """Test parts of the native kernel by themselves, and the fuzzers' inputs, where cargo is."""
    if shutil.which("cargo") is None:
        session.skip("cargo is not installed: https://rustup.rs")
    with session.chdir("native/fuzz"):
        session.run(
            *("cargo", "test", "--locked", "--no-default-features"),
            external=True,
            env={"CARGO_TARGET_DIR": str(ROOT / "build" / "cargo")},
        )


@nox.session
def native_fuzz(session: nox.Session) -> None:
    """Damage messages, and compare rows with the kernel and without: ``-- SECONDS SEED``."""
    install_wheel(session, tuple(EXTRAS), ("tests",), kernel=QUICK)
    session.run("python", "-m", "tests.native.fuzz", *(session.posargs or ("3600",)))


@nox.session
def native_sanitize(session: nox.Session) -> None:
    """Search for bytes that break the kernel, by libFuzzer and AddressSanitizer: ``-- SECONDS``."""
    if shutil.which("rustup") is None:
        session.skip("rustup is not installed: https://rustup.rs")
    seconds = session.posargs[0] if session.posargs else "60"
    folder = ROOT / "build" / "fuzz"
    cargo = ("cargo", "+nightly")
    with session.chdir("native/fuzz"):
        flags = {"RUSTFLAGS": " ".join(SANITIZED), "CARGO_TARGET_DIR": str(folder / "cargo")}
        build = ("build", "--locked", "--release", "--target", HOST, "--bins")
        session.run(*cargo, *build, external=True, env=flags)
    for target in sorted(path.stem for path in Path("native/fuzz/targets").glob("*.rs")):
        binary, inputs = folder / target, folder / "inputs" / target
        shutil.copy(folder / "cargo" / HOST / "release" / target, binary)
        session.run("python", "-m", "tests.native.fuzz_corpus", "unpack", target, str(inputs))
        (folder / "found").mkdir(exist_ok=True)
        limits = (f"-max_total_time={seconds}", "-timeout=10", "-max_len=3000")
        found = f"-artifact_prefix={folder / 'found'}{os.sep}{target}-"
        session.run(str(binary), str(inputs), *limits, found, external=True)


@nox.session
def demo(session: nox.Session) -> None:
    """Show what changewire does, on example messages."""
    install_wheel(session, ("cli", "delta"))
    session.run("python", "-m", "examples.demo", *session.posargs)


@nox.session
def demo_stream(session: nox.Session) -> None:
    """Follow a topic with a table: a real broker, a killed driver, a replay; needs Java."""
    install_wheel(session, ("cli", "delta", "kafka", "spark"))
    session.run("python", "-m", "examples.demo_stream", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting; ``ruff check --fix`` and ``ruff format`` mend most of it."""
    install(session, groups=("lint",))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    workflow = ("--builtin-schema=vendor.github-workflows", "packaging/release.yml")
    session.run("check-jsonschema", *workflow)


@nox.session
def codegen(session: nox.Session) -> None:
    """Write ``generated/`` and its pages in ``docs/`` anew from ``schemas/``."""
    generate(session)


@nox.session
def codegen_check(session: nox.Session) -> None:
    """Check that ``generated/`` is what ``schemas/`` says, and show the difference if it is not."""
    generate(session, "--check")


def generate(session: nox.Session, *options: str) -> None:
    """Run the generator from its sources: it must work where ``generated/`` is broken."""
    install(session, *PYPROJECT["project"]["dependencies"], *EXTRAS["codegen"])
    command = ("python", "-m", "changewire_codegen", *options, *session.posargs)
    session.run(*command, env={"PYTHONPATH": os.pathsep.join(("codegen", "runtime"))})


@nox.session
def breaking(session: nox.Session) -> None:
    """Name the messages of the last release that are refused now; without one, of ``main``."""
    revision = compared_revision(ROOT)
    if revision is None:
        session.skip("git has neither a tag v*, nor a branch main or a commit before: NOT COMPARED")
    session.log(f"compared with {revision}")
    install_wheel(session, ("cli", "codegen", "testing"))
    states = (f"git:{revision}", "schemas")
    session.run(
        *("changewire", "schema", "diff", *states, "--compatibility", "BACKWARD"), *session.posargs
    )


def compared_revision(folder: Path) -> str | None:
    """Return what schemas are compared with; None if the repository has nothing of the kind.

    That is the last release before HEAD, else the main branch, else, on the main branch itself, the
    commit before.
    """
    tags = git(folder, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-v:refname").split()
    head = git(folder, "rev-parse", "HEAD")
    for revision in (*tags[:1], "origin/main", "main", "HEAD~1"):
        commit = git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        if commit and (commit != head or revision in tags):
            return revision
    return None


def git(folder: Path, *words: str) -> str:
    """Return what git prints about a repository; nothing if it fails."""
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, check=False, text=True).stdout.strip()  # noqa: S603 - our own


@nox.session
def typing(session: nox.Session) -> None:
    """Check types with mypy and pyright: all our code, then a user's code against the wheel."""
    install_wheel(session, tuple(EXTRAS), ("bench", "tests", "typing"))
    public = ("pyright", "--verifytypes=changewire", "--ignoreexternal")
    at_once(session, ("mypy",), ("pyright",), public)
    consumers = sorted(Path("tests", "typing").resolve().glob("consumer*.py"))
    with tempfile.TemporaryDirectory() as elsewhere, session.chdir(elsewhere):
        for consumer in consumers:
            shutil.copy(consumer, elsewhere)
        Path("pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}\n', encoding="utf-8")
        at_once(session, ("mypy", "--strict", "."), ("pyright",))


def at_once(session: nox.Session, *commands: tuple[str, ...]) -> None:
    """Run commands side by side: each of them uses one processor."""
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(session.run, *command) for command in commands]:
            done.result()


@nox.session
def tests(session: nox.Session) -> None:
    """Test the built wheel with all extras, and that pages, examples and benchmarks run."""
    install_wheel(session, tuple(EXTRAS), ("bench", "tests"), kernel=QUICK)
    session.run("python", "-m", "examples.jars", success_codes=[0, 1])  # tests say which they lack
    session.run("pytest", *PROCESSES, *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Change `tables` and `codec` in small ways; tests fail: ``-- 'changewire.tables.order*'``."""
    install_wheel(session, tuple(EXTRAS), ("mutation", "tests"))
    folder = ROOT / "build" / "mutation"
    shutil.rmtree(folder, ignore_errors=True)
    # mutmut finds packages in the folder `src` only.
    shutil.copytree("runtime", folder / "src")
    for name in MUTATED_BY:
        shutil.copytree(name, folder / name)
    shutil.copy("pyproject.toml", folder)
    with session.chdir(folder):
        session.run("mutmut", "run", *session.posargs, success_codes=[0, 1])
        session.run("mutmut", "export-cicd-stats")
        results = str(session.run("mutmut", "results", silent=True))
    found = json.loads(Path(folder, "mutants", "mutmut-cicd-stats.json").read_bytes())
    left = re.findall(r"(\S+): (?:survived|no tests)", results)
    with session.chdir(folder / "mutants"), ThreadPoolExecutor(os.cpu_count()) as pool:
        survived = [*compress(left, pool.map(partial(survives, session), left))]
    tried = found["killed"] + found["timeout"] + len(left)
    killed = (tried - len(survived)) / max(tried, 1)
    session.log("\n".join(["survived:", *survived]))
    session.log(f"{killed:.1%} of {tried} mutants were killed")
    if killed < KILLED:
        session.error(f"expected {KILLED:.0%} or more")


def survives(session: nox.Session, mutant: str) -> bool:
    """Tell whether all selected tests pass with a mutant.

    mutmut runs only the tests that called its function, and misses those that use what an earlier
    test made by it.
    """
    options = PYPROJECT["tool"]["mutmut"]
    given = (*options["pytest_add_cli_args"], *options["pytest_add_cli_args_test_selection"])
    command = (f"{session.bin}/pytest", "-x", "-q", "-p", "no:cacheprovider", *given)
    env = {**os.environ, "PYTHONPATH": "src", "MUTANT_UNDER_TEST": mutant}
    return not subprocess.run(command, capture_output=True, check=False, env=env).returncode  # noqa: S603 - our own


@nox.session
def long(session: nox.Session) -> None:
    """Run the tests that take minutes each, and scenes of Spark that repeat a rule."""
    install_wheel(session, tuple(EXTRAS), ("bench", "tests"))
    session.run("pytest", "-m", "long", *session.posargs)


@nox.session
@nox.parametrize("line", [nox.param(line, id=line) for line in LINES])
def spark_matrix(session: nox.Session, line: str) -> None:
    """Test on one line of Spark after the other, or ``nox -s "spark_matrix(4.2)"`` on one."""
    groups = ("bench", "connect", "tests") if line == "connect" else ("bench", "tests")
    # The extra `spark` allows one line of Spark; here the pins say which it is.
    extras = tuple(extra for extra in EXTRAS if extra != SPARK)
    pins = pins_of(session, line)
    install_wheel(session, extras, groups, pins)
    install(session, *map(name_of, EXTRAS[SPARK]), pins=pins)
    files = [f"tests/runtime/engines/{name}.py" for name in LINES[line]]
    session.run("pytest", "-m", "not long", *files, *session.posargs)


def name_of(requirement: str) -> str:
    """Return the name of the package that is required, without the versions that are allowed."""
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0]


def pins_of(session: nox.Session, line: str) -> str:
    """Return the file of versions for a line of Spark: ``dev.txt``, but for what differs."""
    differing = Path("constraints", f"spark-{line}.txt")
    return with_pins(session, differing) if differing.exists() else PINS


def with_pins(session: nox.Session, differing: Path) -> str:
    """Return a file with the versions of ``dev.txt``, but for those in another file."""
    pins = differing.read_text(encoding="utf-8").splitlines()
    names = [pin.partition("==")[0] for pin in pins if "==" in pin]
    merged = Path(session.create_tmp(), "pins.txt")
    merged.write_text("\n".join([*pins_without(names), *pins]), encoding="utf-8")
    return str(merged)


def pins_without(names: Iterable[str]) -> list[str]:
    """Return the versions of ``dev.txt`` but for some packages."""
    left_out = tuple(f"{name}==" for name in names)
    # Hashes are in indented lines below their pin.
    pins = re.split(r"\n(?=\S)", Path(PINS).read_text(encoding="utf-8").rstrip())
    return [pin for pin in pins if not pin.startswith(left_out)]


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the main jobs, with Spark and without, on the oldest versions that are allowed."""
    install(session, groups=("lock",))
    oldest = Path(session.create_tmp(), "oldest.txt")
    direct = map(name_of, [*PYPROJECT["project"]["dependencies"], *chain(*EXTRAS.values())])
    # Others have the versions of ``dev.txt`` if they can: those of the file that is written.
    oldest.write_text("\n".join(pins_without(direct)), encoding="utf-8")
    session.run(
        *("uv", "pip", "compile", "pyproject.toml", "--resolution=lowest-direct"),
        *(f"--extra={extra}" for extra in EXTRAS),
        *(f"--output-file={oldest}", "--no-annotate", "--no-header", "--quiet"),
    )
    install_wheel(session, tuple(EXTRAS), ("tests",), with_pins(session, oldest))
    files = [f"tests/{name}.py" for name in LOWEST]
    session.run("pytest", "-m", "not long", *files, *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into ``docs/_build/html``, and check the English of pages and docstrings."""
    session.run("python", "-m", "docs.making.prose")
    build_site(session)


@nox.session
def docs_browser(session: nox.Session) -> None:
    """Look at the site in Chromium, which must be installed: search, phones, errors of scripts."""
    build_site(session, "docs_browser")
    session.run("python", "-m", "docs.making.browser", *session.posargs)


@nox.session
def docs_clean(session: nox.Session) -> None:
    """Run the tests of pages in environments of their own `pip install`: ``-- docs/index.md``."""
    install(session, "hatchling", "hatch-fancy-pypi-readme", groups=("lock",))
    folder = Path(session.create_tmp())
    build_into(session, folder / "dist", "--target", "wheel")
    (wheel,) = (folder / "dist").glob("*.whl")
    session.run("python", "-m", "tests.docs.clean", str(wheel), str(folder), *session.posargs)


@nox.session
def docs_links(session: nox.Session) -> None:
    """Ask the network whether links to other sites still lead somewhere."""
    build_site(session, builder="linkcheck")


def build_site(session: nox.Session, *groups: str, builder: str = "html") -> None:
    """Build the site from sources, in the pinned versions; needs no Spark and no Java."""
    if sys.version_info < PYTHON_OF_SPHINX:
        session.skip("the Sphinx that builds the site needs Python 3.11 or newer")
    extras = (*EXTRAS["cli"], *EXTRAS["kafka"], "jsonschema")
    install(session, *PYPROJECT["project"]["dependencies"], *extras, groups=("docs", *groups))
    options = ("--quiet", "--fail-on-warning", "--keep-going", "--jobs=auto")
    command = ("python", "-m", "sphinx", *options)
    folders = ("docs", f"docs/_build/{builder}")
    session.run(*command, "--builder", builder, *folders, env=SOURCES)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the built wheel side by side with its peers."""
    install_wheel(session, tuple(EXTRAS), ("bench",), kernel=RELEASE)
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def bench_stream(session: nox.Session) -> None:
    """Measure streams from Kafka beside jobs written by hand; one row: ``-- --only log``."""
    install_wheel(session, tuple(EXTRAS), ("bench", "tests"), kernel=RELEASE)
    session.run("python", "-m", "benchmarks.streams", *session.posargs)


@nox.session
def bench_flink(session: nox.Session) -> None:
    """Measure PyFlink's format debezium-json beside changewire, in an environment of its own."""
    if sys.version_info >= WITHOUT_FLINK:
        session.skip("the Apache Beam that PyFlink needs has no wheels for Python 3.13 or newer")
    install(session, "apache-flink", pins=PINS_OF_FLINK)
    # After Flink, as it brings a newer pyarrow.
    install_wheel(session, ("arrow",), kernel=RELEASE)
    install(session, "psutil")
    session.run("python", "-m", "benchmarks.flink", *session.posargs)


@nox.session
def chaos(session: nox.Session) -> None:
    """Kill drivers and brokers amid streams, and count what is lost: ``nox -s chaos -- 50``."""
    install_wheel(session, tuple(EXTRAS), ("tests",))
    session.run("python", "-m", "tests.chaos", *session.posargs)


@nox.session
def cluster(session: nox.Session) -> None:
    """Kill parts of a Spark cluster amid a stream, and count what is lost: ``-- --messages N``."""
    groups = ("bench", "connect", "tests")
    install_wheel(session, tuple(EXTRAS), groups, kernel=RELEASE)
    wheels = Path(session.virtualenv.location, "wheels")
    shutil.rmtree(wheels, ignore_errors=True)
    shutil.copytree(wheels.with_name("dist"), wheels)
    program, given = "tests.cluster", session.posargs
    if given[:1] == ["sizing"]:
        program, given = "tests.cluster.sizing", given[1:]
    session.run("python", "-m", program, f"--wheels={wheels}", *given)


@nox.session
def build(session: nox.Session) -> None:
    """Build wheel and sdist into ``dist/``, check them, and that they come out the same again."""
    install(session, groups=("build",))
    first, again = ROOT / "dist", Path(session.virtualenv.location, "dist")
    build_into(session, first)
    (wheel,), (sdist,) = first.glob("*.whl"), first.glob("*.tar.gz")
    session.run("check-wheel-contents", str(wheel))
    session.run("twine", "check", "--strict", str(wheel), str(sdist))
    build_elsewhere(session, sdist, again)
    for file in (wheel, sdist):
        with tempfile.TemporaryDirectory() as unpacked:
            shutil.unpack_archive(file, unpacked, "zip" if file == wheel else None)
            if not [*Path(unpacked).rglob(Path(BILL).name)]:
                session.error(f"{file.name} has no bill of materials")
        digests = {sha256(path.read_bytes()).hexdigest() for path in (file, again / file.name)}
        if len(digests) > 1:
            session.error(f"{file.name} differs when it is built again: see {again}")
        session.log(f"{file.name}: {digests.pop()}, also from another folder and umask")
    install(session, str(wheel))
    session.run("python", "-c", WITHOUT_EXTRAS)


def build_elsewhere(session: nox.Session, sdist: Path, target: Path) -> None:
    """Build from an unpacked sdist, with files and a umask that keep all others out."""
    with tempfile.TemporaryDirectory() as unpacked:
        shutil.unpack_archive(sdist, unpacked)
        for path in Path(unpacked).rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        umask = os.umask(0o077)
        try:
            with session.chdir(Path(unpacked, sdist.name.removesuffix(".tar.gz"))):
                build_into(session, target)
        finally:
            os.umask(umask)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build the wheels that are published into ``build/wheels``, check and install them."""
    install(session, groups=("build", "wheels"))
    folder = ROOT / "build" / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    build_into(session, folder / "any", "--target", "wheel")
    installed = str(session.run("rustc", "--print=sysroot", external=True, silent=True)).strip()
    for target, how in MANYLINUX.items():
        if not Path(installed, "lib", "rustlib", target).exists():
            session.warn(f"no wheel for {target}: rustup target add {target}")
            continue
        kernel = f"{RELEASE} --target={target} {how}"
        build_into(session, folder / target, "--target", "wheel", kernel=kernel)
        (wheel,) = (folder / target).glob("*.whl")
        session.run("auditwheel", "show", str(wheel))
    for wheel in sorted(folder.glob("*/*.whl")):
        packages = [
            Path(source).name
            for source in PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        ]
        with_kernel = [] if wheel.parent.name == "any" else ["changewire_native"]
        toplevel = ",".join([*packages, *with_kernel])
        session.run("check-wheel-contents", f"--toplevel={toplevel}", str(wheel))
        session.run("twine", "check", "--strict", str(wheel))
    for python in PYTHONS:
        session.notify(f"quick_start-{python}")


@nox.session(python=PYTHONS, reuse_venv=False)
def quick_start(session: nox.Session) -> None:
    """Install each wheel of ``build/wheels`` that fits, and run the quick start."""
    for name in ("any", f"{platform.machine()}-unknown-linux-gnu"):
        (wheel,) = (ROOT / "build" / "wheels" / name).glob("*.whl")
        session.install("--force-reinstall", f"--constraint={PINS}", f"{wheel}[cli,delta]")
        with tempfile.TemporaryDirectory() as elsewhere, session.chdir(elsewhere):
            session.run("python", str(ROOT / "examples" / "quickstart.py"))
            inputs = ROOT / "examples" / "dataworks_json" / "items.jsonl.gz"
            command = ("changewire", "run", str(inputs), "--format=dataworks-json", "--output=out")
            session.run(*command)
            report = json.loads(Path("out", "report.json").read_bytes())
        if ("native" in report) != (name != "any"):
            session.error(f"the report has {report.get('native')} with the wheel {wheel.name}")


@nox.session
def conda(session: nox.Session) -> None:
    """Build the conda package into ``build/conda``; ``-- CHANNEL`` replaces conda-forge."""
    install(session, "hatchling", "hatch-fancy-pypi-readme", groups=("conda",))
    build_into(session, ROOT / "dist")
    shutil.rmtree(ROOT / "build" / "conda", ignore_errors=True)
    session.run("python", "-c", CONDA, *(session.posargs or ("conda-forge",)))


@nox.session
def image(session: nox.Session) -> None:
    """Build the container images by Podman, and land a file in each, with Spark and without."""
    if shutil.which("podman") is None:
        session.skip("podman is not installed: https://podman.io")
    install(session, "hatchling", "hatch-fancy-pypi-readme")
    build_into(session, ROOT / "dist", "--target", "wheel")
    build = ("podman", "build", "--file=packaging/Containerfile")
    session.run(*build, "--tag=changewire", ".", external=True)
    without_spark = ("--target=without-spark", "--build-arg=EXTRAS=cli,delta,kafka")
    session.run(*build, *without_spark, "--tag=changewire-local", ".", external=True)
    with tempfile.TemporaryDirectory() as lake:
        shutil.copy("examples/dataworks_json/items.jsonl.gz", lake)
        container = ("podman", "run", "--rm", "--user=root", f"--volume={lake}:/lake")
        run = ("run", "--format=dataworks-json", "/lake/items.jsonl.gz")
        tables = ("--engine=python", "--output=/lake/log", "--target=/lake/tables")
        session.run(*container, "changewire-local", *run, *tables, external=True)
        by_spark = ("--engine=spark", "--output=/lake/by-spark")
        session.run(*container, "changewire", *run, *by_spark, external=True)
        reports = [
            json.loads(Path(lake, output, "report.json").read_bytes())
            for output in ("log", "by-spark")
        ]
    names = ("messages", "changes", "controls", "dead_letters")
    python, spark = ([report[name] for name in names] for report in reports)
    session.log(f"{names}: {python} without Spark, {spark} with it")
    if python != spark or not python[0]:
        session.error("expected the same counts with Spark and without")


@nox.session
def licences(session: nox.Session) -> None:
    """List the licences of all that the extras bring; one that is not allowed is an error."""
    install_wheel(session, tuple(EXTRAS))
    install(session, "packaging", "tomli")
    session.run("python", "-m", "tests.packaging.licences", *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Add to ``constraints/dev.txt`` what is missing; ``-- --upgrade`` takes the newest of all."""
    install(session, groups=("lock",))
    session.run(
        *("uv", "pip", "compile", "pyproject.toml", "--group=dev"),
        *(f"--extra={extra}" for extra in EXTRAS),
        *("--constraint=constraints/dev.in", "--output-file=constraints/dev.txt", "--quiet"),
        *("--universal", "--python-version=3.10", "--custom-compile-command=nox -s lock"),
        *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", *session.posargs),
    )


@nox.session
def sbom(session: nox.Session) -> None:
    """Write the bill of materials that wheel and sdist have: what an installation brings."""
    install(session, "hatchling", "hatch-fancy-pypi-readme", groups=("lock", "sbom"))
    environment = Path(session.create_tmp(), "environment")
    session.run("uv", "venv", "--clear", str(environment))
    session.run(
        *("uv", "pip", "install", f"--python={environment}", f"--constraint={PINS}"),
        f".[{','.join(EXTRAS)}]",
        env={"CHANGEWIRE_KERNEL": "off"},
    )
    version = str(session.run("hatchling", "version", silent=True)).strip()
    text = Path("pyproject.toml").read_text(encoding="utf-8")
    project = Path(session.create_tmp(), "pyproject.toml")
    described = re.sub("^dynamic = .*$", f'version = "{version}"', text, flags=re.MULTILINE)
    project.write_text(described, encoding="utf-8")
    session.run(
        *("cyclonedx-py", "environment", str(environment), f"--pyproject={project}"),
        *("--mc-type=library", "--output-reproducible", f"--output-file={BILL}"),
    )
