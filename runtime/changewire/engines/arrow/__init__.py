"""Decoding into Arrow: record batches in, record batches out, one process, no JVM."""
