"""The keys of a job, as flow files have them (docs/guides/flows.md says what each means).

`Flow.job(name, **keys)` and `@task(**keys)` take them. Durations are seconds, texts like "5m", or timedeltas; moments are
texts or datetimes; sizes are bytes or texts like "2GiB".
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Dict, Mapping, Sequence, TypedDict, Union

Duration = Union[int, float, str, timedelta]
Moment = Union[str, datetime]
Size = Union[int, str]
Command = Union[str, Sequence[Union[str, int, float]]]
Names = Union[str, Sequence[str]]


class JobKeys(TypedDict, total=False):
    # what it is: exactly one of these, or a command (`run`, the second argument of Flow.job)
    script: Union[str, Mapping[str, Any]]  # a local path is read, and goes along
    archive: Union[str, Mapping[str, Any]]  # so is this
    service: Mapping[str, Any]
    gate: Union[str, Mapping[str, Any]]
    external: Union[str, Mapping[str, Any]]
    http: Union[str, Mapping[str, Any]]
    handler: str
    noop: bool
    sleep: Duration
    fail: int
    payload: str  # of a handler
    # when it runs
    needs: Any  # jobs of this flow, or names
    phase: Union[str, int]
    when: Union[str, bool]
    foreach: Any
    trigger: str
    on_upstream: str
    approval: Union[str, Mapping[str, Any]]
    compensate: Union[str, Mapping[str, Any]]
    cache: Union[bool, str, Mapping[str, Any]]
    # how often, how long
    retries: int
    backoff: Union[Duration, Mapping[str, Any]]
    retry_on: Names
    fatal_exit_codes: Sequence[int]
    timeout: Duration
    deadline: Moment
    start_at: Moment
    start_within: Duration
    dispatch_timeout: Duration
    delay: Duration
    priority: Union[str, int]
    # where
    pool: str
    topic: str
    requires: Names
    placement: Mapping[str, str]
    resources: Mapping[str, Any]
    limits: Mapping[str, Any]
    prefer: Mapping[str, Any]
    affinity: bool
    exclusive: bool
    concurrency: Names
    rate: Names
    # with what
    env: Mapping[str, Any]
    stdin: Union[str, Mapping[str, Any]]
    workdir: str
    shared: bool  # starts in a folder that jobs of the tenant have in common on a worker
    artifacts: Sequence[Any]
    inputs: Mapping[str, str]
    sandbox: Union[str, Mapping[str, Any]]
    token: Names  # what its token may do beyond its own flow: read, submit
    labels: Mapping[str, str]
    log_limit: Size
    kill_grace: Duration


KEYS = frozenset(JobKeys.__annotations__) | {"run"}


def plain(value: Any) -> Any:
    """The value as JSON has it: timedeltas as texts, moments as texts, tuples as lists."""
    if isinstance(value, timedelta):
        return "%dms" % round(value.total_seconds() * 1000)
    if isinstance(value, datetime):
        return value.astimezone().isoformat(timespec="seconds")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


_DURATIONS = frozenset(
    ("sleep", "timeout", "start_within", "dispatch_timeout", "delay", "kill_grace", "backoff")
)


def as_spec(keys: Mapping[str, Any]) -> Dict[str, Any]:
    """The keys as a flow file has them. TypeError: one that no job has."""
    unknown = set(keys) - KEYS
    if unknown:
        raise TypeError("a job has no key %s" % ", ".join(sorted(unknown)))
    spec = {}
    for key, value in keys.items():
        if value is None:
            continue
        if key in _DURATIONS and isinstance(value, (int, float)) and not isinstance(value, bool):
            value = "%dms" % round(value * 1000)
        spec[key] = plain(value)
    return spec
