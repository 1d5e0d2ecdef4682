"""Kafka topics to a log and tables of Delta in one process, without Spark."""
