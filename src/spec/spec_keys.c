/* spec_keys.c: see spec_keys.h. Order is the order of the guide. */
#include "spec_keys.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
#define KEY(key_, type_, struct_, member_, text_, ...) \
    { .key = (key_), .type = (type_), .offset = offsetof(struct struct_, member_), .text = (text_), __VA_ARGS__ }

static const struct spec_field gate_fields[] = {
    KEY("message",   SPEC_TEMPLATE, spec_job, r.message,       "what the person is asked"),
    KEY("role",      SPEC_TEXT,  spec_job, o.approval_role, "role that may answer (default: anyone with the right to approve)"),
    KEY("quorum",    SPEC_COUNT, spec_job, o.quorum,        "number of approvals needed (default: 1)"),
    KEY("four_eyes", SPEC_BOOL,  spec_job, o.four_eyes,     "the submitter of the flow cannot approve"),
    KEY("timeout",   SPEC_MS64,  spec_job, o.approval_ms,   "time after which a missing answer counts as a rejection (default: 48h)"),
};
static const struct spec_object gate_keys = {"a gate", gate_fields, COUNT(gate_fields)};

static const struct spec_field backoff_fields[] = {
    KEY("base",   SPEC_MS32, spec_job, o.backoff_base_ms,   "delay before the first retry, doubled before each further one (default: 1s, doubled from the first retry on)", .zero_as = 1),
    KEY("cap",    SPEC_MS32, spec_job, o.backoff_cap_ms,    "longest delay (default: 30s)", .zero_as = 1),
    KEY("jitter", SPEC_MS32, spec_job, o.backoff_jitter_ms, "random time up to this is added (default: 500ms)", .zero_as = 1),
};
static const struct spec_object backoff_keys = {"a backoff", backoff_fields, COUNT(backoff_fields)};

static const struct spec_field resource_fields[] = {
    KEY("cpu",    SPEC_MILLI, spec_job, o.demand.cpu_milli,    "processors, also fractions: `0.5`"),
    KEY("memory", SPEC_SIZE,  spec_job, o.demand.memory_bytes, "memory"),
    KEY("gpus",   SPEC_COUNT, spec_job, o.demand.gpus,         "GPUs"),
    KEY("custom", SPEC_AMOUNTS, spec_job, o.demand.resources,  "amounts of custom resources of workers: `{licences: 2}`"),
};
static const struct spec_object resource_keys = {"resources", resource_fields, COUNT(resource_fields)};

static const struct spec_field limit_fields[] = {
    KEY("memory", SPEC_SIZE,  spec_job, r.limits.memory_bytes, "memory of all its processes together; a job that uses more is killed"),
    KEY("cpu",    SPEC_MILLI, spec_job, r.limits.cpu_milli,    "processors, also fractions: `1.5`; a job that uses more is throttled"),
    KEY("pids",   SPEC_COUNT, spec_job, r.limits.pids,         "processes and threads at once; further ones cannot be started"),
    KEY("open_files", SPEC_COUNT, spec_job, r.limits.open_files, "open files of each process"),
    KEY("file_size", SPEC_SIZE, spec_job, r.limits.file_bytes, "size of each file that it writes"),
};
static const struct spec_object limit_keys = {"limits", limit_fields, COUNT(limit_fields)};

static const struct spec_field prefer_fields[] = {
    KEY("worker", SPEC_TEXT, spec_job, o.preferred_worker, "a worker by name"),
    KEY("pool",   SPEC_TEXT, spec_job, o.preferred_pool,   "a pool by name"),
    KEY("for",    SPEC_MS64, spec_job, o.prefer_ms,        "time after which any other worker is accepted"),
};
static const struct spec_object prefer_keys = {"a preference", prefer_fields, COUNT(prefer_fields)};

#define COMMAND_SCHEMA "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}}]}"

static const struct spec_field health_fields[] = {
    KEY("http",      SPEC_TEXT,  spec_job, r.health.path,        "path on its port; healthy if it answers 200 to 399"),
    KEY("tcp",       SPEC_BOOL,  spec_job, probe_tcp,            "`true`: healthy when the port accepts connections (default if there is a port)"),
    KEY("command",   SPEC_NODE,  spec_job, probe_command,        "command, run in the environment of the service; healthy if it exits with 0", .form = "text or list", .schema = COMMAND_SCHEMA),
    KEY("port",      SPEC_COUNT, spec_job, r.health.port,        "port to check (default: the port of the service)"),
    KEY("interval",  SPEC_MS32,  spec_job, r.health.interval_ms, "time between two checks (default: 5s)", .zero_as = 1),
    KEY("timeout",   SPEC_MS32,  spec_job, r.health.timeout_ms,  "timeout of one check (default: 2s)", .zero_as = 1),
    KEY("threshold", SPEC_COUNT, spec_job, r.health.threshold,   "failures in a row after which the worker stops the process (default: 3)"),
    KEY("grace",     SPEC_MS32,  spec_job, r.health.grace_ms,    "time after each start in which failures do not count (default: 30s)", .zero_as = 1),
};
static const struct spec_object health_keys = {"a health", health_fields, COUNT(health_fields)};

static const struct spec_field restart_fields[] = {
    KEY("base",  SPEC_MS32, spec_job, o.restart_base_ms,  "delay before the first restart, doubled before each further one (default: the server's setting, 3s)", .zero_as = 1),
    KEY("cap",   SPEC_MS32, spec_job, o.restart_cap_ms,   "longest delay (default: 30s)", .zero_as = 1),
    KEY("reset", SPEC_MS64, spec_job, o.restart_reset_ms, "healthy time after which the delay starts from the base again (default: 1m)", .zero_as = 1),
};
static const struct spec_object restart_keys = {"a restart", restart_fields, COUNT(restart_fields)};

static const struct spec_field service_fields[] = {
    KEY("run",    SPEC_NODE, spec_job, run, "the program, as `run` of a job", .form = "text or list", .schema = COMMAND_SCHEMA),
    KEY("script", SPEC_NODE, spec_job, script, "a script, as `script` of a job", .form = "path or object",
        .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/script\"}]}"),
    KEY("archive", SPEC_NODE, spec_job, archive, "an archive, as `archive` of a job", .form = "path or object",
        .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/archive\"}]}"),
    KEY("name",   SPEC_TEXT, spec_job, service, "name of the service, unique in the tenant (default: the name of the job)"),
    KEY("port",   SPEC_NODE, spec_job, port, "port of the service, in $PORT: a number, or `auto` for a free port at each start", .form = "number or auto",
        .schema = "{\"type\":[\"integer\",\"string\"]}"),
    KEY("health", SPEC_OBJECT, spec_job, given, "health check; a text is a path for `http`", .sub = &health_keys),
    KEY("restart", SPEC_OBJECT, spec_job, given, "delay before a restart; a duration alone is the base", .sub = &restart_keys),
    KEY("replicas", SPEC_COUNT, spec_job, o.replicas, "number of replicas: NAME.1, NAME.2 and so on, each with its number in `$REEVE_REPLICA` (default: one service without a number)", .zero_as = UINT32_MAX),
    KEY("update", SPEC_UPDATE, spec_job, o.update, "order of an update: the old version stops, then the new one starts (`stop_first`, default), or the new one starts and the old one stops when the new one is healthy (`start_first`)"),
    KEY("max_parallel", SPEC_COUNT, spec_job, o.max_parallel, "replicas that are deployed at once (default: 1)", .zero_as = 1),
    KEY("healthy_within", SPEC_MS64, spec_job, o.healthy_within_ms, "time to become healthy, after which the previous version is restored (default: the server's setting, 5m)", .zero_as = 1),
    KEY("stop_within", SPEC_MS32, spec_job, o.stop_within_ms, "time a worker has to confirm the stop, after which the process counts as gone (default: 1m)", .zero_as = 1),
};
static const struct spec_object service_keys = {"a service", service_fields, COUNT(service_fields)};

static const struct spec_field job_fields[] = {
    KEY("run",        SPEC_NODE,   spec_job, run, "a command: a text for `/bin/sh -c`, or a list of program and arguments, run without a shell", .given = GIVEN_RUN,
        .where = IN_JOB | IN_UNDO, .form = "text or list", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}}]}"),
    KEY("script",     SPEC_NODE,   spec_job, script, "a script: the path of a file beside the flow file, or an object (below); its ending chooses the interpreter, else its first line", .given = GIVEN_SCRIPT,
        .where = IN_JOB | IN_UNDO, .form = "path or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/script\"}]}"),
    KEY("archive",    SPEC_NODE,   spec_job, archive, "a zip or tar archive with a program in it: the path of a file beside the flow file, or an object (below)", .given = GIVEN_ARCHIVE,
        .where = IN_JOB | IN_UNDO, .form = "path or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/archive\"}]}"),
    KEY("service",    SPEC_OBJECT, spec_job, given, "deploys a process that runs until it is stopped; the job succeeds when the process is healthy", .given = GIVEN_SERVICE, .sub = &service_keys, .where = IN_JOB),
    KEY("gate",       SPEC_OBJECT, spec_job, given, "a person decides whether the flow continues", .given = GIVEN_GATE, .sub = &gate_keys, .where = IN_JOB),
    KEY("external",   SPEC_NODE,   spec_job, external, "waits for an outside system, without a worker's slot: a text says for what, and `reeve complete` completes it; an object (below) starts or polls the work", .given = GIVEN_EXTERNAL, .where = IN_JOB,
        .form = "text or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/external\"}]}"),
    KEY("http",       SPEC_NODE,   spec_job, http, "sends an HTTP request: a URL, or an object (below); its outputs are `status`, `headers` and `json` or `text`", .given = GIVEN_HTTP, .where = IN_JOB | IN_UNDO,
        .form = "URL or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/http\"}]}"),
    KEY("handler",    SPEC_TEXT,   spec_job, r.handler, "a type of job for which workers have a program (`reeve worker --handler`); it runs on a worker that has one", .given = GIVEN_HANDLER, .where = IN_JOB | IN_UNDO),
    KEY("payload",    SPEC_TEMPLATE, spec_job, r.stdin_text, "input of the handler, as its last argument and on its standard input", .given = GIVEN_PAYLOAD, .where = IN_JOB | IN_UNDO),
    KEY("noop",       SPEC_BOOL,   spec_job, noop, "does nothing, on a worker", .given = GIVEN_NOOP, .where = IN_JOB | IN_UNDO),
    KEY("sleep",      SPEC_MS64,   spec_job, r.sleep_ms, "does nothing for this time, on a worker", .given = GIVEN_SLEEP, .where = IN_JOB | IN_UNDO),
    KEY("fail",       SPEC_COUNT,  spec_job, r.exit_code, "fails with this exit code, for tests", .given = GIVEN_FAIL, .where = IN_JOB | IN_UNDO),

    KEY("needs",      SPEC_NODE,   spec_job, needs, "jobs that must succeed first; a job of another flow is `FLOW/JOB`", .where = IN_JOB,
        .form = "name or list", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}"),
    KEY("phase",      SPEC_NODE,   spec_job, phase, "phase of the job: all jobs of a phase finish before the next phase starts; a number, or a name from the flow's `phases`", .where = IN_JOB | IN_DEFAULTS,
        .form = "number or name", .schema = "{\"type\":[\"string\",\"integer\"]}"),
    KEY("when",       SPEC_NODE,   spec_job, when, "an expression (above); if it is not true, the job is skipped", .where = IN_JOB,
        .form = "expression", .schema = "{\"type\":[\"string\",\"boolean\"]}"),
    KEY("foreach",    SPEC_NODE,   spec_job, foreach, "a job for each item: an expression (above) that gives a list or a number, a list of plain values, lists by name (an item for each combination: `{os: [linux, mac], n: [1, 2]}`), or an object (below)", .where = IN_JOB,
        .form = "expression, list or object", .schema = "{\"oneOf\":[{\"type\":[\"string\",\"number\"]},{\"type\":\"array\"},{\"$ref\":\"#/$defs/foreach\"},"
        "{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":8,\"propertyNames\":{\"not\":{\"enum\":[\"in\",\"exclude\",\"include\",\"max_parallel\",\"fail_fast\",\"allow\"]}},"
        "\"additionalProperties\":{\"type\":[\"string\",\"number\",\"array\"]}}]}"),
    KEY("trigger",    SPEC_TRIGGER, spec_job, o.trigger, "when it starts: when all jobs that it needs have succeeded (default), when all have ended and none has failed (`none_failed`: skipped ones are fine), as soon as one has succeeded, or when all have ended", .where = IN_JOB | IN_DEFAULTS),
    KEY("on_upstream", SPEC_UPSTREAM, spec_job, o.on_upstream, "how it ends if its trigger cannot come any more: `fail` (default) or `skip`; `run` is the older word for `trigger: all_done`", .where = IN_JOB | IN_DEFAULTS),
    KEY("approval",   SPEC_OBJECT, spec_job, given, "a person must approve the job before it runs; keys as of a gate, a text is the message", .given = GIVEN_APPROVAL, .sub = &gate_keys, .where = IN_JOB | IN_DEFAULTS),
    KEY("compensate", SPEC_NODE,   spec_job, compensate, "compensation: undoes the job if the flow fails fatally afterwards: an object like a job, or a command", .where = IN_JOB,
        .form = "text or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/compensation\"}]}"),
    KEY("cache",      SPEC_NODE,   spec_job, cache, "reuse the result of an earlier, identical job: `true`, a text that is part of the cache key, or an object (below)", .where = IN_JOB | IN_DEFAULTS,
        .form = "true, text or object", .schema = "{\"oneOf\":[{\"type\":[\"boolean\",\"string\"]},{\"$ref\":\"#/$defs/cache\"}]}"),

    KEY("retries",    SPEC_RETRIES, spec_job, o.attempts_max, "attempts after the first (default: 3)"),
    KEY("backoff",    SPEC_OBJECT, spec_job, given, "delay between attempts; a duration alone is the base", .sub = &backoff_keys),
    KEY("retry_on",   SPEC_ENDS, spec_job, o.retry_on, "ends of an attempt that are tried again: `lost` (its worker is gone), `timeout`, `exit`; every other of these ends the job at once (default: all three)"),
    KEY("fatal_exit_codes", SPEC_EXITS, spec_job, o.fatal_exits, "exit codes that are fatal: no retry, and compensations start", .given = GIVEN_FATAL),
    KEY("timeout",    SPEC_MS64,   spec_job, o.run_timeout_ms, "longest run time of one attempt"),
    KEY("deadline",   SPEC_MOMENT, spec_job, o.deadline_ms, "time by which it must have finished, including retries"),
    KEY("start_at",   SPEC_MOMENT, spec_job, o.not_before_ms, "earliest start"),
    KEY("start_within", SPEC_MS64, spec_job, o.start_within_ms, "longest wait for a worker once it is ready"),
    KEY("dispatch_timeout", SPEC_MS64, spec_job, o.dispatch_timeout_ms, "time a worker has to start it (default: 30s)"),
    KEY("delay",      SPEC_MS64,   spec_job, o.delay_ms, "delay once it is ready"),
    KEY("priority",   SPEC_PRIORITY, spec_job, o.priority, "order in which jobs get a worker", .where = IN_JOB | IN_DEFAULTS),

    KEY("pool",       SPEC_TEXT,   spec_job, o.demand.pool, "pool of workers (default: `default`)", .given = GIVEN_POOL),
    KEY("topic",      SPEC_TEXT,   spec_job, o.demand.topic, "topic, which the server maps to pools, instead of `pool`", .given = GIVEN_TOPIC),
    KEY("requires",   SPEC_NAMES,  spec_job, o.demand.capabilities, "capabilities that the worker must have"),
    KEY("placement",  SPEC_PAIRS,  spec_job, o.demand.labels, "labels that the worker must have"),
    KEY("resources",  SPEC_OBJECT, spec_job, given, "resources that it reserves on a worker while it runs", .sub = &resource_keys),
    KEY("limits",     SPEC_OBJECT, spec_job, given, "limits of one attempt, enforced by the worker's machine", .sub = &limit_keys),
    KEY("prefer",     SPEC_OBJECT, spec_job, given, "preferred worker or pool", .sub = &prefer_keys),
    KEY("affinity",   SPEC_BOOL,   spec_job, o.affinity, "prefer the worker that ran the job before it"),
    KEY("exclusive",  SPEC_BOOL,   spec_job, o.exclusive, "never run two attempts at once, even if worker or network fail"),
    KEY("concurrency", SPEC_NAMES, spec_job, o.demand.keys, "concurrency keys: jobs with the same key run at most N at once (default: 1; `reeve limit key` sets N)"),
    KEY("rate",       SPEC_NAMES,  spec_job, o.demand.rates, "rates: each attempt takes a token of each"),

    KEY("env",        SPEC_ENV,  spec_job, r.env, "environment variables"),
    KEY("stdin",      SPEC_NODE,   spec_job, stdin_node, "standard input: a text, or `file:` with a path", .where = IN_JOB | IN_UNDO,
        .form = "text or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/stdin\"}]}"),
    KEY("workdir",    SPEC_TEMPLATE,   spec_job, r.workdir, "working directory (default: an empty directory)"),
    KEY("shared",     SPEC_BOOL,       spec_job, r.shared, "start in a permanent directory that such jobs of the tenant share on that worker; not in a sandbox"),
    KEY("artifacts",  SPEC_NODE,   spec_job, artifacts, "files to keep: paths in its directory (`*` and `?` match), or objects (below)", .where = IN_JOB | IN_DEFAULTS,
        .form = "list", .schema = "{\"type\":\"array\",\"items\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/artifact\"}]}}"),
    KEY("inputs",     SPEC_NODE,   spec_job, inputs, "artifacts of jobs that it needs, put into its directory before it starts: `{data.csv: extract/out.csv}`", .where = IN_JOB,
        .form = "object", .schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"),
    KEY("sandbox",    SPEC_NODE,   spec_job, sandbox, "restricts access to the machine: `strict`, `net-off`, `none`, or an object (below); see [the guide](sandbox.md)",
        .form = "word or object", .schema = "{\"oneOf\":[{\"enum\":[\"strict\",\"net-off\",\"none\"]},{\"$ref\":\"#/$defs/sandbox\"},{\"type\":\"string\",\"pattern\":\"\\\\$\\\\{\"}]}"),
    KEY("token",      SPEC_RIGHTS, spec_job, o.token_rights, "rights of its token (`$REEVE_TOKEN`) beyond its own flow: `read` all flows of its tenant, `submit` and manage flows (includes `read`); never more than its submitter has. What it submits is bound by its own sandbox, pools and priority"),
    KEY("labels",     SPEC_PAIRS,  spec_job, r.labels, "for people and searches"),
    KEY("log_limit",  SPEC_SIZE,   spec_job, r.log_bytes_max, "output that is kept; of longer output, head and tail"),
    KEY("kill_grace", SPEC_MS32,   spec_job, r.kill_grace_ms, "time between TERM and KILL (default: 10s)", .zero_as = 1),
};
const struct spec_object spec_job_keys = {"a job", job_fields, COUNT(job_fields)};

static const struct spec_field flow_fields[] = {
    KEY("name",        SPEC_TEXT,  spec_flow, name, "name of the flow; need not be unique"),
    KEY("description", SPEC_TEXT,  spec_flow, description, "for readers of the file"),
    KEY("key",         SPEC_TEXT,  spec_flow, key, "idempotency key: the same key with the same flow is submitted once"),
    KEY("key_for",     SPEC_MS64,  spec_flow, key_ms, "how long the key is remembered (default: 24h)"),
    KEY("labels",      SPEC_PAIRS, spec_flow, labels, "for people and searches"),
    KEY("trace",       SPEC_TEXT,  spec_flow, trace, "W3C trace context that the flow belongs to"),
    KEY("params",      SPEC_NODE,  spec_flow, params, "parameters for `${params.NAME}`, with their defaults; one without a default is required: `reeve submit FILE -p NAME=VALUE`",
        .form = "object", .schema = "{\"type\":\"object\",\"additionalProperties\":{\"oneOf\":[{\"type\":[\"string\",\"number\",\"boolean\",\"null\"]},{\"$ref\":\"#/$defs/param\"}]}}"),
    KEY("defaults",    SPEC_NODE,  spec_flow, defaults, "keys for all jobs; a job can override them",
        .form = "object", .schema = "{\"$ref\":\"#/$defs/defaults\"}"),
    KEY("schedule",    SPEC_NODE,  spec_flow, schedule, "schedule for `reeve schedule add FILE`: a cron pattern, or an object (below)",
        .form = "text or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/schedule\"}]}"),
    KEY("compensate_on", SPEC_UNDO_ON, spec_flow, compensate_on, "what starts the compensations: a `fatal` failure (default), or any `failure`: a job that is failed or timed out after its last attempt"),
    KEY("timeout",     SPEC_MS64,  spec_flow, timeout_ms, "time that the `jobs` have together, from the submit on; then they are cancelled and the flow fails"),
    KEY("deadline",    SPEC_NODE,  spec_flow, deadline, "time from which on the flow counts as late (a mark and an event; nothing is stopped); of a scheduled flow a duration, from its slot on",
        .form = "time or duration", .schema = "{\"type\":\"string\"}"),
    KEY("phases",      SPEC_NAMES, spec_flow, phases, "names of phases in their order"),
    KEY("jobs",        SPEC_NODE,  spec_flow, jobs, "the jobs by name; a text instead of an object is its `run`",
        .form = "object", .schema = "{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/job\"}]}}"),
    KEY("on_success", SPEC_NODE, spec_flow, on_success, "jobs that run when all `jobs` are over and the flow has not failed and was not cancelled; written as `jobs`",
        .form = "object", .schema = "{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/job\"}]}}"),
    KEY("on_failure", SPEC_NODE, spec_flow, on_failure, "jobs that run when all `jobs` are over, compensations included, and the flow has failed",
        .form = "object", .schema = "{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/job\"}]}}"),
    KEY("finally", SPEC_NODE, spec_flow, finally, "jobs that run at the end in any case, after `on_success` or `on_failure`, also when the flow is cancelled",
        .form = "object", .schema = "{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/job\"}]}}"),
};
const struct spec_object spec_flow_keys = {"a flow", flow_fields, COUNT(flow_fields)};

#define PLAIN_SCHEMA "{\"type\":[\"string\",\"number\",\"boolean\"]}"
static const struct spec_field param_fields[] = {
    KEY("default",     SPEC_NODE, spec_param, standard, "default value; a parameter without one is required", .form = "value", .schema = "{}"),
    KEY("type",        SPEC_NODE, spec_param, type_node, "what its values are: `string`, `integer`, `number`, `boolean`, `date`, `time`, `duration`, `list`, `object` or `json` (default: what the default value is)", .form = "word",
        .schema = "{\"enum\":[\"string\",\"integer\",\"number\",\"boolean\",\"date\",\"time\",\"duration\",\"list\",\"object\",\"json\"]}"),
    KEY("required",    SPEC_BOOL, spec_param, required, "`true`: there is no default, and there may be none", .given = GIVEN_REQUIRED),
    KEY("choices",     SPEC_NODE, spec_param, choices, "allowed values", .form = "list",
        .schema = "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}}"),
    KEY("min",         SPEC_NODE, spec_param, min, "smallest value of an integer, a number or a duration; earliest date or time", .form = "value", .schema = PLAIN_SCHEMA),
    KEY("max",         SPEC_NODE, spec_param, max, "largest value, latest date or time", .form = "value", .schema = PLAIN_SCHEMA),
    KEY("pattern",     SPEC_NODE, spec_param, pattern, "regular expression that the whole text must fit, like `v[0-9]+` ([what it may hold](#patterns))", .form = "text", .schema = "{\"type\":\"string\"}"),
    KEY("env",         SPEC_TEXT, spec_param, env, "variable of the environment that gives the value if nothing else does, with `--allow-env` (`REEVE_PARAM_NAME` is always read)"),
    KEY("description", SPEC_TEXT, spec_param, description, "for people"),
};
const struct spec_object spec_param_keys = {"a parameter", param_fields, COUNT(param_fields)};

static const struct spec_field script_fields[] = {
    KEY("file", SPEC_TEXT, spec_script, file, "path of the script, from the directory of the flow file", .given = 1),
    KEY("text", SPEC_NODE, spec_script, text, "the script itself, instead of `file`", .given = 2, .form = "text", .schema = "{\"type\":\"string\"}"),
    KEY("name", SPEC_TEXT, spec_script, name, "a name whose ending chooses the interpreter (`.py .sh .js .jar`)"),
    KEY("args", SPEC_NODE, spec_script, args, "its arguments", .form = "list",
        .schema = "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}}"),
};
const struct spec_object spec_script_keys = {"a script", script_fields, COUNT(script_fields)};

static const struct spec_field archive_fields[] = {
    KEY("file",  SPEC_TEXT,  spec_archive, file, "path of the archive, from the directory of the flow file"),
    KEY("entry", SPEC_TEXT,  spec_archive, entry, "file in it to run; its ending chooses the interpreter (default: the first at its top of main, run, main.sh, run.sh, main.py, __main__.py, main.js, index.js, or the only .jar)"),
    KEY("args",  SPEC_NODE,  spec_archive, args, "its arguments", .form = "list",
        .schema = "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"number\",\"boolean\"]}}"),
    KEY("dir",   SPEC_TEXT,  spec_archive, dir, "folder in it to start in (default: its top)"),
    KEY("strip", SPEC_COUNT, spec_archive, strip, "leading folders to strip from every path in it"),
};
const struct spec_object spec_archive_keys = {"an archive", archive_fields, COUNT(archive_fields)};

static const struct spec_field stdin_fields[] = {
    KEY("text", SPEC_TEMPLATE, spec_stdin, text, "the text itself", .given = 1),
    KEY("file", SPEC_TEXT, spec_stdin, file, "path of a file, from the directory of the flow file", .given = 2),
};
const struct spec_object spec_stdin_keys = {"standard input", stdin_fields, COUNT(stdin_fields)};

static const struct spec_field artifact_fields[] = {
    KEY("path",     SPEC_TEMPLATE, spec_artifact, kept.path, "path in the job's directory; `*` and `?` match"),
    KEY("name",     SPEC_TEMPLATE, spec_artifact, kept.name, "name of the artifact (default: its path)"),
    KEY("optional", SPEC_BOOL, spec_artifact, kept.optional, "the file may be missing"),
};
const struct spec_object spec_artifact_keys = {"an artifact", artifact_fields, COUNT(artifact_fields)};

static const struct spec_field cache_fields[] = {
    KEY("key", SPEC_TEXT, spec_cache, key, "further text of the cache key, in addition to command, script, input and environment of the job"),
    KEY("for", SPEC_MS64, spec_cache, ms, "how long a result may be reused (default: 24h)"),
};
const struct spec_object spec_cache_keys = {"a cache", cache_fields, COUNT(cache_fields)};

static const struct spec_field tls_fields[] = {
    KEY("ca", SPEC_TEXT, spec_http, h.ca, "trusted certificates: PEM, or the path of a file on the worker (default: those of its system)"),
};
static const struct spec_object tls_keys = {"tls", tls_fields, COUNT(tls_fields)};

static const struct spec_field http_fields[] = {
    KEY("url",       SPEC_NODE,  spec_http, url, "http:// or https://; template values are percent-encoded, except at its beginning", .form = "text", .schema = "{\"type\":\"string\"}"),
    KEY("method",    SPEC_TEXT,  spec_http, h.method, "method (default: `GET`, or `POST` with a body)"),
    KEY("headers",   SPEC_NODE,  spec_http, headers, "names and values; `${NAME}` is a variable of the job's environment, so a secret stays on the worker", .form = "object",
        .schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"number\",\"boolean\"]}}"),
    KEY("body",      SPEC_NODE,  spec_http, body, "body of the request", .form = "text", .schema = "{\"type\":[\"string\",\"number\",\"boolean\"]}"),
    KEY("json",      SPEC_NODE,  spec_http, json, "value that is sent as JSON, instead of `body`", .form = "any value", .schema = "{}"),
    KEY("expect",    SPEC_NODE,  spec_http, expect, "statuses that mean success (default: `200-299`)", .form = "status, range or list",
        .schema = "{\"oneOf\":[{\"type\":[\"integer\",\"string\"]},{\"type\":\"array\",\"items\":{\"type\":[\"integer\",\"string\"]}}]}"),
    KEY("save",      SPEC_TEXT,  spec_http, h.save, "write the body of the answer to this file instead of the outputs, and keep it as an artifact of that name"),
    KEY("max_bytes", SPEC_SIZE,  spec_http, h.bytes_max, "largest body of the answer (default: 1MiB, with `save` 1GiB)"),
    KEY("timeout",   SPEC_MS32,  spec_http, h.timeout_ms, "timeout of the whole request, from name lookup to the last byte (default: 30s)", .zero_as = 1),
    KEY("redirects", SPEC_COUNT, spec_http, h.redirects, "number of redirects to follow, each checked like the first (default: 0)"),
    KEY("tls",       SPEC_OBJECT, spec_http, given, "how the server is authenticated", .sub = &tls_keys),
    KEY("allow_private", SPEC_BOOL, spec_http, h.allow_private, "allow addresses outside the public net, if the worker allows them (`reeve worker --http-private`)"),
};
const struct spec_object spec_http_keys = {"a request", http_fields, COUNT(http_fields)};

#define STEP_SCHEMA "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\"},{\"$ref\":\"#/$defs/step\"}]}"
static const struct spec_field external_fields[] = {
    KEY("message", SPEC_TEMPLATE, spec_external, message, "what it waits for"),
    KEY("submit",  SPEC_NODE, spec_external, submit, "step that starts the outside work, on a worker: a command, or an object (below); it gets `$REEVE_CALLBACK_URL` and `$REEVE_CALLBACK_TOKEN`", .form = "text, list or object", .schema = STEP_SCHEMA),
    KEY("poll",    SPEC_NODE, spec_external, poll, "step that polls the outside work repeatedly, on a worker", .form = "object", .schema = STEP_SCHEMA),
    KEY("timeout", SPEC_MS64, spec_external, timeout_ms, "longest time from then on (default: 48h)"),
};
const struct spec_object spec_external_keys = {"an external job", external_fields, COUNT(external_fields)};

static const struct spec_field step_fields[] = {
    KEY("run",    SPEC_NODE, spec_step, run, "a command, as `run` of a job; for a poll, exit code 0 means done, 75 not yet", .form = "text or list", .schema = "{\"type\":[\"string\",\"array\"]}"),
    KEY("http",   SPEC_NODE, spec_step, http, "a request, as `http` of a job", .form = "URL or object", .schema = "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/http\"}]}"),
    KEY("every",  SPEC_MS32, spec_step, every_ms, "poll: time between two polls"),
    KEY("up_to",  SPEC_MS32, spec_step, up_to_ms, "poll: the time between polls doubles up to this (default: it does not change)"),
    KEY("until",  SPEC_NODE, spec_step, until, "poll: an expression about its `output`; the job is done when it is true", .form = "expression", .schema = "{\"type\":[\"string\",\"boolean\"]}"),
    KEY("failed", SPEC_NODE, spec_step, failed, "poll: an expression about its `output`; the job has failed when it is true", .form = "expression", .schema = "{\"type\":[\"string\",\"boolean\"]}"),
};
const struct spec_object spec_step_keys = {"a step", step_fields, COUNT(step_fields)};

static const struct spec_field foreach_fields[] = {
    KEY("in",           SPEC_NODE,  spec_foreach, in, "the items: an expression, a list, or lists by name, whose items are objects with one value of each: `{os: [linux, mac], version: jobs.list.outputs.versions}`",
        .form = "expression, list or object", .schema = "{}"),
    KEY("exclude",      SPEC_NODE,  spec_foreach, exclude, "with lists by name: leave out items that have all values of one of these objects", .form = "list or expression", .schema = "{\"type\":[\"string\",\"array\"]}"),
    KEY("include",      SPEC_NODE,  spec_foreach, include, "with lists by name: objects that are added as they are", .form = "list or expression", .schema = "{\"type\":[\"string\",\"array\"]}"),
    KEY("max_parallel", SPEC_COUNT, spec_foreach, max_parallel, "how many run at once"),
    KEY("fail_fast",    SPEC_BOOL,  spec_foreach, fail_fast, "cancel the rest as soon as it cannot succeed any more"),
    KEY("allow",        SPEC_NODE,  spec_foreach, allow, "number of items that may fail, or a share like `10%`", .form = "number or share", .schema = "{\"type\":[\"integer\",\"string\"]}"),
};
const struct spec_object spec_foreach_keys = {"a foreach", foreach_fields, COUNT(foreach_fields)};

static const struct spec_field sandbox_fields[] = {
    KEY("strict",    SPEC_BOOL,  spec_sandbox, strict, "no network, and no files but the system's, its own and those named here"),
    KEY("net",       SPEC_NODE,  spec_sandbox, net, "`off`: no network; `on`: with the network, also when strict", .form = "on or off", .schema = "{\"enum\":[\"on\",\"off\",true,false]}"),
    KEY("read-only", SPEC_NAMES, spec_sandbox, read, "absolute paths that it may read and execute from; all others except the system's and its own are hidden", .form = "path or list"),
    KEY("write",     SPEC_NAMES, spec_sandbox, write, "absolute paths of directories that it may write to", .form = "path or list"),
};
const struct spec_object spec_sandbox_keys = {"a sandbox", sandbox_fields, COUNT(sandbox_fields)};

static const struct spec_field calendar_fields[] = {
    KEY("file",        SPEC_NAMES, spec_schedule, calendar_files, "a file that lists the days, beside the flow file: iCalendar, or a line for each date and its name; the command line reads it, and the schedule keeps the days", .form = "path or list"),
    KEY("not",         SPEC_NAMES, spec_schedule, days, "dates on which it does not run: `2026-12-25`, with a name if you like: `2026-12-25 Christmas`", .form = "date or list"),
    KEY("weekdays",    SPEC_NAMES, spec_schedule, weekdays, "weekdays on which it runs: `mon-fri` (default: all)", .form = "weekdays or list"),
    KEY("on_excluded", SPEC_TEXT,  spec_schedule, excluded, "a slot on any other day: `skip` it (default), move it to the next day that is not excluded (`shift_next`) or to the previous one (`shift_previous`), or `run` it all the same", .form = "skip, shift_next, shift_previous or run"),
};
const struct spec_object spec_calendar_keys = {"a calendar", calendar_fields, COUNT(calendar_fields)};

static const struct spec_field on_fields[] = {
    KEY("key",          SPEC_TEXT,  spec_schedule, on_key, "a key of the store; with a `*` at its end, all keys that begin so"),
    KEY("when",         SPEC_NAMES, spec_schedule, on_when, "which changes count: `changed` (new, or another value; default), `set` (written, also with the same value), `deleted` (removed or expired)", .form = "changed, set, deleted or a list"),
    KEY("min_interval", SPEC_MS64,  spec_schedule, on_interval_ms, "time from one start to the next at least; changes meanwhile wait, all those of a key for one start"),
    KEY("own_changes",  SPEC_BOOL,  spec_schedule, on_own, "changes that jobs of its own flows make start further flows (default: they do not)"),
};
const struct spec_object spec_on_keys = {"what starts a schedule", on_fields, COUNT(on_fields)};

static const struct spec_field schedule_fields[] = {
    KEY("cron",     SPEC_TEXT, spec_schedule, cron, "minute, hour, day, month and weekday in local time, or six fields with the second first: `30 2 * * mon-fri`, `@daily`; days also as `L` (the last), `L-3`, `LW` (the last working day), `15W` (the working day nearest the 15th), `fri#2`, `friL`"),
    KEY("every",    SPEC_TEXT, spec_schedule, every, "an interval like `15m`, counted from `from`"),
    KEY("at",       SPEC_TEXT, spec_schedule, at, "one time, like `2026-12-24T18:00`"),
    KEY("zone",     SPEC_TEXT, spec_schedule, zone, "time zone, like `Europe/Lisbon` (default: UTC)"),
    KEY("from",     SPEC_TEXT, spec_schedule, from, "start of the first interval, like `2026-01-01T00:00:00Z` (default: 1970, so `15m` means every quarter of the hour)"),
    KEY("gap",      SPEC_TEXT, spec_schedule, gap, "slots in the hour that is skipped when clocks go forward: `after` (right after it) or `skip`", .form = "after or skip"),
    KEY("fold",     SPEC_TEXT, spec_schedule, fold, "slots in the hour that is repeated when clocks go back: `first`, `last` or `both`", .form = "first, last or both"),
    KEY("on",       SPEC_OBJECT, spec_schedule, on_key, "a key of the store starts the flow, in place of the clock: a key, or an object (below)", .sub = &spec_on_keys),
    KEY("catch_up", SPEC_TEXT, spec_schedule, catch_up, "slots missed while the server was down: `all`, `last` (default) or `none`", .form = "all, last or none"),
    KEY("overlap",  SPEC_TEXT, spec_schedule, overlap, "slot due while the previous flow is running: `skip` it (default), `queue` it, or `replace` the running flow; with `on` the default is `queue`", .form = "skip, queue or replace"),
    KEY("calendar", SPEC_OBJECT, spec_schedule, calendar_files, "days on which it does not run: a file, or an object (below)", .sub = &spec_calendar_keys),
    KEY("start",    SPEC_MOMENT, spec_schedule, start_ms, "no slot before this"),
    KEY("end",      SPEC_MOMENT, spec_schedule, end_ms, "no slot after this"),
    KEY("paused",   SPEC_BOOL, spec_schedule, paused, "create the schedule paused"),
    KEY("name",     SPEC_TEXT, spec_schedule, name, "name of the schedule, unique in the tenant (default: the name of the flow)"),
};
const struct spec_object spec_schedule_keys = {"a schedule", schedule_fields, COUNT(schedule_fields)};

static const struct {
    const char *form, *schema;
} types[SPEC_TYPE_COUNT] = {
    [SPEC_TEXT]     = {"text", "{\"type\":[\"string\",\"number\",\"boolean\"]}"},
    [SPEC_TEMPLATE]    = {"text", "{\"type\":[\"string\",\"number\",\"boolean\"]}"},
    [SPEC_BOOL]     = {"true or false", "{\"type\":[\"boolean\",\"string\"]}"},
    [SPEC_COUNT]    = {"number", "{\"type\":[\"integer\",\"string\"],\"minimum\":0}"},
    [SPEC_RETRIES]  = {"number", "{\"type\":[\"integer\",\"string\"],\"minimum\":0}"},
    [SPEC_MS32]     = {"duration", "{\"$ref\":\"#/$defs/duration\"}"},
    [SPEC_MS64]     = {"duration", "{\"$ref\":\"#/$defs/duration\"}"},
    [SPEC_MOMENT]   = {"time or duration", "{\"type\":\"string\"}"},
    [SPEC_SIZE]     = {"size", "{\"$ref\":\"#/$defs/size\"}"},
    [SPEC_MILLI]    = {"number", "{\"type\":[\"number\",\"string\"],\"minimum\":0}"},
    [SPEC_PRIORITY] = {"low, normal, high or number", "{\"oneOf\":[{\"enum\":[\"low\",\"normal\",\"high\"]},{\"type\":\"integer\"},{\"type\":\"string\",\"pattern\":\"\\\\$\\\\{\"}]}"},
    [SPEC_RIGHTS]   = {"read, submit or a list", "{\"oneOf\":[{\"enum\":[\"read\",\"submit\"]},{\"type\":\"array\",\"items\":{\"enum\":[\"read\",\"submit\"]}}]}"},
    [SPEC_UPDATE]   = {"stop_first or start_first", "{\"enum\":[\"stop_first\",\"start_first\"]}"},
    [SPEC_UNDO_ON]  = {"fatal or failure", "{\"enum\":[\"fatal\",\"failure\"]}"},
    [SPEC_ENDS]     = {"lost, timeout, exit or a list", "{\"oneOf\":[{\"enum\":[\"lost\",\"timeout\",\"exit\"]},{\"type\":\"array\",\"minItems\":1,\"items\":{\"enum\":[\"lost\",\"timeout\",\"exit\"]}}]}"},
    [SPEC_UPSTREAM] = {"fail, skip or run", "{\"enum\":[\"fail\",\"skip\",\"run\"]}"},
    [SPEC_TRIGGER]  = {"all_succeeded, none_failed, one_succeeded or all_done", "{\"enum\":[\"all_succeeded\",\"none_failed\",\"one_succeeded\",\"all_done\"]}"},
    [SPEC_NAMES]    = {"name or list", "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}"},
    [SPEC_PAIRS]    = {"object", "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"number\",\"boolean\"]}}"},
    [SPEC_ENV]      = {"object", "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"number\",\"boolean\"]}}"},
    [SPEC_AMOUNTS]  = {"object", "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"integer\",\"string\"]}}"},
    [SPEC_EXITS]    = {"number or list", "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}]}"},
    [SPEC_OBJECT]   = {"object", NULL},
    [SPEC_NODE]     = {"value", NULL},
};
/* clang-format on */

const char *spec_type_form(enum spec_type type) {
    return types[type].form;
}

const char *spec_type_schema(enum spec_type type) {
    return types[type].schema;
}
