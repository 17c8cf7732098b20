/* worker_options.c: see worker_options.h. */
#include "worker_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "roff.h"
#include "spec_value.h"
#include "wire_run.h"
#include "worker_config.h"

enum option_kind {
    OPTION_SWITCH, /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_COPY,   /* char[most] */
    OPTION_SECRET, /* the same; then blotted out: the list of processes is public */
    OPTION_U32,
    OPTION_U64,
    OPTION_CALL,
};

struct worker_option {
    const char *name, *value; /* value: how it is called in the help; NULL for a switch */
    enum option_kind kind;
    size_t at; /* in struct worker_options */
    uint64_t least, most;
    enum err (*call)(struct worker_options *o, char *value, struct why *why);
    const char *help;
};

static enum err number(const char *name, const char *value, uint64_t least, uint64_t most, uint64_t *ret,
                       struct why *why) {
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != 0 || value[0] == '-' || v < least || v > most)
        return why_set(why, ERR_INVALID, "%s: expected a number from %llu to %llu, found `%s`", name,
                       (unsigned long long)least, (unsigned long long)most, value);
    *ret = v;
    return ERR_OK;
}

static enum err label_add(struct worker_options *o, char *value, struct why *why) {
    struct agent_options *a = &o->agent;
    char *equal = strchr(value, '=');
    if (equal == NULL || equal == value)
        return why_set(why, ERR_INVALID, "--label: expected NAME=VALUE, found `%s`", value);
    if (a->label_count == AGENT_LIST_MAX) return why_set(why, ERR_LIMIT, "--label: more than %u", AGENT_LIST_MAX);
    *equal = 0;
    a->labels[a->label_count++] = (struct agent_pair){value, equal + 1};
    return ERR_OK;
}

static enum err resource_add(struct worker_options *o, char *value, struct why *why) {
    struct agent_options *a = &o->agent;
    char *equal = strchr(value, '=');
    uint64_t amount = 0;
    if (equal == NULL || equal == value)
        return why_set(why, ERR_INVALID, "--resource: expected NAME=AMOUNT, found `%s`", value);
    if (a->resource_count == AGENT_RESOURCES_MAX)
        return why_set(why, ERR_LIMIT, "--resource: more than %u", AGENT_RESOURCES_MAX);
    enum err e = number("--resource", equal + 1, 1, UINT64_MAX >> 1, &amount, why);
    if (e != ERR_OK) return e;
    *equal = 0;
    a->resources[a->resource_count++] = (struct agent_amount){value, amount};
    return ERR_OK;
}

static enum err capability_add(struct worker_options *o, char *value, struct why *why) {
    struct agent_options *a = &o->agent;
    if (a->capability_count == AGENT_LIST_MAX)
        return why_set(why, ERR_LIMIT, "--capability: more than %u", AGENT_LIST_MAX);
    a->capabilities[a->capability_count++] = value;
    return ERR_OK;
}

static enum err handler_add(struct worker_options *o, char *value, struct why *why) {
    struct agent_options *a = &o->agent;
    char *equal = strchr(value, '=');
    if (equal == NULL || equal == value || equal[1] == 0)
        return why_set(why, ERR_INVALID, "--handler: expected TYPE=PROGRAM, found `%s`", value);
    if (a->handler_count == AGENT_LIST_MAX) return why_set(why, ERR_LIMIT, "--handler: more than %u", AGENT_LIST_MAX);
    const char **argv = o->handler_programs[a->handler_count];
    *equal = 0;
    argv[0] = equal + 1;
    a->handlers[a->handler_count++] = (struct agent_handler){value, argv};
    return ERR_OK;
}

enum amount { AMOUNT_SIZE, AMOUNT_MILLI, AMOUNT_COUNT };

#define CPU_MILLI_MIN 10u /* the kernel keeps no finer share */

static bool amount_read(enum amount kind, struct slice text, uint64_t *ret) {
    uint32_t milli = 0;
    int64_t count = 0;
    switch (kind) {
    case AMOUNT_SIZE: return spec_size(text, ret) && *ret > 0;
    case AMOUNT_MILLI:
        if (!spec_milli(text, &milli) || milli < CPU_MILLI_MIN) return false;
        *ret = milli;
        return true;
    case AMOUNT_COUNT:
        if (!spec_number(text, &count) || count < 1 || count > UINT32_MAX) return false;
        *ret = (uint64_t)count;
        return true;
    }
    return false;
}

static const struct limit_name {
    const char *name;
    enum amount kind;
    size_t at; /* in struct proc_limits; a size has 64 bits, the others 32 */
} limit_names[] = {
    {"memory", AMOUNT_SIZE, offsetof(struct proc_limits, memory_bytes)},
    {"cpu", AMOUNT_MILLI, offsetof(struct proc_limits, cpu_milli)},
    {"pids", AMOUNT_COUNT, offsetof(struct proc_limits, pids)},
    {"open_files", AMOUNT_COUNT, offsetof(struct proc_limits, open_files)},
    {"file_size", AMOUNT_SIZE, offsetof(struct proc_limits, file_bytes)},
};

/* "memory=2GiB", as in flow files. */
static enum err limit_read(const char *option, struct proc_limits *to, const char *value, struct why *why) {
    const char *equal = strchr(value, '=');
    const struct limit_name *n = limit_names, *end = limit_names + sizeof limit_names / sizeof limit_names[0];
    size_t len = equal != NULL ? (size_t)(equal - value) : 0;
    while (n < end && !slice_eq(slice_of(value, len), slice_str(n->name))) n++;
    if (n == end)
        return why_set(why, ERR_INVALID, "%s: expected memory, cpu, pids, open_files or file_size=AMOUNT, found `%s`",
                       option, value);
    char *at = (char *)to + n->at;
    uint64_t amount = 0;
    if (!amount_read(n->kind, slice_str(equal + 1), &amount))
        return why_set(why, ERR_INVALID, "%s: expected an amount of %s, found `%s`", option, n->name, equal + 1);
    if (n->kind == AMOUNT_SIZE)
        *(uint64_t *)at = amount;
    else
        *(uint32_t *)at = (uint32_t)amount;
    return ERR_OK;
}

static enum err limit_add(struct worker_options *o, char *value, struct why *why) {
    return limit_read("--limit", &o->agent.ceilings.most, value, why);
}

static enum err limit_standard_add(struct worker_options *o, char *value, struct why *why) {
    return limit_read("--limit-standard", &o->agent.ceilings.standard, value, why);
}

static enum err limits_by_take(struct worker_options *o, char *value, struct why *why) {
    for (int i = 0; i < OSCGROUP_BY_COUNT; i++) {
        if (strcmp(value, oscgroup_by_words[i]) != 0) continue;
        o->limits_by = (enum oscgroup_by)i;
        return ERR_OK;
    }
    return why_set(why, ERR_INVALID, "--limits-by: expected auto, cgroup2, cgroup1, rlimit or none, found `%s`", value);
}

static enum err cpu_take(struct worker_options *o, char *value, struct why *why) {
    o->has_cpu = true;
    if (spec_milli(slice_str(value), &o->agent.cpu_milli)) return ERR_OK;
    return why_set(why, ERR_INVALID, "--cpu: expected a number like 4 or 1.5, found `%s`", value);
}

static enum err memory_take(struct worker_options *o, char *value, struct why *why) {
    o->has_memory = true;
    if (spec_size(slice_str(value), &o->agent.memory_bytes)) return ERR_OK;
    return why_set(why, ERR_INVALID, "--memory: expected a size like 512MiB or 8GiB, found `%s`", value);
}

static enum err share_take(struct worker_options *o, char *value, struct why *why) {
    uint64_t at = 0, of = 0;
    char *slash = strchr(value, '/');
    if (slash == NULL)
        return why_set(why, ERR_INVALID, "--share: expected K/N, the K-th of N equal parts, found `%s`", value);
    *slash = 0;
    enum err e = number("--share", slash + 1, 1, WORKER_SHARES_MAX, &of, why);
    if (e == ERR_OK) e = number("--share", value, 1, of, &at, why);
    if (e != ERR_OK) return e;
    o->share_at = (uint32_t)at;
    o->share_of = (uint32_t)of;
    return ERR_OK;
}

static enum err sandbox_take(struct worker_options *o, char *value, struct why *why) {
    if (wire_sandbox_of(slice_str(value), &o->agent.sandbox.least)) return ERR_OK;
    return why_set(why, ERR_INVALID, "--sandbox: expected strict, net-off or none, found `%s`", value);
}

static enum err sandbox_path_add(struct worker_options *o, char *value, struct why *why) {
    if (o->sandbox_path_count == AGENT_LIST_MAX)
        return why_set(why, ERR_LIMIT, "--sandbox-path: more than %u", AGENT_LIST_MAX);
    o->sandbox_paths[o->sandbox_path_count++] = value;
    return ERR_OK;
}

static enum err job_uids_take(struct worker_options *o, char *value, struct why *why) {
    uint64_t first = 0, last = 0;
    char *dash = strchr(value, '-');
    if (dash == NULL) return why_set(why, ERR_INVALID, "--job-uids: expected FIRST-LAST, found `%s`", value);
    *dash = 0;
    enum err e = number("--job-uids", value, 1, UINT32_MAX - 2, &first, why);
    if (e == ERR_OK) e = number("--job-uids", dash + 1, first, UINT32_MAX - 2, &last, why);
    if (e != ERR_OK) return e;
    if (last - first >= WORKER_UIDS_MAX) return why_set(why, ERR_LIMIT, "--job-uids: more than %u", WORKER_UIDS_MAX);
    o->uid_first = (uint32_t)first;
    o->uid_last = (uint32_t)last;
    return ERR_OK;
}

static enum err slots_take(struct worker_options *o, char *value, struct why *why) {
    uint64_t n = 0;
    enum err e = number("--slots", value, 1, (uint64_t)o->agent.limits.worker_slots_max, &n, why);
    if (e == ERR_OK) o->agent.slots = (uint32_t)n;
    return e;
}

static enum err http_private_take(struct worker_options *o, char *value, struct why *why) {
    enum err e = address_list_check(value, why);
    o->agent.http_private = value;
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "--http-private");
}

#define AT(field) offsetof(struct worker_options, field)
#define ROOM(field) .at = AT(field), .most = sizeof((struct worker_options *)0)->field

/* clang-format off */
static const struct worker_option options[] = {
    {"--server", "ADDRESS", OPTION_COPY, ROOM(server), .help = "address of the server: HOST[:PORT], tls://HOST[:PORT] or unix:/PATH; port 7070 unless given\n(default: $REEVE_SERVER, else the server of $REEVE_DATA (.reeve))"},
    {"--token", "TOKEN", OPTION_SECRET, ROOM(token), .help = "token (default: $REEVE_TOKEN, else worker.token of $REEVE_DATA (.reeve),\nif that directory belongs to the server and there is no --tls-cert)"},
    {"--tls-cert", "FILE", OPTION_TEXT, AT(tls.cert), .help = "certificate made by `reeve cert worker`, instead of token and --tls-ca"},
    {"--tls-key", "FILE", OPTION_TEXT, AT(tls.key), .help = "key of the certificate (default: the file of the certificate)"},
    {"--tls-ca", "FILE", OPTION_TEXT, AT(tls.ca), .help = "authority of the server's certificate"},
    {"--tls-pin", "HEX", OPTION_TEXT, AT(tls.pin), .help = "SHA-256 of the server's certificate, instead of --tls-ca"},
    {"--tenant", "NAME", OPTION_TEXT, AT(agent.tenant), .help = "run only jobs of this tenant (default: that of its token or certificate, else default)"},
    {"--data", "DIR", OPTION_COPY, ROOM(data), .help = "directory of this worker: identity and undelivered results (default: .reeve-worker)"},
    {"--name", "NAME", OPTION_COPY, ROOM(host), .help = "beginning of its id (default: the name in its certificate, or of the machine)"},
    {"--slots", "N", OPTION_CALL, .call = slots_take, .help = "number of jobs at a time (default: 4)"},
    {"--pool", "NAME", OPTION_TEXT, AT(agent.pool), .help = "pool of this worker (default: default)"},
    {"--capability", "NAME", OPTION_CALL, .call = capability_add, .help = "capability of this worker; may be repeated"},
    {"--handler", "TYPE=PROGRAM", OPTION_CALL, .call = handler_add, .help = "program for jobs of this type (`handler: TYPE`): it gets the payload as last argument\nand on standard input; may be repeated; with arguments: in the file of --config"},
    {"--config", "FILE", OPTION_TEXT, AT(config), .help = "YAML file with these options by name, and `handlers: {TYPE: [program, argument]}`\n(default: $REEVE_WORKER_CONFIG)"},
    {"--titan-master", "HOST:PORT", OPTION_TEXT, AT(titan_master), .help = "work for a Titan master instead of a server, by Titan's protocol"},
    {"--titan-listen", "[HOST:]PORT", OPTION_TEXT, AT(titan_listen), .help = "port for the master; reachable from this machine only, unless a host is given (default: 8080)"},
    {"--titan-open", NULL, OPTION_SWITCH, AT(titan_open), .help = "allow other machines to reach that port, although it runs any program without authentication"},
    {"--label", "NAME=VALUE", OPTION_CALL, .call = label_add, .help = "label of this worker; may be repeated"},
    {"--cpu", "N", OPTION_CALL, .call = cpu_take, .help = "processors for jobs (default: all)"},
    {"--memory", "SIZE", OPTION_CALL, .call = memory_take, .help = "memory for jobs (default: all)"},
    {"--gpus", "N", OPTION_U32, AT(agent.gpus), 0, 1024, .help = "number of GPUs (default: those named in $CUDA_VISIBLE_DEVICES)"},
    {"--share", "K/N", OPTION_CALL, .call = share_take, .help = "this is the K-th of N workers on one machine: it offers an N-th of the processors and the memory,\nand the K-th part of the GPUs of $CUDA_VISIBLE_DEVICES; --cpu, --memory, --gpus override it"},
    {"--resource", "NAME=AMOUNT", OPTION_CALL, .call = resource_add, .help = "custom resource of this worker; may be repeated"},
    {"--limit", "NAME=AMOUNT", OPTION_CALL, .call = limit_add, .help = "limit of one job: memory, cpu, pids, open_files, file_size; may be repeated"},
    {"--limit-standard", "NAME=AMOUNT", OPTION_CALL, .call = limit_standard_add, .help = "limit of jobs that set none themselves"},
    {"--limit-by-request", NULL, OPTION_SWITCH, AT(agent.ceilings.by_request), .help = "use the requested memory and cpu of a job as its limit, unless it sets one"},
    {"--limits-by", "MEANS", OPTION_CALL, .call = limits_by_take, .help = "mechanism for limits: auto, cgroup2, cgroup1, rlimit or none (default: auto, the best that works here)"},
    {"--permanent", NULL, OPTION_SWITCH, AT(agent.permanent), .help = "this worker is expected to come back"},
    {"--python-path", "DIR", OPTION_TEXT, AT(python_path), .help = "path from which jobs import `reeve` and `titan_sdk`\n(default: $REEVE_PYTHON_PATH, else the modules installed with this program)"},
    {"--pass-env", "NAMES", OPTION_TEXT, AT(pass_env), .help = "variables of its environment that jobs get, separated by commas, or `all`"},
    {"--sandbox", "WORD", OPTION_CALL, .call = sandbox_take, .help = "least sandbox of every job: strict, net-off or none (default: none)"},
    {"--sandbox-path", "DIR", OPTION_CALL, .call = sandbox_path_add, .help = "with --sandbox strict: path that jobs may open in their sandbox; may be repeated"},
    {"--job-uids", "FIRST-LAST", OPTION_CALL, .call = job_uids_take, .help = "range of uids: every job runs under its own; needs a worker that runs as root"},
    {"--spool-bytes", "N", OPTION_U64, AT(agent.spool_bytes_max), 0, UINT64_MAX >> 1, .help = "output kept on disk while the server is unreachable; beyond it jobs wait"},
    {"--http-private", "NETWORKS", OPTION_CALL, .call = http_private_take, .help = "non-public addresses that http jobs may use:\n10.0.0.0/8,::1, or `all` (default: $REEVE_HTTP_PRIVATE, else none)"},
    {"--help", NULL, OPTION_SWITCH, AT(help), .help = "show this help"},
    {"--man", NULL, OPTION_SWITCH, AT(man), .help = "print the manual page (roff)"},
};
/* clang-format on */
#define OPTION_COUNT (sizeof options / sizeof options[0])

static enum err take(struct worker_options *o, const struct worker_option *option, char *value, struct why *why) {
    char *at = (char *)o + option->at;
    uint64_t n = 0;
    enum err e = ERR_OK;
    switch (option->kind) {
    case OPTION_SWITCH: *(bool *)at = true; break;
    case OPTION_TEXT: *(const char **)at = value; break;
    case OPTION_COPY:
    case OPTION_SECRET:
        if (strlen(value) >= option->most)
            return why_set(why, ERR_LIMIT, "%s: longer than %llu", option->name, (unsigned long long)option->most - 1);
        memcpy(at, value, strlen(value) + 1);
        if (option->kind == OPTION_SECRET) memset(value, '*', strlen(value));
        break;
    case OPTION_U32:
    case OPTION_U64:
        e = number(option->name, value, option->least, option->most, &n, why);
        if (e == ERR_OK && option->kind == OPTION_U32) *(uint32_t *)at = (uint32_t)n;
        if (e == ERR_OK && option->kind == OPTION_U64) *(uint64_t *)at = n;
        break;
    case OPTION_CALL: e = option->call(o, value, why);
    }
    return e;
}

/* What is not said comes from the environment: `reeve up` hands its own on. */
static enum err http_private_default(struct worker_options *o, struct why *why) {
    const char *list = getenv("REEVE_HTTP_PRIVATE");
    if (o->agent.http_private != NULL || list == NULL || list[0] == 0) return ERR_OK;
    enum err e = address_list_check(list, why);
    o->agent.http_private = list;
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "REEVE_HTTP_PRIVATE");
}

static const struct worker_option *option_find(const char *name) {
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].name, name) == 0) return &options[i];
    return NULL;
}

bool worker_options_has_value(const char *name) {
    const struct worker_option *option = option_find(name);
    return option != NULL && option->kind != OPTION_SWITCH;
}

static enum err take_from_file(struct worker_options *o, const char *name, char *value, struct why *why) {
    const struct worker_option *option = option_find(name);
    if (option == NULL || option->at == AT(help) || option->at == AT(man) || option->at == AT(config))
        return why_set(why, ERR_INVALID, "there is no option %s", name + 2);
    if (option->kind != OPTION_SWITCH) return take(o, option, value, why);
    bool on = strcmp(value, "true") == 0 || strcmp(value, "yes") == 0;
    if (!on && strcmp(value, "false") != 0 && strcmp(value, "no") != 0)
        return why_set(why, ERR_INVALID, "%s: expected yes or no, found `%s`", name + 2, value);
    *(bool *)((char *)o + option->at) = on;
    return ERR_OK;
}

/* Before the flags, which have the last word. */
static enum err config_read(struct worker_options *o, int count, char **args, struct why *why) {
    const char *path = getenv("REEVE_WORKER_CONFIG");
    for (int i = 0; i + 1 < count; i++)
        if (strcmp(args[i], "--config") == 0) path = args[i + 1];
    return path == NULL || path[0] == 0 ? ERR_OK : worker_config_read(o, path, take_from_file, why);
}

enum err worker_options_read(struct worker_options *o, int count, char **args, struct why *why) {
    enum err read = config_read(o, count, args, why);
    if (read != ERR_OK) return read;
    for (int i = 0; i < count && !o->help && !o->man; i++) {
        const struct worker_option *option = option_find(args[i]);
        if (option == NULL)
            return why_set(why, ERR_INVALID, "there is no option %s; `reeve worker --help` lists them", args[i]);
        char *value = NULL;
        if (option->kind != OPTION_SWITCH) {
            if (i + 1 == count) return why_set(why, ERR_INVALID, "%s needs a value", args[i]);
            value = args[++i];
        }
        enum err e = take(o, option, value, why);
        if (e != ERR_OK) return e;
    }
    return http_private_default(o, why);
}

void worker_options_help(void) {
    printf("usage: reeve worker [OPTION]...\n\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct worker_option *option = &options[i];
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", option->name, option->value != NULL ? " " : "",
                 option->value != NULL ? option->value : "");
        for (const char *line = option->help; line != NULL;) {
            size_t len = strcspn(line, "\n");
            printf("  %-24s %.*s\n", line == option->help ? left : "", (int)len, line);
            line = line[len] != 0 ? line + len + 1 : NULL;
        }
    }
}

void worker_options_man(const char *build) {
    roff_head(stdout, "reeve-worker", 8, build, "the worker: its options");
    printf(".SH SYNOPSIS\n\\fBreeve worker\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n");
    roff_text(stdout, "Runs jobs for a server. The first TERM or INT drains: nothing new is taken, what runs may end. "
                      "The second ends it at once; finished results are on its disk.");
    printf("\n.PP\n");
    roff_text(stdout, "The file of --config has the same options by name, as lines of YAML.");
    printf("\n.SH OPTIONS\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) roff_item(stdout, options[i].name, options[i].value, options[i].help);
    printf(".SH FILES\n");
    roff_item(stdout, ".reeve-worker", NULL, "identity, undelivered results and workspaces; keep it across restarts");
    printf(".SH SEE ALSO\n.BR reeve (1),\n.BR reeve\\-serve (8)\n");
}
