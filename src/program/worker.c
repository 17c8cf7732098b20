/* worker.c: the worker on a real machine: its options, its log, its signals, and the loop that drives it.
 *
 * The first TERM or INT drains: nothing new is taken, what runs may end, results are delivered. The second ends it at
 * once; its processes die with it, and finished results are on its disk. */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "datadir.h"
#include "osclock.h"
#include "osdisk.h"
#include "oslease.h"
#include "osloop.h"
#include "osproc.h"
#include "ossecret.h"
#include "osspace.h"
#include "ostls.h"
#include "panic.h"
#include "server_address.h"
#include "utf8.h"
#include "worker_env.h"
#include "worker_options.h"
#include "worker_sandbox.h"
#include "worker_titan.h"

#define PATH_BYTES_MAX WORKER_PATH_MAX
#define SPOOL_BYTES_STANDARD (1ull << 30)
#define CONNECTIONS_MAX 16384u /* to the server, and one for each probe under way */
#define GPU_TEXT_MAX 4096u
#define GPUS_MAX 1024u

struct worker_program {
    struct worker_options given;
    char space_path[PATH_BYTES_MAX + 8], server_told[2 * PATH_BYTES_MAX + 16];
    char tls_own[PATH_BYTES_MAX + 64]; /* ca.pem of a server on this machine */
    struct worker_env env;
    struct oscgroup groups;
    char limits_told[512];
    char gpu_text[GPU_TEXT_MAX];
    const char *gpu_names[GPUS_MAX + 1];
    struct worker_sandbox sandbox;
    struct disk *disk;
    struct space *space;
    struct proc *proc;
    struct osloop *loop;
    struct agent *agent;
    uint32_t signals;
};

/* ---- the log ---- */

static void log_line(void *ctx, const char *line) {
    (void)ctx;
    char text[40], clean[1024]; /* names and reasons are of others */
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, sizeof text - len, ".%03ldZ", now.tv_nsec / 1000000);
    snprintf(clean, sizeof clean, "%s", line);
    utf8_clean(clean);
    fprintf(stderr, "%s worker %s\n", text, clean);
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
static void env_make(struct worker_program *w) {
    bool has_all = w->given.titan_master != NULL && w->given.pass_env == NULL; /* as jobs of Titan's workers do */
    const char *python = w->given.python_path != NULL ? w->given.python_path : getenv("REEVE_PYTHON_PATH");
    worker_env_make(&w->env, has_all ? "all" : w->given.pass_env);
    worker_env_add_python(&w->env, python); /* last: it goes behind what is passed on */
    worker_env_add_path(&w->env, "REEVE_EXE", "/proc/self/exe");
    if (strncmp(w->given.server, "tls:", 4) == 0 || w->given.agent.server_now != NULL) {
        worker_env_add_path(&w->env, "REEVE_TLS_CA", w->given.tls.ca);
        if (w->given.tls.pin != NULL) worker_env_add(&w->env, "REEVE_TLS_PIN", w->given.tls.pin);
    }
    w->given.agent.env = w->env.list;
}

/* ---- what was not said ---- */

static const char *server_data(void) {
    const char *data = getenv("REEVE_DATA");
    return data != NULL ? data : ".reeve";
}

/* A server that was started again may listen at another port: its directory says which. */
static const char *server_now(void *ctx) {
    struct worker_program *w = ctx;
    char address[sizeof w->given.server];
    if (datadir_line(server_data(), "address", address, sizeof address))
        memcpy(w->given.server, address, sizeof w->given.server);
    return w->given.server;
}

/* The file of a certificate that `reeve cert worker` made holds its authority too. */
static void tls_complete(struct worker_program *w) {
    static const char *const names[] = {"REEVE_TLS_CERT", "REEVE_TLS_KEY", "REEVE_TLS_CA", "REEVE_TLS_PIN"};
    const char **const to[] = {&w->given.tls.cert, &w->given.tls.key, &w->given.tls.ca, &w->given.tls.pin};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++)
        if (*to[i] == NULL) *to[i] = getenv(names[i]);
    snprintf(w->tls_own, sizeof w->tls_own, "%s/tls/ca.pem", server_data());
    if (w->given.tls.ca == NULL) w->given.tls.ca = w->given.tls.cert;
    if (w->given.tls.ca == NULL && w->given.tls.pin == NULL && access(w->tls_own, R_OK) == 0)
        w->given.tls.ca = w->tls_own;
}

/* Of a machine with several workers: its part of what none of them has named. */
static void share_apply(struct worker_options *o) {
    if (o->share_of == 0) return;
    if (!o->has_cpu) o->agent.cpu_milli /= o->share_of;
    if (!o->has_memory) o->agent.memory_bytes /= o->share_of;
}

/* The address as jobs are told it: they run elsewhere. */
static void socket_complete(struct worker_program *w) {
    char here[PATH_BYTES_MAX];
    if (strncmp(w->given.server, "unix:", 5) != 0 || w->given.server[5] == '/' || getcwd(here, sizeof here) == NULL)
        return;
    snprintf(w->server_told, sizeof w->server_told, "unix:%s/%s", here, w->given.server + 5);
    w->given.agent.server_told = w->server_told;
}

static enum err options_complete(struct worker_program *w, struct why *why) {
    const char *server = getenv("REEVE_SERVER");
    char token[WORKER_TOKEN_MAX];
    ossecret_take("REEVE_TOKEN", token, sizeof token); /* jobs are given theirs, and are not to find ours */
    if (w->given.data[0] == 0) snprintf(w->given.data, sizeof w->given.data, ".reeve-worker");
    snprintf(w->space_path, sizeof w->space_path, "%s/space", w->given.data);
    if (w->given.titan_master != NULL) return worker_titan_check(&w->given, why);
    if (w->given.server[0] == 0 && server != NULL) snprintf(w->given.server, sizeof w->given.server, "%s", server);
    if (w->given.server[0] == 0) {
        if (!datadir_line(server_data(), "address", w->given.server, sizeof w->given.server))
            return why_set(why, ERR_INVALID, "no server address: pass --server HOST:PORT, or set REEVE_SERVER");
        w->given.agent.server_now = server_now;
    }
    if (w->given.token[0] == 0) memcpy(w->given.token, token, sizeof w->given.token);
    explicit_bzero(token, sizeof token);
    char address[SERVER_ADDRESS_BYTES_MAX];
    enum err e = server_address_read(w->given.server, address, why);
    if (e != ERR_OK) return e;
    snprintf(w->given.server, sizeof w->given.server, "%s", address);
    tls_complete(w);
    share_apply(&w->given);
    if (w->given.token[0] == 0 && w->given.tls.cert == NULL) /* a certificate says who it is */
        datadir_token(server_data(), "worker.token", w->given.server, w->given.token, sizeof w->given.token);
    socket_complete(w);
    w->given.agent.server = w->given.server;
    w->given.agent.token = w->given.token[0] != 0 ? w->given.token : NULL;
    w->given.agent.name = w->given.host;
    return ERR_OK;
}

static void options_default(struct worker_program *w, const char *build) {
    struct sysinfo machine;
    struct agent_options *o = &w->given.agent;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *o = (struct agent_options){.slots = 4, .build = build, .spool_bytes_max = SPOOL_BYTES_STANDARD};
    limits_default(&o->limits);
    o->cpu_milli = cores > 0 ? (uint32_t)cores * 1000 : 0;
    if (sysinfo(&machine) == 0) o->memory_bytes = (uint64_t)machine.totalram * machine.mem_unit;
    o->cpu_percent = cpu_percent;
    o->log = log_line;
    o->ctx = w;
}

/* ---- what it has ---- */

/* Those that it sees itself, under the names by which it does. */
static enum err gpus_find(struct worker_program *w, struct why *why) {
    const char *seen = getenv("CUDA_VISIBLE_DEVICES");
    uint32_t count = 0;
    if (seen == NULL || seen[0] == 0) return ERR_OK;
    snprintf(w->gpu_text, sizeof w->gpu_text, "%s", seen);
    for (char *rest = w->gpu_text, *name; count < GPUS_MAX && (name = strsep(&rest, ",")) != NULL;)
        w->gpu_names[count++] = name;
    uint32_t of = w->given.share_of, at = w->given.share_at;
    if (of > 0 && w->given.agent.gpus == 0) { /* the K-th part of them, and no GPU in two parts */
        uint32_t from = count * (at - 1) / of, upto = count * at / of;
        memmove(w->gpu_names, w->gpu_names + from, sizeof w->gpu_names[0] * (upto - from));
        count = upto - from;
    }
    if (w->given.agent.gpus == 0) w->given.agent.gpus = count;
    if (w->given.agent.gpus > count)
        return why_set(why, ERR_INVALID, "--gpus %u: $CUDA_VISIBLE_DEVICES names %u", w->given.agent.gpus, count);
    w->given.agent.gpu_names = w->gpu_names;
    return ERR_OK;
}

/* True: we are the first here to offer it. The lease is held as long as this process lives. */
static bool claim(const char *what) {
    return oslease_take(what) >= 0 || errno != EADDRINUSE;
}

/* Two workers that offer the same processors and memory promise them to jobs twice. They can have different servers and
 * users, so all that can be done about it is to say so. */
static void machine_claim(const struct worker_options *o) {
    char name[40], line[200];
    if (o->has_cpu && o->has_memory) return;
    if (o->share_of == 0) {
        if (!claim("machine"))
            log_line(NULL,
                     "another worker on this machine also offers all of its processors and memory: start both with "
                     "--share (1/2 and 2/2), or with --cpu and --memory");
        return;
    }
    snprintf(name, sizeof name, "machine-%u-of-%u", o->share_at, o->share_of);
    snprintf(line, sizeof line, "another worker on this machine also offers share %u/%u: give each its own --share",
             o->share_at, o->share_of);
    if (!claim(name)) log_line(NULL, line);
}

/* By what limits are kept. Jobs that must not run without them ask for the capability. */
static enum err limits_find(struct worker_program *w, struct why *why) {
    struct agent_options *o = &w->given.agent;
    enum err e = oscgroup_find(w->given.limits_by, "/proc/self", &w->groups, why);
    if (e != ERR_OK) return e;
    if (w->groups.lacking.text[0] == 0 && o->capability_count < AGENT_LIST_MAX)
        o->capabilities[o->capability_count++] = "limits";
    oscgroup_describe(&w->groups, w->limits_told, sizeof w->limits_told);
    return ERR_OK;
}

/* ---- the loop ---- */

static void pass(void *ctx) {
    struct worker_program *w = ctx;
    agent_pass(w->agent);
    if (agent_is_over(w->agent) || w->signals > 1 || !osproc_is_well(w->proc)) osloop_stop(w->loop);
}

static mono_time next(void *ctx) {
    return agent_next(((struct worker_program *)ctx)->agent);
}

static void procs_ready(void *ctx, unsigned when) {
    (void)when;
    osproc_run(((struct worker_program *)ctx)->proc);
}

static void on_signal(void *ctx, int number) {
    struct worker_program *w = ctx;
    (void)number;
    w->signals++;
    agent_drain(w->agent);
}

static enum err tls_open(struct worker_program *w, struct why *why) {
    struct ostls *tls = NULL;
    char name[OSTLS_NAME_MAX];
    /* A server of this machine may have a certificate when it comes back. */
    bool may_turn = w->given.agent.server_now != NULL && w->given.tls.ca != NULL;
    if (strncmp(w->given.server, "tls:", 4) != 0 && !may_turn) return ERR_OK;
    enum err e = ostls_client(&w->given.tls, &tls, why);
    if (e != ERR_OK) return e;
    osloop_tls_client(w->loop, tls);
    ostls_name(tls, name);
    if (w->given.host[0] == 0)
        snprintf(w->given.host, sizeof w->given.host, "%s", name); /* the server takes it by no other */
    return ERR_OK;
}

static enum err open_all(struct worker_program *w, struct why *why) {
    watch_id watch;
    enum err e = osdisk_open(w->given.data, &w->disk, why);
    if (e == ERR_OK) e = osspace_open(w->space_path, &w->space, why);
    if (e == ERR_OK) e = osloop_open(CONNECTIONS_MAX, &w->loop, why);
    if (e == ERR_OK) e = tls_open(w, why);
    if (e != ERR_OK) return e;
    if (w->given.host[0] == 0 && gethostname(w->given.host, sizeof w->given.host - 1) != 0)
        snprintf(w->given.host, sizeof w->given.host, "worker");
    struct agent_world world = {osclock(), w->disk, w->space, osloop_net(w->loop), w->proc};
    e = agent_open(&world, &w->given.agent, &w->agent, why); /* which keeps a second worker out */
    if (e == ERR_OK) e = osspace_sweep(w->space, why);
    if (e == ERR_OK) e = osloop_watch(w->loop, osproc_fd(w->proc), OSLOOP_READABLE, procs_ready, w, &watch, why);
    if (e == ERR_OK) e = osloop_signal(w->loop, SIGTERM, on_signal, w, why);
    if (e == ERR_OK) e = osloop_signal(w->loop, SIGINT, on_signal, w, why);
    osloop_own(w->loop, &(struct osloop_owner){pass, next, w});
    return e;
}

static void close_all(struct worker_program *w) {
    if (w->agent != NULL) agent_close(w->agent);
    if (w->loop != NULL) osloop_close(w->loop);
    osproc_close(w->proc);
    if (w->space != NULL) osspace_close(w->space);
    if (w->disk != NULL) osdisk_close(w->disk);
}

static struct worker_program self; /* the one of this process */

/* All that can be said of it before anything is opened. */
static enum err prepare(int count, char **args, const char *build, struct why *why) {
    options_default(&self, build);
    enum err e = worker_options_read(&self.given, count, args, why);
    if (e == ERR_OK && !self.given.help && !self.given.man) e = options_complete(&self, why);
    return e;
}

/* What the machine adds to what was said: it is found out by trying, so processes may be started for it. */
static enum err discover(struct why *why) {
    env_make(&self);
    enum err e = gpus_find(&self, why);
    if (e == ERR_OK) e = limits_find(&self, why);
    if (e == ERR_OK) e = osproc_open(&self.groups, &self.proc, why); /* first: see there */
    if (e == ERR_OK) e = worker_sandbox_open(&self.sandbox, &self.given, self.proc, why);
    return e;
}

/* ---- a worker that is not started ---- */

#define FORESEEN_BYTES_MAX (64u << 10)

/* In a child: whatever is tried leaves nothing behind in the process that asks. */
_Noreturn static void foresee(int to) {
    struct why why = {{0}};
    struct wire_worker_info info;
    struct arena arena;
    struct buf out;
    buf_init(&out, FORESEEN_BYTES_MAX);
    arena_init(&arena, 4096, 1u << 20);
    enum err e = discover(&why);
    buf_put_u8(&out, (uint8_t)e);
    if (e == ERR_OK) {
        agent_info(&self.given.agent, &arena, &info);
        tlv_encode(&wire_worker_info_desc, &info, &out);
    } else {
        buf_put(&out, why.text, strlen(why.text));
    }
    bool sent = write(to, out.at, out.len) == (ssize_t)out.len;
    if (self.proc != NULL) osproc_close(self.proc);
    _exit(sent ? 0 : 1);
}

static enum err foreseen_read(int from, struct arena *arena, struct wire_worker_info *ret, struct why *why) {
    static uint8_t bytes[FORESEEN_BYTES_MAX];
    size_t len = 0;
    for (ssize_t n; len < sizeof bytes && (n = read(from, bytes + len, sizeof bytes - len)) > 0;) len += (size_t)n;
    if (len == 0 || bytes[0] >= ERR_COUNT)
        return why_set(why, ERR_IO, "the resources of a worker could not be determined");
    if (bytes[0] != ERR_OK) return why_set(why, (enum err)bytes[0], "%.*s", (int)(len - 1), (const char *)bytes + 1);
    return tlv_decode(&wire_worker_info_desc, slice_of(bytes + 1, len - 1), TLV_STRICT, arena, ret, why);
}

static enum err foresee_here(struct arena *arena, struct wire_worker_info *ret, struct why *why) {
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) != 0) return why_set(why, ERR_IO, "pipe: %s", strerrordesc_np(errno));
    pid_t pid = fork(); /* this process is small, and has no threads yet */
    if (pid == 0) {
        close(ends[0]);
        foresee(ends[1]);
    }
    close(ends[1]);
    enum err e =
        pid > 0 ? foreseen_read(ends[0], arena, ret, why) : why_set(why, ERR_IO, "fork: %s", strerrordesc_np(errno));
    close(ends[0]);
    if (pid > 0) (void)waitpid(pid, &status, 0);
    return e;
}

enum err worker_foresee(int count, char **args, const char *build, bool elsewhere, struct worker_foreseen *ret,
                        struct why *why) {
    static struct arena arena;
    enum err e = prepare(count, args, build, why);
    ret->options = &self.given;
    if (e != ERR_OK || self.given.help || self.given.man) return e;
    arena_init(&arena, 4096, 1u << 20);
    if (!elsewhere) return foresee_here(&arena, &ret->info, why);
    agent_info(&self.given.agent, &arena, &ret->info);
    return ERR_OK;
}

const char *worker_server(void) {
    return self.given.agent.server_now != NULL ? server_now(&self) : self.given.server;
}

enum err worker_secure(struct osloop *loop, struct why *why) {
    self.loop = loop;
    return tls_open(&self, why);
}

enum err worker_run(int count, char **args, const char *build, struct why *why) {
    ossecret_guard();
    enum err e = prepare(count, args, build, why);
    if (e == ERR_OK && self.given.man) {
        worker_options_man(build);
        return ERR_OK;
    }
    if (e == ERR_OK && self.given.help) {
        worker_options_help();
        return ERR_OK;
    }
    if (e == ERR_OK) e = discover(why);
    if (e != ERR_OK && self.proc == NULL) return e;
    if (e == ERR_OK && self.given.titan_master != NULL) {
        e = worker_titan_run(&self.given, self.proc, self.space_path, log_line, why);
        osproc_close(self.proc);
        return e;
    }
    if (e == ERR_OK) e = open_all(&self, why);
    if (e == ERR_OK) e = worker_sandbox_reach(&self.given, self.space_path, why);
    if (e == ERR_OK) {
        char line[200];
        snprintf(line, sizeof line, "%s, incarnation %llu, %u slots", agent_id(self.agent),
                 (unsigned long long)agent_incarnation(self.agent), self.given.agent.slots);
        log_line(NULL, line);
        log_line(NULL, self.limits_told);
        log_line(NULL, self.sandbox.told);
        machine_claim(&self.given);
        osloop_run(self.loop);
        if (!osproc_is_well(self.proc)) e = why_set(why, ERR_IO, "the process that starts jobs was killed");
    }
    close_all(&self);
    return e;
}
