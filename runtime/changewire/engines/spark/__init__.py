"""The engine in Spark: the same rows, by `mapInArrow` and the DataFrame API alone."""
