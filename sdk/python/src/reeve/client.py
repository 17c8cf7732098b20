"""The blocking client: one connection, any number of threads.

    with Client() as reeve:
        flow = reeve.submit({"name": "hello", "jobs": {"a": {"run": "echo hi"}}})
        reeve.wait(flow)
        print(reeve.logs(flow + "/a").decode())

A lost connection is made anew. What may be asked twice is asked again; whatever may not raises `ConnectionLost`.
"""

from __future__ import annotations

import os
import random
import select
import threading
import time
from collections import deque
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Deque, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union, overload

from . import _ops as ops
from . import _wire as w
from . import errors
from ._place import Place, dial, find
from ._protocol import Frame, Reader, Requests, check, hello, pack
from ._version import BUILD
from .ended import Ended

if TYPE_CHECKING:
    from .flow import Flow, Job

T = TypeVar("T")
Key = ops.Key
Target = Union[str, "Flow", "Job[Any]"]
Targets = Union[List[Any], Tuple[Any, ...], Set[Any]]
Spec = Mapping[str, Any]
READ_BYTES = 1 << 16


class Connection:
    """A socket that threads share: whoever waits for an answer reads for all, until its own came."""

    def __init__(self, place: Place, peer: str = "client") -> None:
        self._socket, self.address = dial(place)
        self._reader = Reader()
        self._requests = Requests()
        self._open: Dict[int, Deque[Frame]] = {}
        self._turn = threading.Condition()
        self._sending = threading.Lock()
        self._is_reading = False
        self.lost = ""
        try:
            request = self.send(w.Op.HELLO, hello(place.token_for(self.address), place.tenant, BUILD, peer))
            self.welcome = check(self.receive(request, time.monotonic() + 10)).message
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.lost = self.lost or "closed"
        try:
            self._socket.close()
        except OSError:
            pass

    def send(self, op: int, message: Mapping[str, Any]) -> int:
        with self._turn:
            request = self._requests.next()
            self._open[request] = deque()
        data = pack(op, message, request)
        try:
            with self._sending:
                self._socket.sendall(data)
        except OSError as e:
            self._lose(str(e))
            raise errors.ConnectionLost("the server at %s is gone: %s" % (self.address, e)) from e
        return request

    def receive(self, request: int, deadline: Optional[float] = None) -> Frame:
        """The next frame of that request."""
        while True:
            with self._turn:
                while True:
                    frames = self._open[request]
                    if frames:
                        frame = frames.popleft()
                        if not frame.more:
                            del self._open[request]
                        return frame
                    if self.lost:
                        raise errors.ConnectionLost("the server at %s is gone: what was asked last may or may not have happened" % self.address)
                    if not self._is_reading:
                        self._is_reading = True
                        break
                    if not self._turn.wait(_left(deadline)):
                        raise errors.TimedOut("no answer in time")
            self._read(deadline)

    def forget(self, request: int) -> None:
        """Nobody waits for its answer any more."""
        with self._turn:
            self._open.pop(request, None)

    def _read(self, deadline: Optional[float]) -> None:
        frames: List[Frame] = []
        try:
            pending = getattr(self._socket, "pending", None)  # TLS may hold bytes that no select sees
            if not (pending and pending()) and not select.select([self._socket], [], [], _left(deadline))[0]:
                raise errors.TimedOut("no answer in time")
            data = self._socket.recv(READ_BYTES)
            if not data:
                self._lose("it closed the connection")
            frames = self._reader.feed(data)
        except (OSError, ValueError) as e:
            self._lose(str(e))
        finally:
            with self._turn:
                self._is_reading = False
                for frame in frames:
                    waiting = self._open.get(frame.request)
                    if waiting is not None:
                        waiting.append(frame)
                self._turn.notify_all()

    def _lose(self, why: str) -> None:
        with self._turn:
            self.lost = self.lost or why
            self._turn.notify_all()


def _left(deadline: Optional[float]) -> Optional[float]:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class Pauses:
    """How long to wait between tries, and when to give up."""

    def __init__(self, patience: float) -> None:
        self._until = time.monotonic() + patience
        self._next = 0.05

    def next(self, at_least: float = 0.0) -> Optional[float]:
        """Seconds to wait; None: enough."""
        if time.monotonic() >= self._until:
            return None
        pause = max(self._next, at_least) * (1 + random.random() / 4)
        self._next = min(self._next * 2, 2.0)
        return pause


class Client:
    """A server, as who asks it.

    Where it is: `server`, else REEVE_SERVER, else the data directory (`data`, REEVE_DATA, ./.reeve), as for the command
    line. `patience` is for how many seconds a server that was there is waited for when it is gone or busy.
    """

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None, tenant: str = "",
                 data: Optional[str] = None, ca: Optional[str] = None, cert: Optional[str] = None,
                 key: Optional[str] = None, pin: Optional[str] = None, patience: float = 60.0) -> None:
        self._place = find(server, token, tenant, data, ca, cert, key, pin)
        self._patience = patience
        self._lock = threading.Lock()
        self._connection: Optional[Connection] = None
        self._process = 0
        self._was_there = False
        self.kv = Store(self)

    @classmethod
    def at(cls, place: Place, token: str) -> "Client":
        """At a place that is known, as another principal."""
        client = cls()
        client._place = replace(place, token=token, token_given=True)
        return client

    def __enter__(self) -> "Client":
        self.connect()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def connect(self) -> Connection:
        """The connection; made if there is none. Asking does it by itself."""
        with self._lock:
            if self._connection is None or self._connection.lost or self._process != os.getpid():
                self._connection = Connection(self._place)  # also after a fork: two processes must not share one
                self._process = os.getpid()
                self._was_there = True
            return self._connection

    # ---- how operations are run

    def _frames(self, ask: ops.Ask) -> List[Frame]:
        pauses = Pauses(self._patience)
        while True:
            sent = False
            try:
                connection = self.connect()
                request = connection.send(ask.op, ask.message)
                sent = True
                frames = [check(connection.receive(request))]
                while frames[-1].more:
                    frames.append(check(connection.receive(request)))
                return frames
            except errors.Busy as e:
                pause = pauses.next(e.retry_after_ms / 1000)
                if pause is None:
                    raise
            except (errors.NoServer, errors.ConnectionLost):
                pause = pauses.next() if self._was_there and (ask.again or not sent) else None
                if pause is None:
                    raise
            time.sleep(pause)

    def _run(self, operation: ops.Operation[T]) -> T:
        try:
            ask = next(operation)
            while True:
                try:
                    frames = self._frames(ask)
                except errors.Error as e:
                    ask = operation.throw(e)
                else:
                    ask = operation.send(frames)
        except StopIteration as stop:
            value: T = stop.value
            return value

    def _stream(self, stream: ops.Stream[T]) -> Iterator[T]:
        pauses = Pauses(self._patience)
        while not stream.over:
            try:
                connection = self.connect()
                request = connection.send(*stream.ask()[:2])
                try:
                    more = True
                    while more and not stream.over:
                        frame = check(connection.receive(request))
                        more = frame.more
                        pauses = Pauses(self._patience)
                        yield from stream.hear(frame)
                    if not more:
                        return
                finally:
                    self._end(connection, request)
            except (errors.NoServer, errors.ConnectionLost, errors.Busy):
                pause = pauses.next() if self._was_there else None
                if pause is None:
                    raise
                time.sleep(pause)

    def _end(self, connection: Connection, request: int) -> None:
        connection.forget(request)
        if not connection.lost:
            try:
                connection.forget(connection.send(w.Op.STOP, {"request": request}))
            except errors.Error:
                pass

    def request(self, word: str, message: Mapping[str, Any], again: bool = False) -> Dict[str, Any]:
        """Any message of docs/formats/wire.md by its word; the message that answers it."""
        return self._run(ops.raw(getattr(w.Op, word.upper()), message, again))

    # ---- flows and jobs

    def submit(self, flow: Spec, *, key: str = "", params: Optional[Mapping[str, Any]] = None) -> str:
        """Submits a flow (keys as in flow files) and returns its id. Safe against a lost connection: without `key` it
        gets one of its own."""
        return self._run(ops.submit(flow, key or ops.new_key(), params, False))["flow"]

    def submit_file(self, path: Union[str, "os.PathLike[str]"], *, key: str = "", params: Optional[Mapping[str, Any]] = None) -> str:
        """Submits a flow file in JSON and returns the flow's id. The flow keeps the file and the parameters, so that it
        can be shown (`reeve show --source`) and run again with others (`reeve rerun --new`)."""
        return self._run(ops.submit_file(path, key or ops.new_key(), params, False))["flow"]

    def check(self, flow: Spec, *, params: Optional[Mapping[str, Any]] = None) -> None:
        """Raises what `submit` would, and does nothing."""
        self._run(ops.submit(flow, "", params, True))

    def add_jobs(self, flow: object, jobs: Spec) -> None:
        """Adds jobs (`{"jobs": {...}}`) to a flow that is not over."""
        self._run(ops.add_jobs(flow, jobs))

    def flow(self, target: object) -> w.FlowView:
        return self._run(ops.get(target, False))[0]

    def job(self, target: object, details: bool = True) -> w.JobView:
        return self._run(ops.get(target, details))[1][0]

    def jobs(self, flow: object) -> List[w.JobView]:
        """All jobs of a flow."""
        return self._run(ops.get(flow, True))[1]

    def flows(self, *, name: str = "", states: Sequence[str] = (), labels: Optional[Mapping[str, str]] = None,
              text: str = "", most: int = 0) -> List[w.FlowView]:
        return self._run(ops.list_all("flows", most, ops.wanted("", name, states, labels, text)))

    def dead(self, *, flow: object = "", most: int = 0) -> List[w.JobView]:
        """The dead letters."""
        return self._run(ops.list_all("dead", most, ops.wanted(flow)))

    def workers(self) -> List[w.WorkerView]:
        return self._run(ops.list_all("workers", 0, {}))

    def questions(self, *, flow: object = "") -> List[w.QuestionView]:
        """What waits for a person."""
        return self._run(ops.list_all("questions", 0, ops.wanted(flow)))

    def why(self, job: object) -> w.Reason:
        """The one reason why a job does not run."""
        return self._run(ops.why(job))

    @overload  # type: ignore[misc]
    def wait(self, targets: Target, *, any: bool = False, timeout: Optional[float] = None) -> Ended: ...

    @overload
    def wait(self, targets: Targets, *, any: bool = False, timeout: Optional[float] = None) -> List[Ended]: ...

    def wait(self, targets: Union[Target, Targets], *, any: bool = False, timeout: Optional[float] = None) -> Union[Ended, List[Ended]]:
        """Returns when they are over, well or not: how it ended; of a list, what is over, in order. Goes on waiting through
        a restart of the server."""
        over = self._run(ops.ended(ops.as_list(targets), any, timeout))
        return over if isinstance(targets, (list, tuple, set)) else over[0]

    def result(self, job: object) -> Any:
        """What a job left, read as JSON. `JobFailed` when it ended badly."""
        return self._run(ops.result(job))

    def cancel(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        return self._run(ops.change(w.Op.CANCEL, ops.as_list(targets), reason, True))

    def retry(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        """Dead jobs get a new budget of attempts."""
        return self._run(ops.change(w.Op.RETRY, ops.as_list(targets), reason, False))

    def rerun(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        """Finished flows start again where they failed."""
        return self._run(ops.change(w.Op.RERUN, ops.as_list(targets), reason, False))

    def discard(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        return self._run(ops.change(w.Op.DISCARD, ops.as_list(targets), reason, False))

    def pause(self, name: object, scope: str = "flow") -> None:
        """A flow, pool or tenant starts nothing new."""
        self._run(ops.pause(w.Op.PAUSE, scope, name))

    def resume(self, name: object, scope: str = "flow") -> None:
        self._run(ops.pause(w.Op.RESUME, scope, name))

    def approve(self, job: object, *, reason: str = "", hash: bytes = b"", revision: int = 0) -> None:
        """Says yes to the question that a job stands before; `hash` and `revision`, as `questions` shows them, bind the
        yes to what was seen."""
        self._run(ops.verdict(job, "approve", reason, hash, revision))

    def reject(self, job: object, *, reason: str = "", hash: bytes = b"", revision: int = 0) -> None:
        self._run(ops.verdict(job, "reject", reason, hash, revision))

    def complete(self, job: object, output: Any = None, *, failed: bool = False, reason: str = "") -> None:
        """Ends an external job."""
        self._run(ops.complete(job, output, failed, reason))

    def logs(self, job: object, *, attempt: int = 0, tail_bytes: int = 0) -> bytes:
        """What the last (or that) attempt has written so far."""
        return self._run(ops.logs(job, attempt, tail_bytes))

    def follow(self, job: object, *, attempt: int = 0) -> Iterator[bytes]:
        """What a job writes, piece by piece, until its attempt is over."""
        return self._stream(ops.Log(job, attempt))

    def events(self, target: object = "", *, types: Sequence[str] = (), from_start: bool = False,
               after: Optional[Tuple[int, int]] = None) -> Iterator[w.Event]:
        """Everything that happens (to a flow or job), without end; of some `types` (flow, job, worker, service), from the
        beginning of the archive, or `after` the (lsn, ordinal) of the last one known."""
        return self._stream(ops.Events(target, types, from_start, after))

    def stats(self) -> Dict[str, int]:
        return self._run(ops.stats())

    # ---- files

    def put_blob(self, data: bytes) -> bytes:
        """Stores bytes, and returns the hash that names them."""
        return self._run(ops.blob_put(data))

    def get_blob(self, hash: bytes) -> bytes:
        return self._run(ops.blob_get(hash))

    def artifact(self, job: object, name: str) -> bytes:
        """A file that a job left."""
        return self._run(ops.artifact(job, name))


class Store:
    """The shared store: values, numbers and sets by key, durable when the call returns. `flow` chooses the namespace of
    a flow in place of the tenant's."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self, key: Key, *, flow: object = "") -> Optional[bytes]:
        return self._client._run(ops.kv_get(key, flow))

    def item(self, key: Key, *, flow: object = "") -> Optional[w.KvItem]:
        """The value with its kind, version and expiry."""
        items = self._client._run(ops.kv_items([key], flow))
        return items[0] if items else None

    def set(self, key: Key, value: Key, *, flow: object = "", expires: Optional[float] = None) -> int:
        """Returns the version; `expires` in seconds."""
        return self._client._run(ops.kv_set(key, value, flow, expires))

    def add(self, key: Key, value: Key, *, flow: object = "", expires: Optional[float] = None) -> int:
        """Sets a key that is not there; else `Conflict`."""
        return self._client._run(ops.kv_set(key, value, flow, expires, "if_absent"))

    def cas(self, key: Key, value: Key, version: int, *, flow: object = "", expires: Optional[float] = None) -> int:
        """Sets the key if it still has that version; else `Conflict`, whose `version` is the one that is there."""
        return self._client._run(ops.kv_set(key, value, flow, expires, "if_version", version))

    def delete(self, *keys: Key, flow: object = "") -> int:
        return self._client._run(ops.kv_delete(keys, flow))

    def incr(self, key: Key, by: int = 1, *, flow: object = "") -> int:
        return self._client._run(ops.kv_incr(key, by, flow))

    def keys(self, prefix: Key = "", *, flow: object = "") -> List[bytes]:
        return self._client._run(ops.kv_keys(prefix, flow))

    def sadd(self, key: Key, *members: Key, flow: object = "") -> int:
        return self._client._run(ops.kv_set_members("add", key, members, flow))

    def srem(self, key: Key, *members: Key, flow: object = "") -> int:
        return self._client._run(ops.kv_set_members("remove", key, members, flow))

    def smembers(self, key: Key, *, flow: object = "") -> List[bytes]:
        return self._client._run(ops.kv_members(key, flow))

    def publish(self, channel: Key, body: Key) -> int:
        return self._client._run(ops.kv_publish(channel, body))

    def watch(self, key: Key, *, prefix: bool = False, channel: bool = False, flow: object = "") -> Iterator[w.KvEvent]:
        """Changes, as they come. The first has `gap` set: read the value then."""
        return self._client._stream(ops.Watch(key, prefix, channel, flow))


_default: Optional[Client] = None
_default_lock = threading.Lock()


def default_client() -> Client:
    """The client that flows and tasks use unless they are given another: of this process, found by the environment."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Client()
        return _default


def set_default_client(client: Optional[Client]) -> None:
    global _default
    with _default_lock:
        _default = client
