"""Streams from a real Kafka broker to Delta tables, beside jobs that are written by hand."""
