"""A job that says where its executors have Python and changewire from, one line for each."""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def where(_: object) -> list[str]:
    """Return the places of this executor as JSON."""
    import changewire

    places = {
        "folder": str(Path.cwd()),
        "prefix": sys.prefix,
        "module": changewire.__file__,
        "path": sys.path,
    }
    return [json.dumps(places)]


if __name__ == "__main__":
    context = SparkSession.builder.getOrCreate().sparkContext
    found = context.parallelize(range(8), 8).mapPartitions(where).collect()
    sys.stdout.write("\n".join([*sorted(set(found)), ""]))
