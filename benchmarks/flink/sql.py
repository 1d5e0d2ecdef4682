"""Tables and jobs of Flink, in its SQL."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

SLOTS: Final = 2


def environment() -> Any:
    """Start a JVM, and return a table environment of Flink with two slots."""
    # By name, as type checks and tests run where Flink is not installed.
    table: Any = import_module("pyflink.table")
    env = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", str(SLOTS))
    return env


def table(name: str, columns: Mapping[str, str], options: Mapping[str, str]) -> str:
    """Return the statement that makes a table.

    Args:
        name: Its name.
        columns: Types of its columns, by name.
        options: What its connector and its format are, and theirs.
    """
    fields = ", ".join(f"{_name(column)} {kind}" for column, kind in columns.items())
    settings = ", ".join(f"{_text(key)} = {_text(value)}" for key, value in options.items())
    return f"CREATE TEMPORARY TABLE {_name(name)} ({fields}) WITH ({settings})"


def messages(folder: str, *, ignore_errors: bool) -> dict[str, str]:
    """Return the options of a table over files of messages, one in each line."""
    return {
        "connector": "filesystem",
        "path": Path(folder).as_uri(),
        "format": "debezium-json",
        "debezium-json.schema-include": "true",  # the payload is a field beside its schema
        "debezium-json.ignore-parse-errors": str(ignore_errors).lower(),
    }


def insert(env: Any, source: str, sink: str) -> float:
    """Send all rows of a table to another; return the seconds that Flink reports for the job."""
    statement = f"INSERT INTO {_name(sink)} SELECT * FROM {_name(source)}"  # noqa: S608 - quoted
    job = env.execute_sql(statement)
    job.wait()
    done = job.get_job_client().get_job_execution_result().result()
    return float(done.get_net_runtime()) / 1000


def _name(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
