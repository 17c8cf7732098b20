"""Titan's SDK by its own name, on Reeve: see reeve.titan.

Where Titan's own SDK is installed, `import titan_sdk` means that one, although workers put ours on PYTHONPATH, which Python
searches before what is installed."""

import importlib.machinery
import importlib.util
import os
import sys


def _is_ours(file):
    try:
        with open(file or "", encoding="utf-8", errors="replace") as text:
            return "from reeve.titan import" in text.read()
    except OSError:
        return False


def _installed():
    """How to import a module of this name that is not ours; None: there is none."""
    for place in sys.path:
        spec = importlib.machinery.PathFinder.find_spec(__name__, [place or os.getcwd()])
        if spec is not None and spec.origin and not _is_ours(spec.origin):
            return spec
    return None


_spec = _installed()
if _spec is not None:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[__name__] = _module  # what the import statement goes on with
    _spec.loader.exec_module(_module)
else:
    from reeve.titan import TitanClient, TitanJob

    __all__ = ["TitanClient", "TitanJob"]
