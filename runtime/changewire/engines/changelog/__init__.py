"""Logs and tables, read in place, without Spark."""
