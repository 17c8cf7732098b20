"""The messages of the native wire. Written by `make docs` from src/proto: change nothing here."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple, TypedDict

VERSION = 2

# code: what it means, whether another try may help
ERRORS: Dict[str, Tuple[str, bool]] = {
    "invalid": ("invalid request", False),
    "unknown_name": ("unknown name", False),
    "duplicate_name": ("a name is used twice", False),
    "cycle": ("dependency cycle", False),
    "limit": ("a limit was exceeded", False),
    "unsupported": ("not supported by this version", False),
    "unauthenticated": ("not authenticated", False),
    "forbidden": ("not allowed", False),
    "not_found": ("not found", False),
    "conflict": ("conflicts with what is recorded", False),
    "wrong_state": ("not possible in the current state", False),
    "stale": ("the message is out of date", False),
    "busy": ("overloaded, try again", True),
    "no_space": ("the disk is full", True),
    "fenced": ("another owner has taken over", True),
    "unknown": ("it may or may not have happened", True),
    "io": ("I/O error", False),
    "corrupt": ("stored data is damaged", False),
}


class Op:
    """Opcodes of frames."""

    HELLO = 1
    WELCOME = 2
    ERROR = 3
    BUSY = 4
    ACCEPTED = 5
    PING = 6
    PONG = 7
    GOODBYE = 8
    STOP = 9
    SUBMIT = 16
    SUBMITTED = 17
    ADD_JOBS = 18
    CANCEL = 19
    PAUSE = 20
    RESUME = 21
    RETRY = 22
    DISCARD = 23
    RERUN = 24
    VERDICT = 25
    COMPLETE = 26
    GET = 32
    GOT = 33
    LIST = 34
    LISTED = 35
    WHY = 36
    REASON = 37
    WAIT = 38
    WAITED = 39
    SUBSCRIBE = 40
    EVENTS = 41
    LOGS = 42
    LOG_DATA = 43
    STATS = 44
    NUMBERS = 45
    STATS_PAST = 46
    NUMBERS_PAST = 47
    SERVICE_GET = 48
    SERVICE_ROLLBACK = 49
    BLOB_BEGIN = 64
    BLOB_PART = 65
    BLOB_END = 66
    BLOB_STATE = 67
    BLOB_GET = 68
    BLOB_DATA = 69
    BLOB_LS = 70
    BLOB_LIST = 71
    KV_CHANGE = 80
    KV_CHANGED = 81
    KV_GET = 82
    KV_ITEMS = 83
    KV_WATCH = 84
    KV_EVENT = 85
    TOKEN_NEW = 96
    TOKEN_GIVEN = 97
    TOKEN_REVOKE = 98
    TOKEN_LS = 99
    TOKEN_LIST = 100
    SCHEDULE_SET = 101
    SCHEDULE_CHANGE = 102
    SCHEDULE_LS = 103
    SCHEDULE_LIST = 104
    SERVICE_SET = 105
    SERVICE_LS = 106
    SERVICE_LIST = 107
    POOL = 108
    TOPIC = 109
    TENANT = 110
    LIMIT = 111
    DRAIN = 112
    DEMAND_WATCH = 116
    DEMANDS = 117
    CALLBACK = 121
    CALLBACK_GIVEN = 122
    FOLLOW = 123
    TALE = 124
    TOLD = 125
    ATTACH = 128
    ATTACHED = 129
    HEARTBEAT = 130
    LEASE = 131
    CREDIT = 132
    DETACH = 133
    ASSIGN = 134
    CANCEL_ATTEMPT = 135
    STARTED = 136
    PROGRESS = 137
    HEALTH = 138
    LOG = 139
    LOG_ACK = 140
    DONE = 141
    DONE_ACK = 142
    SCHEDULE_RUN = 143
    METRICS = 150
    EXPOSED = 151
    DEAD_RETRY = 152
    DEAD_DISCARD = 153
    BLOB_PUT = 154
    BLOB_KEPT = 155
    AUDIT = 156
    AUDITED = 157
    WORKER_START = 158
    WORKER_STARTED = 159
    ORION_GET = 165
    ORION = 166
    PLAYGROUND_GET = 167
    PLAYGROUND = 168
    PLAYGROUND_DO = 169
    LOGIN_USE = 170
    LOGOUT = 171
    LOGIN_NEW = 175
    LOGIN_LINK = 176
    TITAN_GET = 180
    TITAN = 181
    AUDIT_CHECKPOINT = 190
    CHECKPOINTED = 191
    AUDIT_VERIFY = 192
    AUDIT_VERIFIED = 193
    AUDIT_EXPORT = 194
    AUDIT_EXPORTED = 195
    LIMIT_LS = 205
    LIMIT_LIST = 206
    SOURCE_GET = 220
    SOURCE_GOT = 221
    AGAIN = 222


# opcode: the word of the frame, the message in it
OPCODES: Dict[int, Tuple[str, str]] = {
    1: ("hello", "hello"),
    2: ("welcome", "welcome"),
    3: ("error", "error"),
    4: ("busy", "busy"),
    5: ("accepted", "accepted"),
    6: ("ping", "ping"),
    7: ("pong", "ping"),
    8: ("goodbye", "goodbye"),
    9: ("stop", "stop"),
    16: ("submit", "submit"),
    17: ("submitted", "submitted"),
    18: ("add_jobs", "add_jobs"),
    19: ("cancel", "targets"),
    20: ("pause", "pause"),
    21: ("resume", "pause"),
    22: ("retry", "targets"),
    23: ("discard", "targets"),
    24: ("rerun", "targets"),
    25: ("verdict", "verdict"),
    26: ("complete", "complete"),
    32: ("get", "get"),
    33: ("got", "got"),
    34: ("list", "list"),
    35: ("listed", "listed"),
    36: ("why", "why"),
    37: ("reason", "reason"),
    38: ("wait", "wait"),
    39: ("waited", "waited"),
    40: ("subscribe", "subscribe"),
    41: ("events", "events"),
    42: ("logs", "logs"),
    43: ("log_data", "log_data"),
    44: ("stats", "empty"),
    45: ("numbers", "stats"),
    46: ("stats_past", "stats_past"),
    47: ("numbers_past", "numbers_past"),
    48: ("service_get", "service_get"),
    49: ("service_rollback", "service_rollback"),
    64: ("blob_begin", "blob_begin"),
    65: ("blob_part", "blob_part"),
    66: ("blob_end", "blob_end"),
    67: ("blob_state", "blob_state"),
    68: ("blob_get", "blob_get"),
    69: ("blob_data", "blob_data"),
    70: ("blob_ls", "blob_ls"),
    71: ("blob_list", "blob_list"),
    80: ("kv_change", "kv_change"),
    81: ("kv_changed", "kv_changed"),
    82: ("kv_get", "kv_get"),
    83: ("kv_items", "kv_items"),
    84: ("kv_watch", "kv_watch"),
    85: ("kv_event", "kv_event"),
    96: ("token_new", "token_new"),
    97: ("token_given", "token_given"),
    98: ("token_revoke", "targets"),
    99: ("token_ls", "page"),
    100: ("token_list", "token_list"),
    101: ("schedule_set", "schedule_set"),
    102: ("schedule_change", "schedule_change"),
    103: ("schedule_ls", "schedule_ls"),
    104: ("schedule_list", "schedule_list"),
    105: ("service_set", "service_set"),
    106: ("service_ls", "page"),
    107: ("service_list", "service_list"),
    108: ("pool", "pool"),
    109: ("topic", "topic"),
    110: ("tenant", "tenant"),
    111: ("limit", "limit"),
    112: ("drain", "drain"),
    116: ("demand_watch", "demand_watch"),
    117: ("demands", "demands"),
    121: ("callback", "callback"),
    122: ("callback_given", "callback_given"),
    123: ("follow", "follow"),
    124: ("tale", "tale"),
    125: ("told", "told"),
    128: ("attach", "attach"),
    129: ("attached", "attached"),
    130: ("heartbeat", "heartbeat"),
    131: ("lease", "lease"),
    132: ("credit", "load"),
    133: ("detach", "detach"),
    134: ("assign", "assign"),
    135: ("cancel_attempt", "stop_attempts"),
    136: ("started", "attempts"),
    137: ("progress", "progress"),
    138: ("health", "health"),
    139: ("log", "log"),
    140: ("log_ack", "log_ack"),
    141: ("done", "done"),
    142: ("done_ack", "done_ack"),
    143: ("schedule_run", "schedule_run"),
    150: ("metrics", "empty"),
    151: ("exposed", "metrics"),
    152: ("dead_retry", "dead"),
    153: ("dead_discard", "dead"),
    154: ("blob_put", "blob_put"),
    155: ("blob_kept", "blob_kept"),
    156: ("audit", "audit"),
    157: ("audited", "audited"),
    158: ("worker_start", "worker_start"),
    159: ("worker_started", "worker_started"),
    165: ("orion_get", "orion_get"),
    166: ("orion", "orion"),
    167: ("playground_get", "empty"),
    168: ("playground", "playground"),
    169: ("playground_do", "playground_do"),
    170: ("login_use", "login_use"),
    171: ("logout", "logout"),
    175: ("login_new", "empty"),
    176: ("login_link", "login_link"),
    180: ("titan_get", "titan_get"),
    181: ("titan", "titan"),
    190: ("audit_checkpoint", "empty"),
    191: ("checkpointed", "checkpoint"),
    192: ("audit_verify", "audit_verify"),
    193: ("audit_verified", "audit_verified"),
    194: ("audit_export", "audit_export"),
    195: ("audit_exported", "audit_exported"),
    205: ("limit_ls", "page"),
    206: ("limit_list", "limit_list"),
    220: ("source_get", "source_get"),
    221: ("source_got", "source_got"),
    222: ("again", "again"),
}


class Hello(TypedDict, total=False):
    version_min: int
    version_max: int
    peer: str
    build: str
    token: bytes
    tenant: str
    agent: bool


class Welcome(TypedDict, total=False):
    lsn: int
    version: int
    build: str
    epoch: int
    shard: int
    principal: str
    tenant: str
    roles: Sequence[Name]
    now_ms: int
    frame_bytes_max: int
    lease_ms: int
    heartbeat_ms: int


class Error(TypedDict, total=False):
    lsn: int
    code: str
    message: str
    retry_after_ms: int
    version: int


class Busy(TypedDict, total=False):
    retry_after_ms: int
    reason: str


class Accepted(TypedDict, total=False):
    lsn: int
    repeated: bool
    results: Sequence[Result]
    more: bool


class Ping(TypedDict, total=False):
    number: int


class Goodbye(TypedDict, total=False):
    reason: str
    retry_after_ms: int


class Stop(TypedDict, total=False):
    request: int


class Submit(TypedDict, total=False):
    flows: Sequence[Flow]


class Submitted(TypedDict, total=False):
    lsn: int
    flows: Sequence[SubmittedFlow]


class AddJobs(TypedDict, total=False):
    flow: str
    part: Jobs
    spec: bytes
    params: bytes


class Targets(TypedDict, total=False):
    targets: Sequence[Name]
    reason: str


class Pause(TypedDict, total=False):
    scope: str
    name: str


class Verdict(TypedDict, total=False):
    question: int
    job: str
    revision: int
    hash: bytes
    verdict: str
    reason: str
    payload: bytes
    again_ms: int
    policy: int
    fatal: bool
    items: bytes
    item_count: int


class Complete(TypedDict, total=False):
    job: str
    failed: bool
    output: bytes
    reason: str
    token: str


class Get(TypedDict, total=False):
    target: str
    details: bool


class Got(TypedDict, total=False):
    lsn: int
    flow: FlowView
    jobs: Sequence[JobView]


class List(TypedDict, total=False):
    what: str
    most: int
    cursor: bytes
    flow: str
    name: str
    states: Sequence[Name]
    labels: Sequence[Pair]
    since_ms: int
    until_ms: int
    text: str
    graph: bool
    items_of: str
    job: str
    label: str
    newest: bool
    schedule: str
    items: bool
    apart: bool
    reasons: bool


class Listed(TypedDict, total=False):
    lsn: int
    cursor: bytes
    flows: Sequence[FlowView]
    jobs: Sequence[JobView]
    questions: Sequence[QuestionView]
    workers: Sequence[WorkerView]
    partial: bool


class Why(TypedDict, total=False):
    job: str


class Reason(TypedDict, total=False):
    lsn: int
    job: str
    state: str
    code: str
    text: str
    parents_open: int
    parent: str
    until_ms: int
    limit: str
    question: int
    worker: str
    gate: str
    poll_ms: int


class Wait(TypedDict, total=False):
    targets: Sequence[Name]
    any: bool
    timeout_ms: int


class Waited(TypedDict, total=False):
    lsn: int
    over: Sequence[JobView]
    timed_out: bool


class Subscribe(TypedDict, total=False):
    after_lsn: int
    after_ordinal: int
    from_start: bool
    targets: Sequence[Name]
    state_first: bool


class Events(TypedDict, total=False):
    events: Sequence[Event]
    gap: bool


class Logs(TypedDict, total=False):
    job: str
    attempt: int
    offset: int
    tail_bytes: int
    most: int
    follow: bool
    now: bool
    marks: bool


class LogData(TypedDict, total=False):
    attempt: int
    pieces: Sequence[LogPiece]
    cut_bytes: int
    over: bool
    job: str
    bytes: int


class Empty(TypedDict, total=False):
    pass


class Stats(TypedDict, total=False):
    lsn: int
    numbers: Sequence[Amount]


class StatsPast(TypedDict, total=False):
    since_ms: int
    step_ms: int


class NumbersPast(TypedDict, total=False):
    lsn: int
    samples: Sequence[Sample]


class ServiceGet(TypedDict, total=False):
    name: str


class ServiceRollback(TypedDict, total=False):
    name: str
    version: int


class BlobBegin(TypedDict, total=False):
    hash: bytes
    bytes: int


class BlobPart(TypedDict, total=False):
    upload: int
    offset: int
    data: bytes


class BlobEnd(TypedDict, total=False):
    upload: int
    hash: bytes


class BlobState(TypedDict, total=False):
    upload: int
    offset: int
    stored: bool
    hash: bytes


class BlobGet(TypedDict, total=False):
    hash: bytes
    offset: int
    most: int


class BlobData(TypedDict, total=False):
    offset: int
    bytes: int
    data: bytes


class BlobLs(TypedDict, total=False):
    cursor: bytes
    most: int


class BlobList(TypedDict, total=False):
    cursor: bytes
    blobs: Sequence[BlobView]


class KvChange(TypedDict, total=False):
    op: str
    flow: str
    entries: Sequence[KvEntry]
    condition: str
    version: int
    key: bytes
    value: bytes
    number: int
    members: Sequence[KvKey]
    expires_ms: int
    keep_expiry: bool


class KvChanged(TypedDict, total=False):
    lsn: int
    number: int
    version: int


class KvGet(TypedDict, total=False):
    flow: str
    keys: Sequence[KvKey]
    prefix: bytes
    after: bytes
    most: int
    members: bool


class KvItems(TypedDict, total=False):
    lsn: int
    items: Sequence[KvItem]
    members: Sequence[KvKey]
    after: bytes


class KvWatch(TypedDict, total=False):
    flow: str
    key: bytes
    prefix: bool
    channel: bool


class KvEvent(TypedDict, total=False):
    lsn: int
    key: bytes
    version: int
    body: bytes
    gap: bool


class TokenNew(TypedDict, total=False):
    name: str
    tenant: str
    roles: Sequence[Name]
    expires_ms: int
    kind: str


class TokenGiven(TypedDict, total=False):
    lsn: int
    id: str
    token: bytes


class Page(TypedDict, total=False):
    cursor: bytes
    most: int


class TokenList(TypedDict, total=False):
    lsn: int
    tokens: Sequence[TokenView]


class ScheduleSet(TypedDict, total=False):
    name: str
    expression: str
    catch_up: str
    overlap: str
    paused: bool
    start_ms: int
    end_ms: int
    flow: Flow
    calendar: str
    key: str
    when: str
    min_interval_ms: int
    own_changes: bool


class ScheduleChange(TypedDict, total=False):
    name: str
    op: str
    since_ms: int
    until_ms: int
    since: str
    until: str


class ScheduleLs(TypedDict, total=False):
    cursor: bytes
    most: int
    name: str
    ahead: int
    details: bool
    since: str
    until: str


class ScheduleList(TypedDict, total=False):
    lsn: int
    cursor: bytes
    schedules: Sequence[ScheduleView]


class ServiceSet(TypedDict, total=False):
    name: str
    desired: str
    replicas: int


class ServiceList(TypedDict, total=False):
    lsn: int
    cursor: bytes
    services: Sequence[ServiceView]


class Pool(TypedDict, total=False):
    name: str
    state: str
    refuse_overload: bool
    capabilities: Sequence[Name]


class Topic(TypedDict, total=False):
    name: str
    pools: Sequence[Name]


class Tenant(TypedDict, total=False):
    name: str
    weight: int


class Limit(TypedDict, total=False):
    tenant: str
    kind: str
    name: str
    clear: bool
    width: int
    rate_milli: int
    burst: int
    running: int
    queued: int
    bytes: int


class Drain(TypedDict, total=False):
    worker: str
    undo: bool
    end: bool


class DemandWatch(TypedDict, total=False):
    kind: WorkerInfo
    once: bool


class Demands(TypedDict, total=False):
    lsn: int
    now_ms: int
    ready: int
    since_ms: int
    need_milli: int
    rows: Sequence[DemandRow]
    rows_left: int
    workers: Sequence[DemandWorker]


class Callback(TypedDict, total=False):
    job: str
    for_ms: int


class CallbackGiven(TypedDict, total=False):
    lsn: int
    token: str
    url: str
    expires_ms: int


class Follow(TypedDict, total=False):
    since: str
    flow: str
    job: str
    type: Sequence[Name]
    once: bool
    targets: Sequence[Name]
    state_first: bool


class Tale(TypedDict, total=False):
    flow: str
    since: str
    most: int


class Told(TypedDict, total=False):
    lsn: int
    events: Sequence[Event]
    cursor: str
    gap: bool


class Attach(TypedDict, total=False):
    worker: str
    incarnation: int
    epoch_seen: int
    info: WorkerInfo
    load: Load
    held: Sequence[Held]


class Attached(TypedDict, total=False):
    lsn: int
    epoch: int
    lease_ms: int
    heartbeat_ms: int


class Heartbeat(TypedDict, total=False):
    load: Load
    sent_ms: int


class Lease(TypedDict, total=False):
    epoch: int
    lease_ms: int
    sent_ms: int


class Load(TypedDict, total=False):
    credit: int
    cpu_percent: int
    gpu_percent: int


class Detach(TypedDict, total=False):
    reason: str


class Assign(TypedDict, total=False):
    epoch: int
    assignments: Sequence[Assignment]


class StopAttempts(TypedDict, total=False):
    epoch: int
    stops: Sequence[Stopped]


class Attempts(TypedDict, total=False):
    attempts: Sequence[Attempt]


class Progress(TypedDict, total=False):
    items: Sequence[ProgressItem]


class Health(TypedDict, total=False):
    items: Sequence[HealthItem]


class Log(TypedDict, total=False):
    batches: Sequence[LogBatch]


class LogAck(TypedDict, total=False):
    marks: Sequence[LogMark]


class Done(TypedDict, total=False):
    ends: Sequence[End]


class DoneAck(TypedDict, total=False):
    lsn: int
    acks: Sequence[EndAck]


class ScheduleRun(TypedDict, total=False):
    name: str
    slot: str
    key: str


class Metrics(TypedDict, total=False):
    lsn: int
    text: str


class Dead(TypedDict, total=False):
    targets: Sequence[Name]
    all: bool
    flow: str
    name: str
    states: Sequence[Name]
    since_ms: int
    until_ms: int


class BlobPut(TypedDict, total=False):
    data: bytes


class BlobKept(TypedDict, total=False):
    hash: bytes
    bytes: int


class Audit(TypedDict, total=False):
    flow: str
    principal: str
    kind: str
    people: bool
    since_ms: int
    until_ms: int
    cursor: bytes
    most: int
    verb: str
    object: str
    tenant: str


class Audited(TypedDict, total=False):
    records: Sequence[AuditRecord]
    cursor: bytes


class WorkerStart(TypedDict, total=False):
    slots: int
    name: str
    labels: Sequence[Pair]


class WorkerStarted(TypedDict, total=False):
    worker: str
    pid: int


class OrionGet(TypedDict, total=False):
    what: str


class Orion(TypedDict, total=False):
    lsn: int
    pending: int
    running: int
    completed: int
    failed: int
    retried: int
    queue_size: int
    slots: int
    slots_used: int
    clients: int
    dropped_events: int
    uptime_ms: int
    now_ms: int
    crashed_ms: int
    tasks: Sequence[OrionTask]
    dags: Sequence[OrionDag]
    more: bool
    took_count: int
    took_ms: int
    took_within: Sequence[OrionWithin]


class Playground(TypedDict, total=False):
    server: str
    pid: int
    since_ms: int
    restart_in_ms: int
    kills: int
    recovered: bool
    recovery: Recovery


class PlaygroundDo(TypedDict, total=False):
    what: str


class LoginUse(TypedDict, total=False):
    ticket: str


class Logout(TypedDict, total=False):
    session: int


class LoginLink(TypedDict, total=False):
    lsn: int
    url: str
    ticket: str
    expires_ms: int


class TitanGet(TypedDict, total=False):
    what: str
    names: Sequence[TitanName]


class Titan(TypedDict, total=False):
    lsn: int
    jobs: Sequence[TitanJob]
    text: bytes
    worker: str
    services: int


class Checkpoint(TypedDict, total=False):
    shard: int
    number: int
    lsn: int
    from_lsn: int
    upto_lsn: int
    time_ms: int
    chain: str
    key: str
    signature: str


class AuditVerify(TypedDict, total=False):
    key: str
    since: str


class AuditVerified(TypedDict, total=False):
    ok: bool
    text: str
    from_lsn: int
    upto_lsn: int
    last_lsn: int
    checkpoints: int
    keys: int
    whole: bool
    checkpoint: Checkpoint


class AuditExport(TypedDict, total=False):
    flow: str
    principal: str
    kind: str
    people: bool
    since_ms: int
    until_ms: int
    cursor: bytes
    most: int
    verb: str
    object: str
    tenant: str
    format: str


class AuditExported(TypedDict, total=False):
    lines: str
    cursor: bytes


class LimitList(TypedDict, total=False):
    lsn: int
    cursor: bytes
    limits: Sequence[LimitView]


class SourceGet(TypedDict, total=False):
    flow: str


class SourceGot(TypedDict, total=False):
    lsn: int
    name: str
    text: str
    params: bytes


class Again(TypedDict, total=False):
    flow: str
    params: bytes
    check: bool


class Run(TypedDict, total=False):
    argv: Sequence[Arg]
    shell: str
    script: bytes
    script_name: str
    script_hash: bytes
    stdin_text: bytes
    stdin_hash: bytes
    env: Sequence[Pair]
    files: Sequence[File]
    artifacts: Sequence[Artifact]
    workdir: str
    sleep_ms: int
    exit_code: int
    log_bytes_max: int
    kill_grace_ms: int
    labels: Sequence[Pair]
    when: str
    foreach: str
    message: str
    inputs: Sequence[Take]
    params: str
    port: int
    port_auto: bool
    health: Probe
    entry: str
    dir: str
    strip: int
    is_archive: bool
    limits: Ceilings
    sandbox: int
    sandbox_read: Sequence[Arg]
    sandbox_write: Sequence[Arg]
    http: Sequence[Http]
    submit: Sequence[Step]
    poll: Sequence[Step]
    interpreter: Sequence[Arg]
    shared: bool
    handler: str
    titan: str
    late: str
    replica_of: str


class Name(TypedDict, total=False):
    name: str


class Result(TypedDict, total=False):
    target: str
    code: str
    message: str
    repeated: bool


class Flow(TypedDict, total=False):
    name: str
    key: str
    key_ms: int
    trace: str
    labels: Sequence[Pair]
    part: Jobs
    spec: bytes
    params: bytes
    check: bool
    compensate_on: str
    source: Source
    source_name: str
    timeout_ms: int
    deadline_ms: int
    late_after_ms: int


class SubmittedFlow(TypedDict, total=False):
    flow: str
    job_count: int
    repeated: bool
    code: str
    message: str
    retry_after_ms: int


class Jobs(TypedDict, total=False):
    options: Sequence[Options]
    jobs: Sequence[Job]
    more: bool


class FlowView(TypedDict, total=False):
    flow: str
    name: str
    state: str
    principal: str
    tenant: str
    paused: bool
    more: bool
    cancelling: bool
    unwinding: str
    created_ms: int
    finished_ms: int
    job_count: int
    states: Sequence[Amount]
    labels: Sequence[Pair]
    archived: bool
    schedule: str
    slot_ms: int
    slot: str
    compensations_not_run: int
    not_run_because: str
    upstream_failed: int
    params: bytes
    source_name: str
    source_bytes: int
    source: bytes
    again_of: str
    stage: str
    called: str
    timed_out: bool
    late: bool
    timeout_at_ms: int
    deadline_ms: int
    trigger: str


class JobView(TypedDict, total=False):
    job: str
    state: str
    cause: str
    kind: str
    attempt: int
    attempts_max: int
    since_ms: int
    due_ms: int
    worker: str
    pool: str
    question: int
    root: str
    dead_letter: bool
    percent: int
    exit_code: int
    signal: int
    reason: str
    result: bytes
    result_hash: bytes
    parents: Sequence[Name]
    body: bytes
    body_hash: bytes
    attempts: Sequence[AttemptView]
    artifacts: Sequence[Kept]
    items: int
    items_begun: int
    items_open: int
    items_bad: int
    started_ms: int
    ended_ms: int
    code: str
    waits_for: str
    stage: str


class Pair(TypedDict, total=False):
    key: str
    value: str


class QuestionView(TypedDict, total=False):
    question: int
    revision: int
    gate: str
    job: str
    hash: bytes
    asked_ms: int
    deadline_ms: int
    votes: int
    quorum: int
    four_eyes: bool
    role: str
    body: bytes


class WorkerView(TypedDict, total=False):
    worker: str
    incarnation: int
    pool: str
    build: str
    attached: bool
    draining: bool
    permanent: bool
    slots: int
    active: int
    cpu_percent: int
    gpu_percent: int
    capabilities: Sequence[Name]
    labels: Sequence[Pair]
    seen_ms: int
    tenant: str
    cpu_milli: int
    cpu_milli_taken: int
    memory_bytes: int
    memory_bytes_taken: int
    gpus: int
    gpus_taken: int
    resources: Sequence[Amount]
    resources_taken: Sequence[Amount]


Event = TypedDict(
    "Event", {
        "lsn": "int",
        "ordinal": "int",
        "kind": "str",
        "time_ms": "int",
        "target": "str",
        "from": "str",
        "to": "str",
        "cause": "str",
        "attempt": "int",
        "worker": "str",
        "due_ms": "int",
        "schedule": "str",
        "slot_ms": "int",
    }, total=False)


class LogPiece(TypedDict, total=False):
    offset: int
    stream: str
    time_ms: int
    data: bytes


class Amount(TypedDict, total=False):
    name: str
    amount: int


class Sample(TypedDict, total=False):
    time_ms: int
    numbers: Sequence[Amount]


class BlobView(TypedDict, total=False):
    hash: bytes
    bytes: int
    stored_ms: int
    uses: int
    kept_as: str


class KvEntry(TypedDict, total=False):
    key: bytes
    value: bytes


class KvKey(TypedDict, total=False):
    text: bytes


class KvItem(TypedDict, total=False):
    key: bytes
    kind: str
    value: bytes
    number: int
    version: int
    expires_ms: int


class TokenView(TypedDict, total=False):
    id: str
    name: str
    tenant: str
    roles: Sequence[Name]
    created_ms: int
    expires_ms: int
    used_ms: int
    kind: str


class ScheduleView(TypedDict, total=False):
    name: str
    expression: str
    catch_up: str
    overlap: str
    paused: bool
    next_ms: int
    fired_ms: int
    flow: str
    running: bool
    code: str
    text: str
    fired: int
    missed: int
    skipped: int
    waiting: int
    ahead: Sequence[Moment]
    zone: str
    principal: str
    next: str
    slots: Sequence[Slot]
    between: Sequence[Moment]
    calendar: str
    excluded: int


class ServiceView(TypedDict, total=False):
    name: str
    state: str
    job: str
    healthy: bool
    restarts: int
    worker: str
    since_ms: int
    version: int
    previous_version: int
    deploying: bool
    port: int
    code: str
    text: str
    due_ms: int
    attempt: int
    replica_of: str
    replica: int
    update: str
    overlaps: bool
    previous_healthy: bool
    previous_port: int
    versions: Sequence[ServiceVersion]


class WorkerInfo(TypedDict, total=False):
    pool: str
    capabilities: Sequence[Name]
    labels: Sequence[Pair]
    slots: int
    cpu_milli: int
    memory_bytes: int
    gpus: int
    resources: Sequence[Amount]
    permanent: bool
    build: str


class DemandRow(TypedDict, total=False):
    tenant: str
    demand: Demand
    priority: int
    ready: int
    more: bool
    since_ms: int
    code: str
    at_once: int


class DemandWorker(TypedDict, total=False):
    worker: str
    slots: int
    active: int
    draining: bool
    served: int


class Held(TypedDict, total=False):
    attempt: Attempt
    phase: str


class Assignment(TypedDict, total=False):
    attempt: Attempt
    fence: int
    job: str
    kind: str
    body: bytes
    env: Sequence[Pair]
    token: bytes
    tenant: str
    trace: str
    constraints: bytes
    run_timeout_ms: int
    exclusive: bool
    inputs: Sequence[Input]
    compensation: bool
    refusal: str
    cpu_milli: int
    gpus: int
    memory_bytes: int


class Stopped(TypedDict, total=False):
    attempt: Attempt
    cause: str
    grace_ms: int


class Attempt(TypedDict, total=False):
    shard: int
    flow: int
    ordinal: int
    attempt: int


class ProgressItem(TypedDict, total=False):
    attempt: Attempt
    percent: int
    text: str


class HealthItem(TypedDict, total=False):
    attempt: Attempt
    healthy: bool
    text: str
    port: int


class LogBatch(TypedDict, total=False):
    attempt: Attempt
    pieces: Sequence[LogPiece]


class LogMark(TypedDict, total=False):
    attempt: Attempt
    offset: int


class End(TypedDict, total=False):
    attempt: Attempt
    outcome: str
    exit_code: int
    signal: int
    fatal: bool
    result: bytes
    result_hash: bytes
    log_bytes: int
    log_cut_bytes: int
    reason: str
    artifacts: Sequence[Kept]
    started_ms: int
    ended_ms: int
    cpu_ms: int
    memory_bytes_max: int
    hit: str
    hit_count: int
    throttled_ms: int
    unkept: str
    retry_after_ms: int
    ended_ago_ms: int


class EndAck(TypedDict, total=False):
    attempt: Attempt
    code: str
    message: str
    repeated: bool


class AuditRecord(TypedDict, total=False):
    lsn: int
    time_ms: int
    principal: str
    kind: str
    target: str
    text: str
    verb: str
    tenant: str


class OrionTask(TypedDict, total=False):
    id: str
    dag: str
    payload: str
    priority: int
    dependencies: Sequence[Name]
    status: str
    retry_count: int
    max_retries: int
    start_ms: int
    end_ms: int
    shadowed: bool


class OrionDag(TypedDict, total=False):
    dag: str
    tasks: Sequence[Name]
    submitted_ms: int


class OrionWithin(TypedDict, total=False):
    count: int


class Recovery(TypedDict, total=False):
    records: int
    flows: int
    jobs: int
    attempts_open: int
    attempts_adopted: int
    attempts_again: int
    lost: int
    took_ms: int
    replayed_lsn: int


class TitanName(TypedDict, total=False):
    id: bytes


class TitanJob(TypedDict, total=False):
    id: bytes
    target: str
    status: str
    attempts: int
    service: str
    log: str
    note: str
    dag: bytes
    run: bytes


class LimitView(TypedDict, total=False):
    tenant: str
    kind: str
    name: str
    set: bool
    width: int
    taken: int
    rate_milli: int
    burst: int
    level_milli: int
    running_max: int
    running: int
    queued_max: int
    queued: int
    bytes_max: int
    bytes: int


class Arg(TypedDict, total=False):
    text: str


class File(TypedDict, total=False):
    path: str
    hash: bytes
    executable: bool


class Artifact(TypedDict, total=False):
    name: str
    path: str
    optional: bool


class Take(TypedDict, total=False):
    path: str
    job: str
    name: str


class Probe(TypedDict, total=False):
    kind: str
    port: int
    path: str
    argv: Sequence[Arg]
    shell: str
    interval_ms: int
    timeout_ms: int
    threshold: int
    grace_ms: int


class Ceilings(TypedDict, total=False):
    memory_bytes: int
    cpu_milli: int
    pids: int
    open_files: int
    file_bytes: int


class Http(TypedDict, total=False):
    url: str
    method: str
    headers: Sequence[Pair]
    body: bytes
    is_json: bool
    expect: Sequence[Span]
    save: str
    bytes_max: int
    timeout_ms: int
    redirects: int
    ca: str
    allow_private: bool


class Step(TypedDict, total=False):
    argv: Sequence[Arg]
    shell: str
    http: Sequence[Http]
    until: str
    failed: str


class Source(TypedDict, total=False):
    text: str
    spec: bytes
    files: Sequence[SourceFile]


class Options(TypedDict, total=False):
    kind: str
    priority: int
    demand: Demand
    attempts_max: int
    backoff_base_ms: int
    backoff_cap_ms: int
    backoff_jitter_ms: int
    on_upstream: str
    exclusive: bool
    delay_from_submit: bool
    delay_ms: int
    not_before_ms: int
    deadline_ms: int
    start_within_ms: int
    dispatch_timeout_ms: int
    run_timeout_ms: int
    preferred_worker: str
    preferred_pool: str
    affinity: bool
    prefer_ms: int
    gates: int
    approval_ms: int
    quorum: int
    four_eyes: bool
    policy_open: bool
    approval_role: str
    fatal_exits: Sequence[int]
    max_parallel: int
    fail_fast: bool
    allow_count: int
    allow_percent: int
    restart_base_ms: int
    restart_cap_ms: int
    restart_reset_ms: int
    healthy_within_ms: int
    stop_within_ms: int
    cache_ms: int
    calls: bool
    poll_ms: int
    poll_cap_ms: int
    token_rights: int
    free_losses: int
    trigger: str
    retry_on: int
    stage: str
    update: str
    replica_of: str
    replicas: int


class Job(TypedDict, total=False):
    name: str
    options: int
    parents: Sequence[int]
    parent_names: Sequence[Name]
    body: bytes
    undo_options: int
    undo_body: bytes
    child_options: int
    service: str
    cache_key: bytes


class AttemptView(TypedDict, total=False):
    attempt: int
    worker: str
    outcome: str
    exit_code: int
    signal: int
    assigned_ms: int
    started_ms: int
    ended_ms: int
    log_bytes: int
    log_cut_bytes: int
    reason: str
    artifacts: Sequence[Kept]
    cpu_ms: int
    memory_bytes_max: int
    hit: str
    hit_count: int
    throttled_ms: int
    unkept: str


class Kept(TypedDict, total=False):
    name: str
    hash: bytes
    bytes: int


class Moment(TypedDict, total=False):
    ms: int
    text: str


class Slot(TypedDict, total=False):
    what: str
    slot_ms: int
    slot: str
    count: int
    flow: str
    state: str
    text: str


class ServiceVersion(TypedDict, total=False):
    version: int
    state: str
    by: str
    flow: str
    job: str
    begun_ms: int
    healthy_ms: int
    ended_ms: int
    restarts: int
    kept: bool


class Demand(TypedDict, total=False):
    pool: str
    topic: str
    capabilities: Sequence[Name]
    labels: Sequence[Pair]
    cpu_milli: int
    memory_bytes: int
    gpus: int
    resources: Sequence[Amount]
    keys: Sequence[Name]
    rates: Sequence[Name]


class Input(TypedDict, total=False):
    job: str
    result: bytes
    result_hash: bytes
    artifacts: Sequence[Kept]


Span = TypedDict(
    "Span", {
        "from": "int",
        "to": "int",
    }, total=False)


class SourceFile(TypedDict, total=False):
    path: str
    bytes: bytes
    hash: bytes


# message: its fields as (tag, name, type, message inside it or words of an enum)
TABLES: Dict[str, Tuple[Tuple[int, str, str, str], ...]] = {
    "hello": (
        (1, "version_min", "uint", ""),
        (2, "version_max", "uint", ""),
        (3, "peer", "enum", "client worker"),
        (4, "build", "text", ""),
        (5, "token", "bytes", ""),
        (6, "tenant", "text", ""),
        (7, "agent", "bool", ""),
    ),
    "welcome": (
        (1, "lsn", "uint", ""),
        (2, "version", "uint", ""),
        (3, "build", "text", ""),
        (4, "epoch", "uint", ""),
        (5, "shard", "uint", ""),
        (6, "principal", "text", ""),
        (7, "tenant", "text", ""),
        (8, "roles", "list", "name"),
        (9, "now_ms", "int", ""),
        (10, "frame_bytes_max", "uint", ""),
        (11, "lease_ms", "uint", ""),
        (12, "heartbeat_ms", "uint", ""),
    ),
    "error": (
        (1, "lsn", "uint", ""),
        (2, "code", "text", ""),
        (3, "message", "text", ""),
        (4, "retry_after_ms", "uint", ""),
        (5, "version", "uint", ""),
    ),
    "busy": (
        (1, "retry_after_ms", "uint", ""),
        (2, "reason", "text", ""),
    ),
    "accepted": (
        (1, "lsn", "uint", ""),
        (2, "repeated", "bool", ""),
        (3, "results", "list", "result"),
        (4, "more", "bool", ""),
    ),
    "ping": (
        (1, "number", "uint", ""),
    ),
    "goodbye": (
        (1, "reason", "text", ""),
        (2, "retry_after_ms", "uint", ""),
    ),
    "stop": (
        (1, "request", "uint", ""),
    ),
    "submit": (
        (1, "flows", "list", "flow"),
    ),
    "submitted": (
        (1, "lsn", "uint", ""),
        (2, "flows", "list", "submitted_flow"),
    ),
    "add_jobs": (
        (1, "flow", "text", ""),
        (2, "part", "message", "jobs"),
        (3, "spec", "bytes", ""),
        (4, "params", "bytes", ""),
    ),
    "targets": (
        (1, "targets", "list", "name"),
        (2, "reason", "text", ""),
    ),
    "pause": (
        (1, "scope", "enum", "flow pool tenant"),
        (2, "name", "text", ""),
    ),
    "verdict": (
        (1, "question", "uint", ""),
        (2, "job", "text", ""),
        (3, "revision", "uint", ""),
        (4, "hash", "bytes", ""),
        (5, "verdict", "enum", "approve reject constrain hold again quarantine redact fail"),
        (6, "reason", "text", ""),
        (7, "payload", "bytes", ""),
        (8, "again_ms", "int", ""),
        (9, "policy", "uint", ""),
        (10, "fatal", "bool", ""),
        (11, "items", "bytes", ""),
        (12, "item_count", "uint", ""),
    ),
    "complete": (
        (1, "job", "text", ""),
        (2, "failed", "bool", ""),
        (3, "output", "bytes", ""),
        (4, "reason", "text", ""),
        (5, "token", "text", ""),
    ),
    "get": (
        (1, "target", "text", ""),
        (2, "details", "bool", ""),
    ),
    "got": (
        (1, "lsn", "uint", ""),
        (2, "flow", "message", "flow_view"),
        (3, "jobs", "list", "job_view"),
    ),
    "list": (
        (1, "what", "enum", "flows jobs dead questions workers running worker"),
        (2, "most", "uint", ""),
        (3, "cursor", "bytes", ""),
        (4, "flow", "text", ""),
        (5, "name", "text", ""),
        (6, "states", "list", "name"),
        (7, "labels", "list", "pair"),
        (8, "since_ms", "int", ""),
        (9, "until_ms", "int", ""),
        (10, "text", "text", ""),
        (12, "graph", "bool", ""),
        (13, "items_of", "text", ""),
        (14, "job", "text", ""),
        (15, "label", "text", ""),
        (16, "newest", "bool", ""),
        (17, "schedule", "text", ""),
        (20, "items", "bool", ""),
        (21, "apart", "bool", ""),
        (22, "reasons", "bool", ""),
    ),
    "listed": (
        (1, "lsn", "uint", ""),
        (2, "cursor", "bytes", ""),
        (3, "flows", "list", "flow_view"),
        (4, "jobs", "list", "job_view"),
        (5, "questions", "list", "question_view"),
        (6, "workers", "list", "worker_view"),
        (7, "partial", "bool", ""),
    ),
    "why": (
        (1, "job", "text", ""),
    ),
    "reason": (
        (1, "lsn", "uint", ""),
        (2, "job", "text", ""),
        (3, "state", "text", ""),
        (4, "code", "text", ""),
        (5, "text", "text", ""),
        (6, "parents_open", "uint", ""),
        (7, "parent", "text", ""),
        (8, "until_ms", "int", ""),
        (9, "limit", "text", ""),
        (10, "question", "uint", ""),
        (11, "worker", "text", ""),
        (12, "gate", "text", ""),
        (30, "poll_ms", "int", ""),
    ),
    "wait": (
        (1, "targets", "list", "name"),
        (2, "any", "bool", ""),
        (3, "timeout_ms", "int", ""),
    ),
    "waited": (
        (1, "lsn", "uint", ""),
        (2, "over", "list", "job_view"),
        (3, "timed_out", "bool", ""),
    ),
    "subscribe": (
        (1, "after_lsn", "uint", ""),
        (2, "after_ordinal", "uint", ""),
        (3, "from_start", "bool", ""),
        (4, "targets", "list", "name"),
        (5, "state_first", "bool", ""),
    ),
    "events": (
        (1, "events", "list", "event"),
        (2, "gap", "bool", ""),
    ),
    "logs": (
        (1, "job", "text", ""),
        (2, "attempt", "uint", ""),
        (3, "offset", "uint", ""),
        (4, "tail_bytes", "uint", ""),
        (5, "most", "uint", ""),
        (6, "follow", "bool", ""),
        (7, "now", "bool", ""),
        (8, "marks", "bool", ""),
    ),
    "log_data": (
        (1, "attempt", "uint", ""),
        (2, "pieces", "list", "log_piece"),
        (3, "cut_bytes", "uint", ""),
        (4, "over", "bool", ""),
        (5, "job", "text", ""),
        (6, "bytes", "uint", ""),
    ),
    "empty": (
    ),
    "stats": (
        (1, "lsn", "uint", ""),
        (2, "numbers", "list", "amount"),
    ),
    "stats_past": (
        (1, "since_ms", "int", ""),
        (2, "step_ms", "uint", ""),
    ),
    "numbers_past": (
        (1, "lsn", "uint", ""),
        (2, "samples", "list", "sample"),
    ),
    "service_get": (
        (1, "name", "text", ""),
    ),
    "service_rollback": (
        (1, "name", "text", ""),
        (2, "version", "uint", ""),
    ),
    "blob_begin": (
        (1, "hash", "bytes", ""),
        (2, "bytes", "uint", ""),
    ),
    "blob_part": (
        (1, "upload", "uint", ""),
        (2, "offset", "uint", ""),
        (3, "data", "bytes", ""),
    ),
    "blob_end": (
        (1, "upload", "uint", ""),
        (2, "hash", "bytes", ""),
    ),
    "blob_state": (
        (1, "upload", "uint", ""),
        (2, "offset", "uint", ""),
        (3, "stored", "bool", ""),
        (4, "hash", "bytes", ""),
    ),
    "blob_get": (
        (1, "hash", "bytes", ""),
        (2, "offset", "uint", ""),
        (3, "most", "uint", ""),
    ),
    "blob_data": (
        (1, "offset", "uint", ""),
        (2, "bytes", "uint", ""),
        (3, "data", "bytes", ""),
    ),
    "blob_ls": (
        (1, "cursor", "bytes", ""),
        (2, "most", "uint", ""),
    ),
    "blob_list": (
        (1, "cursor", "bytes", ""),
        (2, "blobs", "list", "blob_view"),
    ),
    "kv_change": (
        (1, "op", "enum", "set delete increase add remove expire publish"),
        (2, "flow", "text", ""),
        (3, "entries", "list", "kv_entry"),
        (4, "condition", "enum", "always if_absent if_present if_version if_value"),
        (5, "version", "uint", ""),
        (6, "key", "bytes", ""),
        (7, "value", "bytes", ""),
        (8, "number", "int", ""),
        (9, "members", "list", "kv_key"),
        (10, "expires_ms", "int", ""),
        (11, "keep_expiry", "bool", ""),
    ),
    "kv_changed": (
        (1, "lsn", "uint", ""),
        (2, "number", "int", ""),
        (3, "version", "uint", ""),
    ),
    "kv_get": (
        (1, "flow", "text", ""),
        (2, "keys", "list", "kv_key"),
        (3, "prefix", "bytes", ""),
        (4, "after", "bytes", ""),
        (5, "most", "uint", ""),
        (6, "members", "bool", ""),
    ),
    "kv_items": (
        (1, "lsn", "uint", ""),
        (2, "items", "list", "kv_item"),
        (3, "members", "list", "kv_key"),
        (4, "after", "bytes", ""),
    ),
    "kv_watch": (
        (1, "flow", "text", ""),
        (2, "key", "bytes", ""),
        (3, "prefix", "bool", ""),
        (4, "channel", "bool", ""),
    ),
    "kv_event": (
        (1, "lsn", "uint", ""),
        (2, "key", "bytes", ""),
        (3, "version", "uint", ""),
        (4, "body", "bytes", ""),
        (5, "gap", "bool", ""),
    ),
    "token_new": (
        (1, "name", "text", ""),
        (2, "tenant", "text", ""),
        (3, "roles", "list", "name"),
        (4, "expires_ms", "int", ""),
        (5, "kind", "enum", "unknown person service agent worker job"),
    ),
    "token_given": (
        (1, "lsn", "uint", ""),
        (2, "id", "text", ""),
        (3, "token", "bytes", ""),
    ),
    "page": (
        (1, "cursor", "bytes", ""),
        (2, "most", "uint", ""),
    ),
    "token_list": (
        (1, "lsn", "uint", ""),
        (2, "tokens", "list", "token_view"),
    ),
    "schedule_set": (
        (1, "name", "text", ""),
        (2, "expression", "text", ""),
        (3, "catch_up", "enum", "all last none"),
        (4, "overlap", "enum", "skip queue replace"),
        (5, "paused", "bool", ""),
        (6, "start_ms", "int", ""),
        (7, "end_ms", "int", ""),
        (8, "flow", "message", "flow"),
        (90, "calendar", "text", ""),
        (91, "key", "text", ""),
        (92, "when", "text", ""),
        (93, "min_interval_ms", "int", ""),
        (94, "own_changes", "bool", ""),
    ),
    "schedule_change": (
        (1, "name", "text", ""),
        (2, "op", "enum", "remove pause resume backfill"),
        (3, "since_ms", "int", ""),
        (4, "until_ms", "int", ""),
        (5, "since", "text", ""),
        (6, "until", "text", ""),
    ),
    "schedule_ls": (
        (1, "cursor", "bytes", ""),
        (2, "most", "uint", ""),
        (3, "name", "text", ""),
        (4, "ahead", "uint", ""),
        (5, "details", "bool", ""),
        (6, "since", "text", ""),
        (7, "until", "text", ""),
    ),
    "schedule_list": (
        (1, "lsn", "uint", ""),
        (2, "cursor", "bytes", ""),
        (3, "schedules", "list", "schedule_view"),
    ),
    "service_set": (
        (1, "name", "text", ""),
        (2, "desired", "enum", "running stopped removed restart"),
        (3, "replicas", "uint", ""),
    ),
    "service_list": (
        (1, "lsn", "uint", ""),
        (2, "cursor", "bytes", ""),
        (3, "services", "list", "service_view"),
    ),
    "pool": (
        (1, "name", "text", ""),
        (2, "state", "enum", "active draining inactive"),
        (3, "refuse_overload", "bool", ""),
        (4, "capabilities", "list", "name"),
    ),
    "topic": (
        (1, "name", "text", ""),
        (2, "pools", "list", "name"),
    ),
    "tenant": (
        (1, "name", "text", ""),
        (2, "weight", "uint", ""),
    ),
    "limit": (
        (1, "tenant", "text", ""),
        (2, "kind", "enum", "key rate tenant"),
        (3, "name", "text", ""),
        (4, "clear", "bool", ""),
        (5, "width", "uint", ""),
        (6, "rate_milli", "uint", ""),
        (7, "burst", "uint", ""),
        (8, "running", "uint", ""),
        (9, "queued", "uint", ""),
        (10, "bytes", "uint", ""),
    ),
    "drain": (
        (1, "worker", "text", ""),
        (2, "undo", "bool", ""),
        (3, "end", "bool", ""),
    ),
    "demand_watch": (
        (1, "kind", "message", "worker_info"),
        (2, "once", "bool", ""),
    ),
    "demands": (
        (1, "lsn", "uint", ""),
        (2, "now_ms", "int", ""),
        (3, "ready", "uint", ""),
        (4, "since_ms", "int", ""),
        (5, "need_milli", "uint", ""),
        (6, "rows", "list", "demand_row"),
        (7, "rows_left", "uint", ""),
        (8, "workers", "list", "demand_worker"),
    ),
    "callback": (
        (1, "job", "text", ""),
        (2, "for_ms", "int", ""),
    ),
    "callback_given": (
        (1, "lsn", "uint", ""),
        (2, "token", "text", ""),
        (3, "url", "text", ""),
        (4, "expires_ms", "int", ""),
    ),
    "follow": (
        (1, "since", "text", ""),
        (2, "flow", "text", ""),
        (3, "job", "text", ""),
        (4, "type", "list", "name"),
        (5, "once", "bool", ""),
        (6, "targets", "list", "name"),
        (7, "state_first", "bool", ""),
    ),
    "tale": (
        (1, "flow", "text", ""),
        (2, "since", "text", ""),
        (3, "most", "uint", ""),
    ),
    "told": (
        (1, "lsn", "uint", ""),
        (2, "events", "list", "event"),
        (3, "cursor", "text", ""),
        (4, "gap", "bool", ""),
    ),
    "attach": (
        (1, "worker", "text", ""),
        (2, "incarnation", "uint", ""),
        (3, "epoch_seen", "uint", ""),
        (4, "info", "message", "worker_info"),
        (5, "load", "message", "load"),
        (6, "held", "list", "held"),
    ),
    "attached": (
        (1, "lsn", "uint", ""),
        (2, "epoch", "uint", ""),
        (3, "lease_ms", "uint", ""),
        (4, "heartbeat_ms", "uint", ""),
    ),
    "heartbeat": (
        (1, "load", "message", "load"),
        (2, "sent_ms", "uint", ""),
    ),
    "lease": (
        (1, "epoch", "uint", ""),
        (2, "lease_ms", "uint", ""),
        (3, "sent_ms", "uint", ""),
    ),
    "load": (
        (1, "credit", "uint", ""),
        (2, "cpu_percent", "uint", ""),
        (3, "gpu_percent", "uint", ""),
    ),
    "detach": (
        (1, "reason", "text", ""),
    ),
    "assign": (
        (1, "epoch", "uint", ""),
        (2, "assignments", "list", "assignment"),
    ),
    "stop_attempts": (
        (1, "epoch", "uint", ""),
        (2, "stops", "list", "stopped"),
    ),
    "attempts": (
        (1, "attempts", "list", "attempt"),
    ),
    "progress": (
        (1, "items", "list", "progress_item"),
    ),
    "health": (
        (1, "items", "list", "health_item"),
    ),
    "log": (
        (1, "batches", "list", "log_batch"),
    ),
    "log_ack": (
        (1, "marks", "list", "log_mark"),
    ),
    "done": (
        (1, "ends", "list", "end"),
    ),
    "done_ack": (
        (1, "lsn", "uint", ""),
        (2, "acks", "list", "end_ack"),
    ),
    "schedule_run": (
        (1, "name", "text", ""),
        (2, "slot", "text", ""),
        (90, "key", "text", ""),
    ),
    "metrics": (
        (1, "lsn", "uint", ""),
        (2, "text", "text", ""),
    ),
    "dead": (
        (1, "targets", "list", "name"),
        (2, "all", "bool", ""),
        (3, "flow", "text", ""),
        (4, "name", "text", ""),
        (5, "states", "list", "name"),
        (6, "since_ms", "int", ""),
        (7, "until_ms", "int", ""),
    ),
    "blob_put": (
        (1, "data", "bytes", ""),
    ),
    "blob_kept": (
        (1, "hash", "bytes", ""),
        (2, "bytes", "uint", ""),
    ),
    "audit": (
        (1, "flow", "text", ""),
        (2, "principal", "text", ""),
        (3, "kind", "text", ""),
        (4, "people", "bool", ""),
        (5, "since_ms", "int", ""),
        (6, "until_ms", "int", ""),
        (7, "cursor", "bytes", ""),
        (8, "most", "uint", ""),
        (9, "verb", "text", ""),
        (10, "object", "text", ""),
        (11, "tenant", "text", ""),
    ),
    "audited": (
        (1, "records", "list", "audit_record"),
        (2, "cursor", "bytes", ""),
    ),
    "worker_start": (
        (1, "slots", "uint", ""),
        (2, "name", "text", ""),
        (3, "labels", "list", "pair"),
    ),
    "worker_started": (
        (1, "worker", "text", ""),
        (2, "pid", "uint", ""),
    ),
    "orion_get": (
        (1, "what", "enum", "numbers tasks dags"),
    ),
    "orion": (
        (1, "lsn", "uint", ""),
        (2, "pending", "uint", ""),
        (3, "running", "uint", ""),
        (4, "completed", "uint", ""),
        (5, "failed", "uint", ""),
        (6, "retried", "uint", ""),
        (7, "queue_size", "uint", ""),
        (8, "slots", "uint", ""),
        (9, "slots_used", "uint", ""),
        (10, "clients", "uint", ""),
        (11, "dropped_events", "uint", ""),
        (12, "uptime_ms", "int", ""),
        (13, "now_ms", "int", ""),
        (14, "crashed_ms", "int", ""),
        (15, "tasks", "list", "orion_task"),
        (16, "dags", "list", "orion_dag"),
        (17, "more", "bool", ""),
        (18, "took_count", "uint", ""),
        (19, "took_ms", "uint", ""),
        (20, "took_within", "list", "orion_within"),
    ),
    "playground": (
        (1, "server", "text", ""),
        (2, "pid", "uint", ""),
        (3, "since_ms", "int", ""),
        (4, "restart_in_ms", "int", ""),
        (5, "kills", "uint", ""),
        (6, "recovered", "bool", ""),
        (7, "recovery", "message", "recovery"),
    ),
    "playground_do": (
        (1, "what", "enum", "kill recover"),
    ),
    "login_use": (
        (1, "ticket", "text", ""),
    ),
    "logout": (
        (1, "session", "uint", ""),
    ),
    "login_link": (
        (1, "lsn", "uint", ""),
        (2, "url", "text", ""),
        (3, "ticket", "text", ""),
        (4, "expires_ms", "int", ""),
    ),
    "titan_get": (
        (1, "what", "enum", "jobs worker stats stats_json services dags dag"),
        (2, "names", "list", "titan_name"),
    ),
    "titan": (
        (1, "lsn", "uint", ""),
        (2, "jobs", "list", "titan_job"),
        (3, "text", "bytes", ""),
        (4, "worker", "text", ""),
        (5, "services", "uint", ""),
    ),
    "checkpoint": (
        (1, "shard", "uint", ""),
        (2, "number", "uint", ""),
        (3, "lsn", "uint", ""),
        (4, "from_lsn", "uint", ""),
        (5, "upto_lsn", "uint", ""),
        (6, "time_ms", "int", ""),
        (7, "chain", "text", ""),
        (8, "key", "text", ""),
        (9, "signature", "text", ""),
    ),
    "audit_verify": (
        (1, "key", "text", ""),
        (2, "since", "text", ""),
    ),
    "audit_verified": (
        (1, "ok", "bool", ""),
        (2, "text", "text", ""),
        (3, "from_lsn", "uint", ""),
        (4, "upto_lsn", "uint", ""),
        (5, "last_lsn", "uint", ""),
        (6, "checkpoints", "uint", ""),
        (7, "keys", "uint", ""),
        (8, "whole", "bool", ""),
        (9, "checkpoint", "message", "checkpoint"),
    ),
    "audit_export": (
        (1, "flow", "text", ""),
        (2, "principal", "text", ""),
        (3, "kind", "text", ""),
        (4, "people", "bool", ""),
        (5, "since_ms", "int", ""),
        (6, "until_ms", "int", ""),
        (7, "cursor", "bytes", ""),
        (8, "most", "uint", ""),
        (9, "verb", "text", ""),
        (10, "object", "text", ""),
        (11, "tenant", "text", ""),
        (40, "format", "text", ""),
    ),
    "audit_exported": (
        (1, "lines", "text", ""),
        (2, "cursor", "bytes", ""),
    ),
    "limit_list": (
        (1, "lsn", "uint", ""),
        (2, "cursor", "bytes", ""),
        (3, "limits", "list", "limit_view"),
    ),
    "source_get": (
        (1, "flow", "text", ""),
    ),
    "source_got": (
        (1, "lsn", "uint", ""),
        (2, "name", "text", ""),
        (3, "text", "text", ""),
        (4, "params", "bytes", ""),
    ),
    "again": (
        (1, "flow", "text", ""),
        (2, "params", "bytes", ""),
        (3, "check", "bool", ""),
    ),
    "run": (
        (1, "argv", "list", "arg"),
        (2, "shell", "text", ""),
        (3, "script", "bytes", ""),
        (4, "script_name", "text", ""),
        (5, "script_hash", "bytes", ""),
        (6, "stdin_text", "bytes", ""),
        (7, "stdin_hash", "bytes", ""),
        (8, "env", "list", "pair"),
        (9, "files", "list", "file"),
        (10, "artifacts", "list", "artifact"),
        (11, "workdir", "text", ""),
        (12, "sleep_ms", "int", ""),
        (13, "exit_code", "uint", ""),
        (14, "log_bytes_max", "uint", ""),
        (15, "kill_grace_ms", "uint", ""),
        (16, "labels", "list", "pair"),
        (17, "when", "text", ""),
        (18, "foreach", "text", ""),
        (19, "message", "text", ""),
        (20, "inputs", "list", "take"),
        (21, "params", "text", ""),
        (22, "port", "uint", ""),
        (23, "port_auto", "bool", ""),
        (24, "health", "message", "probe"),
        (30, "entry", "text", ""),
        (31, "dir", "text", ""),
        (32, "strip", "uint", ""),
        (33, "is_archive", "bool", ""),
        (35, "limits", "message", "ceilings"),
        (45, "sandbox", "uint", ""),
        (46, "sandbox_read", "list", "arg"),
        (47, "sandbox_write", "list", "arg"),
        (55, "http", "list", "http"),
        (56, "submit", "list", "step"),
        (57, "poll", "list", "step"),
        (60, "interpreter", "list", "arg"),
        (61, "shared", "bool", ""),
        (65, "handler", "text", ""),
        (66, "titan", "text", ""),
        (67, "late", "text", ""),
        (82, "replica_of", "text", ""),
    ),
    "name": (
        (1, "name", "text", ""),
    ),
    "result": (
        (1, "target", "text", ""),
        (2, "code", "text", ""),
        (3, "message", "text", ""),
        (4, "repeated", "bool", ""),
    ),
    "flow": (
        (1, "name", "text", ""),
        (2, "key", "text", ""),
        (3, "key_ms", "int", ""),
        (4, "trace", "text", ""),
        (5, "labels", "list", "pair"),
        (6, "part", "message", "jobs"),
        (7, "spec", "bytes", ""),
        (8, "params", "bytes", ""),
        (9, "check", "bool", ""),
        (10, "compensate_on", "enum", "fatal failure"),
        (20, "source", "message", "source"),
        (21, "source_name", "text", ""),
        (80, "timeout_ms", "int", ""),
        (81, "deadline_ms", "int", ""),
        (82, "late_after_ms", "int", ""),
    ),
    "submitted_flow": (
        (1, "flow", "text", ""),
        (2, "job_count", "uint", ""),
        (3, "repeated", "bool", ""),
        (4, "code", "text", ""),
        (5, "message", "text", ""),
        (6, "retry_after_ms", "uint", ""),
    ),
    "jobs": (
        (1, "options", "list", "options"),
        (2, "jobs", "list", "job"),
        (3, "more", "bool", ""),
    ),
    "flow_view": (
        (1, "flow", "text", ""),
        (2, "name", "text", ""),
        (3, "state", "text", ""),
        (4, "principal", "text", ""),
        (5, "tenant", "text", ""),
        (6, "paused", "bool", ""),
        (7, "more", "bool", ""),
        (8, "cancelling", "bool", ""),
        (9, "unwinding", "text", ""),
        (10, "created_ms", "int", ""),
        (11, "finished_ms", "int", ""),
        (12, "job_count", "uint", ""),
        (13, "states", "list", "amount"),
        (14, "labels", "list", "pair"),
        (15, "archived", "bool", ""),
        (16, "schedule", "text", ""),
        (17, "slot_ms", "int", ""),
        (18, "slot", "text", ""),
        (19, "compensations_not_run", "uint", ""),
        (20, "not_run_because", "text", ""),
        (24, "upstream_failed", "uint", ""),
        (30, "params", "bytes", ""),
        (31, "source_name", "text", ""),
        (32, "source_bytes", "uint", ""),
        (33, "source", "bytes", ""),
        (34, "again_of", "text", ""),
        (80, "stage", "text", ""),
        (81, "called", "text", ""),
        (82, "timed_out", "bool", ""),
        (83, "late", "bool", ""),
        (84, "timeout_at_ms", "int", ""),
        (85, "deadline_ms", "int", ""),
        (90, "trigger", "text", ""),
    ),
    "job_view": (
        (1, "job", "text", ""),
        (2, "state", "text", ""),
        (3, "cause", "text", ""),
        (4, "kind", "text", ""),
        (5, "attempt", "uint", ""),
        (6, "attempts_max", "uint", ""),
        (7, "since_ms", "int", ""),
        (8, "due_ms", "int", ""),
        (9, "worker", "text", ""),
        (10, "pool", "text", ""),
        (11, "question", "uint", ""),
        (12, "root", "text", ""),
        (13, "dead_letter", "bool", ""),
        (14, "percent", "uint", ""),
        (15, "exit_code", "uint", ""),
        (16, "signal", "uint", ""),
        (17, "reason", "text", ""),
        (18, "result", "bytes", ""),
        (19, "result_hash", "bytes", ""),
        (20, "parents", "list", "name"),
        (21, "body", "bytes", ""),
        (22, "body_hash", "bytes", ""),
        (23, "attempts", "list", "attempt_view"),
        (24, "artifacts", "list", "kept"),
        (25, "items", "uint", ""),
        (26, "items_begun", "uint", ""),
        (27, "items_open", "uint", ""),
        (28, "items_bad", "uint", ""),
        (40, "started_ms", "int", ""),
        (41, "ended_ms", "int", ""),
        (42, "code", "text", ""),
        (43, "waits_for", "text", ""),
        (80, "stage", "text", ""),
    ),
    "pair": (
        (1, "key", "text", ""),
        (2, "value", "text", ""),
    ),
    "question_view": (
        (1, "question", "uint", ""),
        (2, "revision", "uint", ""),
        (3, "gate", "text", ""),
        (4, "job", "text", ""),
        (5, "hash", "bytes", ""),
        (6, "asked_ms", "int", ""),
        (7, "deadline_ms", "int", ""),
        (8, "votes", "uint", ""),
        (9, "quorum", "uint", ""),
        (10, "four_eyes", "bool", ""),
        (11, "role", "text", ""),
        (12, "body", "bytes", ""),
    ),
    "worker_view": (
        (1, "worker", "text", ""),
        (2, "incarnation", "uint", ""),
        (3, "pool", "text", ""),
        (4, "build", "text", ""),
        (5, "attached", "bool", ""),
        (6, "draining", "bool", ""),
        (7, "permanent", "bool", ""),
        (8, "slots", "uint", ""),
        (9, "active", "uint", ""),
        (10, "cpu_percent", "uint", ""),
        (11, "gpu_percent", "uint", ""),
        (12, "capabilities", "list", "name"),
        (13, "labels", "list", "pair"),
        (14, "seen_ms", "int", ""),
        (15, "tenant", "text", ""),
        (16, "cpu_milli", "uint", ""),
        (17, "cpu_milli_taken", "uint", ""),
        (18, "memory_bytes", "uint", ""),
        (19, "memory_bytes_taken", "uint", ""),
        (20, "gpus", "uint", ""),
        (21, "gpus_taken", "uint", ""),
        (22, "resources", "list", "amount"),
        (23, "resources_taken", "list", "amount"),
    ),
    "event": (
        (1, "lsn", "uint", ""),
        (2, "ordinal", "uint", ""),
        (3, "kind", "text", ""),
        (4, "time_ms", "int", ""),
        (5, "target", "text", ""),
        (6, "from", "text", ""),
        (7, "to", "text", ""),
        (8, "cause", "text", ""),
        (9, "attempt", "uint", ""),
        (10, "worker", "text", ""),
        (11, "due_ms", "int", ""),
        (12, "schedule", "text", ""),
        (13, "slot_ms", "int", ""),
    ),
    "log_piece": (
        (1, "offset", "uint", ""),
        (2, "stream", "enum", "out err note"),
        (3, "time_ms", "int", ""),
        (4, "data", "bytes", ""),
    ),
    "amount": (
        (1, "name", "text", ""),
        (2, "amount", "uint", ""),
    ),
    "sample": (
        (1, "time_ms", "int", ""),
        (2, "numbers", "list", "amount"),
    ),
    "blob_view": (
        (1, "hash", "bytes", ""),
        (2, "bytes", "uint", ""),
        (3, "stored_ms", "int", ""),
        (4, "uses", "uint", ""),
        (5, "kept_as", "text", ""),
    ),
    "kv_entry": (
        (1, "key", "bytes", ""),
        (2, "value", "bytes", ""),
    ),
    "kv_key": (
        (1, "text", "bytes", ""),
    ),
    "kv_item": (
        (1, "key", "bytes", ""),
        (2, "kind", "text", ""),
        (3, "value", "bytes", ""),
        (4, "number", "int", ""),
        (5, "version", "uint", ""),
        (6, "expires_ms", "int", ""),
    ),
    "token_view": (
        (1, "id", "text", ""),
        (2, "name", "text", ""),
        (3, "tenant", "text", ""),
        (4, "roles", "list", "name"),
        (5, "created_ms", "int", ""),
        (6, "expires_ms", "int", ""),
        (7, "used_ms", "int", ""),
        (8, "kind", "enum", "unknown person service agent worker job"),
    ),
    "schedule_view": (
        (1, "name", "text", ""),
        (2, "expression", "text", ""),
        (3, "catch_up", "enum", "all last none"),
        (4, "overlap", "enum", "skip queue replace"),
        (5, "paused", "bool", ""),
        (6, "next_ms", "int", ""),
        (7, "fired_ms", "int", ""),
        (8, "flow", "text", ""),
        (9, "running", "bool", ""),
        (10, "code", "text", ""),
        (11, "text", "text", ""),
        (12, "fired", "uint", ""),
        (13, "missed", "uint", ""),
        (14, "skipped", "uint", ""),
        (15, "waiting", "uint", ""),
        (16, "ahead", "list", "moment"),
        (17, "zone", "text", ""),
        (18, "principal", "text", ""),
        (19, "next", "text", ""),
        (20, "slots", "list", "slot"),
        (21, "between", "list", "moment"),
        (90, "calendar", "text", ""),
        (91, "excluded", "uint", ""),
    ),
    "service_view": (
        (1, "name", "text", ""),
        (2, "state", "text", ""),
        (3, "job", "text", ""),
        (4, "healthy", "bool", ""),
        (5, "restarts", "uint", ""),
        (6, "worker", "text", ""),
        (7, "since_ms", "int", ""),
        (8, "version", "uint", ""),
        (9, "previous_version", "uint", ""),
        (10, "deploying", "bool", ""),
        (11, "port", "uint", ""),
        (12, "code", "text", ""),
        (13, "text", "text", ""),
        (14, "due_ms", "int", ""),
        (15, "attempt", "uint", ""),
        (16, "replica_of", "text", ""),
        (17, "replica", "uint", ""),
        (18, "update", "text", ""),
        (19, "overlaps", "bool", ""),
        (20, "previous_healthy", "bool", ""),
        (21, "previous_port", "uint", ""),
        (40, "versions", "list", "service_version"),
    ),
    "worker_info": (
        (1, "pool", "text", ""),
        (2, "capabilities", "list", "name"),
        (3, "labels", "list", "pair"),
        (4, "slots", "uint", ""),
        (5, "cpu_milli", "uint", ""),
        (6, "memory_bytes", "uint", ""),
        (7, "gpus", "uint", ""),
        (8, "resources", "list", "amount"),
        (9, "permanent", "bool", ""),
        (10, "build", "text", ""),
    ),
    "demand_row": (
        (1, "tenant", "text", ""),
        (2, "demand", "message", "demand"),
        (3, "priority", "int", ""),
        (4, "ready", "uint", ""),
        (5, "more", "bool", ""),
        (6, "since_ms", "int", ""),
        (7, "code", "text", ""),
        (8, "at_once", "uint", ""),
    ),
    "demand_worker": (
        (1, "worker", "text", ""),
        (2, "slots", "uint", ""),
        (3, "active", "uint", ""),
        (4, "draining", "bool", ""),
        (5, "served", "uint", ""),
    ),
    "held": (
        (1, "attempt", "message", "attempt"),
        (2, "phase", "enum", "assigned running finished"),
    ),
    "assignment": (
        (1, "attempt", "message", "attempt"),
        (2, "fence", "uint", ""),
        (3, "job", "text", ""),
        (4, "kind", "enum", "command script archive service http noop sleep fail gate barrier external"),
        (5, "body", "bytes", ""),
        (6, "env", "list", "pair"),
        (7, "token", "bytes", ""),
        (8, "tenant", "text", ""),
        (9, "trace", "text", ""),
        (10, "constraints", "bytes", ""),
        (11, "run_timeout_ms", "int", ""),
        (12, "exclusive", "bool", ""),
        (13, "inputs", "list", "input"),
        (14, "compensation", "bool", ""),
        (15, "refusal", "text", ""),
        (26, "cpu_milli", "uint", ""),
        (27, "gpus", "uint", ""),
        (28, "memory_bytes", "uint", ""),
    ),
    "stopped": (
        (1, "attempt", "message", "attempt"),
        (2, "cause", "enum", "cancel deadline run_timeout dispatch_timeout drop"),
        (3, "grace_ms", "uint", ""),
    ),
    "attempt": (
        (1, "shard", "uint", ""),
        (2, "flow", "uint", ""),
        (3, "ordinal", "uint", ""),
        (4, "attempt", "uint", ""),
    ),
    "progress_item": (
        (1, "attempt", "message", "attempt"),
        (2, "percent", "uint", ""),
        (3, "text", "text", ""),
    ),
    "health_item": (
        (1, "attempt", "message", "attempt"),
        (2, "healthy", "bool", ""),
        (3, "text", "text", ""),
        (4, "port", "uint", ""),
    ),
    "log_batch": (
        (1, "attempt", "message", "attempt"),
        (2, "pieces", "list", "log_piece"),
    ),
    "log_mark": (
        (1, "attempt", "message", "attempt"),
        (2, "offset", "uint", ""),
    ),
    "end": (
        (1, "attempt", "message", "attempt"),
        (2, "outcome", "enum", "ok exit stopped refused"),
        (3, "exit_code", "uint", ""),
        (4, "signal", "uint", ""),
        (5, "fatal", "bool", ""),
        (6, "result", "bytes", ""),
        (7, "result_hash", "bytes", ""),
        (8, "log_bytes", "uint", ""),
        (9, "log_cut_bytes", "uint", ""),
        (10, "reason", "text", ""),
        (11, "artifacts", "list", "kept"),
        (12, "started_ms", "int", ""),
        (13, "ended_ms", "int", ""),
        (14, "cpu_ms", "uint", ""),
        (15, "memory_bytes_max", "uint", ""),
        (16, "hit", "enum", "none memory pids file_size"),
        (17, "hit_count", "uint", ""),
        (18, "throttled_ms", "uint", ""),
        (19, "unkept", "text", ""),
        (20, "retry_after_ms", "uint", ""),
        (21, "ended_ago_ms", "uint", ""),
    ),
    "end_ack": (
        (1, "attempt", "message", "attempt"),
        (2, "code", "text", ""),
        (3, "message", "text", ""),
        (4, "repeated", "bool", ""),
    ),
    "audit_record": (
        (1, "lsn", "uint", ""),
        (2, "time_ms", "int", ""),
        (3, "principal", "text", ""),
        (4, "kind", "text", ""),
        (5, "target", "text", ""),
        (6, "text", "text", ""),
        (7, "verb", "text", ""),
        (8, "tenant", "text", ""),
    ),
    "orion_task": (
        (1, "id", "text", ""),
        (2, "dag", "text", ""),
        (3, "payload", "text", ""),
        (4, "priority", "int", ""),
        (5, "dependencies", "list", "name"),
        (6, "status", "text", ""),
        (7, "retry_count", "uint", ""),
        (8, "max_retries", "uint", ""),
        (9, "start_ms", "int", ""),
        (10, "end_ms", "int", ""),
        (11, "shadowed", "bool", ""),
    ),
    "orion_dag": (
        (1, "dag", "text", ""),
        (2, "tasks", "list", "name"),
        (3, "submitted_ms", "int", ""),
    ),
    "orion_within": (
        (1, "count", "uint", ""),
    ),
    "recovery": (
        (1, "records", "uint", ""),
        (2, "flows", "uint", ""),
        (3, "jobs", "uint", ""),
        (4, "attempts_open", "uint", ""),
        (5, "attempts_adopted", "uint", ""),
        (6, "attempts_again", "uint", ""),
        (7, "lost", "uint", ""),
        (8, "took_ms", "int", ""),
        (9, "replayed_lsn", "uint", ""),
    ),
    "titan_name": (
        (1, "id", "bytes", ""),
    ),
    "titan_job": (
        (1, "id", "bytes", ""),
        (2, "target", "text", ""),
        (3, "status", "text", ""),
        (4, "attempts", "uint", ""),
        (5, "service", "text", ""),
        (6, "log", "text", ""),
        (7, "note", "text", ""),
        (8, "dag", "bytes", ""),
        (9, "run", "bytes", ""),
    ),
    "limit_view": (
        (1, "tenant", "text", ""),
        (2, "kind", "enum", "key rate tenant"),
        (3, "name", "text", ""),
        (4, "set", "bool", ""),
        (5, "width", "uint", ""),
        (6, "taken", "uint", ""),
        (7, "rate_milli", "uint", ""),
        (8, "burst", "uint", ""),
        (9, "level_milli", "uint", ""),
        (10, "running_max", "uint", ""),
        (11, "running", "uint", ""),
        (12, "queued_max", "uint", ""),
        (13, "queued", "uint", ""),
        (14, "bytes_max", "uint", ""),
        (15, "bytes", "uint", ""),
    ),
    "arg": (
        (1, "text", "text", ""),
    ),
    "file": (
        (1, "path", "text", ""),
        (2, "hash", "bytes", ""),
        (3, "executable", "bool", ""),
    ),
    "artifact": (
        (1, "name", "text", ""),
        (2, "path", "text", ""),
        (3, "optional", "bool", ""),
    ),
    "take": (
        (1, "path", "text", ""),
        (2, "job", "text", ""),
        (3, "name", "text", ""),
    ),
    "probe": (
        (1, "kind", "enum", "standard tcp http command"),
        (2, "port", "uint", ""),
        (3, "path", "text", ""),
        (4, "argv", "list", "arg"),
        (5, "shell", "text", ""),
        (6, "interval_ms", "uint", ""),
        (7, "timeout_ms", "uint", ""),
        (8, "threshold", "uint", ""),
        (9, "grace_ms", "uint", ""),
    ),
    "ceilings": (
        (1, "memory_bytes", "uint", ""),
        (2, "cpu_milli", "uint", ""),
        (3, "pids", "uint", ""),
        (4, "open_files", "uint", ""),
        (5, "file_bytes", "uint", ""),
    ),
    "http": (
        (1, "url", "text", ""),
        (2, "method", "text", ""),
        (3, "headers", "list", "pair"),
        (4, "body", "bytes", ""),
        (5, "is_json", "bool", ""),
        (6, "expect", "list", "span"),
        (7, "save", "text", ""),
        (8, "bytes_max", "uint", ""),
        (9, "timeout_ms", "uint", ""),
        (10, "redirects", "uint", ""),
        (11, "ca", "text", ""),
        (12, "allow_private", "bool", ""),
    ),
    "step": (
        (1, "argv", "list", "arg"),
        (2, "shell", "text", ""),
        (3, "http", "list", "http"),
        (4, "until", "text", ""),
        (5, "failed", "text", ""),
    ),
    "source": (
        (1, "text", "text", ""),
        (2, "spec", "bytes", ""),
        (3, "files", "list", "source_file"),
    ),
    "options": (
        (1, "kind", "enum", "command script archive service http noop sleep fail gate barrier external"),
        (2, "priority", "int", ""),
        (3, "demand", "message", "demand"),
        (4, "attempts_max", "uint", ""),
        (5, "backoff_base_ms", "uint", ""),
        (6, "backoff_cap_ms", "uint", ""),
        (7, "backoff_jitter_ms", "uint", ""),
        (8, "on_upstream", "enum", "fail skip run"),
        (9, "exclusive", "bool", ""),
        (10, "delay_from_submit", "bool", ""),
        (11, "delay_ms", "int", ""),
        (12, "not_before_ms", "int", ""),
        (13, "deadline_ms", "int", ""),
        (14, "start_within_ms", "int", ""),
        (15, "dispatch_timeout_ms", "int", ""),
        (16, "run_timeout_ms", "int", ""),
        (17, "preferred_worker", "text", ""),
        (18, "preferred_pool", "text", ""),
        (19, "affinity", "bool", ""),
        (20, "prefer_ms", "int", ""),
        (21, "gates", "uint", ""),
        (22, "approval_ms", "int", ""),
        (23, "quorum", "uint", ""),
        (24, "four_eyes", "bool", ""),
        (25, "policy_open", "bool", ""),
        (26, "approval_role", "text", ""),
        (27, "fatal_exits", "numbers", ""),
        (28, "max_parallel", "uint", ""),
        (29, "fail_fast", "bool", ""),
        (30, "allow_count", "uint", ""),
        (31, "allow_percent", "uint", ""),
        (32, "restart_base_ms", "uint", ""),
        (33, "restart_cap_ms", "uint", ""),
        (34, "restart_reset_ms", "int", ""),
        (35, "healthy_within_ms", "int", ""),
        (36, "stop_within_ms", "uint", ""),
        (37, "cache_ms", "int", ""),
        (58, "calls", "bool", ""),
        (59, "poll_ms", "uint", ""),
        (60, "poll_cap_ms", "uint", ""),
        (61, "token_rights", "uint", ""),
        (62, "free_losses", "uint", ""),
        (63, "trigger", "enum", "all_succeeded none_failed one_succeeded all_done"),
        (64, "retry_on", "uint", ""),
        (120, "stage", "enum", "main on_success on_failure finally"),
        (125, "update", "enum", "stop_first start_first"),
        (126, "replica_of", "text", ""),
        (127, "replicas", "uint", ""),
    ),
    "job": (
        (1, "name", "text", ""),
        (2, "options", "uint", ""),
        (3, "parents", "numbers", ""),
        (4, "parent_names", "list", "name"),
        (5, "body", "bytes", ""),
        (6, "undo_options", "uint", ""),
        (7, "undo_body", "bytes", ""),
        (8, "child_options", "uint", ""),
        (9, "service", "text", ""),
        (10, "cache_key", "bytes", ""),
    ),
    "attempt_view": (
        (1, "attempt", "uint", ""),
        (2, "worker", "text", ""),
        (3, "outcome", "text", ""),
        (4, "exit_code", "uint", ""),
        (5, "signal", "uint", ""),
        (6, "assigned_ms", "int", ""),
        (7, "started_ms", "int", ""),
        (8, "ended_ms", "int", ""),
        (9, "log_bytes", "uint", ""),
        (10, "log_cut_bytes", "uint", ""),
        (11, "reason", "text", ""),
        (12, "artifacts", "list", "kept"),
        (13, "cpu_ms", "uint", ""),
        (14, "memory_bytes_max", "uint", ""),
        (15, "hit", "text", ""),
        (16, "hit_count", "uint", ""),
        (17, "throttled_ms", "uint", ""),
        (18, "unkept", "text", ""),
    ),
    "kept": (
        (1, "name", "text", ""),
        (2, "hash", "bytes", ""),
        (3, "bytes", "uint", ""),
    ),
    "moment": (
        (1, "ms", "int", ""),
        (2, "text", "text", ""),
    ),
    "slot": (
        (1, "what", "text", ""),
        (2, "slot_ms", "int", ""),
        (3, "slot", "text", ""),
        (4, "count", "uint", ""),
        (5, "flow", "text", ""),
        (6, "state", "text", ""),
        (90, "text", "text", ""),
    ),
    "service_version": (
        (1, "version", "uint", ""),
        (2, "state", "text", ""),
        (3, "by", "text", ""),
        (4, "flow", "text", ""),
        (5, "job", "text", ""),
        (6, "begun_ms", "int", ""),
        (7, "healthy_ms", "int", ""),
        (8, "ended_ms", "int", ""),
        (9, "restarts", "uint", ""),
        (10, "kept", "bool", ""),
    ),
    "demand": (
        (1, "pool", "text", ""),
        (2, "topic", "text", ""),
        (3, "capabilities", "list", "name"),
        (4, "labels", "list", "pair"),
        (5, "cpu_milli", "uint", ""),
        (6, "memory_bytes", "uint", ""),
        (7, "gpus", "uint", ""),
        (8, "resources", "list", "amount"),
        (9, "keys", "list", "name"),
        (10, "rates", "list", "name"),
    ),
    "input": (
        (1, "job", "text", ""),
        (2, "result", "bytes", ""),
        (3, "result_hash", "bytes", ""),
        (4, "artifacts", "list", "kept"),
    ),
    "span": (
        (1, "from", "uint", ""),
        (2, "to", "uint", ""),
    ),
    "source_file": (
        (1, "path", "text", ""),
        (2, "bytes", "bytes", ""),
        (3, "hash", "bytes", ""),
    ),
}
