"""The main job: files in, a log and a report out, by whichever engine there is."""

from changewire.engines.errors import JobError
from changewire.jobs.files import run

__all__ = ["JobError", "run"]
