"""Tasks: functions that run as jobs, in a warm worker.

    @task(retries=5, timeout="1m")
    def add(x, y):
        return x + y

    add(1, 2)                    # an ordinary call
    add.submit(1, 2).result()    # a job, durable, in a worker: python -m reeve.worker MODULE
    with Flow("sums") as f:
        three = add.submit(1, 2)
        six = add.submit(three, 3)    # runs when `three` is done, and gets its result

Arguments and results are JSON; `serializer="pickle"` takes anything that pickle does. A task is found by its name, which is
that of its module and its own: workers of the pool `python` offer it as the capability `handler:NAME`, and a job waits until
one does.
"""

from __future__ import annotations

import base64
import functools
import inspect
import json
import os
import pickle
import sys
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Dict, Generic, Iterable, List, Mapping, Optional, Tuple, TypeVar, Union, overload

from . import errors
from .flow import Flow, Job, current_flow
from .keys import JobKeys

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Unpack

    P = ParamSpec("P")
else:
    P = TypeVar("P")

R = TypeVar("R")
T = TypeVar("T")
PAYLOAD_BYTES_MAX = 65536  # what the wire takes
POOL = "python"  # of tasks and of the workers that serve them: commands of other pools must not come to these
_PICKLE, _RESULT, _ARGS = "$pickle", "$result", "$args"

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_from_json = json.JSONDecoder().decode

registry: Dict[str, "Task[Any, Any]"] = {}  # every task of this process, by name


class Task(Generic[P, R]):
    """A function with a name under which workers have it."""

    def __init__(self, function: "Callable[P, R]", name: str, serializer: str, keys: JobKeys) -> None:
        if serializer not in ("json", "pickle"):
            raise ValueError("serializer is json or pickle, not %r" % serializer)
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name or "%s.%s" % (_module_of(function), function.__qualname__)
        self.serializer = serializer
        self.keys = keys
        self.signature = _signature_of(function)
        registry[self.name] = self

    def __call__(self, *args: "P.args", **kwargs: "P.kwargs") -> R:
        return self.function(*args, **kwargs)

    def __str__(self) -> str:
        """As it is called: `app.add(x, y)`."""
        return "%s%s" % (self.name, self.signature or "(…)")

    def __repr__(self) -> str:
        return "<Task %s>" % self.name

    def options(self, **keys: "Unpack[JobKeys]") -> "Task[P, R]":
        """The same task with other keys for its jobs: `add.options(priority="high").submit(1, 2)`."""
        other: Task[P, R] = Task.__new__(Task)
        other.__dict__.update(self.__dict__)
        other.keys = {**self.keys, **keys}  # type: ignore[misc]
        return other

    @overload
    def submit(self: "Task[P, Coroutine[Any, Any, T]]", *args: "P.args", **kwargs: "P.kwargs") -> "Job[T]": ...

    @overload
    def submit(self, *args: "P.args", **kwargs: "P.kwargs") -> "Job[R]": ...

    def submit(self, *args: Any, **kwargs: Any) -> "Job[Any]":
        """A job that calls it: of the flow whose `with` we are in, else of a flow of its own that is submitted at once.
        An argument that is a job stands for its result. TypeError: the function cannot be called with these."""
        flow = current_flow()
        if flow is not None:
            return self._add(flow, args, kwargs)
        alone = Flow(self.name)
        job = self._add(alone, args, kwargs)
        alone.submit()
        return job

    def map(self, items: Iterable[Any], **kwargs: Any) -> "List[Job[R]]":
        """A job for each item; outside of a flow they are one, and submitted at once."""
        flow = current_flow()
        if flow is not None:
            return [self._add(flow, (item,), kwargs) for item in items]
        alone = Flow(self.name)
        jobs = [self._add(alone, (item,), kwargs) for item in items]
        if jobs:
            alone.submit()
        return jobs

    def _add(self, flow: Flow, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> "Job[Any]":
        self._check_call(args, kwargs)
        needs: "List[Job[Any]]" = []
        payload = pack_call(args, kwargs, self.serializer, needs)
        keys: Dict[str, Any] = dict(self.keys)
        before = keys.pop("needs", [])
        before = list(before) if isinstance(before, (list, tuple)) else [before]
        if before or needs:
            keys["needs"] = before + needs
        if "topic" not in keys:
            keys.setdefault("pool", POOL)
        name = flow.free_name(self.name.rpartition(".")[2].strip("<>"))
        job = flow.job(name, handler=self.name, payload=payload, **keys)
        if self.serializer == "pickle":
            job._read = unpickled
        return job


    def _check_call(self, args: Tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """What a call would refuse is refused here, and not by a worker after the last retry."""
        if self.signature is None:
            return
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError("%s: the task is %s" % (e, self)) from None


def _signature_of(function: Callable[..., Any]) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(function)
    except ValueError:  # some functions of C have none
        return None


def _module_of(function: Callable[..., Any]) -> str:
    """Of a script, the name by which a worker imports it."""
    module = function.__module__
    if module != "__main__":
        return module
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return str(spec.name)
    return os.path.splitext(os.path.basename(getattr(main, "__file__", "") or "__main__"))[0]


@overload
def task(function: "Callable[P, R]") -> "Task[P, R]": ...


@overload
def task(function: None = None, *, name: str = "", serializer: str = "json",
         **keys: "Unpack[JobKeys]") -> "Callable[[Callable[P, R]], Task[P, R]]": ...


def task(function: Any = None, *, name: str = "", serializer: str = "json", **keys: Any) -> Any:
    """Makes a function a task. Keys are those of jobs: retries, timeout, needs, resources, …"""
    if function is not None:
        return Task(function, name, serializer, {})
    return lambda real: Task(real, name, serializer, keys)  # type: ignore[arg-type]


# ---- arguments and results


def pack_call(args: Tuple[Any, ...], kwargs: Mapping[str, Any], serializer: str, needs: "List[Job[Any]]") -> str:
    """The payload of a call; jobs among its arguments are noted in `needs`."""
    if serializer == "pickle":
        call: Any = [_marked(args, needs), _marked(kwargs, needs)]
        body: Any = {_PICKLE: base64.b64encode(pickle.dumps(call)).decode()}
    else:
        body = _marked(dict(kwargs), needs)
        if args or not kwargs:
            body = {_ARGS: _marked(list(args), needs), **body}
    text = _to_json(body)
    text = text.replace("${", "$\\u007b")  # the same JSON, and nothing in it is a template
    if len(text) * 4 > PAYLOAD_BYTES_MAX and len(text.encode()) > PAYLOAD_BYTES_MAX:
        raise errors.Limit("the arguments take %d bytes, and a call at most %d: put large ones into a blob or the store, and pass "
                           "their name" % (len(text.encode()), PAYLOAD_BYTES_MAX))
    return text


def _marked(value: Any, needs: "List[Job[Any]]") -> Any:
    if isinstance(value, Job):
        needs.append(value)
        return {_RESULT: value.name}
    if isinstance(value, Mapping):
        if any(isinstance(key, str) and key.startswith("$") for key in value):
            raise errors.Invalid("keys of arguments do not begin with `$`")
        return {key: _marked(item, needs) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        marked = [_marked(item, needs) for item in value]
        return tuple(marked) if isinstance(value, tuple) else marked
    return value


def _filled(value: Any, results: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        if len(value) == 1 and _RESULT in value:
            return results.get(value[_RESULT])
        return {key: _filled(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, results) for item in value]
    if isinstance(value, tuple):
        return tuple(_filled(item, results) for item in value)
    return value


def unpack_call(payload: bytes, serializer: str, left: Mapping[str, bytes]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """What a payload asks for. A list is positional arguments, an object keywords (`$args` before them), anything else the
    one argument; what parents left is filled in. Pickles are read only where the task itself says so."""
    results = {name: unpack_result(data, serializer) if data else None for name, data in left.items()}
    body = _from_json(payload.decode()) if payload else []
    if isinstance(body, dict) and _PICKLE in body:
        if serializer != "pickle":
            raise errors.Invalid("the arguments are a pickle, and this task does not read any")
        args, kwargs = pickle.loads(base64.b64decode(body[_PICKLE]))
        return _filled(tuple(args), results), _filled(dict(kwargs), results)
    if results:
        body = _filled(body, results)
    if isinstance(body, dict):
        args = body.pop(_ARGS, ())
        return tuple(args), body
    return (tuple(body) if isinstance(body, list) else (body,)), {}


def pack_result(value: Any, serializer: str) -> bytes:
    if serializer == "pickle":
        value = {_PICKLE: base64.b64encode(pickle.dumps(value)).decode()}
    return _to_json(value).encode()


def unpack_result(data: bytes, serializer: str) -> Any:
    value = _from_json(data.decode())
    return unpickled(value) if serializer == "pickle" else value


def unpickled(value: Any) -> Any:
    """A result that is a pickle, read; any other as it is."""
    if isinstance(value, dict) and _PICKLE in value:
        return pickle.loads(base64.b64decode(value[_PICKLE]))
    return value
