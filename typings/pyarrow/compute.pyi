# pyarrow has no types of its own, and those that others wrote for it refuse right calls.
from typing import Any

def __getattr__(name: str) -> Any: ...
