"""Titan's SDK by its own name, on Reeve: see reeve.titan.

Where Titan's own SDK is installed, `import titan_sdk` means that one, although workers put ours on PYTHONPATH, which Python
searches before what is installed."""

import importlib.machinery
import importlib.util
import os
import sys
from typing import Optional


def _is_ours(spec: importlib.machinery.ModuleSpec) -> bool:
    """By what it says, because ours may be there twice: in a folder and in a wheel."""
    get_source = getattr(spec.loader, "get_source", None)
    try:
        text = get_source(__name__) if get_source is not None else None
    except (ImportError, OSError):
        text = None
    return "from reeve.titan import" in (text or "")


def _installed() -> Optional[importlib.machinery.ModuleSpec]:
    """How to import a module of this name that is not ours; None: there is none."""
    for place in sys.path:
        spec = importlib.machinery.PathFinder.find_spec(__name__, [place or os.getcwd()])
        if spec is not None and spec.loader is not None and not _is_ours(spec):
            return spec
    return None


_spec = _installed()
if _spec is not None and _spec.loader is not None:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[__name__] = _module  # what the import statement goes on with
    _spec.loader.exec_module(_module)
else:
    from reeve.titan import TitanClient, TitanJob

    __all__ = ["TitanClient", "TitanJob"]
