"""The asyncio client: the same questions as `Client`, with await before them.

    async with AsyncClient() as reeve:
        flow = await reeve.submit({"jobs": {"a": {"run": "echo hi"}}})
        await reeve.wait(flow)
        async for piece in reeve.follow(flow + "/a"):
            print(piece.decode(), end="")

Any number of coroutines share the one connection.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from types import TracebackType
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, overload

from . import _ops as ops
from . import _wire as w
from . import errors
from ._place import CONNECT_SECONDS, Place, check_pin, find, split, tls_of
from ._protocol import Frame, Reader, Requests, check, hello, pack
from ._version import BUILD
from .client import Key, Pauses, Spec, Target, Targets
from .ended import Ended
from .flow import Flow

T = TypeVar("T")


class AsyncConnection:
    """A connection whose frames one task reads, and sorts by request."""

    def __init__(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.address = address
        self.lost = ""
        self._writer = writer
        self._requests = Requests()
        self._open: Dict[int, "asyncio.Queue[Optional[Frame]]"] = {}
        self._reading = asyncio.ensure_future(self._read(reader))

    @classmethod
    async def dial(cls, place: Place) -> "AsyncConnection":
        for address in place.addresses():
            try:
                if address.startswith("unix:"):
                    streams = await asyncio.open_unix_connection(address[5:])
                else:
                    host, port = split(address)
                    tls = tls_of(place, address)
                    opening = asyncio.open_connection(host, port, ssl=tls, server_hostname=host if tls else None)
                    streams = await asyncio.wait_for(opening, CONNECT_SECONDS)
            except ssl.SSLError as e:
                raise errors.NoServer("%s: %s" % (address, e)) from e
            except (OSError, asyncio.TimeoutError):
                continue
            secure = streams[1].get_extra_info("ssl_object")
            if secure is not None:
                check_pin(place, secure.getpeercert(binary_form=True))
            connection = cls(address, *streams)
            try:
                request = connection.send(w.Op.HELLO, hello(place.token_for(address), place.tenant, BUILD))
                check(await asyncio.wait_for(connection.receive(request), CONNECT_SECONDS))
            except BaseException:
                connection.close()
                raise
            return connection
        raise place.complaint()

    def close(self) -> None:
        self._lose("closed")
        self._reading.cancel()
        self._writer.close()

    def send(self, op: int, message: Mapping[str, Any]) -> int:
        if self.lost:
            raise errors.ConnectionLost("the server at %s is gone: %s" % (self.address, self.lost))
        request = self._requests.next()
        self._open[request] = asyncio.Queue()
        self._writer.write(pack(op, message, request))
        return request

    async def drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as e:
            self._lose(str(e))

    async def receive(self, request: int) -> Frame:
        frame = None if self.lost and self._open[request].empty() else await self._open[request].get()
        if frame is None:
            raise errors.ConnectionLost("the server at %s is gone: what was asked last may or may not have happened" % self.address)
        if not frame.more:
            self._open.pop(request, None)
        return frame

    def forget(self, request: int) -> None:
        self._open.pop(request, None)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        frames = Reader()
        try:
            while True:
                data = await reader.read(1 << 16)
                if not data:
                    break
                for frame in frames.feed(data):
                    waiting = self._open.get(frame.request)
                    if waiting is not None:
                        waiting.put_nowait(frame)
        except (OSError, ValueError, errors.Error):
            pass
        self._lose("it closed the connection")

    def _lose(self, why: str) -> None:
        if not self.lost:
            self.lost = why
            for waiting in self._open.values():
                waiting.put_nowait(None)


class AsyncClient:
    """As `Client`; see there for what its arguments mean."""

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None, tenant: str = "",
                 data: Optional[str] = None, ca: Optional[str] = None, cert: Optional[str] = None,
                 key: Optional[str] = None, pin: Optional[str] = None, patience: float = 60.0) -> None:
        self._place = find(server, token, tenant, data, ca, cert, key, pin)
        self._patience = patience
        self._connection: Optional[AsyncConnection] = None
        self._connecting: Optional[asyncio.Lock] = None
        self._was_there = False
        self.kv = AsyncStore(self)

    async def __aenter__(self) -> "AsyncClient":
        await self.connect()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    async def connect(self) -> AsyncConnection:
        if self._connecting is None:
            self._connecting = asyncio.Lock()
        async with self._connecting:
            if self._connection is None or self._connection.lost:
                self._connection = await AsyncConnection.dial(self._place)
                self._was_there = True
            return self._connection

    # ---- how operations are run

    async def _frames(self, ask: ops.Ask) -> List[Frame]:
        pauses = Pauses(self._patience)
        while True:
            sent = False
            try:
                connection = await self.connect()
                request = connection.send(ask.op, ask.message)
                sent = True
                await connection.drain()
                frames = [check(await connection.receive(request))]
                while frames[-1].more:
                    frames.append(check(await connection.receive(request)))
                return frames
            except errors.Busy as e:
                pause = pauses.next(e.retry_after_ms / 1000)
                if pause is None:
                    raise
            except (errors.NoServer, errors.ConnectionLost):
                pause = pauses.next() if self._was_there and (ask.again or not sent) else None
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _run(self, operation: ops.Operation[T]) -> T:
        try:
            ask = next(operation)
            while True:
                try:
                    frames = await self._frames(ask)
                except errors.Error as e:
                    ask = operation.throw(e)
                else:
                    ask = operation.send(frames)
        except StopIteration as stop:
            value: T = stop.value
            return value

    async def _stream(self, stream: ops.Stream[T]) -> AsyncIterator[T]:
        pauses = Pauses(self._patience)
        while not stream.over:
            try:
                connection = await self.connect()
                request = connection.send(*stream.ask()[:2])
                try:
                    more = True
                    while more and not stream.over:
                        frame = check(await connection.receive(request))
                        more = frame.more
                        pauses = Pauses(self._patience)
                        for item in stream.hear(frame):
                            yield item
                    if not more:
                        return
                finally:
                    connection.forget(request)
                    if not connection.lost:
                        connection.forget(connection.send(w.Op.STOP, {"request": request}))
            except (errors.NoServer, errors.ConnectionLost, errors.Busy):
                pause = pauses.next() if self._was_there else None
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    async def request(self, word: str, message: Mapping[str, Any], again: bool = False) -> Dict[str, Any]:
        return await self._run(ops.raw(getattr(w.Op, word.upper()), message, again))

    # ---- flows and jobs

    async def submit(self, flow: Union[Spec, Flow], *, key: str = "", params: Optional[Mapping[str, Any]] = None) -> str:
        """Submits a flow, described by keys or as a `Flow`, and returns its id."""
        if not isinstance(flow, Flow):
            return (await self._run(ops.submit(flow, key or ops.new_key(), params, False)))["flow"]
        for data in flow.take_blobs():
            await self.put_blob(data)
        if flow.id:
            for part in flow.parts():
                await self.add_jobs(flow, part)
            flow.submitted(flow.id)
            return flow.id
        flow.key = key or flow.key or ops.new_key()
        flow.submitted(await self._run(ops.submit_parts(flow.parts(), flow.key, params)))
        return flow.id

    async def submit_file(self, path: Union[str, "os.PathLike[str]"], *, key: str = "", params: Optional[Mapping[str, Any]] = None) -> str:
        """Submits a flow file in JSON, which the flow keeps, and returns the flow's id."""
        return (await self._run(ops.submit_file(path, key or ops.new_key(), params, False)))["flow"]

    async def check(self, flow: Spec, *, params: Optional[Mapping[str, Any]] = None) -> None:
        await self._run(ops.submit(flow, "", params, True))

    async def add_jobs(self, flow: object, jobs: Spec) -> None:
        await self._run(ops.add_jobs(flow, jobs))

    async def flow(self, target: object) -> w.FlowView:
        return (await self._run(ops.get(target, False)))[0]

    async def job(self, target: object, details: bool = True) -> w.JobView:
        return (await self._run(ops.get(target, details)))[1][0]

    async def jobs(self, flow: object) -> List[w.JobView]:
        return (await self._run(ops.get(flow, True)))[1]

    async def flows(self, *, name: str = "", states: Sequence[str] = (), labels: Optional[Mapping[str, str]] = None,
                    text: str = "", most: int = 0) -> List[w.FlowView]:
        return await self._run(ops.list_all("flows", most, ops.wanted("", name, states, labels, text)))

    async def dead(self, *, flow: object = "", most: int = 0) -> List[w.JobView]:
        return await self._run(ops.list_all("dead", most, ops.wanted(flow)))

    async def workers(self) -> List[w.WorkerView]:
        return await self._run(ops.list_all("workers", 0, {}))

    async def questions(self, *, flow: object = "") -> List[w.QuestionView]:
        return await self._run(ops.list_all("questions", 0, ops.wanted(flow)))

    async def why(self, job: object) -> w.Reason:
        return await self._run(ops.why(job))

    @overload  # type: ignore[misc]
    async def wait(self, targets: Target, *, any: bool = False, timeout: Optional[float] = None) -> Ended: ...

    @overload
    async def wait(self, targets: Targets, *, any: bool = False, timeout: Optional[float] = None) -> List[Ended]: ...

    async def wait(self, targets: Union[Target, Targets], *, any: bool = False, timeout: Optional[float] = None) -> Union[Ended, List[Ended]]:
        over = await self._run(ops.ended(ops.as_list(targets), any, timeout))
        return over if isinstance(targets, (list, tuple, set)) else over[0]

    async def result(self, job: object) -> Any:
        return await self._run(ops.result(job))

    async def cancel(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        return await self._run(ops.change(w.Op.CANCEL, ops.as_list(targets), reason, True))

    async def retry(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        return await self._run(ops.change(w.Op.RETRY, ops.as_list(targets), reason, False))

    async def rerun(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        return await self._run(ops.change(w.Op.RERUN, ops.as_list(targets), reason, False))

    async def discard(self, targets: Union[object, Sequence[object]], reason: str = "") -> List[w.Result]:
        return await self._run(ops.change(w.Op.DISCARD, ops.as_list(targets), reason, False))

    async def pause(self, name: object, scope: str = "flow") -> None:
        await self._run(ops.pause(w.Op.PAUSE, scope, name))

    async def resume(self, name: object, scope: str = "flow") -> None:
        await self._run(ops.pause(w.Op.RESUME, scope, name))

    async def approve(self, job: object, *, reason: str = "", hash: bytes = b"", revision: int = 0) -> None:
        await self._run(ops.verdict(job, "approve", reason, hash, revision))

    async def reject(self, job: object, *, reason: str = "", hash: bytes = b"", revision: int = 0) -> None:
        await self._run(ops.verdict(job, "reject", reason, hash, revision))

    async def complete(self, job: object, output: Any = None, *, failed: bool = False, reason: str = "") -> None:
        await self._run(ops.complete(job, output, failed, reason))

    async def logs(self, job: object, *, attempt: int = 0, tail_bytes: int = 0) -> bytes:
        return await self._run(ops.logs(job, attempt, tail_bytes))

    def follow(self, job: object, *, attempt: int = 0) -> AsyncIterator[bytes]:
        return self._stream(ops.Log(job, attempt))

    def events(self, target: object = "", *, types: Sequence[str] = (), from_start: bool = False,
               after: Optional[Tuple[int, int]] = None) -> AsyncIterator[w.Event]:
        return self._stream(ops.Events(target, types, from_start, after))

    async def stats(self) -> Dict[str, int]:
        return await self._run(ops.stats())

    # ---- files

    async def put_blob(self, data: bytes) -> bytes:
        return await self._run(ops.blob_put(data))

    async def get_blob(self, hash: bytes) -> bytes:
        return await self._run(ops.blob_get(hash))

    async def artifact(self, job: object, name: str) -> bytes:
        return await self._run(ops.artifact(job, name))


class AsyncStore:
    """As `Store`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def get(self, key: Key, *, flow: object = "") -> Optional[bytes]:
        return await self._client._run(ops.kv_get(key, flow))

    async def item(self, key: Key, *, flow: object = "") -> Optional[w.KvItem]:
        items = await self._client._run(ops.kv_items([key], flow))
        return items[0] if items else None

    async def set(self, key: Key, value: Key, *, flow: object = "", expires: Optional[float] = None) -> int:
        return await self._client._run(ops.kv_set(key, value, flow, expires))

    async def add(self, key: Key, value: Key, *, flow: object = "", expires: Optional[float] = None) -> int:
        return await self._client._run(ops.kv_set(key, value, flow, expires, "if_absent"))

    async def cas(self, key: Key, value: Key, version: int, *, flow: object = "", expires: Optional[float] = None) -> int:
        return await self._client._run(ops.kv_set(key, value, flow, expires, "if_version", version))

    async def delete(self, *keys: Key, flow: object = "") -> int:
        return await self._client._run(ops.kv_delete(keys, flow))

    async def incr(self, key: Key, by: int = 1, *, flow: object = "") -> int:
        return await self._client._run(ops.kv_incr(key, by, flow))

    async def keys(self, prefix: Key = "", *, flow: object = "") -> List[bytes]:
        return await self._client._run(ops.kv_keys(prefix, flow))

    async def sadd(self, key: Key, *members: Key, flow: object = "") -> int:
        return await self._client._run(ops.kv_set_members("add", key, members, flow))

    async def srem(self, key: Key, *members: Key, flow: object = "") -> int:
        return await self._client._run(ops.kv_set_members("remove", key, members, flow))

    async def smembers(self, key: Key, *, flow: object = "") -> List[bytes]:
        return await self._client._run(ops.kv_members(key, flow))

    async def publish(self, channel: Key, body: Key) -> int:
        return await self._client._run(ops.kv_publish(channel, body))

    def watch(self, key: Key, *, prefix: bool = False, channel: bool = False, flow: object = "") -> AsyncIterator[w.KvEvent]:
        return self._client._stream(ops.Watch(key, prefix, channel, flow))
