"""The log in Spark: one row for each element of each message, and queries on it."""
