"""Tables in Spark: the newest change of each key in a log, merged batch by batch."""
