/* worker.c: the worker on a real machine: its options, its log, its signals, and the loop that drives it.
 *
 * The first TERM or INT drains: nothing new is taken, what runs may end, results are delivered. The second ends it at
 * once; its processes die with it, and finished results are on its disk. */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "osclock.h"
#include "osdisk.h"
#include "osloop.h"
#include "osproc.h"
#include "osspace.h"
#include "ostls.h"
#include "panic.h"
#include "worker_env.h"

#define TOKEN_MAX 512u
#define PATH_BYTES_MAX 512u
#define SPOOL_BYTES_STANDARD (1ull << 30)
#define CONNECTIONS_MAX 8u

struct worker {
    struct agent_options options;
    char data[PATH_BYTES_MAX], space_path[PATH_BYTES_MAX + 8], server[PATH_BYTES_MAX + 16], token[TOKEN_MAX], host[65];
    char server_told[2 * PATH_BYTES_MAX + 16];
    struct ostls_files tls;
    char tls_own[PATH_BYTES_MAX + 64]; /* ca.pem of a server on this machine */
    const char *pass_env;              /* as given: "NAME,NAME" or "all" */
    struct worker_env env;
    struct disk *disk;
    struct space *space;
    struct proc *proc;
    struct osloop *loop;
    struct agent *agent;
    uint32_t signals;
    bool help;
};

/* ---- the log ---- */

static void log_line(void *ctx, const char *line) {
    (void)ctx;
    char text[40];
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, sizeof text - len, ".%03ldZ", now.tv_nsec / 1000000);
    fprintf(stderr, "%s worker %s\n", text, line);
}

static uint32_t cpu_percent(void *ctx) {
    (void)ctx;
    double load = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < 1 || getloadavg(&load, 1) != 1) return 0;
    double percent = load * 100 / (double)cores;
    return percent > 100 ? 100 : (uint32_t)percent;
}

/* What jobs see of our environment, and how they reach the server as we do, with the token of their attempt; and this
 * program, to do it with. */
static void env_make(struct worker *w) {
    worker_env_make(&w->env, w->pass_env);
    worker_env_add_path(&w->env, "REEVE_EXE", "/proc/self/exe");
    if (strncmp(w->server, "tls:", 4) == 0 || w->options.server_now != NULL) {
        worker_env_add_path(&w->env, "REEVE_TLS_CA", w->tls.ca);
        if (w->tls.pin != NULL) worker_env_add(&w->env, "REEVE_TLS_PIN", w->tls.pin);
    }
    w->options.env = w->env.list;
}

/* ---- options ---- */

static enum err number(const char *name, const char *value, uint64_t least, uint64_t most, uint64_t *ret,
                       struct why *why) {
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != 0 || value[0] == '-' || v < least || v > most)
        return why_set(why, ERR_INVALID, "%s: a number from %llu to %llu is expected, not %s", name,
                       (unsigned long long)least, (unsigned long long)most, value);
    *ret = v;
    return ERR_OK;
}

static enum err label_add(struct worker *w, char *value, struct why *why) {
    char *equal = strchr(value, '=');
    if (equal == NULL || equal == value)
        return why_set(why, ERR_INVALID, "--label: NAME=VALUE is expected, not %s", value);
    if (w->options.label_count == AGENT_LIST_MAX)
        return why_set(why, ERR_LIMIT, "--label: more than %u", AGENT_LIST_MAX);
    *equal = 0;
    w->options.labels[w->options.label_count++] = (struct agent_pair){value, equal + 1};
    return ERR_OK;
}

static enum err resource_add(struct worker *w, char *value, struct why *why) {
    struct agent_options *o = &w->options;
    char *equal = strchr(value, '=');
    uint64_t amount = 0;
    if (equal == NULL || equal == value)
        return why_set(why, ERR_INVALID, "--resource: NAME=AMOUNT is expected, not %s", value);
    if (o->resource_count == AGENT_RESOURCES_MAX)
        return why_set(why, ERR_LIMIT, "--resource: more than %u", AGENT_RESOURCES_MAX);
    enum err e = number("--resource", equal + 1, 1, UINT64_MAX >> 1, &amount, why);
    if (e != ERR_OK) return e;
    *equal = 0;
    o->resources[o->resource_count++] = (struct agent_amount){value, amount};
    return ERR_OK;
}

static enum err capability_add(struct worker *w, const char *value, struct why *why) {
    if (w->options.capability_count == AGENT_LIST_MAX)
        return why_set(why, ERR_LIMIT, "--capability: more than %u", AGENT_LIST_MAX);
    w->options.capabilities[w->options.capability_count++] = value;
    return ERR_OK;
}

static enum err option_take(struct worker *w, const char *name, char *value, struct why *why) {
    struct agent_options *o = &w->options;
    uint64_t n = 0;
    enum err e = ERR_OK;
    if (strcmp(name, "--server") == 0) {
        snprintf(w->server, sizeof w->server, "%s", value);
    } else if (strcmp(name, "--token") == 0) {
        snprintf(w->token, sizeof w->token, "%s", value);
        memset(value, '*', strlen(value)); /* the list of processes is public */
    } else if (strcmp(name, "--data") == 0) {
        snprintf(w->data, sizeof w->data, "%s", value);
    } else if (strcmp(name, "--name") == 0) {
        snprintf(w->host, sizeof w->host, "%s", value);
    } else if (strcmp(name, "--tls-ca") == 0) {
        w->tls.ca = value;
    } else if (strcmp(name, "--tls-pin") == 0) {
        w->tls.pin = value;
    } else if (strcmp(name, "--tls-cert") == 0) {
        w->tls.cert = value;
    } else if (strcmp(name, "--tls-key") == 0) {
        w->tls.key = value;
    } else if (strcmp(name, "--tenant") == 0) {
        o->tenant = value;
    } else if (strcmp(name, "--pool") == 0) {
        o->pool = value;
    } else if (strcmp(name, "--capability") == 0) {
        return capability_add(w, value, why);
    } else if (strcmp(name, "--label") == 0) {
        return label_add(w, value, why);
    } else if (strcmp(name, "--resource") == 0) {
        return resource_add(w, value, why);
    } else if (strcmp(name, "--pass-env") == 0) {
        w->pass_env = value;
    } else if (strcmp(name, "--slots") == 0) {
        e = number(name, value, 1, (uint64_t)o->limits.worker_slots_max, &n, why);
        if (e == ERR_OK) o->slots = (uint32_t)n;
    } else if (strcmp(name, "--gpus") == 0) {
        e = number(name, value, 0, 1024, &n, why);
        if (e == ERR_OK) o->gpus = (uint32_t)n;
    } else if (strcmp(name, "--spool-bytes") == 0) {
        e = number(name, value, 0, UINT64_MAX >> 1, &o->spool_bytes_max, why);
    } else {
        return why_set(why, ERR_INVALID, "%s: no such option; --help lists them", name);
    }
    return e;
}

static void help(void) {
    printf(
        "usage: reeve worker [OPTION]...\n\n"
        "  --server ADDRESS   host:port, tls://host:port or unix:/path; else $REEVE_SERVER,\n"
        "                     else the server of $REEVE_DATA (.reeve)\n"
        "  --token TOKEN      else $REEVE_TOKEN, else worker.token of $REEVE_DATA\n"
        "  --tls-cert FILE    its certificate, as `reeve cert worker` makes it: instead of token and --tls-ca\n"
        "  --tls-key FILE     its key; standard: the file of the certificate\n"
        "  --tls-ca FILE      authority of the server's certificate; or --tls-pin HEX, its SHA-256\n"
        "  --tenant NAME      whose jobs it runs, and no others; standard: of its token or certificate, else default\n"
        "  --data DIR         its own directory: who it is, results not yet delivered; standard: .reeve-worker\n"
        "  --name NAME        how its id begins; standard: the name in its certificate, or of the machine\n"
        "  --slots N          jobs at a time; standard: 4\n"
        "  --pool NAME        --capability NAME...  --label NAME=VALUE...  --gpus N   what it offers\n"
        "  --resource NAME=AMOUNT...   something else that jobs may ask for a share of\n"
        "  --permanent        it is expected to come back\n"
        "  --pass-env NAMES   variables of its environment that jobs get, by commas, or `all`\n"
        "  --spool-bytes N    output kept on its disk while the server is away; beyond it jobs wait\n");
}

static enum err options_read(struct worker *w, int count, char **args, struct why *why) {
    for (int i = 0; i < count; i++) {
        if (strcmp(args[i], "--help") == 0) {
            w->help = true;
            return ERR_OK;
        }
        if (strcmp(args[i], "--permanent") == 0) {
            w->options.permanent = true;
            continue;
        }
        if (i + 1 == count) return why_set(why, ERR_INVALID, "%s: a value is missing", args[i]);
        enum err e = option_take(w, args[i], args[i + 1], why);
        if (e != ERR_OK) return e;
        i++;
    }
    return ERR_OK;
}

/* The first line of a file beside the server's data; false when there is none. */
static bool line_read(const char *name, char *ret, size_t size) {
    const char *data = getenv("REEVE_DATA");
    char path[PATH_BYTES_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", data != NULL ? data : ".reeve", name);
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    bool got = fgets(ret, (int)size, f) != NULL;
    (void)fclose(f);
    if (got) ret[strcspn(ret, "\r\n")] = 0;
    return got && ret[0] != 0;
}

/* A server that was started again may listen at another port: its directory says which. */
static const char *server_now(void *ctx) {
    struct worker *w = ctx;
    char address[sizeof w->server];
    if (line_read("address", address, sizeof address)) memcpy(w->server, address, sizeof w->server);
    return w->server;
}

/* The file of a certificate that `reeve cert worker` made holds its authority too. */
static void tls_complete(struct worker *w) {
    static const char *const names[] = {"REEVE_TLS_CERT", "REEVE_TLS_KEY", "REEVE_TLS_CA", "REEVE_TLS_PIN"};
    const char **const to[] = {&w->tls.cert, &w->tls.key, &w->tls.ca, &w->tls.pin};
    const char *data = getenv("REEVE_DATA");
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++)
        if (*to[i] == NULL) *to[i] = getenv(names[i]);
    snprintf(w->tls_own, sizeof w->tls_own, "%s/tls/ca.pem", data != NULL ? data : ".reeve");
    if (w->tls.ca == NULL) w->tls.ca = w->tls.cert;
    if (w->tls.ca == NULL && w->tls.pin == NULL && access(w->tls_own, R_OK) == 0) w->tls.ca = w->tls_own;
}

/* The address as jobs are told it: they run elsewhere. */
static void socket_complete(struct worker *w) {
    char here[PATH_BYTES_MAX];
    if (strncmp(w->server, "unix:", 5) != 0 || w->server[5] == '/' || getcwd(here, sizeof here) == NULL) return;
    snprintf(w->server_told, sizeof w->server_told, "unix:%s/%s", here, w->server + 5);
    w->options.server_told = w->server_told;
}

static enum err options_complete(struct worker *w, struct why *why) {
    const char *server = getenv("REEVE_SERVER"), *token = getenv("REEVE_TOKEN");
    if (w->server[0] == 0 && server != NULL) snprintf(w->server, sizeof w->server, "%s", server);
    if (w->server[0] == 0) {
        if (!line_read("address", w->server, sizeof w->server))
            return why_set(why, ERR_INVALID, "--server HOST:PORT is missing, and no server has left its address here");
        w->options.server_now = server_now;
    }
    if (w->token[0] == 0 && token != NULL) snprintf(w->token, sizeof w->token, "%s", token);
    if (w->token[0] == 0) (void)line_read("worker.token", w->token, sizeof w->token);
    if (w->data[0] == 0) snprintf(w->data, sizeof w->data, ".reeve-worker");
    snprintf(w->space_path, sizeof w->space_path, "%s/space", w->data);
    tls_complete(w);
    socket_complete(w);
    w->options.server = w->server;
    w->options.token = w->token[0] != 0 ? w->token : NULL;
    w->options.name = w->host;
    return ERR_OK;
}

static void options_default(struct worker *w, const char *build) {
    struct sysinfo machine;
    struct agent_options *o = &w->options;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *o = (struct agent_options){.slots = 4, .build = build, .spool_bytes_max = SPOOL_BYTES_STANDARD};
    limits_default(&o->limits);
    o->cpu_milli = cores > 0 ? (uint32_t)cores * 1000 : 0;
    if (sysinfo(&machine) == 0) o->memory_bytes = (uint64_t)machine.totalram * machine.mem_unit;
    o->cpu_percent = cpu_percent;
    o->log = log_line;
    o->ctx = w;
}

/* ---- the loop ---- */

static void pass(void *ctx) {
    struct worker *w = ctx;
    agent_pass(w->agent);
    if (agent_is_over(w->agent) || w->signals > 1 || !osproc_is_well(w->proc)) osloop_stop(w->loop);
}

static mono_time next(void *ctx) {
    return agent_next(((struct worker *)ctx)->agent);
}

static void procs_ready(void *ctx, unsigned when) {
    (void)when;
    osproc_run(((struct worker *)ctx)->proc);
}

static void on_signal(void *ctx, int number) {
    struct worker *w = ctx;
    (void)number;
    w->signals++;
    agent_drain(w->agent);
}

static enum err tls_open(struct worker *w, struct why *why) {
    struct ostls *tls = NULL;
    char name[OSTLS_NAME_MAX];
    /* A server of this machine may have a certificate when it comes back. */
    bool may_turn = w->options.server_now != NULL && w->tls.ca != NULL;
    if (strncmp(w->server, "tls:", 4) != 0 && !may_turn) return ERR_OK;
    enum err e = ostls_client(&w->tls, &tls, why);
    if (e != ERR_OK) return e;
    osloop_tls_client(w->loop, tls);
    ostls_name(tls, name);
    if (w->host[0] == 0) snprintf(w->host, sizeof w->host, "%s", name); /* the server takes it by no other */
    return ERR_OK;
}

static enum err open_all(struct worker *w, struct why *why) {
    watch_id watch;
    enum err e = osdisk_open(w->data, &w->disk, why);
    if (e == ERR_OK) e = osspace_open(w->space_path, &w->space, why);
    if (e == ERR_OK) e = osloop_open(CONNECTIONS_MAX, &w->loop, why);
    if (e == ERR_OK) e = tls_open(w, why);
    if (e != ERR_OK) return e;
    if (w->host[0] == 0 && gethostname(w->host, sizeof w->host - 1) != 0) snprintf(w->host, sizeof w->host, "worker");
    struct agent_world world = {osclock(), w->disk, w->space, osloop_net(w->loop), w->proc};
    e = agent_open(&world, &w->options, &w->agent, why);
    if (e == ERR_OK) e = osloop_watch(w->loop, osproc_fd(w->proc), OSLOOP_READABLE, procs_ready, w, &watch, why);
    if (e == ERR_OK) e = osloop_signal(w->loop, SIGTERM, on_signal, w, why);
    if (e == ERR_OK) e = osloop_signal(w->loop, SIGINT, on_signal, w, why);
    osloop_own(w->loop, &(struct osloop_owner){pass, next, w});
    return e;
}

static void close_all(struct worker *w) {
    if (w->agent != NULL) agent_close(w->agent);
    if (w->loop != NULL) osloop_close(w->loop);
    osproc_close(w->proc);
    if (w->space != NULL) osspace_close(w->space);
    if (w->disk != NULL) osdisk_close(w->disk);
}

enum err worker_run(int count, char **args, const char *build, struct why *why) {
    static struct worker w;
    options_default(&w, build);
    enum err e = options_read(&w, count, args, why);
    if (e == ERR_OK && w.help) {
        help();
        return ERR_OK;
    }
    if (e == ERR_OK) e = options_complete(&w, why);
    if (e != ERR_OK) return e;
    env_make(&w);
    e = osproc_open(&w.proc, why); /* first: see there */
    if (e != ERR_OK) return e;
    e = open_all(&w, why);
    if (e == ERR_OK) {
        char line[200];
        snprintf(line, sizeof line, "%s, incarnation %llu, %u slots", agent_id(w.agent),
                 (unsigned long long)agent_incarnation(w.agent), w.options.slots);
        log_line(NULL, line);
        osloop_run(w.loop);
        if (!osproc_is_well(w.proc)) e = why_set(why, ERR_IO, "the process that starts jobs was killed");
    }
    close_all(&w);
    return e;
}
