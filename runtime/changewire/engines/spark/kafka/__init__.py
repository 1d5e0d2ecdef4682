"""Kafka topics to a DataFrame of messages, by Spark's own source."""

from __future__ import annotations

from changewire.engines.spark.kafka.errors import KafkaSourceError
from changewire.engines.spark.kafka.options import KafkaOptions, address
from changewire.engines.spark.kafka.read import read_kafka

__all__ = ["KafkaOptions", "KafkaSourceError", "address", "read_kafka"]
