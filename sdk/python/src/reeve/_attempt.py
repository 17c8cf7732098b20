"""One execution of a task in this process, and what its thread leaves for the loop that talks with the server."""

from __future__ import annotations

import concurrent.futures
import io
import socket
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Mapping, Optional, TextIO, Tuple, cast

from ._place import Place
from .context import active

if TYPE_CHECKING:
    from .task import Task

NOWHERE = Place()
LOG_BYTES_MAX = 64 << 20  # of one attempt; what is more is counted and left out

Key = Tuple[int, int, int]  # flow, ordinal of the job, number of the attempt


def now_ms() -> int:
    return int(time.time() * 1000)


class Outbox:
    """Between the threads: what is to be said. `wake` makes the loop look at it."""

    def __init__(self) -> None:
        self.finished: Deque[Attempt] = deque()
        self.dirty: Deque[Attempt] = deque()  # that have written something
        self.progress: Deque[Dict[str, Any]] = deque()
        self.woken, self._waker = socket.socketpair()
        self.woken.setblocking(False)
        self._waker.setblocking(False)
        self._is_awake = False

    def wake(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            try:
                self._waker.send(b"\0")
            except OSError:
                pass

    def clear(self) -> None:
        """Before looking: whoever comes later wakes again."""
        self._is_awake = False
        try:
            self.woken.recv(4096)
        except OSError:
            pass

    def close(self) -> None:
        self.woken.close()
        self._waker.close()


class Attempt:
    """One execution of a job here. The loop's thread owns it, but for what the thread that runs it leaves in `outcome`."""

    __slots__ = ("outbox", "key", "id", "job", "fence", "task", "payload", "token", "place", "inputs", "results", "is_moving", "is_exclusive", "phase", "since", "seconds",
                 "started_ms", "is_told", "is_kept", "is_done_told", "is_stopping", "is_abandoned", "kill_at", "thread", "future", "end", "ended_at",
                 "pieces", "log_end", "log_sent", "log_acked", "log_cut", "log_max", "is_dirty", "result")

    def __init__(self, outbox: Outbox, id: Mapping[str, int], job: str) -> None:
        self.outbox = outbox
        self.id = id
        self.key: Key = (id["flow"], id["ordinal"], id["attempt"])
        self.job = job
        self.fence = 0
        self.task: Optional[Task[Any, Any]] = None
        self.payload = b""
        self.token = b""
        self.place = NOWHERE
        self.inputs: List[Mapping[str, Any]] = []  # what parents left and is not here yet
        self.results: Dict[str, bytes] = {}  # by the names of parents
        self.is_moving = False  # a blob of it is on its way
        self.is_exclusive = False
        self.phase = "assigned"  # as the wire calls it: then running, then finished
        self.since = time.monotonic()
        self.seconds = 0.0
        self.started_ms = 0
        self.is_told = self.is_kept = self.is_done_told = False
        self.is_stopping = False
        self.is_abandoned = False  # its function may still run, but what becomes of it does not count
        self.kill_at = 0.0
        self.thread = 0
        self.future: "Optional[concurrent.futures.Future[None]]" = None
        self.end: Dict[str, Any] = {}
        self.ended_at = 0.0  # monotonic
        self.pieces: List[Tuple[int, str, int, bytes]] = []  # offset, stream, time, bytes: until they are durable
        self.log_end = self.log_sent = self.log_acked = self.log_cut = 0
        self.log_max = LOG_BYTES_MAX
        self.is_dirty = False
        self.result = b""

    def write(self, stream: str, text: str) -> None:
        """Output of its function; from the thread that runs it."""
        if self.phase == "finished":
            return
        data = text.encode(errors="replace")
        room = self.log_max - self.log_end
        if len(data) > room:
            self.log_cut += len(data) - room
            data = data[:room]
        if not data:
            return
        self.pieces.append((self.log_end, stream, now_ms(), data))
        self.log_end += len(data)
        if not self.is_dirty:
            self.is_dirty = True
            self.outbox.dirty.append(self)
            self.outbox.wake()

    def tell_progress(self, percent: int, text: str) -> None:
        self.outbox.progress.append({"attempt": self.id, "percent": max(0, min(100, percent)), "text": text})
        self.outbox.wake()

    def end_of(self, outcome: str, **fields: Any) -> Dict[str, Any]:
        return {"attempt": self.id, "outcome": outcome, "started_ms": self.started_ms, "ended_ms": now_ms(), **fields}

    def finish(self, end: Dict[str, Any], result: bytes = b"") -> None:
        self.end, self.result = end, result
        self.ended_at = time.monotonic()
        self.phase = "finished"


class Output(io.TextIOBase):
    """Standard output or error: of a task into its log, of everything else where it went before."""

    def __init__(self, stream: str, original: TextIO) -> None:
        self._stream, self._original = stream, original

    def write(self, text: str) -> int:
        attempt = active.get()
        if attempt is None:
            return self._original.write(text)
        attempt.write(self._stream, text)
        return len(text)

    def flush(self) -> None:
        if active.get() is None:
            self._original.flush()

    def fileno(self) -> int:
        return self._original.fileno()

    def isatty(self) -> bool:
        return active.get() is None and self._original.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


def capture() -> None:
    """From now on what tasks print is theirs."""
    if not isinstance(sys.stdout, Output):
        sys.stdout = cast(TextIO, Output("out", sys.stdout))
        sys.stderr = cast(TextIO, Output("err", sys.stderr))
