"""Run the steps of docs/operate/streaming.md: from a broker to a live table, with a killed driver.

``nox -s demo_stream`` runs this, or ``python -m examples.demo_stream [FOLDER]`` where changewire is
installed with its extras ``cli``, ``spark``, ``kafka`` and ``delta``. All parts are real: a Kafka
broker, Spark, tables of Delta. The folder, ``build/demo_stream`` unless given, is emptied first.
The exit code is 1 if an element is lost or double, or a row differs from its messages or the log.
"""

import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from examples.broker import BrokerError, broker
from examples.demo.screen import indented, title
from examples.demo_stream import facts
from examples.demo_stream.audit import audit
from examples.demo_stream.programs import Programs
from examples.jars import JarsError
from rich.console import Console

OUTPUT: Final = Path("build", "demo_stream")
TOPIC: Final = "shop"
MESSAGES: Final = Path(__file__).resolve().parents[1] / "aerospike_json"
NULL_SET: Final = "users"
BATCH: Final = 100

NO_SET: Final = {
    "msg": "write",
    "key": ["shop", None, "ZGRkZGRkZGRkZGRkZGRkZGRkZGQ=", "dora"],
    "gen": 1,
    "exp": 0,
    "lut": 1767225606000,
    "bins": [{"name": "name", "type": "str", "value": "Dora"}],
}
"""A valid message that does not name its table."""

SPARK: Final = "Spark to start, which takes 15 to 40 seconds"
QUERY: Final = f"{SPARK}, and the query to read the topic to its end"

_WIDTH: Final = 100


class Course(NamedTuple):
    """How the commands went.

    Attributes:
        committed: Messages of the second run that the killed driver had committed.
        is_verified: Whether the last command found every row of the tables as the log has it.
    """

    committed: int
    is_verified: bool


def main(arguments: Sequence[str]) -> int:
    """Run all steps; return the exit code."""
    folder = Path(arguments[0]) if arguments else OUTPUT
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    console = Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    started = time.monotonic()
    try:
        title(console, "A broker, Spark and its connectors")
        indented(
            console, "Jars are downloaded once, into build/jars. All steps take 5 to 10 minutes."
        )
        programs = Programs(console, folder)
        with broker(folder / "kafka") as server:
            indented(console, f"Kafka listens on {server}.")
            course = steps(console, programs, server, folder)
            found = audit(server, TOPIC, folder, NULL_SET)
    except (BrokerError, JarsError) as error:
        sys.exit(str(error))
    seconds = time.monotonic() - started
    facts.show(console, found, course.committed, seconds, is_verified=course.is_verified)
    return 0 if found.are_good and course.is_verified else 1


def steps(console: Console, programs: Programs, server: str, folder: Path) -> Course:
    """Run the commands of the page; return how they went."""
    output, target = folder / "ops", f"--target {folder}/tables/{{table}}"
    produce = f"python -m examples.produce {server} {TOPIC}"
    how = "--format aerospike-json --row-schema json"
    tables = f"{how} {target} --checkpoint {folder}/checkpoint"
    run = f"changewire stream --kafka {server} --subscribe {TOPIC} {tables} --output {output}"

    title(console, "A producer sends the valid messages, and a query builds a table from them")
    programs.run(f"{produce} {MESSAGES}/users.jsonl")
    programs.run(run, shown=6, waits_for=QUERY)

    title(console, "Another producer checks nothing, and the driver is killed while it reads")
    no_set, metrics = folder / "no_set.jsonl", folder / "metrics.jsonl"
    no_set.write_text(json.dumps(NO_SET), encoding="utf-8")
    programs.run(f"{produce} --unchecked {MESSAGES}/orders.jsonl.gz {no_set}")
    limits = f"--option maxOffsetsPerTrigger={BATCH} --metrics {metrics}"
    ended = programs.run_and_kill(f"{run} {limits}", metrics)
    committed = sum(int(json.loads(line)["messages"]) for line in ended.lines)
    indented(console, f"Ended by signal {-ended.code}, {committed} messages after the first run.")

    title(console, "After a restart it continues after the last committed batch")
    programs.run(run, shown=6, waits_for=QUERY)

    title(console, "A change that no table took is replayed, now that its table is named")
    named = f"--default-table {NULL_SET}"
    where = "--where \"code = 'table-missing'\""
    programs.run(f"changewire replay {output} {tables} {named} {where}", waits_for=SPARK)

    title(console, "Every row of the tables is compared with the log")
    verified = programs.run(f"changewire verify {output} {target} {named}", waits_for=SPARK)
    return Course(committed, is_verified=verified.code == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
