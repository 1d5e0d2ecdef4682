"""Loading of what only some inputs need."""

import importlib
from types import ModuleType


def require(module: str, *, purpose: str) -> ModuleType:
    """Import `module`, a part of pyarrow, for `purpose` (such as ``reading Parquet``).

    Raises:
        ImportError: pyarrow is not installed; the text names the extra that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        text = f'{purpose} needs pyarrow: pip install "changewire[cli]"'
        raise ImportError(text, name=error.name) from error
