"""Runs tasks: in threads, coroutines on one event loop. Knows nothing of servers; what is over goes to the outbox."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import queue
import threading
import time
import traceback
from typing import Any, Dict, Optional, Tuple

from ._attempt import Attempt, Outbox, now_ms
from .context import Cancelled, Fatal, active
from .task import pack_result, unpack_call


def _raise_in(thread: int, kind: Optional[type]) -> None:
    """Raises `kind` in that thread at its next instruction; None takes back one that was not raised yet."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind) if kind else None)


class Runner:
    """Threads that take attempts from a queue. `Attempt.thread` says who runs it, under the lock: so a thread is interrupted
    only for what it runs at that moment."""

    def __init__(self, threads: int, has_async: bool, outbox: Outbox) -> None:
        self._outbox = outbox
        self._threads, self._has_async = threads, has_async
        self._queue: "queue.SimpleQueue[Optional[Attempt]]" = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    def open(self) -> None:
        for _ in range(self._threads):
            self._add_thread()
        if self._has_async:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="reeve-async", daemon=True).start()

    def close(self) -> None:
        for _ in range(self._threads):
            self._queue.put(None)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def start(self, attempt: Attempt) -> None:
        if attempt.is_stopping or attempt.is_abandoned:
            return
        assert attempt.task is not None
        if self._loop is not None and inspect.iscoroutinefunction(attempt.task.function):
            attempt.future = asyncio.run_coroutine_threadsafe(self._call_async(attempt), self._loop)
        else:
            self._queue.put(attempt)

    def interrupt(self, attempt: Attempt) -> bool:
        """Tells its function to stop. False: it had not begun, and never will."""
        with self._lock:
            attempt.is_stopping = True
            if attempt.thread:
                _raise_in(attempt.thread, Cancelled)
                return True
        if attempt.future is not None:
            attempt.future.cancel()
            return True
        return attempt.phase == "running"

    def abandon(self, attempt: Attempt) -> None:
        """Its function may go on, but nobody listens any more; another thread takes the place of its own."""
        with self._lock:
            attempt.is_abandoned = True
            has_thread = attempt.thread != 0
        if has_thread:
            self._add_thread()

    # ---- inside the threads

    def _add_thread(self) -> None:
        threading.Thread(target=self._work, name="reeve-task", daemon=True).start()

    def _work(self) -> None:
        me = threading.get_ident()
        while True:
            attempt = self._queue.get()
            if attempt is None:
                return
            with self._lock:
                if attempt.is_stopping or attempt.is_abandoned:
                    continue
                attempt.thread = me
                attempt.phase = "running"
            end, result = self._call(attempt)
            try:
                with self._lock:
                    attempt.thread = 0
            except Cancelled:  # it came when the function was over already
                attempt.thread = 0
            if attempt.is_stopping:
                _raise_in(me, None)
            if attempt.is_abandoned:  # another thread has taken our place
                return
            attempt.finish(end, result)
            self._outbox.finished.append(attempt)
            self._outbox.wake()

    def _call(self, attempt: Attempt) -> Tuple[Dict[str, Any], bytes]:
        task = attempt.task
        assert task is not None
        token = active.set(attempt)
        attempt.started_ms = now_ms()
        began = time.perf_counter()
        try:
            args, kwargs = unpack_call(attempt.payload, task.serializer, attempt.results)
            result = pack_result(task.function(*args, **kwargs), task.serializer)
            return attempt.end_of("ok"), result
        except BaseException as e:
            return self._failed(attempt, e), b""
        finally:
            attempt.seconds = time.perf_counter() - began
            active.reset(token)

    async def _call_async(self, attempt: Attempt) -> None:
        task = attempt.task
        assert task is not None
        active.set(attempt)
        attempt.phase = "running"
        attempt.started_ms = now_ms()
        began = time.perf_counter()
        result = b""
        try:
            args, kwargs = unpack_call(attempt.payload, task.serializer, attempt.results)
            result = pack_result(await task.function(*args, **kwargs), task.serializer)
            end = attempt.end_of("ok")
        except BaseException as e:
            end = self._failed(attempt, e)
        attempt.seconds = time.perf_counter() - began
        if not attempt.is_abandoned:
            attempt.finish(end, result)
            self._outbox.finished.append(attempt)
            self._outbox.wake()

    def _failed(self, attempt: Attempt, e: BaseException) -> Dict[str, Any]:
        """The traceback goes to the log, its last line is the reason."""
        if attempt.is_stopping and isinstance(e, (Cancelled, asyncio.CancelledError)):
            return attempt.end_of("stopped")
        code = e.code if isinstance(e, SystemExit) else 1
        if isinstance(e, SystemExit) and not code:
            return attempt.end_of("ok")
        own = e.__traceback__.tb_next if e.__traceback__ is not None else None  # without our own call
        lines = traceback.format_exception(type(e), e, own)
        attempt.write("err", "".join(lines))
        exit_code = code if isinstance(code, int) and 0 < code < 256 else 1
        reason = traceback.format_exception_only(type(e), e)[-1].strip()
        return attempt.end_of("exit", exit_code=exit_code, reason=reason[:4000], fatal=isinstance(e, Fatal))
