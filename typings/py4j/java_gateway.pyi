# What PySpark reaches classes of Java by.
from typing import Any

class JavaPackage:
    def __getattr__(self, name: str) -> Any: ...

class JVMView:
    def __getattr__(self, name: str) -> Any: ...
