"""What rows were, by a log in Spark: the Python of Arrow, key by key."""
