# pandas has no types of its own, and only tests look at its frames.
from typing import Any

def __getattr__(name: str) -> Any: ...
