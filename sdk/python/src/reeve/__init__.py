"""Reeve from Python: flows as code, tasks as functions, and everything else that a server can be asked.

    import reeve

    @reeve.task
    def add(x, y):
        return x + y

    with reeve.Flow("sums") as f:
        six = add.submit(add.submit(1, 2), 3)
    f.submit().wait()
    print(six.result())

Served by `python -m reeve.worker MODULE`. The guide: docs/guides/python.md.
"""

from __future__ import annotations

from . import errors
from ._version import __version__
from .aio import AsyncClient
from .client import Client, Store, default_client, set_default_client
from .context import Cancelled, Context, Fatal, current
from .ended import Ended
from .errors import ConnectionLost, Error, FlowFailed, JobFailed, NoServer, Refused, TimedOut
from .flow import Flow, Job, current_flow
from .keys import JobKeys
from .task import Task, task

__all__ = [
    "AsyncClient", "Cancelled", "Client", "ConnectionLost", "Context", "Ended", "Error", "Fatal", "Flow", "FlowFailed", "Job", "JobFailed",
    "JobKeys", "NoServer", "Refused", "Store", "Task", "TimedOut", "__version__", "current", "current_flow", "default_client",
    "errors", "serve", "set_default_client", "task",
]


def __getattr__(name: str) -> object:
    if name == "serve":  # what only workers need is not loaded by everyone
        from .worker import serve

        return serve
    raise AttributeError("module 'reeve' has no attribute %r" % name)
