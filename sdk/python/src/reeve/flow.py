"""Flows as code.

    with Flow("etl") as f:
        extract = f.job("extract", ["python3", "extract.py"])
        load = f.job("load", ["python3", "load.py"], needs=[extract], retries=5)
    f.submit()
    f.wait()
    print(load.logs())

A flow is described first and submitted then. Inside the `with`, tasks that are submitted become jobs of the flow.
"""

from __future__ import annotations

import contextvars
import hashlib
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union, cast

from . import _ops as ops
from . import _wire as w
from . import errors
from .client import Client, default_client
from .ended import Ended, ended_job
from .keys import Command, JobKeys, as_spec, plain
from .progress import Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

    Argument = Any  # for checkers of types: a job may stand for any argument of a task
else:
    Argument = object

R = TypeVar("R")
_current: "contextvars.ContextVar[Optional[Flow]]" = contextvars.ContextVar("reeve_flow", default=None)


PART_JOBS = 5000  # in one message
STAGES = ("on_success", "on_failure", "finally")
BLOB_PATH = "sha256:"  # what the path of a file that is at the server already begins with


def current_flow() -> "Optional[Flow]":
    """The flow whose `with` we are in."""
    return _current.get()


class Job(Generic[R], Argument):  # type: ignore[misc]
    """A job of a flow; R is what it leaves. Its text is what people call it: `f3k9a/train`."""

    def __init__(self, flow: "Flow", name: str) -> None:
        self.flow = flow
        self.name = name
        self._read: Callable[[Any], Any] = lambda value: value  # what its task makes of the result

    @property
    def id(self) -> str:
        return "%s/%s" % (self.flow.id, self.name)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return "<Job %s/%s>" % (self.flow.id or self.flow.name, self.name)

    def view(self) -> w.JobView:
        return self.flow.client.job(self)

    @property
    def state(self) -> str:
        return self.view()["state"]

    def wait(self, timeout: Optional[float] = None) -> Ended:
        return ended_job(self._over(timeout), self._read)

    def result(self, timeout: Optional[float] = None) -> R:
        """Waits for the job and returns what it left; `JobFailed` when it ended badly."""
        value: R = self._read(self.flow.client._run(ops.result_of(self._over(timeout))))
        return value

    def _over(self, timeout: Optional[float]) -> w.JobView:
        client = self.flow.client
        view = client._run(ops.wait([self], False, timeout))[0]
        if view["state"] == "succeeded" and not view["result"] and not view["result_hash"]:
            view = client.job(self, details=False)  # what is told of an end need not bring the result
        return view

    def logs(self, **keys: int) -> str:
        return self.flow.client.logs(self, **keys).decode(errors="replace")

    def follow(self) -> Iterator[bytes]:
        return self.flow.client.follow(self)

    def artifact(self, name: str) -> bytes:
        return self.flow.client.artifact(self, name)

    def why(self) -> w.Reason:
        return self.flow.client.why(self)

    def approve(self, reason: str = "") -> None:
        self.flow.client.approve(self, reason=reason)

    def reject(self, reason: str = "") -> None:
        self.flow.client.reject(self, reason=reason)

    def cancel(self, reason: str = "") -> None:
        self.flow.client.cancel(self, reason)

    def retry(self) -> None:
        self.flow.client.retry(self)


class Flow:
    """A graph of jobs that is submitted as one; and, once it is, what became of it."""

    def __init__(self, name: str = "", *, key: str = "", labels: Optional[Mapping[str, str]] = None,
                 params: Optional[Mapping[str, Any]] = None, defaults: Optional[JobKeys] = None,
                 phases: Sequence[str] = (), compensate_on: str = "", timeout: Any = None, deadline: Any = None,
                 client: Optional[Client] = None) -> None:
        self.name = name
        self.key = key
        self.labels = dict(labels or {})
        self.params = params
        self.defaults = defaults
        self.phases = list(phases)
        self.compensate_on = compensate_on
        self.timeout = timeout
        self.deadline = deadline
        self.id = ""
        self._client = client
        self._jobs: Dict[str, Dict[str, Any]] = {}
        self._stages: Dict[str, str] = {}  # of those that wait for the end of the others
        self._counts: Dict[str, int] = {}  # of names that were wanted more than once
        self._submitted = 0  # so many of them are at the server
        self._blobs: List[bytes] = []  # that must be there before
        self._outer: List["contextvars.Token[Optional[Flow]]"] = []

    @classmethod
    def attach(cls, id: str, client: Optional[Client] = None) -> "Flow":
        """A flow that was submitted before, by its id."""
        flow = cls(client=client)
        view = flow.client.flow(id)
        flow.id, flow.name = view["flow"], view["name"]
        return flow

    def __str__(self) -> str:
        if not self.id:
            raise errors.Invalid("the flow `%s` is not submitted yet" % self.name)
        return self.id

    def __enter__(self) -> "Flow":
        self._outer.append(_current.set(self))
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        _current.reset(self._outer.pop())

    def __getitem__(self, name: str) -> "Job[Any]":
        """A job of it by name; whether there is one is seen when it is asked for something."""
        return Job(self, name)

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = default_client()
        return self._client

    # ---- describing

    def job(self, name: str, run: Optional[Command] = None, *, stage: str = "", **keys: "Unpack[JobKeys]") -> "Job[Any]":
        """Adds a job. `run` is a command; or say another kind by its key: `script=`, `gate=`, `sleep=`, …

        With `stage` ("on_success", "on_failure" or "finally") it waits for the end of all jobs without one."""
        if stage and stage not in STAGES:
            raise errors.Invalid("the stage of a job is one of %s, not `%s`" % (", ".join(STAGES), stage))
        if name in self._jobs:
            raise errors.DuplicateName("the flow has a job `%s` already" % name)
        every: Dict[str, Any] = dict(keys)
        if run is not None:
            every["run"] = run
        if "needs" in every:
            every["needs"] = list(dict.fromkeys(_need(self, one) for one in ops.as_list(every["needs"])))
        self._jobs[name] = self._with_files(as_spec(every))
        if stage:
            self._stages[name] = stage
        return Job(self, name)

    def free_name(self, wanted: str) -> str:
        """The name, or with a number behind it when there is such a job already."""
        name = wanted
        while name in self._jobs:
            self._counts[wanted] = count = self._counts.get(wanted, 1) + 1
            name = "%s-%d" % (wanted, count)
        return name

    def _with_files(self, spec: Dict[str, Any]) -> Dict[str, Any]:
        """Local files that it names go along, as blobs."""
        for holder in (spec, spec.get("service")):
            if not isinstance(holder, dict):
                continue
            for kind in ("script", "archive"):
                given = holder.get(kind)
                if isinstance(given, str):
                    given = {"file": given}
                if isinstance(given, dict) and not given.get("file", BLOB_PATH).startswith(BLOB_PATH):
                    holder[kind] = self._file(kind, given)
        stdin = spec.get("stdin")
        if isinstance(stdin, dict) and not stdin.get("file", BLOB_PATH).startswith(BLOB_PATH):
            spec["stdin"] = {"file": self._blob(_read(stdin["file"]))}
        return spec

    def _file(self, kind: str, given: Dict[str, Any]) -> Dict[str, Any]:
        data = _read(given["file"])
        if kind == "archive":
            return {**given, "file": self._blob(data)}
        named = {"name": os.path.basename(given["file"]), **given}
        return {**named, "file": self._blob(data)}

    def _blob(self, data: bytes) -> str:
        self._blobs.append(data)
        return BLOB_PATH + hashlib.sha256(data).hexdigest()

    def spec(self) -> Dict[str, Any]:
        """The flow as a flow file has it."""
        return self._spec(list(self._jobs))

    def _spec(self, names: Sequence[str]) -> Dict[str, Any]:
        spec: Dict[str, Any] = {}
        for name in names:
            spec.setdefault(self._stages.get(name, "jobs"), {})[name] = self._jobs[name]
        if not spec or not self.id:
            spec.setdefault("jobs", {})
        if self.name and not self.id:
            spec["name"] = self.name
        if self.labels and not self.id:
            spec["labels"] = self.labels
        if self.params and not self.id:
            spec["params"] = plain(self.params)
        if self.compensate_on and not self.id:
            spec["compensate_on"] = self.compensate_on
        if not self.id:
            spec.update(as_spec({"timeout": self.timeout, "deadline": self.deadline}))
        if self.defaults:
            spec["defaults"] = as_spec(self.defaults)
        if self.phases:
            spec["phases"] = self.phases
        return spec

    # ---- running

    def submit(self) -> "Flow":
        """Submits it, or what was added since. Repeating it is safe: the key, made here unless given, makes it once."""
        for data in self.take_blobs():
            self.client.put_blob(data)
        if not self.id:
            self.key = self.key or ops.new_key()
            self.submitted(self.client._run(ops.submit_parts(self.parts(), self.key, None)))
        elif self._submitted < len(self._jobs):
            for part in self.parts():
                self.client.add_jobs(self, part)
            self.submitted(self.id)
        return self

    def parts(self) -> List[Dict[str, Any]]:
        """What is not submitted yet, as flow files of a size that the server takes."""
        names = list(self._jobs)[self._submitted:]
        return [self._spec(names[at:at + PART_JOBS]) for at in range(0, max(len(names), 1), PART_JOBS)]

    def take_blobs(self) -> List[bytes]:
        """Files that must be at the server before the flow is."""
        blobs, self._blobs = self._blobs, []
        return blobs

    def submitted(self, id: str) -> None:
        """Whoever submitted it says so."""
        self.id = id
        self._submitted = len(self._jobs)

    def wait(self, timeout: Optional[float] = None, *, check: bool = True, progress: Optional[bool] = None) -> Ended:
        """Waits until it is over; on a terminal with a bar. `FlowFailed` when it ended badly, unless `check=False`."""
        with Progress(self.client, str(self), progress):
            ended = self.client.wait(self, timeout=timeout)
        if check and not ended.ok:
            bad = [job for job in self.client.jobs(self) if job["state"] in ops.BAD_STATES]
            first = next((job for job in bad if not job["root"]), bad[0] if bad else None)
            why = ": %s %s%s" % (first["job"], first["state"], ", " + first["reason"] if first["reason"] else "") if first else ""
            raise errors.FlowFailed("flow %s %s%s" % (self, ended.state, why), cast(w.FlowView, ended.view), bad)
        return ended

    def view(self) -> w.FlowView:
        return self.client.flow(self)

    def jobs(self) -> List[w.JobView]:
        return self.client.jobs(self)

    def logs(self, job: "Union[str, Job[Any], None]" = None) -> str:
        """What a job wrote; without one what all of them did, each line with the name of its job before it."""
        if job is not None:
            return self.client.logs(_target(self, job)).decode(errors="replace")
        lines: List[str] = []
        for view in self.jobs():
            if view["attempt"]:
                name = view["job"].partition("/")[2]
                text = self.client.logs(view["job"]).decode(errors="replace")
                lines += ["%s | %s\n" % (name, line) for line in text.splitlines()]
        return "".join(lines)

    def result(self, job: "Union[str, Job[Any]]") -> Any:
        return self.client.result(_target(self, job))

    def events(self) -> Iterator[w.Event]:
        return self.client.events(self)

    def cancel(self, reason: str = "") -> None:
        self.client.cancel(self, reason)

    def rerun(self) -> None:
        self.client.rerun(self)

    def pause(self) -> None:
        self.client.pause(self)

    def resume(self) -> None:
        self.client.resume(self)


def _target(flow: Flow, job: "Union[str, Job[Any]]") -> str:
    name = job.name if isinstance(job, Job) else job
    return name if "/" in name else "%s/%s" % (flow, name)


def _need(flow: Flow, one: object) -> str:
    if not isinstance(one, Job):
        return str(one)
    return one.name if one.flow is flow else one.id


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
