"""The main job on Kafka topics: what they hold by now in, three tables and a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from changewire.changes import Digests, Image, NullValue
from changewire.changes.reading import Reading
from changewire.engines.outcome import Outcome
from changewire.job import JobError, check_output, choose


def run_kafka(
    options: Mapping[str, str],
    output: str,
    *,
    format: str,
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Decode Kafka topics, from the earliest offset to the latest, and write a report beside them.

    Spark does it, with a local session unless there is one; the meaning of the other arguments, and
    what becomes of the output, are those of `changewire.job.run`.

    Args:
        options: Options of Spark's Kafka source, as `changewire.spark.read_kafka` takes them.
        output: Local folder for tables and report.
        format: Public name of the format; ``auto`` asks each message.
        image: What a message holds of its row after a write.
        keys: Columns that name the row.
        families: Column families of an HBase table.
        digests: Whether digests of Aerospike records are compared.
        null_value: What a record without value is: ``control``, or ``delete`` by its key.
        packages: Maven coordinates of Spark's Kafka connector, for a session that is started.
        show_values: Whether the report's first dead letters show the start of their values.

    Raises:
        JobError: Spark cannot run or cannot read the topics, an option is wrong, the read failed,
            whose traceback is then in ``failure.txt`` in the output, or the output would replace
            files that no run wrote.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark`` or ``digest``.
        ValueError: There is no such format or image.
    """
    from changewire.report.write import write

    reading = Reading(format, image, keys, families, digests, null_value)
    check_output(Path(output), [])
    choose("spark", [])
    from changewire.engines import spark
    from changewire.engines.spark.failure import failure
    from changewire.engines.spark.raised import RAISED

    try:
        outcome = spark.run_kafka(
            options, output, reading=reading, packages=packages, show_values=show_values
        )
    except spark.KafkaSourceError as error:
        raise JobError(str(error)) from None
    except RAISED as error:
        # Without its cause, which may show options as they are.
        text = failure("the read failed", error, output, options, show_values=show_values)
        raise JobError(text) from None
    write(outcome)
    return outcome
