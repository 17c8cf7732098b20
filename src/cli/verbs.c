/* verbs.c: the table of verbs. Parsing, help, completion and the manual page come from it. */
#include "verbs.h"

/* clang-format off */
const struct cli_flag cli_common_flags[] = {
    {"data",   0,   "DIR",       "directory of the server (default: $REEVE_DATA, else .reeve here or in a parent folder)"},
    {"server", 0,   "HOST[:PORT]", "address of a server, tls://HOST[:PORT] with TLS; port 7070 unless given (default: $REEVE_SERVER; its token: $REEVE_TOKEN)"},
    {"context", 0,  "NAME",      "server named by `reeve context add` (default: $REEVE_CONTEXT; without .reeve here or in a parent folder: the context in use)"},
    {"tls-ca", 0,   "FILE",      "authority of the server's certificate (default: $REEVE_TLS_CA)"},
    {"tls-pin", 0,  "HEX",       "SHA-256 of the server's certificate, instead of --tls-ca (default: $REEVE_TLS_PIN)"},
    {"tls-cert", 0, "FILE",      "client certificate and key, if the server requires one (default: $REEVE_TLS_CERT)"},
    {"format", 'o', "FORMAT",    "output format: wide, json, jsonl, yaml or name; json is the body of the HTTP answer, jsonl has one item per line"},
    {"json",   0,   NULL,        "print JSON, the same as --format json"},
    {"color",  0,   "WHEN",      "colours: always or never (default: on a terminal)"},
    {"help",   'h', NULL,        "show the help of this verb"},
    {0},
};

static const struct cli_flag run_flags[] = {
    {"name",     'n', "NAME",       "name of the flow and its job (default: the name of the command)"},
    {"pool",     0,   "POOL",       "pool of workers"},
    {"requires", 0,   "CAPABILITY", "capability that the worker must have; may be repeated"},
    {"env",      'e', "NAME=VALUE", "environment variable; may be repeated"},
    {"label",    'l', "NAME=VALUE", "label of the flow; may be repeated"},
    {"stdin",    0,   "FILE",       "standard input of the job; - = this program's"},
    {"script",   0,   "FILE",       "send a script and run it instead of a command; ARG... are its arguments"},
    {"here",     0,   NULL,         "start in this directory instead of an empty one, on a worker of this machine"},
    {"archive",  0,   "FILE",       "run a zip or tar archive instead of a command; ARG... are its arguments"},
    {"entry",    0,   "PATH",       "file in the archive to run (default: main, run, main.py and so on)"},
    {"timeout",  0,   "DURATION",   "longest run time of an attempt"},
    {"retries",  0,   "N",          "number of retries (default: 0)"},
    {"priority", 0,   "N",          "priority; higher runs first (default: 0)"},
    {"exclusive", 0,  NULL,         "never run two attempts at once, even if a worker is lost"},
    {"sandbox",  0,   "WORD",       "sandbox: strict, net-off or none"},
    {"detach",   'd', NULL,         "print the id and do not wait"},
    {0},
};
static const struct cli_flag submit_flags[] = {
    {"param", 'p', "NAME=VALUE", "parameter of the flow; NAME=@FILE reads its value, @FILE reads several; may be repeated"},
    {"params", 0, "FILE", "read parameters from a file: YAML, JSON, or NAME=VALUE lines in a file *.env; - = standard input"},
    {"allow-env", 0, NULL, "allow the file to read the environment variables that its parameters name by `env`"},
    {"name",    'n', "NAME",       "name of the flow (default: the name in the file)"},
    {"key",     'k', "KEY",        "idempotency key: a second submit with the same key has no effect"},
    {"label",   'l', "NAME=VALUE", "additional label; may be repeated"},
    {"wait",    'w', NULL,         "wait until the flow has finished; exit 1 if it failed"},
    {"dry-run", 0,   NULL,         "check the file and print the flow as JSON, without a server"},
    {"allow-outside", 0, NULL, "allow the file to name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag plan_flags[] = {
    {"param", 'p', "NAME=VALUE", "parameter of the flow; NAME=@FILE reads its value, @FILE reads several; may be repeated"},
    {"params", 0, "FILE", "read parameters from a file: YAML, JSON, or NAME=VALUE lines in a file *.env; - = standard input"},
    {"allow-env", 0, NULL, "allow the file to read the environment variables that its parameters name by `env`"},
    {"allow-outside", 0, NULL, "allow the file to name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag add_flags[] = {
    {"param", 'p', "NAME=VALUE", "parameter of the file; NAME=@FILE reads its value, @FILE reads several; may be repeated"},
    {"params", 0, "FILE", "read parameters from a file: YAML, JSON, or NAME=VALUE lines in a file *.env; - = standard input"},
    {"allow-env", 0, NULL, "allow the file to read the environment variables that its parameters name by `env`"},
    {"allow-outside", 0, NULL, "allow the file to name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag ls_flags[] = {
    {"state",   's', "STATE",   "list only this state; may be repeated"},
    {"name",    'n', "TEXT",    "list only names that begin with TEXT"},
    {"label",   'l', "NAME=VALUE", "list only flows with this label; may be repeated"},
    {"since",   0,   "WHEN",    "list only flows created since: a duration ago like 7d, or a local time like 2026-01-31T18:00"},
    {"until",   0,   "WHEN",    "list only flows created before"},
    {"schedule", 0,  "NAME",    "list only flows that this schedule made"},
    {"items",   'i', NULL,      "list the items of foreach jobs, too (default: one line for all items of a job)"},
    {"search",  0,   "TEXT",    "list only flows with these words in names, labels or errors"},
    {"limit",   0,   "N",       "list at most N (default: 50)"},
    {"cursor",  0,   "CURSOR",  "continue a list; with --json (empty at first) the last line has the next cursor"},
    {"all",     'a', NULL,      "no limit"},
    {"dialect", 0,   "WHOSE",   "use the state names of titan, orion, cordum or corun"},
    {0},
};
static const struct cli_flag page_flags[] = {
    {"limit", 0,   "N",  "list at most N (default: 50)"},
    {"all",   'a', NULL, "no limit"},
    {0},
};
static const struct cli_flag logs_flags[] = {
    {"follow",  'f', NULL,   "follow the output until the attempt, or the flow, has ended"},
    {"attempt", 0,   "N",    "number of the attempt (default: the last of a job, all of a flow)"},
    {"tail",    0,   "N",    "print only the last N bytes of each attempt"},
    {"since",   0,   "WHEN", "print only lines since: a duration ago like 10m, or a local time like 2026-01-31T18:00"},
    {"times",   't', NULL,   "print the time of each line"},
    {"job",     'j', "NAME", "print only this job of a flow, * and ? as in a shell; may be repeated"},
    {"no-prefix", 0, NULL,   "do not print job names before the lines of a flow"},
    {0},
};
static const struct cli_flag graph_flags[] = {
    {"items", 'i', NULL, "draw the items of foreach jobs, too (default: one line for all items of a job)"},
    {"watch", 'w', NULL, "redraw as jobs change, until the flow has finished; exit like `wait`"},
    {0},
};
static const struct cli_flag top_flags[] = {
    {"once", 0, NULL, "print one frame and exit"},
    {0},
};
static const struct cli_flag get_flags[] = {
    {"output", 'o', "FILE", "write the file there"},
    {0},
};
static const struct cli_flag show_flags[] = {
    {"source", 0, NULL, "print the file that a flow was submitted from, byte for byte"},
    {0},
};
static const struct cli_flag wait_flags[] = {
    {"any",     0, NULL,       "return when the first has finished"},
    {"timeout", 0, "DURATION", "give up after this time, with exit code 124"},
    {"quiet",   'q', NULL,     "do not show progress"},
    {0},
};
static const struct cli_flag reason_flags[] = {
    {"reason", 'r', "TEXT", "reason, recorded with the change"},
    {0},
};
static const struct cli_flag rerun_flags[] = {
    {"from-failed", 0, NULL, "keep what succeeded (the default; accepted for compatibility)"},
    {"new",     0,   NULL,         "submit the file of the flow again, as another flow"},
    {"param",   'p', "NAME=VALUE", "with --new: another value of a parameter; NAME=@FILE reads it, @FILE reads several; may be repeated"},
    {"params",  0,   "FILE",       "with --new: read parameters from a file"},
    {"wait",    'w', NULL,         "with --new: wait until the new flow has finished; exit 1 if it failed"},
    {0},
};
static const struct cli_flag pause_flags[] = {
    {"pool",   0, "POOL",   "name a pool instead of a flow"},
    {"tenant", 0, "TENANT", "name a tenant instead of a flow"},
    {0},
};
static const struct cli_flag approve_flags[] = {
    {"reason", 'r', "TEXT", "reason, recorded with the change"},
    {"hash",   0,   "HASH", "hash of what you reviewed; refused if it has changed"},
    {"yes",    'y', NULL,   "do not ask for confirmation"},
    {0},
};
static const struct cli_flag complete_flags[] = {
    {"output", 'o', "JSON", "output of the job; @FILE reads it from a file"},
    {"fail",   0,   NULL,   "report a failure"},
    {"reason", 'r', "TEXT", "reason of the failure"},
    {"token",  0,   "TOKEN", "callback token of the job (`reeve callback`); needs no other right"},
    {0},
};
static const struct cli_flag callback_flags[] = {
    {"for", 0, "DURATION", "validity of the token (default: as long as the job waits)"},
    {0},
};
static const struct cli_flag drain_flags[] = {
    {"undo", 0, NULL, "accept jobs again"},
    {0},
};
static const struct cli_flag demand_flags[] = {
    {"watch", 'w', NULL, "keep running and print every change"},
    {"count", 'n', "N",  "exit after printing N times"},
    {0},
};
static const struct cli_flag events_flags[] = {
    {"since",  0,   "LSN.ORDINAL", "print only events after this position (default: all there are; with --follow: from now on)"},
    {"flow",   0,   "FLOW|JOB",    "print only events of this flow or job"},
    {"type",   't', "TYPE",        "print only this type: flow, job, worker or service; separate several by commas"},
    {"follow", 'f', NULL,          "keep printing new events"},
    {0},
};
#define AUDIT_FILTER_FLAGS \
    {"since",     0,   "WHEN", "only records since: a duration ago like 7d, or a local time like 2026-01-31T18:00"}, \
    {"until",     0,   "WHEN", "only records before"}, \
    {"principal", 0,   "NAME", "only what this user, token or worker did"}, \
    {"verb",      0,   "VERB", "only this action, as the column VERB has it, like submit or cancel"}, \
    {"type",      't', "KIND", "only this kind of record, like submitted (see docs/formats/records.md)"}, \
    {"object",    0,   "NAME", "only records of this flow or job, or of the pool, schedule, service, worker or key of this name"}, \
    {"tenant",    0,   "TENANT", "only records that name this tenant"}, \
    {"all",       'a', NULL,   "also what the server and its workers did"}
static const struct cli_flag audit_flags[] = {
    AUDIT_FILTER_FLAGS,
    {"limit",     0,   "N",    "print at most N (default: 50)"},
    {"cursor",    0,   "CURSOR", "continue a list"},
    {0},
};
static const struct cli_flag audit_export_flags[] = {
    AUDIT_FILTER_FLAGS,
    {"format",    0,   "FORMAT", "jsonl: lines that `audit verify --from` can check (default); ocsf: events of OCSF 1.3"},
    {"output",    'o', "FILE", "write the lines there"},
    {"offline",   0,   NULL,   "read the journal in the data directory, without a server"},
    {0},
};
static const struct cli_flag audit_verify_flags[] = {
    {"from",      0,   "FILE", "check this export of `audit export` instead of a journal"},
    {"key",       0,   "KEY|FILE", "public key that must have signed every checkpoint, as `audit key` prints it"},
    {"since",     0,   "FILE", "a checkpoint that was kept elsewhere (audit checkpoint --json) and must be in the journal"},
    {0},
};
static const struct cli_flag limit_flags[] = {
    {"tenant", 0, "TENANT", "name of the tenant (default: your own, else `default`)"},
    {"clear",  0, NULL,     "remove the limit"},
    {0},
};
static const struct cli_flag rate_flags[] = {
    {"burst",  0, "N",      "number that may start at once after a pause (default: 1)"},
    {"tenant", 0, "TENANT", "name of the tenant (default: your own, else `default`)"},
    {"clear",  0, NULL,     "remove the limit"},
    {0},
};
static const struct cli_flag tenant_limit_flags[] = {
    {"running", 0, "N",      "jobs running at once; further jobs wait"},
    {"queued",  0, "N",      "unfinished jobs; further jobs are refused"},
    {"bytes",   0, "SIZE",   "total size of unfinished jobs; further jobs are refused"},
    {"tenant",  0, "TENANT", "name of the tenant (default: your own, else `default`)"},
    {"clear",   0, NULL,     "remove the limit"},
    {0},
};
static const struct cli_flag kv_flags[] = {
    {"flow",       0, "FLOW",     "use the namespace of a flow instead of the tenant's"},
    {"ttl",        0, "DURATION", "set, expire: time to live"},
    {"if-absent",  0, NULL,       "set: only if the key does not exist"},
    {"if-present", 0, NULL,       "set, del: only if the key exists"},
    {"if-version", 0, "N",        "set, del: only if the key has this version"},
    {"limit",      0, "N",        "ls: list at most N (default: 50)"},
    {"all",        'a', NULL,     "ls: no limit"},
    {"count",      'n', "N",      "watch: exit after N changes"},
    {0},
};
static const struct cli_flag blob_put_flags[] = {
    {"for", 0, "DURATION", "keep the blob for this time (default: until `blob rm`)"},
    {0},
};
static const struct cli_flag token_flags[] = {
    {"role",    0, "ROLE",     "admin, operator, submitter, approver, inspect, viewer, worker; may be repeated"},
    {"tenant",  0, "TENANT",   "tenant of the token (default: all tenants)"},
    {"expires", 0, "DURATION", "validity (default: does not expire)"},
    {"kind",    0, "KIND",     "what its bearer is: person, service, agent or worker (default: worker for the role worker alone, else person); only a person can approve"},
    {0},
};
static const struct cli_flag schedule_flags[] = {
    {"param", 'p', "NAME=VALUE", "parameter of the flow; NAME=@FILE reads its value, @FILE reads several; may be repeated"},
    {"params", 0, "FILE", "read parameters from a file: YAML, JSON, or NAME=VALUE lines in a file *.env; - = standard input"},
    {"allow-env", 0, NULL, "allow the file to read the environment variables that its parameters name by `env`"},
    {"name",     'n', "NAME",     "name of the schedule (default: the name in the file)"},
    {"cron",     0,   "PATTERN",  "minute hour day month weekday, or six fields with the second first, with L, L-3, LW, 15W, fri#2 and friL for days; or @daily, @hourly and so on"},
    {"every",    0,   "DURATION", "interval, instead of --cron"},
    {"at",       0,   "TIME",     "one time, instead of --cron"},
    {"zone",     0,   "ZONE",     "time zone, like Europe/Lisbon (default: UTC)"},
    {"from",     0,   "TIME",     "start of the first interval"},
    {"gap",      0,   "HOW",      "slots in the hour that is skipped when clocks go forward: after or skip"},
    {"fold",     0,   "HOW",      "slots in the hour that is repeated when clocks go back: first, last or both"},
    {"catch-up", 0,   "HOW",      "slots missed while the server was down: all, last or none (default: last)"},
    {"overlap",  0,   "HOW",      "slot due while the previous flow is running: skip, queue or replace (default: skip; with --on-key: queue)"},
    {"on-key",   0,   "KEY",      "a key of the store starts the flow, instead of --cron; with a * at its end, all keys that begin so"},
    {"on-change", 0,  "HOW",      "which changes of the key count: changed, set, deleted, or a list with commas (default: changed)"},
    {"min-interval", 0, "DURATION", "time from one start by the key to the next at least"},
    {"own-changes", 0, NULL,      "changes of the key by jobs of its own flows start further flows"},
    {"calendar", 0,   "FILE",     "days on which it does not run: an iCalendar file, or a line for each date and its name; the schedule keeps the days"},
    {"not",      0,   "DATES",    "dates on which it does not run, like 2026-12-24,2026-12-25"},
    {"weekdays", 0,   "WEEKDAYS", "weekdays on which it runs, like mon-fri (default: all)"},
    {"on-excluded", 0, "HOW",     "slot on any other day: skip, shift_next, shift_previous or run (default: skip)"},
    {"start",    0,   "TIME",     "no slot before this"},
    {"end",      0,   "TIME",     "no slot after this"},
    {"paused",   0,   NULL,       "create the schedule paused"},
    {"allow-outside", 0, NULL, "allow the file to name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag next_flags[] = {
    {"count", 'n', "N", "number of slots (default: 5)"},
    {0},
};
static const struct cli_flag backfill_flags[] = {
    {"since", 0, "TIME", "run slots at or after this time: 2026-11-01 or 2026-11-01T02:30 in the zone of the schedule"},
    {"until", 0, "TIME", "run slots before this time"},
    {"dry-run", 0, NULL, "only list the slots"},
    {0},
};
static const struct cli_flag run_now_flags[] = {
    {"key", 0, "KEY", "the key that the run is for, if a key starts the schedule"},
    {"slot", 0, "TIME", "the slot that the run is for: 2026-11-01 or 2026-11-01T02:30 in the zone of the schedule (default: now)"},
    {"wait", 'w', NULL, "wait until the flow has finished; exit 1 if it failed"},
    {0},
};
static const struct cli_flag deploy_flags[] = {
    {"name",    'n', "NAME",       "name of the service (default: the name of the file)"},
    {"port",    0,   "N|auto",     "port of the service, in $PORT; auto = a free port"},
    {"health",  0,   "PATH",       "path that answers 200 to 399 when healthy (default: healthy when the port accepts connections)"},
    {"replicas", 0, "N",           "number of replicas, NAME.1 to NAME.N (default: one service without a number)"},
    {"update",  0,   "ORDER",      "start_first: the old version stops when the new one is healthy (default: stop_first)"},
    {"healthy-within", 0, "DURATION", "roll back to the previous version after this time (default: 5m)"},
    {"pool",    0,   "POOL",       "pool of workers"},
    {"requires", 0,  "CAPABILITY", "capability that the worker must have; may be repeated"},
    {"env",     'e', "NAME=VALUE", "environment variable; may be repeated"},
    {"param", 'p', "NAME=VALUE", "parameter of the flow file; NAME=@FILE reads its value, @FILE reads several; may be repeated"},
    {"params", 0, "FILE", "read parameters from a file: YAML, JSON, or NAME=VALUE lines in a file *.env; - = standard input"},
    {"allow-env", 0, NULL, "allow the file to read the environment variables that its parameters name by `env`"},
    {"detach",  'd', NULL,         "print the id of the deploying flow and do not wait"},
    {"allow-outside", 0, NULL, "allow the file to name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag service_flags[] = {
    {"detach", 'd', NULL, "do not wait"},
    {0},
};
static const struct cli_flag console_flags[] = {
    {"open", 'o', NULL, "open the link in a browser: $BROWSER, else xdg-open"},
    {0},
};
static const struct cli_flag context_add_flags[] = {
    {"token", 0, "-|FILE", "token: the first line of a file, or of standard input"},
    {0},
};
static const struct cli_flag login_flags[] = {
    {"device", 0, NULL,   "show a code to type in any browser, instead of opening one here"},
    {"issuer", 0, "NAME", "identity provider, if the server has several"},
    {0},
};
static const struct cli_flag context_use_flags[] = {
    {"none", 0, NULL, "use no context"},
    {0},
};
static const struct cli_flag help_flags[] = {
    {"all", 'a', NULL, "list all verbs in groups, and the exit codes"},
    {"man", 0, NULL, "print the manual page (roff)"},
    {0},
};

const struct cli_verb cli_verbs[] = {
    {"up", "[--data DIR] [--workers MIN..MAX] [--detach]", "start a server and a worker here", "Runs both as processes of their own and restarts either if it ends. Ctrl-C stops both after the running jobs; a second Ctrl-C does not wait.", NULL, NULL, 0, 255, CLI_UP, true},
    {"down", "[--data DIR] [--now]", "stop what `up --detach` started", "Waits for the running jobs, and says for how many; --now kills them; those with retries left run again after the next start.", NULL, NULL, 0, 255, CLI_DOWN, true},
    {"serve", "[--NAME VALUE]...", "run the server; --help lists the settings", NULL, NULL, NULL, 0, 255, CLI_SERVE, true},
    {"worker", "[--server HOST:PORT] [--slots N]...", "run jobs for a server; --help lists the options", NULL, NULL, NULL, 0, 255, CLI_WORKER, true},
    {"scaler", "[--min N] [--max N] [--idle DURATION] [--hook COMMAND] [OPTION OF WORKERS]...", "start and stop workers as the load changes; --help lists the options", "Starts workers on this host, or calls a command with the wanted number of workers.", NULL, NULL, 0, 255, CLI_SCALER, true},

    {"run", "[--] COMMAND [ARG]...", "run one command as a job, show its output, exit with its code", "The command is tried once (see --retries). Ctrl-C cancels the job; a second Ctrl-C leaves without waiting. If the connection is lost, reconnects for half a minute.", verb_run_command, run_flags, 0, 255, 0, false},
    {"submit", "FILE|-", "submit a flow file (YAML or JSON)", "Prints the id of the flow. Scripts and inputs named in the file are sent along.", verb_submit, submit_flags, 1, 1, 0, false},
    {"plan", "FILE|-", "tell what a flow file would do, without running it", "Jobs in their order, what each waits for, and which attached workers can run it or what they lack. Nothing is submitted or uploaded. Exit 1 if the server would refuse the flow, or no attached worker can run one of its jobs.", verb_plan, plan_flags, 1, 1, 0, false},
    {"add", "[FLOW] FILE|-", "add the jobs of a flow file to a running flow", "The new jobs may need jobs of the flow. Inside a job, FLOW defaults to its own flow, and added jobs run in its pools with at most its priority.", verb_add, add_flags, 1, 2, 0, false},
    {"ls", "[FLOW|JOB]", "list flows, newest first, or the jobs of one", "Finished flows are listed from memory and from the history. The items of a foreach job are one line, unless --items or --state is given; with JOB they are listed. TOOK is the time of the last attempt.", verb_ls, ls_flags, 0, 1, 0, false},
    {"show", "FLOW|JOB", "show all details of a flow or a job", NULL, verb_show, show_flags, 1, 1, 0, false},
    {"logs", "FLOW|JOB", "print the output of a job, or of all jobs of a flow", "For a flow, prints whole lines in the order in which they were written, each after the name of its job, all on standard output; with --follow the exit code is that of `wait`. A flow of one job is treated as its job, whose output is passed on byte for byte.", verb_logs, logs_flags, 1, 1, 0, false},
    {"get", "JOB [NAME]", "print an artifact of a job; without NAME: list them", "Artifacts of the job's last attempt. They are kept as long as the job.", verb_get, get_flags, 1, 2, 0, false},
    {"wait", "FLOW|JOB...", "wait until flows or jobs have finished; exit 1 if one failed", "If the connection is lost, reconnects for half a minute.", verb_wait, wait_flags, 1, 255, 0, false},
    {"graph", "FLOW|JOB", "draw a flow, with the state of each job", "With --watch, a flow with more jobs than the terminal has lines is drawn by layers: the jobs at the same distance from the start, counted by state. With JOB, a job with foreach and its items are drawn.", verb_graph, graph_flags, 1, 1, 0, false},
    {"top", "", "live view of flows, workers, approvals and throughput", "Full screen; `?` lists the keys. --json prints one frame as an object, after measuring throughput for a second.", verb_top, top_flags, 0, 0, 0, false},
    {"why", "FLOW|JOB", "tell why a job waits or failed", "For a flow, tells it for each job that waits for something else than other jobs, or failed.", verb_why, NULL, 1, 1, 0, false},

    {"cancel", "FLOW|JOB...", "cancel flows or jobs", "Running jobs get TERM, then KILL; jobs that depend on them are cancelled, too.", verb_targets, reason_flags, 1, 255, 0, false},
    {"retry", "JOB...", "retry failed jobs with a new budget of attempts", NULL, verb_targets, NULL, 1, 255, 0, false},
    {"discard", "JOB...", "drop dead letters", NULL, verb_targets, NULL, 1, 255, 0, false},
    {"rerun", "FLOW...", "run the failed, cancelled and skipped jobs of a flow again", "Jobs that succeeded are kept. With --new the file that the flow was submitted from runs as another flow, with the parameters it had and those of -p.", verb_rerun, rerun_flags, 1, 255, 0, false},
    {"pause", "[FLOW]", "stop starting new jobs of a flow, pool or tenant", NULL, verb_pause, pause_flags, 0, 1, 0, false},
    {"resume", "[FLOW]", "resume a paused flow, pool or tenant", NULL, verb_pause, pause_flags, 0, 1, 0, false},
    {"approve", "[FLOW|JOB]", "approve a job that waits for approval; without one: list them", "Shows what will run and its hash, and asks for confirmation. The approval is valid for exactly that. FLOW means its only job that waits for approval.", verb_approve, approve_flags, 0, 1, 0, false},
    {"reject", "FLOW|JOB", "reject a job that waits for approval", NULL, verb_approve, approve_flags, 1, 1, 0, false},
    {"callback", "JOB", "make a token with which an outside system can complete an external job", "The token needs no other right: `reeve complete JOB --token TOKEN`, or POST to the URL.", verb_callback, callback_flags, 1, 1, 0, false},
    {"complete", "JOB", "complete an external job", NULL, verb_complete, complete_flags, 1, 1, 0, false},

    {"schedule add", "FILE|-", "create or update a schedule", "The times come from `schedule:` in the file, or from flags. Adding it again updates it; its flows have the rights of the user who added it.", verb_schedule_add, schedule_flags, 1, 1, 0, false},
    {"schedule ls", "", "list schedules", NULL, verb_schedule_ls, NULL, 0, 0, 0, false},
    {"schedule show", "NAME", "show a schedule: when it fires, its last slots with their flows, and its next ones", NULL, verb_schedule_show, next_flags, 1, 1, 0, false},
    {"schedule next", "NAME", "show the next slots of a schedule", NULL, verb_schedule_next, next_flags, 1, 1, 0, false},
    {"schedule pause", "NAME", "pause a schedule; slots due meanwhile are skipped", NULL, verb_schedule_change, NULL, 1, 1, 0, false},
    {"schedule resume", "NAME", "resume a paused schedule, from now on", NULL, verb_schedule_change, NULL, 1, 1, 0, false},
    {"schedule rm", "NAME", "remove a schedule; its flows stay", NULL, verb_schedule_change, NULL, 1, 1, 0, false},
    {"schedule run", "NAME", "run the flow of a schedule now", "The flow runs on behalf of the user who asks. The slots of the schedule stay as they are; while its last flow is running, the run is refused.", verb_schedule_run, run_now_flags, 1, 1, 0, false},
    {"schedule backfill", "NAME", "run past slots of a schedule again", "The slots run one after the other, each as a flow of its own.", verb_schedule_backfill, backfill_flags, 1, 1, 0, false},

    {"deploy", "FILE [--] [ARG]...", "run a script, program, archive or flow file as a service, until stopped", "Waits until the service is healthy, or tells why it is not and rolls back to the previous version. FILE is sent along; ARG... are arguments of the program. Deploying the same name again replaces the service: the old version stops, then the new one starts; with --update start_first, the new one is healthy before the old one stops. With --replicas, one replica is deployed after the other, until one is not healthy.", verb_deploy, deploy_flags, 1, 255, 0, false},
    {"rollback", "NAME [VERSION]", "deploy an earlier version of a service again", "Without VERSION: the last one before the current that was healthy. It becomes a new version, with the program, arguments and options of the old one. Waits until it is healthy, as deploy does. `reeve services NAME` lists the versions that can be chosen.", verb_rollback, service_flags, 1, 2, 0, false},
    {"services", "[NAME]", "list services, or show all details of one, or the replicas of one", "RESTARTS counts the restarts of the current version. With NAME, lists its last 8 versions: who deployed each, when, and what became of it.", verb_services, NULL, 0, 1, 0, false},
    {"scale", "NAME=N", "change the number of replicas of a service", "New replicas are copies of one that runs; the highest are removed first. Waits until the new ones are healthy. The next deployment of a file sets the number that is in the file.", verb_scale, service_flags, 1, 1, 0, false},
    {"stop", "NAME", "stop a service, or all its replicas", NULL, verb_service_set, service_flags, 1, 1, 0, false},
    {"start", "NAME", "start a stopped service, or all its replicas", NULL, verb_service_set, service_flags, 1, 1, 0, false},
    {"restart", "NAME", "restart a service, or its replicas one after the other", NULL, verb_service_set, service_flags, 1, 1, 0, false},
    {"undeploy", "NAME", "stop and remove a service, or all its replicas", NULL, verb_service_set, service_flags, 1, 1, 0, false},

    {"workers", "", "list workers", NULL, verb_workers, page_flags, 0, 0, 0, false},
    {"drain", "WORKER", "stop giving new jobs to a worker", NULL, verb_drain, drain_flags, 1, 1, 0, false},
    {"demand", "", "list jobs that would run if there were more workers", "This is the input of `reeve scaler`. Jobs that wait for a limit, a pause or another job are not counted.", verb_demand, demand_flags, 0, 0, 0, false},
    {"limits", "", "list limits and their use", "Concurrency keys (jobs that run at once), rates (jobs started per second), and tenants. A key that is not set has width 1; a rate that is not set is unlimited.", verb_limits, NULL, 0, 0, 0, false},
    {"limit key", "NAME [N]", "run at most N jobs with this key (`concurrency`) at once", NULL, verb_limit_key, limit_flags, 1, 2, 0, false},
    {"limit rate", "NAME [N]", "start at most N jobs with this rate (`rate`) per second, like 5 or 0.2", NULL, verb_limit_rate, rate_flags, 1, 2, 0, false},
    {"limit tenant", "", "limit the running and unfinished jobs of a tenant", NULL, verb_limit_tenant, tenant_limit_flags, 0, 0, 0, false},
    {"events", "", "print events, one per line", "Each line begins with its time and position; --since continues from a position, also after a restart of the server.", verb_events, events_flags, 0, 0, 0, false},
    {"audit", "", "list who did what, newest first", "Read from the journal and its archive (see archive_days). Needs a token with the role operator or admin that belongs to no tenant.", verb_audit, audit_flags, 0, 0, 0, false},
    {"audit ls", "", "the same", "Read from the journal and its archive (see archive_days). Needs a token with the role operator or admin that belongs to no tenant.", verb_audit, audit_flags, 0, 0, 0, false},
    {"audit export", "", "print who did what as JSON lines, oldest first", "Lines that prove themselves (see docs/formats/proof.md), or events of OCSF. By default what people did; --all for everything.", verb_audit_export, audit_export_flags, 0, 0, 0, true},
    {"audit verify", "", "check that the journal, or an export, is what was signed", "Reads the journal in the data directory, also beside a running server; with --server or --context the server reads it. Exit code 9 when something was changed.", verb_audit_verify, audit_verify_flags, 0, 0, 0, true},
    {"audit checkpoint", "", "hash and sign the journal now, and print the checkpoint", "Keep one elsewhere (--json): `audit verify --since` finds a journal whose end was cut off, or that was replaced.", verb_audit_checkpoint, NULL, 0, 0, 0, true},
    {"audit key", "", "print the public key of the checkpoints", "Keep it elsewhere: `audit verify --key` accepts no other.", verb_audit_key, NULL, 0, 0, 0, true},
    {"dead", "", "list dead letters: failed jobs nobody has handled yet", NULL, verb_dead, page_flags, 0, 0, 0, false},
    {"stats", "", "print the counters of the server", NULL, verb_stats, NULL, 0, 0, 0, false},

    {"kv get", "KEY...", "print values of the shared store", NULL, verb_kv_get, kv_flags, 1, 255, 0, false},
    {"kv set", "KEY VALUE", "set a key", NULL, verb_kv_change, kv_flags, 2, 2, 0, false},
    {"kv del", "KEY...", "delete keys, all or none", NULL, verb_kv_change, kv_flags, 1, 255, 0, false},
    {"kv incr", "KEY [N]", "add to a number", NULL, verb_kv_change, kv_flags, 1, 2, 0, false},
    {"kv add", "KEY MEMBER...", "add members to a set", NULL, verb_kv_change, kv_flags, 2, 255, 0, false},
    {"kv rem", "KEY MEMBER...", "remove members from a set", NULL, verb_kv_change, kv_flags, 2, 255, 0, false},
    {"kv expire", "KEY", "set a key's time to live; without --ttl, remove it", NULL, verb_kv_change, kv_flags, 1, 1, 0, false},
    {"kv publish", "CHANNEL TEXT", "publish a message to a channel", NULL, verb_kv_change, kv_flags, 2, 2, 0, false},
    {"kv watch", "KEY", "watch a key, or every key with a prefix (KEY*)", NULL, verb_kv_watch, kv_flags, 1, 1, 0, false},
    {"kv ls", "[PREFIX]", "list keys", NULL, verb_kv_ls, kv_flags, 0, 1, 0, false},
    {"blob put", "FILE|-", "store a file and print its hash", "The blob is kept until `reeve blob rm`, or for the time of --for; a job that uses it keeps it, too.", verb_blob_put, blob_put_flags, 1, 1, 0, false},
    {"blob get", "HASH", "print a blob", NULL, verb_blob_get, get_flags, 1, 1, 0, false},
    {"blob ls", "", "list blobs", "KEPT AS is the file that `blob put` keeps a blob for; the others are files of flows, schedules and services, and leave with them.", verb_blob_ls, page_flags, 0, 0, 0, false},
    {"blob rm", "HASH...", "stop keeping a blob", "Its space is freed when no job uses it any more.", verb_blob_rm, NULL, 1, 255, 0, false},
    {"console", "", "print a link that logs a browser in to the web console", "The link works once, within five minutes (login_link_ms), with the rights of the caller. The console also accepts tokens made with `reeve token new`.", verb_console, console_flags, 0, 0, 0, false},
    {"mcp", "", "serve the Model Context Protocol on standard input and output", "Started by an agent's program; docs/guides/agents.md has settings to copy. Tools have the rights of REEVE_TOKEN, or of this user with a local server. Reconnects when the server was restarted.", verb_mcp, NULL, 0, 0, 0, true},
    {"login", "[CONTEXT]", "log in by the server's identity provider; the token is kept in a context", "Opens a browser, or with --device shows a code for a browser elsewhere. Without CONTEXT: the context in use. A new context needs --server. The token is renewed while the provider allows it.", verb_login, login_flags, 0, 1, 0, true},
    {"logout", "[CONTEXT]", "remove the token of a context (default: the context in use)", NULL, verb_logout, NULL, 0, 1, 0, true},
    {"whoami", "", "show the name, roles and tenant of the caller", NULL, verb_whoami, NULL, 0, 0, 0, true},
    {"context add", "NAME", "name a server, with its token, or replace a context of that name", "Takes --server, --token and the flags of TLS. Contexts are kept in contexts.json in ~/.config/reeve ($XDG_CONFIG_HOME/reeve), readable by you alone. The token of a context is sent to its server only.", verb_context_add, context_add_flags, 1, 1, 0, true},
    {"context use", "[NAME]", "use a context where nothing else names a server", "A server is chosen by --server, --context or --data; else by REEVE_SERVER, REEVE_CONTEXT or REEVE_DATA; else by .reeve here or in a parent folder; else it is that of the context in use.", verb_context_use, context_use_flags, 0, 1, 0, true},
    {"context ls", "", "list contexts, without their tokens", NULL, verb_context_ls, NULL, 0, 0, 0, true},
    {"context rm", "NAME", "remove a context", NULL, verb_context_rm, NULL, 1, 1, 0, true},
    {"token new", "NAME", "make a token and print it once", NULL, verb_token_new, token_flags, 1, 1, 0, false},
    {"token ls", "", "list tokens, without the tokens themselves", NULL, verb_token_ls, NULL, 0, 0, 0, false},
    {"token revoke", "ID...", "revoke tokens", NULL, verb_token_revoke, NULL, 1, 255, 0, false},

    {"cert init", "[--data DIR] [--days N] [HOST]...", "make an authority and a server certificate for these names", "Written to the folder tls of the data directory, where the server finds it. The name of this machine and localhost are always included. Run again, it renews the server's certificate and keeps the authority.", NULL, NULL, 0, 255, CLI_CERT_INIT, true},
    {"cert worker", "NAME [--tenant TENANT] [--data DIR] [--days N]", "make a certificate for a worker, instead of a token", "One file, DIR/tls/NAME.pem, with key, certificate and authority.", NULL, NULL, 0, 255, CLI_CERT_WORKER, true},
    {"cert client", "NAME [--tenant TENANT] [--data DIR] [--days N]", "make a client certificate for a person, in addition to a token", "For servers with `tls_require: everyone`.", NULL, NULL, 0, 255, CLI_CERT_CLIENT, true},
    {"cert revoke", "NAME|SERIAL [--data DIR]", "revoke a certificate before it expires", "Adds its serial number to tls/revoked in the data directory. The server refuses it, and disconnects a worker that uses it, from its next start or SIGHUP on. NAME means the newest certificate of that name.", NULL, NULL, 0, 255, CLI_CERT_REVOKE, true},

    {"journal verify", "--data DIR", "check every byte of a journal; report the first damage", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_VERIFY, true},
    {"journal dump", "--data DIR [--from N] [--to N]", "print the records as JSON lines", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_DUMP, true},
    {"journal at", "--data DIR --lsn N", "print the digest of the state after record N", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_AT, true},
    {"journal compact", "--data DIR [--lsn N] [--archive-days N]", "fold closed segments, pack the archive", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_COMPACT, true},

    {"bench", "[W0...W14] [--list] [--json]", "measure this program and compare it with the limits of the machine", "`reeve bench --help` lists the workloads, `--list` also their settings. It starts its own server and workers in a temporary directory.", NULL, NULL, 0, 255, CLI_BENCH, true},
    {"crashtest", "[--rounds N] [--power-cut] [--json]", "kill a server repeatedly and verify that nothing is lost", "It starts its own server and worker in a temporary directory; `reeve crashtest --help` lists the options. Exit 0 only if nothing acknowledged is missing, nothing ran twice and nothing hangs.", NULL, NULL, 0, 255, CLI_CRASHTEST, true},
    {"doctor", "", "look for what is wrong with the machine, the data directory and the server", "Checks the directory and its files, the disk, the clock, the limits of the process, sandboxes, certificates, the server and its workers. Works without a server; with --server it checks only what that server tells. Exit 1 if there is a problem.", verb_doctor, NULL, 0, 0, 0, true},
    {"shell", "", "run verbs interactively, on one connection", "Tab completes verbs, flags, and names of flows, jobs and workers. The history is kept in ~/.reeve_history ($REEVE_HISTORY), without lines that begin with a blank or look like a secret. Lines from a pipe are run one by one; the exit code is that of the last.", verb_shell, NULL, 0, 0, 0, false},
    {"config", "[--data DIR]...", "print every setting and the source of its value", NULL, NULL, NULL, 0, 255, CLI_CONFIG, true},
    {"version", "", "print the version of this program, and of the server if one is running", NULL, verb_version, NULL, 0, 0, 0, true},
    {"completion", "bash|zsh|fish", "print a completion script: source <(reeve completion bash)", NULL, verb_completion, NULL, 1, 1, 0, true},
    {"help", "[VERB]", "list the usual verbs, or show the help of one verb", NULL, verb_help, help_flags, 0, 3, 0, true},
};
const uint32_t cli_verb_count = sizeof cli_verbs / sizeof cli_verbs[0];
/* clang-format on */
