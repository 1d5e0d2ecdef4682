"""Schemas of Kafka Connect that are in messages, and values read by them.

A message of Kafka's JsonConverter with ``schemas.enable`` is ``{"schema": ..., "payload": ...}``.
The schema is compiled to a `Reader`, which types each value.
"""
