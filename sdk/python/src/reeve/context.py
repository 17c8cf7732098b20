"""What a running task knows about itself."""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Optional

from .errors import Error

if TYPE_CHECKING:
    from ._attempt import Attempt
    from .client import Client

active: "contextvars.ContextVar[Optional[Attempt]]" = contextvars.ContextVar("reeve_attempt", default=None)


class Cancelled(BaseException):
    """Raised inside a task that is to stop: it was cancelled, or its time is over. Clean up and let it pass."""


class Fatal(Error):
    """Raise it in a task to fail for good: no retry helps."""


class Context:
    """The attempt that a task runs in."""

    def __init__(self, attempt: "Attempt") -> None:
        self._attempt = attempt

    @property
    def job(self) -> str:
        """flow/name"""
        return self._attempt.job

    @property
    def attempt(self) -> int:
        """1 for the first."""
        return self._attempt.id["attempt"]

    @property
    def fence(self) -> int:
        """Rises over all attempts of all jobs: whoever writes elsewhere can refuse an older one."""
        return self._attempt.fence

    @property
    def cancelled(self) -> bool:
        """It is to stop. Code that cannot be interrupted (a long call of a C library) looks here now and then."""
        return self._attempt.is_stopping

    def client(self) -> "Client":
        """A client of the server that gave us the job, with the rights of this attempt: its own flow, to which it may add jobs,
        the store and blobs of its tenant. They end with it."""
        from .client import Client

        return Client.at(self._attempt.place, self._attempt.token.decode())

    def progress(self, percent: int, text: str = "") -> None:
        self._attempt.tell_progress(percent, text)


def current() -> Context:
    """Of the task that is running here. LookupError outside of one."""
    attempt = active.get()
    if attempt is None:
        raise LookupError("no task is running here")
    return Context(attempt)
