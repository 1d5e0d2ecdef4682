"""Kafka topics to a DataFrame of messages, by Spark's own source."""
