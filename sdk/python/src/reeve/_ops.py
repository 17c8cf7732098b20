"""What can be asked of a server, without the asking.

Each operation is a generator: it yields an `Ask`, is sent the frames of the answer, and returns what the caller wants to
know. `Client` runs them on a blocking socket, `AsyncClient` on asyncio; neither knows what they say. Streams (events,
logs, watches) are small objects that know how to begin, how to go on after a lost connection, and when they are over.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from typing import Any, Dict, Generator, Generic, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, cast

from . import _wire as w
from . import errors
from ._protocol import Frame
from .ended import Ended, ended_flow, ended_job

T = TypeVar("T")
Key = Union[str, bytes]
BLOB_PART_BYTES = 1 << 20
ENDED_JOBS_MAX = 200  # that come along with a flow that is over
BAD_STATES = frozenset(("failed", "timed_out", "denied", "quarantined", "cancelled"))
OVER_STATES = BAD_STATES | {"succeeded", "skipped"}


class Ask(NamedTuple):
    op: int
    message: Mapping[str, Any]
    again: bool = True  # it may be sent once more when the connection ended before the answer


Operation = Generator[Ask, List[Frame], T]


def _names(targets: Iterable[object]) -> List[Dict[str, str]]:
    return [{"name": str(target)} for target in targets]


def _pairs(labels: Optional[Mapping[str, str]]) -> List[Dict[str, str]]:
    return [{"key": key, "value": value} for key, value in (labels or {}).items()]


def _bytes(value: Key) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def as_list(targets: Union[object, Sequence[object]]) -> List[object]:
    return list(targets) if isinstance(targets, (list, tuple, set)) else [targets]


def raw(op: int, message: Mapping[str, Any], again: bool) -> Operation[Dict[str, Any]]:
    frames = yield Ask(op, message, again)
    return frames[-1].message


# ---- flows


def new_key() -> str:
    return "py-" + uuid.uuid4().hex


def submit(spec: Mapping[str, Any], key: str, params: Optional[Mapping[str, Any]], check: bool, more: bool = False) -> Operation[w.SubmittedFlow]:
    """The key makes a second submit of the same flow harmless: so it is sent again until it is answered."""
    flow: Dict[str, Any] = {"spec": _json(spec), "key": key, "check": check, "part": {"more": more}}
    if params:
        flow["params"] = _json(params)
    frames = yield Ask(w.Op.SUBMIT, {"flows": [flow]})
    return _submitted(frames)


def submit_file(path: Union[str, "os.PathLike[str]"], key: str, params: Optional[Mapping[str, Any]], check: bool) -> Operation[w.SubmittedFlow]:
    """A flow file as it stands, byte for byte: the server keeps it under its name."""
    with open(path, "rb") as file:
        text = file.read()
    name = os.path.basename(os.fspath(path))
    if not text.lstrip().startswith(b"{"):
        raise ValueError("%s: only flow files in JSON can be sent from here; submit YAML with `reeve submit`" % name)
    flow: Dict[str, Any] = {"spec": text, "key": key, "check": check, "source_name": name}
    if params:
        flow["params"] = _json(params)
    return _submitted((yield Ask(w.Op.SUBMIT, {"flows": [flow]})))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _submitted(frames: List[Frame]) -> w.SubmittedFlow:
    done = frames[-1].message["flows"][0]
    if done["code"]:
        raise errors.refusal(done["code"], done["message"], done["retry_after_ms"])
    return cast(w.SubmittedFlow, done)


def add_jobs(flow: object, spec: Mapping[str, Any], more: bool = False) -> Operation[None]:
    """After a lost connection it looks whether the jobs are there before it sends them again."""
    message = {"flow": str(flow), "spec": _json(spec), "part": {"more": more}}
    last = "%s/%s" % (flow, list(spec["jobs"])[-1])
    while True:
        try:
            _submitted((yield Ask(w.Op.ADD_JOBS, message, False)))
            return
        except errors.ConnectionLost:
            try:
                yield from get(last, False)
                return
            except errors.NotFound:
                continue


def submit_parts(parts: Sequence[Mapping[str, Any]], key: str, params: Optional[Mapping[str, Any]]) -> Operation[str]:
    """A flow that is too large for one message: it does not end before its last part is there."""
    done = yield from submit(parts[0], key, params, False, len(parts) > 1)
    for number, part in enumerate(parts[1:], 2):
        try:
            yield from add_jobs(done["flow"], part, number < len(parts))
        except errors.DuplicateName:
            if not done["repeated"]:  # else an earlier try of ours came as far as this
                raise
    return done["flow"]


def get(target: object, details: bool) -> Operation[Tuple[w.FlowView, List[w.JobView]]]:
    frames = yield Ask(w.Op.GET, {"target": str(target), "details": details})
    jobs = [job for frame in frames for job in frame.message["jobs"]]
    return cast(w.FlowView, frames[0].message["flow"]), cast(List[w.JobView], jobs)


def list_page(what: str, cursor: bytes, most: int, wanted: Mapping[str, Any]) -> Operation[w.Listed]:
    message = {"what": what, "cursor": cursor, "most": most}
    message.update(wanted)
    frames = yield Ask(w.Op.LIST, message)
    return cast(w.Listed, frames[-1].message)


def list_all(what: str, most: int, wanted: Mapping[str, Any]) -> Operation[List[Any]]:
    """All of them, or the first `most`: page after page."""
    member = {"dead": "jobs", "running": "jobs"}.get(what, what)
    found: List[Any] = []
    cursor = b""
    while True:
        page = yield from list_page(what, cursor, most - len(found) if most else 0, wanted)
        found += cast(Mapping[str, Any], page)[member]
        cursor = page["cursor"]
        if not cursor or (most and len(found) >= most):
            return found[:most] if most else found


def wanted(flow: object = "", name: str = "", states: Sequence[str] = (), labels: Optional[Mapping[str, str]] = None,
           text: str = "") -> Dict[str, Any]:
    return {"flow": str(flow), "name": name, "states": _names(states), "labels": _pairs(labels), "text": text}


def why(job: object) -> Operation[w.Reason]:
    frames = yield Ask(w.Op.WHY, {"job": str(job)})
    return cast(w.Reason, frames[-1].message)


def wait(targets: Sequence[object], any_of: bool, timeout: Optional[float]) -> Operation[List[w.JobView]]:
    """Asks anew, with the time that is left, when the connection ends on the way."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        left_ms = 0 if deadline is None else max(1, int((deadline - time.monotonic()) * 1000))
        try:
            frames = yield Ask(w.Op.WAIT, {"targets": _names(targets), "any": any_of, "timeout_ms": left_ms}, False)
        except errors.ConnectionLost:
            continue
        over = [job for frame in frames for job in frame.message["over"]]
        if frames[-1].message["timed_out"]:
            raise errors.TimedOut("%s: not over after %s s" % (", ".join(map(str, targets)), timeout))
        if over:
            return cast(List[w.JobView], over)


def ended(targets: Sequence[object], any_of: bool, timeout: Optional[float]) -> Operation[List[Ended]]:
    """What `wait` brings, as people read it. A flow comes with its jobs."""
    found: List[Ended] = []
    for view in (yield from wait(targets, any_of, timeout)):
        if "/" in view["job"]:
            found.append(ended_job(view))
            continue
        flow = (yield from get(view["job"], False))[0]
        states = BAD_STATES if flow["job_count"] > ENDED_JOBS_MAX else ()
        jobs = yield from list_all("jobs", ENDED_JOBS_MAX, wanted(flow["flow"], states=sorted(states)))
        found.append(ended_flow(flow, {job.job: job for job in map(ended_job, jobs)}))
    return found


def change(op: int, targets: Sequence[object], reason: str, again: bool) -> Operation[List[w.Result]]:
    """cancel, retry, discard, rerun. One target that is refused is raised; of several, each says what became of it."""
    frames = yield Ask(op, {"targets": _names(targets), "reason": reason}, again)
    results = cast(List[w.Result], frames[-1].message["results"])
    if len(results) == 1 and results[0]["code"]:
        raise errors.refusal(results[0]["code"], results[0]["message"])
    return results


def pause(op: int, scope: str, name: object) -> Operation[None]:
    yield Ask(op, {"scope": scope, "name": str(name)})


def verdict(job: object, word: str, reason: str, hash: bytes, revision: int) -> Operation[None]:
    """Without hash and revision the answer is to the question as it stands now."""
    questions = yield from list_all("questions", 0, wanted(str(job).partition("/")[0]))
    asked = [one for one in questions if one["gate"] != "external" and str(job) in (one["job"], one["job"].partition("/")[0])]
    if len(asked) != 1:
        raise errors.NotFound("%s stands before %s" % (job, "%d questions: name a job" % len(asked) if asked else "no question"))
    message = {"question": asked[0]["question"], "verdict": word, "reason": reason,
               "hash": hash or asked[0]["hash"], "revision": revision or asked[0]["revision"]}
    yield Ask(w.Op.VERDICT, message, False)


def complete(job: object, output: Any, failed: bool, reason: str) -> Operation[None]:
    message = {"job": str(job), "failed": failed, "reason": reason}
    if output is not None:
        message["output"] = json.dumps(output).encode()
    yield Ask(w.Op.COMPLETE, message, False)


def result(job: object) -> Operation[Any]:
    """What the job left, read as JSON; None when it left nothing. JobFailed when it ended badly."""
    _, jobs = yield from get(job, False)
    return (yield from result_of(jobs[0]))


def result_of(view: w.JobView) -> Operation[Any]:
    if view["state"] in BAD_STATES:
        raise errors.JobFailed("%s %s%s" % (view["job"], view["state"], ": " + view["reason"] if view["reason"] else ""), view)
    if view["state"] not in OVER_STATES:
        raise errors.WrongState("%s is %s, not over" % (view["job"], view["state"]))
    data = view["result"]
    if view["result_hash"]:
        data = yield from blob_get(view["result_hash"])
    return json.loads(data) if data else None


def logs(job: object, attempt: int, tail_bytes: int) -> Operation[bytes]:
    frames = yield Ask(w.Op.LOGS, {"job": str(job), "attempt": attempt, "tail_bytes": tail_bytes})
    return b"".join(piece["data"] for frame in frames for piece in frame.message["pieces"] if piece["stream"] != "note")


def stats() -> Operation[Dict[str, int]]:
    frames = yield Ask(w.Op.STATS, {})
    return {number["name"]: number["amount"] for number in frames[-1].message["numbers"]}


# ---- blobs


def blob_put(data: bytes) -> Operation[bytes]:
    """Stores the bytes and returns their hash. What is there already is not sent."""
    digest = hashlib.sha256(data).digest()
    while True:
        try:
            return (yield from _blob_put(data, digest))
        except errors.ConnectionLost:  # the upload went with the connection
            continue


def _blob_put(data: bytes, digest: bytes) -> Operation[bytes]:
    frames = yield Ask(w.Op.BLOB_BEGIN, {"hash": digest, "bytes": len(data)}, False)
    state = frames[-1].message
    if state["stored"]:
        return digest
    upload = state["upload"]
    for at in range(0, len(data), BLOB_PART_BYTES):
        yield Ask(w.Op.BLOB_PART, {"upload": upload, "offset": at, "data": data[at:at + BLOB_PART_BYTES]}, False)
    yield Ask(w.Op.BLOB_END, {"upload": upload, "hash": digest}, False)
    return digest


def blob_get(digest: bytes) -> Operation[bytes]:
    frames = yield Ask(w.Op.BLOB_GET, {"hash": digest})
    return b"".join(frame.message["data"] for frame in frames)


def artifact(job: object, name: str) -> Operation[bytes]:
    _, jobs = yield from get(job, True)
    for kept in jobs[0]["artifacts"]:
        if kept["name"] == name:
            return (yield from blob_get(kept["hash"]))
    raise errors.NotFound("%s left no artifact `%s`: %s" % (job, name, ", ".join(k["name"] for k in jobs[0]["artifacts"]) or "none"))


# ---- the store


def kv_items(keys: Sequence[Key], flow: object) -> Operation[List[w.KvItem]]:
    frames = yield Ask(w.Op.KV_GET, {"flow": str(flow), "keys": [{"text": _bytes(key)} for key in keys]})
    return cast(List[w.KvItem], [item for frame in frames for item in frame.message["items"]])


def kv_get(key: Key, flow: object) -> Operation[Optional[bytes]]:
    items = yield from kv_items([key], flow)
    return _kv_value(items[0]) if items else None


def _kv_value(item: w.KvItem) -> bytes:
    if item["kind"] == "set":
        raise errors.WrongState("`%s` is a set" % item["key"].decode(errors="replace"))
    return str(item["number"]).encode() if item["kind"] == "number" else item["value"]


def kv_keys(prefix: Key, flow: object) -> Operation[List[bytes]]:
    found: List[bytes] = []
    after = b""
    while True:
        frames = yield Ask(w.Op.KV_GET, {"flow": str(flow), "prefix": _bytes(prefix), "after": after})
        found += [item["key"] for item in frames[-1].message["items"]]
        after = frames[-1].message["after"]
        if not after:
            return found


def kv_members(key: Key, flow: object) -> Operation[List[bytes]]:
    found: List[bytes] = []
    after = b""
    while True:
        frames = yield Ask(w.Op.KV_GET, {"flow": str(flow), "keys": [{"text": _bytes(key)}], "members": True, "after": after})
        found += [member["text"] for member in frames[-1].message["members"]]
        after = frames[-1].message["after"]
        if not after:
            return found


def kv_change(op: str, flow: object, again: bool, **fields: Any) -> Operation[w.KvChanged]:
    frames = yield Ask(w.Op.KV_CHANGE, {"op": op, "flow": str(flow), **fields}, again)
    return cast(w.KvChanged, frames[-1].message)


def kv_set(key: Key, value: Key, flow: object, expires: Optional[float], condition: str = "always", version: int = 0) -> Operation[int]:
    entry = {"key": _bytes(key), "value": _bytes(value)}
    expires_ms = 0 if expires is None else int((time.time() + expires) * 1000)
    changed = yield from kv_change("set", flow, condition == "always", entries=[entry], condition=condition, version=version,
                                   expires_ms=expires_ms)
    return changed["version"]


def kv_delete(keys: Sequence[Key], flow: object) -> Operation[int]:
    changed = yield from kv_change("delete", flow, True, entries=[{"key": _bytes(key)} for key in keys])
    return changed["number"]


def kv_incr(key: Key, by: int, flow: object) -> Operation[int]:
    changed = yield from kv_change("increase", flow, False, key=_bytes(key), number=by)
    return changed["number"]


def kv_set_members(op: str, key: Key, members: Sequence[Key], flow: object) -> Operation[int]:
    changed = yield from kv_change(op, flow, True, key=_bytes(key), members=[{"text": _bytes(member)} for member in members])
    return changed["number"]


def kv_publish(channel: Key, body: Key) -> Operation[int]:
    changed = yield from kv_change("publish", "", False, key=_bytes(channel), value=_bytes(body))
    return changed["number"]


# ---- streams


class Stream(Generic[T]):
    """Many frames answer it. `ask` begins it, also again after a lost connection; `hear` says what a frame brought."""

    over = False

    def ask(self) -> Ask:
        raise NotImplementedError

    def hear(self, frame: Frame) -> List[T]:
        raise NotImplementedError


class Events(Stream[w.Event]):
    """What happens, from the last one heard on; also what a server that was started again no longer has in memory."""

    def __init__(self, target: object, types: Sequence[str], from_start: bool, after: Optional[Tuple[int, int]]) -> None:
        name = str(target)
        self._message = {"job" if "/" in name else "flow": name, "type": _names(types)}
        self._since = "%d.%d" % after if after else "0.0" if from_start else ""

    def ask(self) -> Ask:
        return Ask(w.Op.FOLLOW, {**self._message, "since": self._since})

    def hear(self, frame: Frame) -> List[w.Event]:
        events = cast(List[w.Event], frame.message["events"])
        if events:
            self._since = "%d.%d" % (events[-1]["lsn"], events[-1]["ordinal"])
        return events


class Log(Stream[bytes]):
    """What a job writes, until its attempt is over."""

    def __init__(self, job: object, attempt: int) -> None:
        self._job, self._attempt, self._offset = str(job), attempt, 0

    def ask(self) -> Ask:
        return Ask(w.Op.LOGS, {"job": self._job, "attempt": self._attempt, "offset": self._offset, "follow": True})

    def hear(self, frame: Frame) -> List[bytes]:
        found = []
        for piece in frame.message["pieces"]:
            self._offset = piece["offset"] + len(piece["data"])
            if piece["stream"] != "note":
                found.append(piece["data"])
        self.over = self.over or not frame.more
        return found


class Watch(Stream[w.KvEvent]):
    """Changes of a key, of keys with a prefix, or what a channel says. A `gap` says: read it now."""

    def __init__(self, key: Key, prefix: bool, channel: bool, flow: object) -> None:
        self._message = {"key": _bytes(key), "prefix": prefix, "channel": channel, "flow": str(flow)}

    def ask(self) -> Ask:
        return Ask(w.Op.KV_WATCH, self._message)

    def hear(self, frame: Frame) -> List[w.KvEvent]:
        return [cast(w.KvEvent, frame.message)]
