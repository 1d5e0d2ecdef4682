"""A stream of decoded messages to tables that hold each effect once."""
