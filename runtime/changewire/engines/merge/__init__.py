"""The log and its tables without Spark: written by delta-rs, reduced by Arrow."""
