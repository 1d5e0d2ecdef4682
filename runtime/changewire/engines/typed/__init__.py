"""Rows as columns of Arrow types: what a value of a message is in a column, in every engine."""
