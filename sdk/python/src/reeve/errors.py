"""What can go wrong, as exceptions: one class for each code of the server's error table.

All of them are `Error`. `Refused` and its subclasses are answers of the server: nothing was done. `Unknown` and
`ConnectionLost` mean that it may or may not have happened.
"""

from __future__ import annotations

from typing import Dict, Type

from ._wire import ERRORS


class Error(Exception):
    """Everything that this package raises on purpose."""


class NoServer(Error):
    """Nobody answers where the server was looked for."""


class ConnectionLost(Error):
    """The connection ended before the answer came: what was asked may or may not have happened."""


class TimedOut(Error):
    """The time that the caller gave was over first."""


class Refused(Error):
    """The server refused the request. `code` is a word of its error table."""

    code = ""

    def __init__(self, message: str, code: str = "", retry_after_ms: int = 0, version: int = 0) -> None:
        super().__init__(message or ERRORS.get(code, (code, False))[0])
        if code:
            self.code = code
        self.retry_after_ms = retry_after_ms
        self.version = version

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.retry_after_ms > 0 or ERRORS.get(self.code, ("", False))[1]


class Invalid(Refused):
    code = "invalid"


class UnknownName(Invalid):
    code = "unknown_name"


class DuplicateName(Invalid):
    code = "duplicate_name"


class Cycle(Invalid):
    code = "cycle"


class Limit(Refused):
    code = "limit"


class Unsupported(Refused):
    code = "unsupported"


class Unauthenticated(Refused):
    code = "unauthenticated"


class Forbidden(Refused):
    code = "forbidden"


class NotFound(Refused):
    code = "not_found"


class Conflict(Refused):
    """It contradicts what is recorded. In the store, `version` is the one that is there."""

    code = "conflict"


class WrongState(Conflict):
    code = "wrong_state"


class Stale(Conflict):
    code = "stale"


class Busy(Refused):
    code = "busy"


class NoSpace(Refused):
    code = "no_space"


class Fenced(Refused):
    code = "fenced"


class Unknown(Refused):
    code = "unknown"


class IO(Refused):
    code = "io"


class Corrupt(Refused):
    code = "corrupt"


def _classes(base: Type[Refused]) -> Dict[str, Type[Refused]]:
    found = {base.code: base}
    for sub in base.__subclasses__():
        found.update(_classes(sub))
    return found


CODES = _classes(Refused)  # by the words of the table


def refusal(code: str, message: str, retry_after_ms: int = 0, version: int = 0) -> Refused:
    """The exception for a code; one that this package does not know yet is a plain `Refused`."""
    return CODES.get(code, Refused)(message, code, retry_after_ms, version)


# ---- what became of work


class JobFailed(Error):
    """A job that was waited for did not succeed. `job` is its view."""

    def __init__(self, message: str, job: object = None) -> None:
        super().__init__(message)
        self.job = job


class FlowFailed(Error):
    """A flow that was waited for did not succeed. `flow` is its view, `jobs` are those that ended badly."""

    def __init__(self, message: str, flow: object = None, jobs: object = ()) -> None:
        super().__init__(message)
        self.flow = flow
        self.jobs = jobs
