"""A stream of decoded messages to tables that have each effect once."""
