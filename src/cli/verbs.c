/* verbs.c: the table of verbs. Parsing, help, completion and the manual page come from it. */
#include "verbs.h"

/* clang-format off */
const struct cli_flag cli_common_flags[] = {
    {"data",   0,   "DIR",       "directory of the server; REEVE_DATA, else ./.reeve"},
    {"server", 0,   "HOST:PORT", "server elsewhere, tls://HOST:PORT if it has a certificate; REEVE_SERVER, with its token in REEVE_TOKEN"},
    {"tls-ca", 0,   "FILE",      "of a tls:// server: the authority of its certificate; REEVE_TLS_CA"},
    {"tls-pin", 0,  "HEX",       "or the SHA-256 of that certificate; REEVE_TLS_PIN"},
    {"tls-cert", 0, "FILE",      "our own certificate and key, if the server wants one; REEVE_TLS_CERT"},
    {"format", 'o', "FORMAT",    "wide, json, jsonl, yaml or name: json is the body that HTTP answers, jsonl has one item per line"},
    {"json",   0,   NULL,        "the same as --format json"},
    {"color",  0,   "WHEN",      "always or never; else on a terminal"},
    {"help",   'h', NULL,        "what this verb does"},
    {0},
};

static const struct cli_flag run_flags[] = {
    {"name",     'n', "NAME",       "of the flow and its job; that of the command unless said"},
    {"pool",     0,   "POOL",       "pool of workers"},
    {"requires", 0,   "CAPABILITY", "that the worker must have; may come several times"},
    {"env",      'e', "NAME=VALUE", "environment variable; may come several times"},
    {"label",    'l', "NAME=VALUE", "label of the flow; may come several times"},
    {"stdin",    0,   "FILE",       "standard input; - = that of this program"},
    {"archive",  0,   "FILE",       "a zip or tar archive to run in place of a command; what is left are its arguments"},
    {"entry",    0,   "PATH",       "the file in the archive that is run; looked for unless said"},
    {"timeout",  0,   "DURATION",   "how long it may run"},
    {"retries",  0,   "N",          "further attempts; 0 unless said"},
    {"priority", 0,   "N",          "above or below normal"},
    {"exclusive", 0,  NULL,         "never two attempts at once, whatever happens"},
    {"sandbox",  0,   "WORD",       "what it may see and do of the machine: strict, net-off or none"},
    {"detach",   'd', NULL,         "print its id, wait for nothing"},
    {0},
};
static const struct cli_flag submit_flags[] = {
    {"param",   'p', "NAME=VALUE", "parameter of the flow; may come several times"},
    {"name",    'n', "NAME",       "of the flow, in place of the one in the file"},
    {"key",     'k', "KEY",        "idempotency key: submitting it twice is submitting it once"},
    {"label",   'l', "NAME=VALUE", "further label; may come several times"},
    {"wait",    'w', NULL,         "wait until it is over; exit 1 if it ended badly"},
    {"dry-run", 0,   NULL,         "check the file and print the flow as JSON, without a server"},
    {"allow-outside", 0, NULL, "let the file name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag add_flags[] = {
    {"param", 'p', "NAME=VALUE", "parameter of the file; may come several times"},
    {"allow-outside", 0, NULL, "let the file name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag ls_flags[] = {
    {"state",   's', "STATE",   "only in this state; may come several times"},
    {"name",    'n', "TEXT",    "only names that begin so"},
    {"label",   'l', "NAME=VALUE", "only with this label; may come several times"},
    {"since",   0,   "WHEN",    "only made since: a duration like 7d ago, or a local time like 2026-01-31T18:00"},
    {"until",   0,   "WHEN",    "only made before"},
    {"search",  0,   "TEXT",    "only with these words in names of flow and jobs, labels or errors"},
    {"limit",   0,   "N",       "at most N; 50 unless said"},
    {"cursor",  0,   "CURSOR",  "go on from here; with --json (empty to begin) the last line tells the next one"},
    {"all",     'a', NULL,      "no limit"},
    {"dialect", 0,   "WHOSE",   "states as titan, orion, cordum or corun call them"},
    {0},
};
static const struct cli_flag page_flags[] = {
    {"limit", 0,   "N",  "at most N; 50 unless said"},
    {"all",   'a', NULL, "no limit"},
    {0},
};
static const struct cli_flag logs_flags[] = {
    {"follow",  'f', NULL,   "go on until the attempt is over; of a flow: until the flow is"},
    {"attempt", 0,   "N",    "which attempt; of a job the last unless said, of a flow all"},
    {"tail",    0,   "N",    "only the last N bytes, of each attempt"},
    {"since",   0,   "WHEN", "only lines since: a duration like 10m ago, or a local time like 2026-01-31T18:00"},
    {"times",   't', NULL,   "when each line was written"},
    {"job",     'j', "NAME", "of a flow: only this job, * and ? as in a shell; may come several times"},
    {"no-prefix", 0, NULL,   "of a flow: no names before the lines"},
    {0},
};
static const struct cli_flag graph_flags[] = {
    {"watch", 'w', NULL, "draw it again in place as jobs change, until the flow is over; exit as `wait` does"},
    {0},
};
static const struct cli_flag top_flags[] = {
    {"once", 0, NULL, "print one frame and end"},
    {0},
};
static const struct cli_flag get_flags[] = {
    {"output", 'o', "FILE", "write it there"},
    {0},
};
static const struct cli_flag wait_flags[] = {
    {"any",     0, NULL,       "the first that is over suffices"},
    {"timeout", 0, "DURATION", "give up after it, with exit 124"},
    {"quiet",   'q', NULL,     "no progress"},
    {0},
};
static const struct cli_flag reason_flags[] = {
    {"reason", 'r', "TEXT", "why; it is kept"},
    {0},
};
static const struct cli_flag rerun_flags[] = {
    {"from-failed", 0, NULL, "keep what succeeded (this is how it is done)"},
    {0},
};
static const struct cli_flag pause_flags[] = {
    {"pool",   0, "POOL",   "a pool in place of a flow"},
    {"tenant", 0, "TENANT", "a tenant in place of a flow"},
    {0},
};
static const struct cli_flag approve_flags[] = {
    {"reason", 'r', "TEXT", "why; it is kept"},
    {"hash",   0,   "HASH", "of what you have seen; refused when it is another by now"},
    {"yes",    'y', NULL,   "do not ask"},
    {0},
};
static const struct cli_flag complete_flags[] = {
    {"output", 'o', "JSON", "the result of the job; @FILE reads it from a file"},
    {"fail",   0,   NULL,   "it went wrong"},
    {"reason", 'r', "TEXT", "why"},
    {"token",  0,   "TOKEN", "of the job (`reeve callback`): needs no other right"},
    {0},
};
static const struct cli_flag callback_flags[] = {
    {"for", 0, "DURATION", "how long it is good for; as long as the job waits unless said"},
    {0},
};
static const struct cli_flag drain_flags[] = {
    {"undo", 0, NULL, "it takes jobs again"},
    {0},
};
static const struct cli_flag demand_flags[] = {
    {"watch", 'w', NULL, "go on, and tell whenever it changes"},
    {"count", 'n', "N",  "end after it was told N times"},
    {0},
};
static const struct cli_flag events_flags[] = {
    {"since",  0,   "LSN.ORDINAL", "only behind this event; without it, and without --follow, from as far back as there are any"},
    {"flow",   0,   "FLOW|JOB",    "only of this flow or job"},
    {"type",   't', "TYPE",        "only of this type: flow, job, worker or service; several with commas"},
    {"follow", 'f', NULL,          "go on, from now on or from --since"},
    {0},
};
static const struct cli_flag limit_flags[] = {
    {"tenant", 0, "TENANT", "whose; your own unless said, else default"},
    {"clear",  0, NULL,     "no longer"},
    {0},
};
static const struct cli_flag rate_flags[] = {
    {"burst",  0, "N",      "so many may begin at once after a pause; 1 unless said"},
    {"tenant", 0, "TENANT", "whose; your own unless said, else default"},
    {"clear",  0, NULL,     "no longer"},
    {0},
};
static const struct cli_flag tenant_limit_flags[] = {
    {"running", 0, "N",      "jobs that run at once; others wait"},
    {"queued",  0, "N",      "jobs that have not ended; further ones are refused"},
    {"bytes",   0, "SIZE",   "of what they are made of, likewise"},
    {"tenant",  0, "TENANT", "whose; your own unless said, else default"},
    {"clear",   0, NULL,     "no longer"},
    {0},
};
static const struct cli_flag kv_flags[] = {
    {"flow",       0, "FLOW",     "the namespace of a flow in place of the tenant's"},
    {"ttl",        0, "DURATION", "set, expire: gone after it"},
    {"if-absent",  0, NULL,       "set: only when there is none"},
    {"if-present", 0, NULL,       "set, del: only when there is one"},
    {"if-version", 0, "N",        "set, del: only when it has this version"},
    {"limit",      0, "N",        "ls: at most N; 50 unless said"},
    {"all",        'a', NULL,     "ls: no limit"},
    {"count",      'n', "N",      "watch: end after N changes"},
    {0},
};
static const struct cli_flag blob_put_flags[] = {
    {"for", 0, "DURATION", "keep it so long (default: until `blob rm`)"},
    {0},
};
static const struct cli_flag token_flags[] = {
    {"role",    0, "ROLE",     "admin, operator, submitter, approver, inspect, viewer, worker; may come several times"},
    {"tenant",  0, "TENANT",   "that it acts for; all unless said"},
    {"expires", 0, "DURATION", "valid for so long; for ever unless said"},
    {0},
};
static const struct cli_flag schedule_flags[] = {
    {"param",    'p', "NAME=VALUE", "parameter of the flow; may come several times"},
    {"name",     'n', "NAME",     "of the schedule; that of the file unless said"},
    {"cron",     0,   "PATTERN",  "minute hour day month weekday, or six fields with the second first; @daily and its like"},
    {"every",    0,   "DURATION", "or: an interval"},
    {"at",       0,   "TIME",     "or: once"},
    {"zone",     0,   "ZONE",     "whose clock, like Europe/Lisbon; UTC unless said"},
    {"from",     0,   "TIME",     "where an interval begins"},
    {"gap",      0,   "HOW",      "when clocks go forward: after or skip"},
    {"fold",     0,   "HOW",      "when clocks go back: first, last or both"},
    {"catch-up", 0,   "HOW",      "slots missed while the server was down: all, last or none; last unless said"},
    {"overlap",  0,   "HOW",      "while the flow made last is running: skip, queue or replace; skip unless said"},
    {"start",    0,   "TIME",     "no slot before this"},
    {"end",      0,   "TIME",     "no slot after this"},
    {"paused",   0,   NULL,       "set it up, and let it fire when it is resumed"},
    {"allow-outside", 0, NULL, "let the file name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag next_flags[] = {
    {"count", 'n', "N", "how many slots; 5 unless said"},
    {0},
};
static const struct cli_flag backfill_flags[] = {
    {"since", 0, "TIME", "the first slot at or after this"},
    {"until", 0, "TIME", "and those before this"},
    {0},
};
static const struct cli_flag deploy_flags[] = {
    {"name",    'n', "NAME",       "of the service; that of the file unless said"},
    {"port",    0,   "N|auto",     "where it listens, in $PORT; auto = one that is free"},
    {"health",  0,   "PATH",       "it is well when this path answers 200 to 399; else when its port opens"},
    {"healthy-within", 0, "DURATION", "else the version before comes back; 5m unless said"},
    {"pool",    0,   "POOL",       "pool of workers"},
    {"requires", 0,  "CAPABILITY", "that the worker must have; may come several times"},
    {"env",     'e', "NAME=VALUE", "environment variable; may come several times"},
    {"param",   'p', "NAME=VALUE", "parameter of a flow file; may come several times"},
    {"detach",  'd', NULL,         "print the id of the flow that deploys it, wait for nothing"},
    {"allow-outside", 0, NULL, "let the file name scripts, archives and inputs outside its folder"},
    {0},
};
static const struct cli_flag service_flags[] = {
    {"detach", 'd', NULL, "wait for nothing"},
    {0},
};
static const struct cli_flag console_flags[] = {
    {"open", 'o', NULL, "open it in a browser: $BROWSER, else xdg-open"},
    {0},
};
static const struct cli_flag help_flags[] = {
    {"man", 0, NULL, "all of it as a manual page (roff)"},
    {0},
};

const struct cli_verb cli_verbs[] = {
    {"up", "[--data DIR] [--workers MIN..MAX] [--detach]", "start a server and a worker here", "Runs both as processes of their own and starts again whichever ends. Ctrl-C stops both; jobs that run are waited for.", NULL, NULL, 0, 255, CLI_UP, true},
    {"down", "[--data DIR]", "end what `up --detach` started", NULL, NULL, NULL, 0, 255, CLI_DOWN, true},
    {"serve", "[--NAME VALUE]...", "run the server; --help lists the settings", NULL, NULL, NULL, 0, 255, CLI_SERVE, true},
    {"worker", "[--server HOST:PORT] [--slots N]...", "run jobs for a server; --help lists the options", NULL, NULL, NULL, 0, 255, CLI_WORKER, true},
    {"scaler", "[--min N] [--max N] [--idle DURATION] [--hook COMMAND] [OPTION OF WORKERS]...", "start workers while jobs wait for room, end idle ones; --help lists the options", "On this host, or by a command that is told how many there are to be.", NULL, NULL, 0, 255, CLI_SCALER, true},

    {"run", "[--] COMMAND [ARG]...", "run one command as a job, show its output, exit as it does", "Unless --retries says otherwise the command is tried once. Ctrl-C cancels it; a second Ctrl-C leaves it to itself. A server that is killed or replaced meanwhile is waited for, half a minute.", verb_run_command, run_flags, 0, 255, 0, false},
    {"submit", "FILE|-", "submit a flow file (YAML or JSON)", "Prints the id of the flow. Scripts and inputs that the file names are sent along.", verb_submit, submit_flags, 1, 1, 0, false},
    {"add", "[FLOW] FILE|-", "add the jobs of a flow file to a flow that runs", "They may need jobs that are in the flow already. Inside a job, FLOW is its own unless said, and what it adds runs in its pools, at its priority at most.", verb_add, add_flags, 1, 2, 0, false},
    {"ls", "[FLOW]", "list flows, newest first, or the jobs of one", "Flows that are over are found in memory and in the history.", verb_ls, ls_flags, 0, 1, 0, false},
    {"show", "FLOW|JOB", "everything about a flow or a job", NULL, verb_show, NULL, 1, 1, 0, false},
    {"logs", "FLOW|JOB", "the output of a job, or of all jobs of a flow", "Of a flow: whole lines in the order in which they were written, each behind the name of its job, all on standard output; with --follow the exit code is as of `wait`. A flow of one job stands for its job, whose output is passed on byte for byte.", verb_logs, logs_flags, 1, 1, 0, false},
    {"get", "JOB [NAME]", "a file that a job left; without NAME: list them", "Artifacts of the job's last attempt. They stay as long as the job is remembered.", verb_get, get_flags, 1, 2, 0, false},
    {"wait", "FLOW|JOB...", "wait until they are over; exit 1 if one ended badly", "A server that is killed or replaced meanwhile is waited for, half a minute.", verb_wait, wait_flags, 1, 255, 0, false},
    {"graph", "FLOW", "draw a flow, with the state of each job", "A flow that has more jobs than the terminal has lines is watched by layers: jobs that are equally far from the beginning, and how many of them are in which state.", verb_graph, graph_flags, 1, 1, 0, false},
    {"top", "", "flows, workers, questions and throughput, live", "Full screen; `?` lists the keys. With --json one frame as an object, after a second in which throughput is measured.", verb_top, top_flags, 0, 0, 0, false},
    {"why", "JOB", "the one reason why a job does not run", NULL, verb_why, NULL, 1, 1, 0, false},

    {"cancel", "FLOW|JOB...", "end them", "What runs gets TERM, then KILL; what depends on it follows.", verb_targets, reason_flags, 1, 255, 0, false},
    {"retry", "JOB...", "give dead jobs a new budget of attempts", NULL, verb_targets, NULL, 1, 255, 0, false},
    {"discard", "JOB...", "put dead letters away", NULL, verb_targets, NULL, 1, 255, 0, false},
    {"rerun", "FLOW...", "run what failed, was cancelled or skipped again", "What succeeded is kept.", verb_targets, rerun_flags, 1, 255, 0, false},
    {"pause", "[FLOW]", "a flow, pool or tenant starts nothing new", NULL, verb_pause, pause_flags, 0, 1, 0, false},
    {"resume", "[FLOW]", "and goes on", NULL, verb_pause, pause_flags, 0, 1, 0, false},
    {"approve", "[JOB]", "say yes to what waits for a person; without JOB: list what waits", "Shows what will run and its hash, and asks. The approval holds for exactly that.", verb_approve, approve_flags, 0, 1, 0, false},
    {"reject", "JOB", "say no", NULL, verb_approve, approve_flags, 1, 1, 0, false},
    {"callback", "JOB", "a token by which someone outside can end an external job", "It needs no other right: `reeve complete JOB --token TOKEN`, or POST to the URL.", verb_callback, callback_flags, 1, 1, 0, false},
    {"complete", "JOB", "end a job that waits for a word from outside", NULL, verb_complete, complete_flags, 1, 1, 0, false},

    {"schedule add", "FILE|-", "make a flow again and again", "When is said by `schedule:` in the file, or by flags. Adding it again changes it; its flows are made with the rights of who added it.", verb_schedule_add, schedule_flags, 1, 1, 0, false},
    {"schedule ls", "", "list schedules", NULL, verb_schedule_ls, NULL, 0, 0, 0, false},
    {"schedule next", "NAME", "when it fires next", NULL, verb_schedule_next, next_flags, 1, 1, 0, false},
    {"schedule pause", "NAME", "it fires no more; slots that come meanwhile are called off", NULL, verb_schedule_change, NULL, 1, 1, 0, false},
    {"schedule resume", "NAME", "and goes on, from now", NULL, verb_schedule_change, NULL, 1, 1, 0, false},
    {"schedule rm", "NAME", "remove it; flows that it made stay", NULL, verb_schedule_change, NULL, 1, 1, 0, false},
    {"schedule backfill", "NAME", "run slots of the past again", NULL, verb_schedule_backfill, backfill_flags, 1, 1, 0, false},

    {"deploy", "FILE [--] [ARG]...", "run a script, a program, an archive or the services of a flow file until someone says otherwise", "Waits until it is healthy, or says why it is not; then the version before runs again. FILE is sent along; what follows it are arguments of the program. Deploying the same name again replaces it: the old one stops, the new one starts.", verb_deploy, deploy_flags, 1, 255, 0, false},
    {"services", "[NAME]", "list services, or all about one", "RESTARTS counts how often this version was started again.", verb_services, NULL, 0, 1, 0, false},
    {"stop", "NAME", "a service stops, and stays so", NULL, verb_service_set, service_flags, 1, 1, 0, false},
    {"start", "NAME", "and runs again", NULL, verb_service_set, service_flags, 1, 1, 0, false},
    {"restart", "NAME", "a service stops and starts anew", NULL, verb_service_set, service_flags, 1, 1, 0, false},
    {"undeploy", "NAME", "a service stops and is forgotten", NULL, verb_service_set, service_flags, 1, 1, 0, false},

    {"workers", "", "list workers", NULL, verb_workers, page_flags, 0, 0, 0, false},
    {"drain", "WORKER", "a worker takes nothing new", NULL, verb_drain, drain_flags, 1, 1, 0, false},
    {"demand", "", "list what waits for a worker: jobs that would run if there were more of them", "What `reeve scaler` acts on. Jobs that a limit, a pause or a parent holds back are not among them.", verb_demand, demand_flags, 0, 0, 0, false},
    {"limits", "", "list limits, and how much of them is taken", "Keys (how many jobs of it run at once), rates (how many begin in a second), and tenants. A key that a job names and nobody set is 1 wide; such a rate is free.", verb_limits, NULL, 0, 0, 0, false},
    {"limit key", "NAME [N]", "at most N jobs with this key (`concurrency`) run at once", NULL, verb_limit_key, limit_flags, 1, 2, 0, false},
    {"limit rate", "NAME [N]", "at most N jobs with this rate (`rate`) begin in a second, like 5 or 0.2", NULL, verb_limit_rate, rate_flags, 1, 2, 0, false},
    {"limit tenant", "", "how much a tenant may have running and waiting", NULL, verb_limit_tenant, tenant_limit_flags, 0, 0, 0, false},
    {"events", "", "what happened, one line each", "Each line begins with time and position; a position is where to go on with --since, also after a restart of the server.", verb_events, events_flags, 0, 0, 0, false},
    {"dead", "", "list dead letters: jobs that ended badly and were not looked after", NULL, verb_dead, page_flags, 0, 0, 0, false},
    {"stats", "", "counters of the server", NULL, verb_stats, NULL, 0, 0, 0, false},

    {"kv get", "KEY...", "values of the shared store", NULL, verb_kv_get, kv_flags, 1, 255, 0, false},
    {"kv set", "KEY VALUE", "set one", NULL, verb_kv_change, kv_flags, 2, 2, 0, false},
    {"kv del", "KEY...", "delete, all or none", NULL, verb_kv_change, kv_flags, 1, 255, 0, false},
    {"kv incr", "KEY [N]", "add to a number", NULL, verb_kv_change, kv_flags, 1, 2, 0, false},
    {"kv add", "KEY MEMBER...", "add members to a set", NULL, verb_kv_change, kv_flags, 2, 255, 0, false},
    {"kv rem", "KEY MEMBER...", "remove members from a set", NULL, verb_kv_change, kv_flags, 2, 255, 0, false},
    {"kv expire", "KEY", "let it end after --ttl; without: never", NULL, verb_kv_change, kv_flags, 1, 1, 0, false},
    {"kv publish", "CHANNEL TEXT", "speak on a channel", NULL, verb_kv_change, kv_flags, 2, 2, 0, false},
    {"kv watch", "KEY", "tell of changes of a key, or with KEY* of all that begin so", NULL, verb_kv_watch, kv_flags, 1, 1, 0, false},
    {"kv ls", "[PREFIX]", "list keys", NULL, verb_kv_ls, kv_flags, 0, 1, 0, false},
    {"blob put", "FILE|-", "store a file; prints its hash", "It is kept until `reeve blob rm`, or as long as --for says; a job that names it keeps it too.", verb_blob_put, blob_put_flags, 1, 1, 0, false},
    {"blob get", "HASH", "its bytes", NULL, verb_blob_get, get_flags, 1, 1, 0, false},
    {"blob ls", "", "list blobs", NULL, verb_blob_ls, page_flags, 0, 0, 0, false},
    {"blob rm", "HASH...", "let go what `blob put` keeps", "Its space comes back when no job names it any more.", verb_blob_rm, NULL, 1, 255, 0, false},
    {"console", "", "a link to the web console that logs one browser in", "It works once and for five minutes (login_link_ms), and lets in as whoever asked for it. `reeve token new` makes tokens for people, which the console takes too.", verb_console, console_flags, 0, 0, 0, false},
    {"mcp", "", "the gateway for agents: the Model Context Protocol on standard input and output", "An agent's program starts it; docs/guides/agents.md has settings to copy. Tools are served with the rights of REEVE_TOKEN, or of this user at a server on this machine. It goes on when the server was away.", verb_mcp, NULL, 0, 0, 0, true},
    {"token new", "NAME", "make a token; it is shown once", NULL, verb_token_new, token_flags, 1, 1, 0, false},
    {"token ls", "", "list tokens, without the tokens themselves", NULL, verb_token_ls, NULL, 0, 0, 0, false},
    {"token revoke", "ID...", "tokens are no longer valid", NULL, verb_token_revoke, NULL, 1, 255, 0, false},

    {"cert init", "[--data DIR] [--days N] [HOST]...", "make an authority and a certificate for a server of these names", "In the folder tls of the data directory, where the server finds it. The name of this machine and localhost are in it anyway. Said again, it makes the server's certificate anew and keeps the authority.", NULL, NULL, 0, 255, CLI_CERT_INIT, true},
    {"cert worker", "NAME [--tenant TENANT] [--data DIR] [--days N]", "make a certificate with which a worker needs no token", "One file, DIR/tls/NAME.pem, with key, certificate and authority.", NULL, NULL, 0, 255, CLI_CERT_WORKER, true},
    {"cert client", "NAME [--tenant TENANT] [--data DIR] [--days N]", "make one for a person; a token is needed all the same", "For servers with `tls_require: everyone`.", NULL, NULL, 0, 255, CLI_CERT_CLIENT, true},
    {"cert revoke", "NAME|SERIAL [--data DIR]", "revoke a certificate before it expires", "Adds its serial number to tls/revoked of the data directory. The server refuses it, and hangs up on the worker that has it, from its next start or SIGHUP on. NAME is that of the newest certificate made under it.", NULL, NULL, 0, 255, CLI_CERT_REVOKE, true},

    {"journal verify", "--data DIR", "read every byte of a log; name the first damage", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_VERIFY, true},
    {"journal dump", "--data DIR [--from N] [--to N]", "one line of JSON per record", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_DUMP, true},
    {"journal at", "--data DIR --lsn N", "the state after record N: its digest", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_AT, true},
    {"journal compact", "--data DIR [--lsn N] [--archive-days N]", "fold closed segments, pack the archive", NULL, NULL, NULL, 0, 255, CLI_JOURNAL_COMPACT, true},

    {"bench", "[W0...W14] [--list] [--json]", "measure this program beside what the machine can do at best", "`reeve bench --help` names the workloads, `--list` their settings, too. Server and workers are started for it in a directory of their own.", NULL, NULL, 0, 255, CLI_BENCH, true},
    {"crashtest", "[--rounds N] [--power-cut] [--json]", "kill this program again and again, and count what is lost: nothing", "Server and worker are started for it in a directory of their own; `reeve crashtest --help` lists the options. Exit 0 only if nothing that was acknowledged is missing, nothing ran twice and nothing hangs.", NULL, NULL, 0, 255, CLI_CRASHTEST, true},
    {"shell", "", "type verbs one after the other, on one connection", "Tab completes verbs, flags, and names of flows, jobs and workers; the history is kept in ~/.reeve_history (REEVE_HISTORY), without lines that begin with a blank or look like a secret. Lines from a pipe are run one by one; the exit code is that of the last.", verb_shell, NULL, 0, 0, 0, false},
    {"config", "[--data DIR]...", "every setting, and where its value comes from", NULL, NULL, NULL, 0, 255, CLI_CONFIG, true},
    {"version", "", "of this program, and of the server if there is one", NULL, verb_version, NULL, 0, 0, 0, true},
    {"completion", "bash|zsh|fish", "a script for the shell: source <(reeve completion bash)", NULL, verb_completion, NULL, 1, 1, 0, true},
    {"help", "[VERB]", "this, or all about one verb", NULL, verb_help, help_flags, 0, 3, 0, true},
};
const uint32_t cli_verb_count = sizeof cli_verbs / sizeof cli_verbs[0];
/* clang-format on */
