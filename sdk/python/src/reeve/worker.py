"""The warm worker: runs tasks inside this process, as jobs come.

    python -m reeve.worker app              every task of the module app
    python -m reeve.worker app:add,resize   these two
    reeve.serve(add, resize)                the same from a program

It is a worker like `reeve worker`, on the same wire: it attaches with the capability `handler:NAME` for each task, keeps its
lease by heartbeats, and says nothing twice that counts. One thread talks with the server, others run functions; what they
finish in the meantime leaves in one frame. How many attempts it takes ahead of time follows from how long they last: no-ops
come by the thousand, long ones no more than there are threads.

Nothing is kept on disk: what had not ended when the process died runs again elsewhere, if it has attempts left.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import random
import select
import signal
import socket
import ssl
import sys
import threading
import time
from collections import OrderedDict, deque
from typing import Any, Callable, Deque, Dict, Iterable, List, Mapping, Optional, Sequence

from . import _wire as w
from . import errors
from ._attempt import LOG_BYTES_MAX, Attempt, Key, Outbox, capture, now_ms
from ._place import Place, dial, find
from ._protocol import Frame, Reader, Requests, hello, pack
from ._runner import Runner
from ._supervise import supervise
from ._tlv import Malformed, decode
from ._transfer import fetch, store
from ._version import BUILD
from .task import POOL, Task, registry

AHEAD_MAX = 1000  # attempts that wait here for a thread
AHEAD_SECONDS = 0.2  # of work that may wait here
DONE_MAX = 1000  # ends in one frame
LOG_FRAME_BYTES = 256 << 10
RESULT_BYTES_MAX = 65536  # larger ones are blobs
STARTED_SECONDS = 0.02  # one that is over by then says so with its end
QUEUED_SECONDS = 10.0  # the server must not take it for lost
STEP_SECONDS = 10.0  # for a welcome, an attach
BEATS_OPEN_MAX = 2
BURIED_MAX = 4096
ASYNC_TASKS_MAX = 64  # coroutines at a time


class Worker:
    """Serves tasks until `stop` (or SIGTERM): see the head of this file."""

    def __init__(self, tasks: Iterable[Task[Any, Any]], *, threads: int = 4, name: str = "", pool: str = POOL,
                 labels: Optional[Mapping[str, str]] = None, capabilities: Sequence[str] = (), server: Optional[str] = None,
                 token: Optional[str] = None, tenant: str = "", data: Optional[str] = None,
                 log: Optional[Callable[[str], None]] = None) -> None:
        self.tasks = {task.name: task for task in tasks}
        if not self.tasks:
            raise errors.Invalid("there is no task to serve")
        if pool == "default":
            raise errors.Invalid("a worker of tasks needs a pool of its own: commands of the pool `default` would come to it")
        self.name = name or "python-%s-%06x" % (socket.gethostname()[:40], random.randrange(1 << 24))
        self.place = worker_place(server, token, tenant, data)
        self._threads_wanted = threads
        self._pool, self._labels, self._capabilities = pool, dict(labels or {}), list(capabilities)
        self._has_async = any(inspect.iscoroutinefunction(task.function) for task in self.tasks.values())
        self._incarnation = now_ms()  # rises at each start
        self._epoch = 0
        self._log = log or self._write_line
        self._outbox = Outbox()
        self._runner = Runner(threads, self._has_async, self._outbox)
        self._stop = False
        # of the loop alone
        self._attempts: Dict[Key, Attempt] = {}
        self._untold: Dict[Key, Attempt] = {}
        self._done: Deque[Attempt] = deque()  # ended, to be said
        self._stopping: Dict[Key, Attempt] = {}
        self._buried: "OrderedDict[Key, None]" = OrderedDict()  # over; an assignment that comes again starts nothing
        self._calls: Dict[int, Callable[[Frame], None]] = {}
        self._requests = Requests()
        self._out = bytearray()
        self._socket: Optional[socket.socket] = None
        self._reader = Reader()
        self._beats_open = 0
        self._beat_at = self._untold_at = 0.0
        self._heartbeat, self._lease_seconds, self._lease_until = 5.0, 30.0, 0.0
        self._mean = 1.0  # seconds that a task takes
        self._credit = 0
        self._again_at = 0.0
        self._is_draining = self._is_drained = self._is_detached = False

    # ---- its life

    def _write_line(self, text: str) -> None:
        """A line in one write: processes that share a terminal do not write into each other's lines."""
        if sys.__stderr__ is not None:
            sys.__stderr__.write("worker %s: %s\n" % (self.name, text))
            sys.__stderr__.flush()

    def run(self) -> None:
        """Serves until it is told to stop, and what it holds is over and acknowledged."""
        capture()
        self._runner.open()
        pause = 0.1
        try:
            while not self._is_detached:
                try:
                    self._connect()
                    pause = 0.1
                    self._serve()
                except (OSError, errors.Error, Malformed) as e:
                    if self._stop and not self._attempts:
                        return
                    if isinstance(e, errors.Refused) and not e.retryable and not self._epoch:
                        raise  # it never was welcome
                    self._log("disconnected: %s; the next try is in %.1f s" % (e, pause))
                    self._fall()
                    self._outbox.clear()
                    select.select([self._outbox.woken], [], [], pause * (1 + random.random() / 10))
                    pause = min(pause * 2, 5.0)
        finally:
            self._runner.close()
            self._fall()

    def stop(self) -> None:
        """Takes nothing new, and ends when what it holds is over. From any thread."""
        self._stop = True
        self._outbox.wake()

    # ---- the connection

    def _connect(self) -> None:
        plain, address = dial(self.place)
        self._socket = plain
        plain.settimeout(STEP_SECONDS)
        self._reader = Reader()
        self._out.clear()
        token = self.place.token_for(address)
        plain.sendall(pack(w.Op.HELLO, hello(token, self.place.tenant, BUILD, "worker"), self._requests.next()))
        self._step(w.Op.WELCOME)
        sent = time.monotonic()
        plain.sendall(pack(w.Op.ATTACH, self._attach(), self._requests.next()))
        attached = self._step(w.Op.ATTACHED)
        self._check_epoch(attached["epoch"])
        plain.setblocking(False)
        self._heartbeat = (attached["heartbeat_ms"] or 5000) / 1000
        self._lease_seconds = (attached["lease_ms"] or 30000) / 1000
        self._beats_open = 0
        self._beat_at = time.monotonic() + self._heartbeat
        self._leased(sent + self._lease_seconds)
        self._log("attached to %s, holding %d" % (address, len(self._attempts)))
        self._say_again()
        if self._is_draining:
            self._drain()

    def _step(self, op: int) -> Dict[str, Any]:
        """Waits for the one answer on the way up. Stops that come before it are heard."""
        assert self._socket is not None
        deadline = time.monotonic() + STEP_SECONDS
        found: Optional[Dict[str, Any]] = None
        while found is None:
            if time.monotonic() > deadline:
                raise errors.ConnectionLost("no answer")
            data = self._socket.recv(1 << 16)
            if not data:
                raise errors.ConnectionLost("the server closed the connection")
            for frame in self._reader.feed(data):
                if frame.op == op:
                    found = frame.message
                elif frame.op == w.Op.ERROR:
                    raise errors.refusal(frame.message["code"], frame.message["message"])
                elif frame.op == w.Op.BUSY:
                    raise errors.refusal("busy", frame.message["reason"])
                else:
                    self._hear(frame)
        return found

    def _attach(self) -> Dict[str, Any]:
        capabilities = ["handler:" + name for name in self.tasks] + self._capabilities
        self._credit = self._credit_now()
        info = {
            "pool": self._pool, "capabilities": [{"name": name} for name in capabilities],
            "labels": [{"key": key, "value": value} for key, value in self._labels.items()],
            "slots": self._slots(), "cpu_milli": 1000 * (os.cpu_count() or 1), "build": BUILD,
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        }
        held = [{"attempt": a.id, "phase": a.phase} for a in self._attempts.values()]
        return {"worker": self.name, "incarnation": self._incarnation, "epoch_seen": self._epoch, "info": info,
                "load": {"credit": self._credit}, "held": held}

    def _check_epoch(self, epoch: int) -> None:
        if epoch < self._epoch:
            raise errors.Fenced("the server is an earlier one than we have seen")
        self._epoch = epoch

    def _fall(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._calls.clear()
        self._out.clear()
        for attempt in self._attempts.values():
            attempt.is_moving = False

    def _say_again(self) -> None:
        """Nothing is forgotten when it was said, only when it is acknowledged."""
        self._done.clear()
        for attempt in self._attempts.values():
            attempt.is_told = attempt.is_done_told = False
            attempt.log_sent = attempt.pieces[0][0] if attempt.pieces else attempt.log_acked
            if attempt.is_kept:
                self._keep(attempt)
            elif attempt.phase != "finished":
                self._untold[attempt.key] = attempt
                if attempt.inputs and not attempt.is_moving:
                    self._fetch(attempt)
            if attempt.pieces and not attempt.is_dirty:
                attempt.is_dirty = True
                self._outbox.dirty.append(attempt)

    def _serve(self) -> None:
        assert self._socket is not None
        while not self._is_detached:
            wait = self._wait_seconds()
            writes = [self._socket] if self._out else []
            pending = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()
            readable, _, _ = select.select([self._socket, self._outbox.woken], writes, [], 0 if pending else wait)
            if self._outbox.woken in readable:
                self._outbox.clear()
            if pending or self._socket in readable:
                self._read()
            self._say()
            self._flush()

    def _wait_seconds(self) -> float:
        now = time.monotonic()
        due = self._beat_at
        if self._untold:
            due = min(due, self._untold_at)
        for attempt in self._stopping.values():
            due = min(due, attempt.kill_at)
        if self._again_at:
            due = min(due, self._again_at)
        return max(0.0, due - now)

    def _read(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(1 << 18)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        if not data:
            raise errors.ConnectionLost("the server closed the connection")
        for frame in self._reader.feed(data):
            self._hear(frame)

    def _flush(self) -> None:
        while self._out and self._socket is not None:
            try:
                sent = self._socket.send(self._out)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            del self._out[:sent]

    def _send(self, op: int, message: Mapping[str, Any], heard: Optional[Callable[[Frame], None]] = None) -> int:
        request = self._requests.next() if heard is not None else 0
        if heard is not None:
            self._calls[request] = heard
        self._out += pack(op, message, request)
        return request

    # ---- hearing

    def _hear(self, frame: Frame) -> None:
        message = frame.message
        if frame.op == w.Op.ASSIGN:
            self._check_epoch(message["epoch"])
            for order in message["assignments"]:
                self._assign(order)
        elif frame.op == w.Op.CANCEL_ATTEMPT:
            self._check_epoch(message["epoch"])
            for stop in message["stops"]:
                self._stop_attempt(stop)
        elif frame.op == w.Op.LOG_ACK:
            for mark in message["marks"]:
                self._log_durable(mark)
        elif frame.op == w.Op.PING:
            self._out += pack(w.Op.PONG, message, frame.request, True)
        elif frame.request in self._calls:
            heard = self._calls[frame.request] if frame.more else self._calls.pop(frame.request)
            heard(frame)
        elif frame.op == w.Op.ERROR:
            raise errors.refusal(message["code"], message["message"])

    def _assign(self, order: Mapping[str, Any]) -> None:
        id = order["attempt"]
        key = (id["flow"], id["ordinal"], id["attempt"])
        if key in self._attempts or key in self._buried:
            return
        attempt = Attempt(self._outbox, id, order["job"])
        attempt.place = self.place
        attempt.fence, attempt.is_exclusive, attempt.token = order["fence"], order["exclusive"], order["token"]
        self._attempts[key] = attempt
        refusal = order["refusal"] or self._prepare(attempt, order["body"])
        if refusal:
            attempt.finish(attempt.end_of("refused", reason=refusal))
            self._keep(attempt)
            return
        if attempt.is_exclusive:
            self._leased(self._lease_until)
        self._untold[key] = attempt
        if not self._untold_at:
            self._untold_at = attempt.since + STARTED_SECONDS
        attempt.inputs = list(order["inputs"])
        self._fetch(attempt)

    def _prepare(self, attempt: Attempt, body: bytes) -> str:
        """Which task it is, and with what. Not empty: why it cannot be run here."""
        try:
            run = decode("run", body)
        except Malformed as e:
            return str(e)
        attempt.payload = run["stdin_text"]
        attempt.log_max = run["log_bytes_max"] or LOG_BYTES_MAX
        attempt.task = self.tasks.get(run["handler"])
        return "" if attempt.task is not None else "this worker has no task `%s`" % run["handler"]

    def _fetch(self, attempt: Attempt) -> None:
        """What its parents left; large results are blobs that are fetched first, one after the other."""
        while attempt.inputs:
            one = attempt.inputs[-1]
            name = one["job"].rpartition("/")[2]
            if one["result"] or not one["result_hash"]:
                attempt.results[name] = one["result"]
                attempt.inputs.pop()
                continue

            def fetched(data: bytes, name: str = name) -> None:
                attempt.is_moving = False
                attempt.results[name] = data
                attempt.inputs.pop()
                self._fetch(attempt)

            attempt.is_moving = True
            fetch(self._send, one["result_hash"], fetched, lambda frame: self._not_moved(attempt, frame, "what its parents left"))
            return
        self._runner.start(attempt)

    def _not_moved(self, attempt: Attempt, frame: Frame, what: str) -> None:
        """A blob was refused: tried again when the server is only busy, else the attempt fails."""
        attempt.is_moving = False
        if frame.op == w.Op.BUSY:
            self._again_at = time.monotonic() + (frame.message["retry_after_ms"] or 1000) / 1000
            return
        why = "%s cannot be moved: %s" % (what, frame.message.get("message", "the server answered something else"))
        attempt.finish(attempt.end_of("exit", exit_code=1, reason=why))
        self._keep(attempt)

    def _stop_attempt(self, stop: Mapping[str, Any]) -> None:
        id = stop["attempt"]
        key = (id["flow"], id["ordinal"], id["attempt"])
        attempt = self._attempts.get(key)
        if stop["cause"] == "drop":
            if attempt is not None:
                self._runner.interrupt(attempt)
                self._runner.abandon(attempt)
                self._forget(attempt)
            return
        if attempt is None:
            if key in self._buried:
                return
            attempt = self._attempts[key] = Attempt(self._outbox, id, "?")  # it overtook its assignment: confirm, never start it
        if attempt.phase == "finished" or attempt.is_stopping:
            return
        if self._runner.interrupt(attempt):
            attempt.kill_at = time.monotonic() + (stop["grace_ms"] or 10000) / 1000
            self._stopping[key] = attempt
        else:
            attempt.finish(attempt.end_of("stopped"))
            self._keep(attempt)

    def _leased(self, until: float) -> None:
        """Exclusive attempts do not outlive the lease: the kernel ends this process, even one that hangs."""
        self._lease_until = max(until, self._lease_until)
        if any(a.is_exclusive and a.phase != "finished" for a in self._attempts.values()):
            signal.setitimer(signal.ITIMER_REAL, max(0.001, self._lease_until - time.monotonic() - 0.5))
        else:
            signal.setitimer(signal.ITIMER_REAL, 0)

    # ---- saying

    def _say(self) -> None:
        now = time.monotonic()
        while self._outbox.finished:
            attempt = self._outbox.finished.popleft()
            if attempt.key in self._attempts:
                self._mean += (attempt.seconds - self._mean) / 16
                self._keep(attempt)
        if self._untold and now >= self._untold_at:
            self._say_started(now)
        if self._outbox.progress:
            items = [self._outbox.progress.popleft() for _ in range(len(self._outbox.progress))]
            self._send(w.Op.PROGRESS, {"items": items})
        if self._outbox.dirty:
            self._say_logs()
        if self._again_at and now >= self._again_at:
            self._again_at = 0.0
            self._say_again()
        if self._done:
            self._say_done()
        if self._stopping:
            self._kill(now)
        if now >= self._beat_at:
            self._beat(now)
        if self._stop and not self._is_draining:
            self._is_draining = True
            self._drain()
        elif self._is_drained and not self._attempts:
            self._is_drained = False
            self._send(w.Op.DETACH, {"reason": "drained"}, self._detached)

    def _detached(self, frame: Frame) -> None:
        self._is_detached = True

    def _drain(self) -> None:
        def heard(frame: Frame) -> None:
            self._is_drained = True

        self._credit = 0
        self._send(w.Op.CREDIT, {"credit": 0})
        self._send(w.Op.DRAIN, {"worker": self.name}, heard)

    def _keep(self, attempt: Attempt) -> None:
        """It is over. A large result is stored first."""
        attempt.is_kept = True
        if attempt.is_exclusive:
            self._leased(self._lease_until)
        self._untold.pop(attempt.key, None)
        self._stopping.pop(attempt.key, None)
        if len(attempt.result) <= RESULT_BYTES_MAX:
            attempt.end["result"] = attempt.result
            self._done.append(attempt)
            return

        def stored(digest: bytes) -> None:
            attempt.is_moving = False
            attempt.end["result_hash"] = digest
            self._done.append(attempt)

        if not attempt.is_moving:
            attempt.is_moving = True
            store(self._send, attempt.result, stored, lambda frame: self._not_moved(attempt, frame, "its result"))

    def _say_started(self, now: float) -> None:
        told = []
        for attempt in list(self._untold.values()):
            waited = now - attempt.since
            if waited >= QUEUED_SECONDS or (attempt.phase == "running" and waited >= STARTED_SECONDS):
                attempt.is_told = True
                told.append(attempt.id)
                del self._untold[attempt.key]
        if told:
            self._send(w.Op.STARTED, {"attempts": told})
        self._untold_at = now + STARTED_SECONDS if self._untold else 0.0

    def _say_logs(self) -> None:
        for _ in range(len(self._outbox.dirty)):
            attempt = self._outbox.dirty.popleft()
            attempt.is_dirty = False
            if attempt.key not in self._attempts:
                continue
            if not attempt.is_told and attempt.phase == "running":
                attempt.is_told = True
                self._untold.pop(attempt.key, None)
                self._send(w.Op.STARTED, {"attempts": [attempt.id]})
            self._say_log(attempt)

    def _say_log(self, attempt: Attempt) -> None:
        pieces: List[Dict[str, Any]] = []
        size = 0
        for offset, stream, time_ms, data in list(attempt.pieces):
            if offset < attempt.log_sent:
                continue
            if pieces and pieces[-1]["stream"] == stream and size < LOG_FRAME_BYTES:
                pieces[-1]["data"] += data
            else:
                if size >= LOG_FRAME_BYTES:
                    self._send(w.Op.LOG, {"batches": [{"attempt": attempt.id, "pieces": pieces}]})
                    pieces, size = [], 0
                pieces.append({"offset": offset, "stream": stream, "time_ms": time_ms, "data": data})
            size += len(data)
            attempt.log_sent = offset + len(data)
        if pieces:
            self._send(w.Op.LOG, {"batches": [{"attempt": attempt.id, "pieces": pieces}]})

    def _log_durable(self, mark: Mapping[str, Any]) -> None:
        """What is on the server's disk need not be kept here."""
        id = mark["attempt"]
        attempt = self._attempts.get((id["flow"], id["ordinal"], id["attempt"]))
        if attempt is None:
            return
        attempt.log_acked = max(attempt.log_acked, mark["offset"])
        durable = 0
        for offset, _, _, data in attempt.pieces:
            if offset + len(data) > attempt.log_acked:
                break
            durable += 1
        del attempt.pieces[:durable]

    def _say_done(self) -> None:
        while self._done:
            ends: List[Dict[str, Any]] = []
            while self._done and len(ends) < DONE_MAX:
                attempt = self._done.popleft()
                if attempt.is_done_told or attempt.key not in self._attempts:
                    continue
                if attempt.log_end:
                    self._say_log(attempt)
                    attempt.end["log_bytes"], attempt.end["log_cut_bytes"] = attempt.log_end, attempt.log_cut
                attempt.is_done_told = True
                ago_ms = int((time.monotonic() - attempt.ended_at) * 1000)
                ends.append({**attempt.end, "ended_ago_ms": ago_ms})
            if ends:
                self._send(w.Op.DONE, {"ends": ends}, self._done_heard)
        credit = self._credit_now()
        if credit * 4 <= self._credit * 3 or credit > self._credit:
            self._credit = credit
            self._send(w.Op.CREDIT, {"credit": credit})

    def _done_heard(self, frame: Frame) -> None:
        if frame.op == w.Op.DONE_ACK:
            for ack in frame.message["acks"]:
                id = ack["attempt"]
                attempt = self._attempts.get((id["flow"], id["ordinal"], id["attempt"]))
                if attempt is not None:
                    if ack["code"]:
                        self._log("%s: the server does not take its end: %s" % (attempt.job, ack["message"]))
                    self._forget(attempt)
        else:  # as a whole: a log that is not there yet, or too much at once
            self._again_at = time.monotonic() + (frame.message.get("retry_after_ms") or 100) / 1000

    def _forget(self, attempt: Attempt) -> None:
        self._attempts.pop(attempt.key, None)
        self._untold.pop(attempt.key, None)
        self._stopping.pop(attempt.key, None)
        self._buried[attempt.key] = None
        if len(self._buried) > BURIED_MAX:
            self._buried.popitem(last=False)

    def _kill(self, now: float) -> None:
        for attempt in list(self._stopping.values()):
            if now < attempt.kill_at or attempt.phase == "finished":
                continue
            if attempt.is_exclusive:
                self._log("%s does not stop, and must not run on: this process ends" % attempt.job)
                os._exit(70)
            self._log("%s does not stop: it is left to itself" % attempt.job)
            attempt.write("note", "it did not stop when it was told to, and was left to itself\n")
            self._runner.abandon(attempt)
            attempt.finish(attempt.end_of("stopped"))
            self._keep(attempt)

    def _beat(self, now: float) -> None:
        if self._beats_open > BEATS_OPEN_MAX:
            raise errors.ConnectionLost("the server does not answer")

        def heard(frame: Frame) -> None:
            self._beats_open = 0
            if frame.op == w.Op.LEASE:
                self._leased(frame.message["sent_ms"] / 1000 + self._lease_seconds)
            elif frame.op == w.Op.ERROR:
                raise errors.refusal(frame.message["code"], frame.message["message"])

        self._beats_open += 1
        self._beat_at = now + self._heartbeat
        self._credit = self._credit_now()
        self._send(w.Op.HEARTBEAT, {"load": {"credit": self._credit}, "sent_ms": int(now * 1000)}, heard)

    # ---- how much it takes

    def _slots(self) -> int:
        return self._threads_wanted + AHEAD_MAX + (ASYNC_TASKS_MAX if self._has_async else 0)

    def _credit_now(self) -> int:
        """As many as run at a time, and so many that wait as are done in a moment; it grows step by step."""
        if self._stop:
            return 0
        base = self._threads_wanted + (ASYNC_TASKS_MAX if self._has_async else 0)
        ahead = int(self._threads_wanted * AHEAD_SECONDS / max(self._mean, 1e-6))
        return min(base + min(ahead, AHEAD_MAX), max(self._credit * 4, base))


def worker_place(server: Optional[str], token: Optional[str], tenant: str, data: Optional[str]) -> Place:
    """As for any client, but with the token of workers."""
    place = find(server, token, tenant, data)
    if token is None and not os.environ.get("REEVE_TOKEN"):
        try:
            with open(os.path.join(place.data, "worker.token"), encoding="utf-8") as file:
                token = file.readline().strip()
        except OSError:
            token = None
        if token:
            place = find(server, token, tenant, data)
    return place


# ---- serving


def _stop_by_signal(worker: Worker) -> None:
    def on_signal(number: int, frame: Any) -> None:
        worker.stop()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)


def serve(*tasks: Task[Any, Any], processes: int = 1, threads: int = 4, name: str = "", **keys: Any) -> None:
    """Serves tasks (all of this process unless some are named) until SIGTERM or SIGINT, and what is under way is over.
    With `processes`, that many workers run side by side, each with `threads`; one that dies is started again."""
    wanted = list(tasks) or list(registry.values())
    for task in wanted:
        print("reeve.worker: serves %s" % task, file=sys.stderr, flush=True)
    if processes <= 1:
        worker = Worker(wanted, threads=threads, name=name, **keys)
        if threading.current_thread() is threading.main_thread():
            _stop_by_signal(worker)
        worker.run()
        return
    name = name or "python-%s-%06x" % (socket.gethostname()[:40], random.randrange(1 << 24))
    supervise(processes, lambda number: _child(wanted, threads, "%s-%d" % (name, number), keys))


def _child(tasks: Sequence[Task[Any, Any]], threads: int, name: str, keys: Mapping[str, Any]) -> None:
    worker = Worker(tasks, threads=threads, name=name, **keys)
    _stop_by_signal(worker)
    worker.run()


# ---- python -m reeve.worker


def _load(target: str) -> List[Task[Any, Any]]:
    """module, or module:name,name."""
    module_name, _, names = target.partition(":")
    module = importlib.import_module(module_name)
    if names:
        found = [getattr(module, name.strip(), None) for name in names.split(",")]
        for name, one in zip(names.split(","), found):
            if not isinstance(one, Task):
                raise errors.Invalid("%s has no task `%s`" % (module_name, name.strip()))
        return [one for one in found if isinstance(one, Task)]
    found = [one for one in vars(module).values() if isinstance(one, Task)]
    if not found:
        raise errors.Invalid("%s has no task" % module_name)
    return [one for one in found if isinstance(one, Task)]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m reeve.worker", description="Serves the tasks of Python modules.")
    parser.add_argument("module", nargs="+", help="MODULE, or MODULE:TASK,TASK")
    parser.add_argument("--threads", type=int, default=4, help="tasks at a time in each process (4)")
    parser.add_argument("--processes", type=int, default=1, help="processes side by side (1)")
    parser.add_argument("--name", default="", help="of the worker; a new one under the same name takes over at once")
    parser.add_argument("--pool", default=POOL, help="the pool it belongs to, for tasks alone (%s)" % POOL)
    parser.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--capability", action="append", default=[], metavar="NAME")
    parser.add_argument("--server", help="HOST[:PORT], tls://HOST[:PORT] or unix:PATH; else REEVE_SERVER, else the data directory")
    parser.add_argument("--token", help="else REEVE_TOKEN, else worker.token of the data directory")
    parser.add_argument("--tenant", default="", help="whose jobs; that of the token unless said")
    parser.add_argument("--data", help="directory of the server; else REEVE_DATA, else ./.reeve")
    given = parser.parse_args(arguments)
    sys.path.insert(0, os.getcwd())
    labels = dict(label.partition("=")[::2] for label in given.label)
    try:
        tasks = [one for target in given.module for one in _load(target)]
        serve(*tasks, processes=given.processes, threads=given.threads, name=given.name, pool=given.pool, labels=labels,
              capabilities=given.capability, server=given.server, token=given.token, tenant=given.tenant, data=given.data)
    except errors.Error as e:
        print("reeve.worker: %s" % e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    from reeve.worker import main as real_main  # the one module, not a second copy of it

    sys.exit(real_main())
