"""Whole jobs, as the command line runs them: messages in, tables and a report out."""
