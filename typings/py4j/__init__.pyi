# py4j has no types of its own; these are the names that are used here.
