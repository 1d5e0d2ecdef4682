"""The fifth room: all of it over many records, in one process or in Spark."""
