/* scaler.c: as many workers as there is work for, on this host or behind a hook. See scaler.h; what is decided, and
 * from what, is in scale/.
 *
 * Workers of this host are processes, each with a directory DIR/N of its own, so that its id stays the same and what it
 * owed when it was killed is delivered when it is started again. Should the scaler itself be killed, the kernel tells
 * them to drain: they finish what runs and leave, and nobody is left whom no one looks after. TERM or INT drains all
 * and waits for them; the second does not wait for jobs. */
#include "scaler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fleet.h"
#include "hook.h"
#include "listener.h"
#include "osclock.h"
#include "osdisk.h"
#include "osloop.h"
#include "panic.h"
#include "scaler_options.h"
#include "scaler_report.h"
#include "spawn.h"

#define CONNECTIONS_MAX 4u
#define PATH_BYTES 512u
#define NAME_BYTES 40u
#define EARLY_MS 10000 /* an end before this is a failure to start */
#define AGAIN_MS 500   /* after the first; doubles */
#define AGAIN_MS_MAX 30000

struct scaler_process {
    pid_t pid;       /* 0: there is none */
    int64_t wait_ms; /* before it is started again, if it ends early once more */
};

static struct scaler {
    struct scaler_options o;
    struct fleet fleet;
    struct listener listener;
    struct hook hook;
    struct scaler_process processes[FLEET_MAX];
    char name[NAME_BYTES], token[WORKER_TOKEN_MAX + 16];
    struct disk *disk; /* held for its lock: one scaler for a directory */
    struct osloop *loop;
    int64_t next_ms;
    uint32_t signals;
} self;

static int64_t now_ms(void) {
    return osclock()->mono(osclock()).ms;
}

static void log_line(const char *line) {
    char text[40];
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, sizeof text - len, ".%03ldZ", now.tv_nsec / 1000000);
    fprintf(stderr, "%s scaler %s\n", text, line);
}

static void log_place(uint32_t i, const char *what) {
    char line[200];
    const char *id = self.fleet.places[i].id;
    struct plan_counts c = plan_count(self.fleet.workers, self.fleet.count);
    snprintf(line, sizeof line, "worker %u%s%s: %s; %u here, %u on their way, %u leaving, %llu jobs wait", i + 1,
             id[0] != 0 ? " " : "", id, what, c.up, c.starting, c.leaving, (unsigned long long)self.fleet.ready);
    log_line(line);
}

/* ---- workers of this host ---- */

/* Its first start writes who it is; before it attaches, so whoever the server tells of is known. */
static void learn_id(uint32_t i) {
    char path[PATH_BYTES];
    struct fleet_place *p = &self.fleet.places[i];
    snprintf(path, sizeof path, "%s/%u/worker", self.o.data, i + 1);
    FILE *f = p->id[0] == 0 ? fopen(path, "re") : NULL;
    if (f == NULL) return;
    if (fscanf(f, "%63s", p->id) != 1) p->id[0] = 0;
    fclose(f);
}

static enum err process_spawn(uint32_t i, struct why *why) {
    const char *argv[SCALER_ARGS_MAX + 12] = {"reeve", "worker"};
    char data[PATH_BYTES], name[NAME_BYTES + 16], log[PATH_BYTES], share[32];
    int n = 2;
    snprintf(share, sizeof share, "%u/%u", i + 1, self.o.limits.max);
    if (scaler_options_divides(&self.o)) argv[n++] = "--share", argv[n++] = share; /* first: a given one goes over it */
    for (int k = 0; k < self.o.worker_arg_count; k++) argv[n++] = self.o.worker_args[k];
    snprintf(data, sizeof data, "%s/%u", self.o.data, i + 1);
    snprintf(log, sizeof log, "%s/%u.log", self.o.data, i + 1);
    snprintf(name, sizeof name, "%s-%u", self.name, i + 1);
    argv[n++] = "--data";
    argv[n++] = data;
    if (self.o.name != NULL) argv[n++] = "--name", argv[n++] = name;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return why_set(why, ERR_IO, "%s: %s", log, strerrordesc_np(errno));
    struct spawn s = {.path = "/proc/self/exe",
                      .argv = argv,
                      .variable = self.token[0] != 0 ? self.token : NULL,
                      .input = -1,
                      .output = fd,
                      .death_signal = SIGTERM};
    enum err e = spawn_start(&s, &self.processes[i].pid, why);
    close(fd);
    return e;
}

static int64_t again_ms(struct scaler_process *p, bool early) {
    p->wait_ms = !early ? 0 : p->wait_ms == 0 ? AGAIN_MS : p->wait_ms * 2;
    if (p->wait_ms > AGAIN_MS_MAX) p->wait_ms = AGAIN_MS_MAX;
    return now_ms() + 1 + p->wait_ms;
}

static void process_start(uint32_t i) {
    struct why why = {{0}};
    struct scaler_process *p = &self.processes[i];
    if (process_spawn(i, &why) != ERR_OK) {
        log_line(why.text);
        fleet_broke(&self.fleet, i, again_ms(p, true));
        return;
    }
    fleet_started(&self.fleet, i, now_ms());
    log_place(i, "started");
}

static void process_ended(uint32_t i, int status) {
    char text[100];
    struct scaler_process *p = &self.processes[i];
    bool early = now_ms() - self.fleet.places[i].started_ms < EARLY_MS;
    p->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        p->wait_ms = 0;
        log_place(i, "has left");
        fleet_gone(&self.fleet, i);
        return;
    }
    int64_t due = again_ms(p, early);
    snprintf(text, sizeof text, "ended (%s %d), is started again in %lld ms, see %u.log",
             WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
             (long long)p->wait_ms, i + 1);
    log_place(i, text);
    fleet_broke(&self.fleet, i, due);
}

/* ---- machines elsewhere: what the hook is to bring about ---- */

/* The report says how many there are to be. */
static void call_for(uint32_t i) {
    fleet_started(&self.fleet, i, now_ms());
    self.hook.is_due = true;
}

static void call_off(uint32_t i) {
    fleet_gone(&self.fleet, i);
    self.hook.is_due = true;
}

/* Machines that were asked for and did not come: whether they are still wanted the plan says anew. */
static int64_t expire(int64_t now) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 0; i < self.fleet.count && self.o.hook != NULL; i++) {
        if (self.fleet.workers[i].state != PLAN_STARTING) continue;
        int64_t due = self.fleet.places[i].started_ms + self.o.hook_patience_ms;
        if (now < due) {
            if (due < next) next = due;
            continue;
        }
        log_place(i, "was asked for and did not come");
        call_off(i);
    }
    return next;
}

static void tell_hook(int64_t now) {
    struct buf report;
    if (self.o.hook == NULL) return;
    hook_pass(&self.hook, now);
    for (uint32_t i = 0; i < self.fleet.count; i++)
        if (fleet_may_end(&self.fleet, i) && !self.fleet.places[i].end_told) self.hook.is_due = true;
    if (!hook_is_ready(&self.hook, now)) return;
    for (uint32_t i = 0; i < self.fleet.count; i++) self.fleet.places[i].end_told = fleet_may_end(&self.fleet, i);
    buf_init(&report, SCALER_REPORT_BYTES);
    scaler_report_make(&self.fleet, &self.o, now, &report);
    hook_start(&self.hook, buf_slice(&report), now);
    buf_fini(&report);
}

/* ---- doing what was decided ---- */

static void start(uint32_t i) {
    if (self.o.hook == NULL)
        process_start(i);
    else
        call_for(i);
}

static void drain(uint32_t i) {
    if (self.fleet.workers[i].state == PLAN_STARTING) {
        call_off(i);
        return;
    }
    log_place(i, "idle, draining");
    if (self.o.hook == NULL)
        kill(self.processes[i].pid, SIGTERM);
    else
        listener_drain(&self.listener, slice_str(self.fleet.places[i].id));
    fleet_asked(&self.fleet, i);
}

static void act(void) {
    int64_t now = now_ms(), next = expire(now);
    /* Of machines elsewhere nothing is known before the server has told. */
    if (self.o.hook == NULL || self.fleet.plan.is_told) {
        int64_t plan = fleet_plan(&self.fleet, now);
        if (plan < next) next = plan;
        for (uint32_t i = 0; i < self.fleet.count; i++) {
            if (self.fleet.workers[i].todo == PLAN_START) start(i);
            if (self.fleet.workers[i].todo == PLAN_DRAIN) drain(i);
        }
    }
    tell_hook(now);
    int64_t hook = self.o.hook != NULL ? hook_next(&self.hook) : TIME_NEVER;
    self.next_ms = hook < next ? hook : next;
}

/* ---- what happens ---- */

static void heard(void *ctx, const struct wire_demands *m) {
    (void)ctx;
    for (uint32_t i = 0; i < self.fleet.count && self.o.hook == NULL; i++)
        if (self.processes[i].pid != 0) learn_id(i);
    fleet_hear(&self.fleet, m, now_ms());
    for (uint32_t i = 0; i < self.fleet.count && self.o.hook != NULL; i++) /* a drain that got lost */
        if (self.fleet.places[i].asked && !self.fleet.places[i].draining)
            listener_drain(&self.listener, slice_str(self.fleet.places[i].id));
}

static void lost(void *ctx) {
    (void)ctx;
    fleet_lost(&self.fleet);
}

static const char *server(void *ctx) {
    (void)ctx;
    return worker_server();
}

static void listener_says(void *ctx, const char *line) {
    (void)ctx;
    log_line(line);
}

static bool has_children(void) {
    for (uint32_t i = 0; i < self.fleet.count; i++)
        if (self.processes[i].pid != 0) return true;
    return self.hook.pid != 0;
}

static void on_child(void *ctx, int number) {
    int status;
    (void)ctx, (void)number;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (hook_ended(&self.hook, pid, status, now_ms())) continue;
        for (uint32_t i = 0; i < self.fleet.count; i++)
            if (self.processes[i].pid == pid) process_ended(i, status);
    }
}

static void on_signal(void *ctx, int number) {
    (void)ctx, (void)number;
    log_line(self.signals++ == 0 ? "stopping after the running jobs; a second signal does not wait" : "at once");
    self.hook.is_due = false; /* one that runs may end what it began */
    if (self.signals > 1) hook_end(&self.hook);
    for (uint32_t i = 0; i < self.fleet.count; i++)
        if (self.processes[i].pid != 0) kill(self.processes[i].pid, SIGTERM);
}

static void pass(void *ctx) {
    (void)ctx;
    listener_pass(&self.listener);
    if (self.signals == 0) {
        act();
        return;
    }
    hook_pass(&self.hook, now_ms());
    self.next_ms = self.hook.pid != 0 ? hook_next(&self.hook) : TIME_NEVER;
    if (!has_children()) osloop_stop(self.loop);
}

static mono_time next(void *ctx) {
    (void)ctx;
    mono_time t = listener_next(&self.listener);
    if (self.next_ms < t.ms) t.ms = self.next_ms;
    return t;
}

/* ---- opening ---- */

static enum err open_all(const char *build, struct why *why) {
    const struct worker_options *w = self.o.worker.options;
    enum err e = osdisk_open(self.o.data, &self.disk, why);
    if (e == ERR_OK) e = self.disk->ops->lock(self.disk, "lock", why);
    if (e == ERR_CONFLICT) return why_set(why, e, "another scaler uses the directory %s", self.o.data);
    if (e == ERR_OK) e = osloop_open(CONNECTIONS_MAX, &self.loop, why);
    if (e == ERR_OK) e = worker_secure(self.loop, why);
    if (e == ERR_OK) e = osloop_signal(self.loop, SIGTERM, on_signal, NULL, why);
    if (e == ERR_OK) e = osloop_signal(self.loop, SIGINT, on_signal, NULL, why);
    if (e == ERR_OK) e = osloop_signal(self.loop, SIGCHLD, on_child, NULL, why);
    if (e != ERR_OK) return e;
    if (self.o.name != NULL && self.o.name[0] != 0)
        snprintf(self.name, sizeof self.name, "%.*s", (int)NAME_BYTES - 10, self.o.name);
    else if (gethostname(self.name, sizeof self.name - 10) != 0)
        snprintf(self.name, sizeof self.name, "worker");
    if (w->token[0] != 0) snprintf(self.token, sizeof self.token, "REEVE_TOKEN=%s", w->token);
    struct listener_options listener = {.net = osloop_net(self.loop),
                                        .clock = osclock(),
                                        .server = server,
                                        .token = w->agent.token,
                                        .tenant = w->agent.tenant,
                                        .build = build,
                                        .kind = self.o.worker.info,
                                        .heard = heard,
                                        .lost = lost,
                                        .log = listener_says};
    fleet_init(&self.fleet, &self.o.limits, self.o.hook == NULL);
    listener_init(&self.listener, &listener);
    self.hook = (struct hook){.command = self.o.hook, .timeout_ms = self.o.hook_timeout_ms, .log = log_line};
    return ERR_OK;
}

enum err scaler_run(int count, char **args, const char *build, struct why *why) {
    enum err e = scaler_options_read(&self.o, count, args, build, why);
    if (e == ERR_OK && self.o.help) {
        scaler_options_help();
        return ERR_OK;
    }
    if (e == ERR_OK) e = open_all(build, why);
    if (e == ERR_OK) {
        char line[200];
        snprintf(line, sizeof line, "%u to %u workers%s", self.o.limits.min, self.o.limits.max,
                 self.o.hook != NULL ? ", by a hook" : "");
        log_line(line);
        osloop_own(self.loop, &(struct osloop_owner){pass, next, NULL});
        osloop_run(self.loop);
        listener_fini(&self.listener);
    }
    if (self.loop != NULL) osloop_close(self.loop);
    if (self.disk != NULL) osdisk_close(self.disk);
    return e;
}
