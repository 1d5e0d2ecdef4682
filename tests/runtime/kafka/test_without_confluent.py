"""Serializers work where confluent-kafka is not installed."""

import subprocess
import sys

import confluent_kafka.serialization as confluent

from changewire.kafka import own_interface

CODE = """
import sys
sys.modules["confluent_kafka"] = None  # importing it fails from here on
import changewire.kafka as cwk

serialize = cwk.ChangewireSerializer("aerospike-json", header=True)
read = cwk.ChangewireDeserializer()
context = cwk.SerializationContext("users", cwk.MessageField.KEY, [])
key = serialize(["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", "u-17"], context)
assert read(key, context).user_key == "u-17"
try:
    cwk.ChangewireSerializer("aerospike-json")({"msg": "delete"})
except cwk.SerializationError as error:
    assert type(error) is cwk.MessageRejectedError, type(error)
    assert cwk.SerializationError.__bases__ == (Exception,)
    print(error)
"""


def test_serializers_work_without_confluent_kafka() -> None:
    """Values and keys are read and written; the error is a plain exception with the same text."""
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == (
        "aerospike-json, value: at /key: expected array (Key), found nothing (missing-property)"
    )


def test_the_own_interface_has_the_names_of_the_other() -> None:
    """What stands in for confluent-kafka has its fields, with the same values."""
    assert {field.name: field.value for field in own_interface.MessageField} == {
        field.name: field.value for field in confluent.MessageField
    }
    arguments = ("t", own_interface.MessageField.KEY, [("a", b"b")])
    theirs = confluent.SerializationContext("t", confluent.MessageField.KEY, [("a", b"b")])
    assert vars(own_interface.SerializationContext(*arguments)) == vars(theirs)
