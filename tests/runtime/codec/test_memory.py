"""Refusing costs a bounded time and little memory."""

import os
import resource
import subprocess
import sys
import tracemalloc

import pytest
from tests.runtime.codec.formats import Format

import changewire as cw

BOMB = """
import resource, sys
import changewire as cw
data = sys.argv[1].encode() * (10**8 // len(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for attempt in (cw.decode, cw.decode_all, cw.decode_key):
    try:
        (refusal,) = attempt(data, format="aerospike-json")
    except cw.DecodeError as error:
        refusal = error
    print(refusal.code)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("unit", ["[", '{"a":', '[{"a":', " "])
def test_a_hundred_megabytes_of_nothing(unit: str) -> None:
    """100 MB that never become a message take a bounded time, and memory for one copy at most."""
    limits = (resource.RLIMIT_CPU, (30, 30))
    done = subprocess.run(
        [sys.executable, "-c", BOMB, unit],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(*limits),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    *codes, megabytes = done.stdout.split()
    assert codes == [("empty" if unit == " " else "too-deep")] * 3
    assert int(megabytes) < 250


def test_refusals_keep_no_memory(form: Format) -> None:
    """Nothing of a refused message lives on when its error is gone."""
    data = form.encoding.dumps([[["x" * 99] * 999]] * 9)
    tracemalloc.start()
    for _ in range(20):
        with pytest.raises(cw.DecodeError):
            form.codec.decode(data)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < len(data)
