"""Two states of schemas: in what they differ, and who is hurt by it (``docs/compatibility.md``)."""
