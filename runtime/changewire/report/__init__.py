"""The report of a run: ``report.json`` for machines and ``report.html`` for people."""
