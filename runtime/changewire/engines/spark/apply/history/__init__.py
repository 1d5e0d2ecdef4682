"""Every version of the rows of a table, in Spark."""
