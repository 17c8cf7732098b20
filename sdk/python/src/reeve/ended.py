"""How a flow or a job ended, as `wait` returns it.

    done = client.wait(flow)
    done.state                    # "succeeded", "failed", …
    done.jobs["load"].exit_code
    done.jobs["load"].result      # what the job left, read from JSON
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, Mapping, Union, cast

from . import _wire as w
from . import errors


def _as_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Ended:
    """A flow that is over, or a job: then `job` is its name in the flow. `view` has every field that the server sent."""

    flow: str
    job: str
    state: str
    reason: str = ""
    exit_code: int = 0
    attempt: int = 0
    jobs: Mapping[str, "Ended"] = field(default_factory=dict)  # of a flow, by name: all of a small one, else those that ended badly
    view: Mapping[str, Any] = field(default_factory=dict, repr=False)
    read: Callable[[Any], Any] = field(default=_as_is, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        return self.state == "succeeded"

    @property
    def result(self) -> Any:
        """What the job left; None when it left nothing."""
        if self.view.get("result_hash"):
            raise errors.WrongState("the result of %s/%s is large and was not sent along: read it with client.result(…)" % (self.flow, self.job))
        data = cast(bytes, self.view.get("result", b""))
        return self.read(json.loads(data)) if data else None

    # Until 0.2 `wait` returned a list of views. It can still be read as one.

    def __getitem__(self, key: Union[int, str]) -> Any:
        warnings.warn("`wait` returns an object: write .state for [0][\"state\"]; .view has every field", DeprecationWarning, stacklevel=2)
        if isinstance(key, str):
            return self.view[key]
        return [self][key]

    def __iter__(self) -> Iterator["Ended"]:
        return iter([self])


def ended_job(view: w.JobView, read: Callable[[Any], Any] = _as_is) -> Ended:
    flow, _, name = view["job"].partition("/")
    return Ended(flow, name, view["state"], view["reason"], view["exit_code"], view["attempt"], {}, cast(Mapping[str, Any], view), read)


def ended_flow(view: w.FlowView, jobs: Dict[str, Ended]) -> Ended:
    return Ended(view["flow"], "", view["state"], "", 0, 0, jobs, cast(Mapping[str, Any], {**view, "job": view["flow"]}))
