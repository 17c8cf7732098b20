/* lab.c: see lab.h. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "fold.h"
#include "inspect.h"
#include "osdisk.h"
#include "panic.h"
#include "record.h"

#define START_SECONDS_MAX 120.0
#define STOP_SECONDS_MAX 30.0
#define LOOK_MS 1

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* ---- processes ---- */

struct lab_child {
    const char *const *argv;
    const char *data, *state; /* its directory, and where is noted what a power cut undoes there */
    const char *token;        /* NULL = it needs none */
};

/* In the child: threads of ours may be reading the environment. */
static void environment_set(const struct lab_power *p, const struct lab_child *c) {
    if (c->token != NULL) setenv("REEVE_TOKEN", c->token, 1); /* an argument is seen by everyone */
    if (p->shim == NULL) return;
    setenv("LD_PRELOAD", p->shim, 1);
    setenv("POWERCUT_STATE", c->state, 1);
    setenv("POWERCUT_DIRS", c->data, 1);
    if (p->lies) setenv("POWERCUT_LIE", "1", 1);
}

/* A group of processes of its own. What they say goes to DIR/log; they do not outlive us. No signal may come between a
 * fork and the note of its pid: abandon() has to end every child. */
static enum err spawn(struct lab *l, const struct lab_child *c, pid_t *ret, struct why *why) {
    char log[BENCH_PATH_MAX + 16];
    char self[BENCH_PATH_MAX];
    snprintf(log, sizeof log, "%s/log", l->dir);
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1); /* by its name, for who looks at processes */
    if (len <= 0) return why_set(why, ERR_IO, "/proc/self/exe: %s", strerrordesc_np(errno));
    self[len] = 0;
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600), null = open("/dev/null", O_RDWR);
        if (fd < 0 || null < 0) _exit(127);
        dup2(null, 0);
        dup2(fd, 1);
        dup2(fd, 2);
        environment_set(&l->power, c);
        execv(self, (char *const *)(uintptr_t)c->argv);
        _exit(127);
    }
    int failed = errno;
    if (pid > 0) {
        setpgid(pid, pid); /* whichever of us is first */
        *ret = pid;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid > 0 ? ERR_OK : why_set(why, ERR_IO, "fork: %s", strerrordesc_np(failed));
}

/* Waits until a group has no process any more. Orphans come to us (PR_SET_CHILD_SUBREAPER), if we asked for them. */
static enum err group_end(pid_t group, const char *who, struct why *why) {
    double start = bench_now();
    for (;;) {
        pid_t pid = waitpid(-group, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD) return ERR_OK;
        if (bench_now() - start > STOP_SECONDS_MAX)
            return why_set(why, ERR_UNKNOWN, "what the %s started does not end", who);
        if (pid == 0) pause_ms(LOOK_MS);
    }
}

static void reap(pid_t *pid, int number) {
    if (*pid <= 0) return;
    kill(*pid, number);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

static enum err end_well(pid_t *pid, const char *who, struct why *why) {
    int status = 0;
    double start = bench_now();
    if (*pid <= 0) return ERR_OK;
    kill(*pid, SIGTERM);
    while (waitpid(*pid, &status, WNOHANG) == 0) {
        if (bench_now() - start > STOP_SECONDS_MAX) return why_set(why, ERR_UNKNOWN, "the %s does not end", who);
        pause_ms(LOOK_MS);
    }
    *pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ERR_OK;
    return why_set(why, ERR_UNKNOWN, "the %s ended badly", who);
}

/* ---- the server ---- */

static bool line_of(const struct lab *l, const char *name, char *ret, size_t bytes) {
    char path[BENCH_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", l->data, name);
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    bool good = fgets(ret, (int)bytes, f) != NULL;
    fclose(f);
    if (good) ret[strcspn(ret, "\n")] = 0;
    return good && ret[0] != 0;
}

enum err lab_server_start(struct lab *l, struct why *why) {
    const char *listen = l->address[0] != 0 ? l->address : "127.0.0.1:0";
    const char *argv[6 + LAB_FLAGS_MAX + 1] = {"reeve", "serve", "--data", l->data, "--listen", listen};
    for (uint32_t i = 0; i < LAB_FLAGS_MAX; i++) argv[6 + i] = l->flags[i];
    struct lab_child c = {argv, l->data, l->power.server, NULL};
    return spawn(l, &c, &l->server, why);
}

enum err lab_is_alive(struct lab *l, struct why *why) {
    int status = 0;
    if (waitpid(l->server, &status, WNOHANG) == 0) return ERR_OK;
    l->server = 0;
    char path[BENCH_PATH_MAX + 16], line[200] = "it said nothing", next[200];
    snprintf(path, sizeof path, "%s/log", l->dir);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(next, sizeof next, f) != NULL) snprintf(line, sizeof line, "%s", next);
    if (f != NULL) fclose(f);
    line[strcspn(line, "\n")] = 0;
    return why_set(why, ERR_UNKNOWN, "the server ended: %s", line);
}

enum err lab_connect(struct lab *l, struct why *why) {
    double start = bench_now();
    for (;;) {
        enum err e = lab_is_alive(l, why);
        if (e != ERR_OK) return e;
        bool known = line_of(l, "address", l->address, sizeof l->address) &&
                     line_of(l, "admin.token", l->admin, sizeof l->admin) &&
                     line_of(l, "worker.token", l->worker, sizeof l->worker);
        struct client_place where = {
            .data = l->data, .server = l->address, .token = l->admin, .build = l->bench->build};
        e = known ? client_open(&l->client, &where, why) : ERR_UNKNOWN;
        l->is_connected = e == ERR_OK;
        if (e == ERR_OK || e != ERR_UNKNOWN) return e;
        if (bench_now() - start > START_SECONDS_MAX)
            return why_set(why, ERR_UNKNOWN, "the server does not answer within %.0f s", START_SECONDS_MAX);
        pause_ms(LOOK_MS);
    }
}

static void disconnect(struct lab *l) {
    if (l->is_connected) client_close(&l->client);
    l->is_connected = false;
}

void lab_server_kill(struct lab *l) {
    disconnect(l);
    reap(&l->server, SIGKILL);
}

enum err lab_server_fell(struct lab *l, struct why *why) {
    pid_t group = l->server;
    if (group > 0) kill(-group, SIGKILL);
    lab_server_kill(l);
    return group > 0 ? group_end(group, "server", why) : ERR_OK;
}

/* ---- workers ---- */

static enum err worker_spawn(struct lab *l, uint32_t index, const char *token, uint32_t slots, struct why *why) {
    char data[BENCH_PATH_MAX + 16], number[16];
    snprintf(data, sizeof data, "%s/worker%u", l->dir, index);
    snprintf(number, sizeof number, "%u", slots);
    const char *const argv[] = {"reeve", "worker", "--server", l->address, "--data", data, slots > 0 ? "--slots" : NULL,
                                number,  NULL};
    struct lab_child c = {argv, data, l->power.worker, token};
    return spawn(l, &c, &l->workers[index], why);
}

enum err lab_worker_again(struct lab *l, uint32_t index, struct why *why) {
    REQUIRE(index < l->worker_count && l->workers[index] == 0);
    return worker_spawn(l, index, l->worker, 0, why);
}

enum err lab_worker_kill(struct lab *l, uint32_t index, struct why *why) {
    pid_t group = l->workers[index];
    reap(&l->workers[index], SIGKILL);
    return group > 0 ? group_end(group, "worker", why) : ERR_OK; /* its keepers end by themselves, and their jobs */
}

enum err lab_worker_start_as(struct lab *l, const char *token, uint32_t slots, struct why *why) {
    REQUIRE(l->worker_count < LAB_WORKERS_MAX);
    double start = bench_now();
    uint64_t there = 0;
    enum err e = worker_spawn(l, l->worker_count, token, slots, why);
    if (e == ERR_OK) l->worker_count++;
    while (e == ERR_OK && there < l->worker_count) {
        if (bench_now() - start > START_SECONDS_MAX)
            return why_set(why, ERR_UNKNOWN, "the worker does not attach within %.0f s", START_SECONDS_MAX);
        e = lab_stat(l, "workers", &there, why);
        pause_ms(LOOK_MS);
    }
    return e;
}

enum err lab_worker_start(struct lab *l, uint32_t slots, struct why *why) {
    return lab_worker_start_as(l, l->worker, slots, why);
}

enum err lab_stop(struct lab *l, struct why *why) {
    enum err e = ERR_OK;
    disconnect(l);
    for (uint32_t i = 0; i < l->worker_count && e == ERR_OK; i++) e = end_well(&l->workers[i], "worker", why);
    l->worker_count = 0;
    return e == ERR_OK ? end_well(&l->server, "server", why) : e;
}

/* ---- life ---- */

static struct lab *open_lab; /* for a signal; only one is open at a time */

/* Ctrl-C leaves nothing behind either. Only calls that a handler may make: fork() would wait for ever for the locks of
 * a fork() that the signal interrupted, _Fork() takes none. */
static void abandon(int number) {
    struct lab *l = open_lab;
    if (l != NULL && l->dir[0] != 0) {
        for (uint32_t i = 0; i < LAB_WORKERS_MAX; i++) reap(&l->workers[i], SIGKILL);
        if (l->server > 0) kill(-l->server, SIGKILL); /* also what it started: it would go on writing */
        reap(&l->server, SIGKILL);
        pid_t pid = _Fork();
        if (pid == 0) {
            execl("/bin/rm", "rm", "-rf", l->dir, (char *)NULL);
            _exit(127);
        }
        if (pid > 0) waitpid(pid, NULL, 0);
    }
    _exit(128 + number);
}

enum err lab_make(struct lab *l, struct bench *b, struct why *why) {
    *l = (struct lab){.bench = b};
    open_lab = l;
    signal(SIGINT, abandon);
    signal(SIGTERM, abandon);
    snprintf(l->dir, sizeof l->dir, "%s/reeve-bench-%s", b->disk,
             "XX"
             "XX"
             "XX"); /* mkdtemp fills it in */
    if (mkdtemp(l->dir) == NULL) {
        enum err e = why_set(why, ERR_IO, "%s: %s", l->dir, strerrordesc_np(errno));
        l->dir[0] = 0;
        return e;
    }
    snprintf(l->data, sizeof l->data, "%s/data", l->dir);
    return ERR_OK;
}

enum err lab_open(struct lab *l, struct bench *b, struct why *why) {
    enum err e = lab_make(l, b, why);
    if (e == ERR_OK) e = lab_server_start(l, why);
    return e == ERR_OK ? lab_connect(l, why) : e;
}

enum err lab_open_uncompacted(struct lab *l, struct bench *b, struct why *why) {
    enum err e = lab_make(l, b, why);
    l->flags[0] = "--compact-bytes";
    l->flags[1] = "0";
    if (e == ERR_OK) e = lab_server_start(l, why);
    return e == ERR_OK ? lab_connect(l, why) : e;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void lab_close(struct lab *l) {
    disconnect(l);
    for (uint32_t i = 0; i < l->worker_count; i++) reap(&l->workers[i], SIGKILL);
    if (l->server > 0) kill(-l->server, SIGKILL);
    reap(&l->server, SIGKILL);
    if (l->dir[0] != 0) (void)nftw(l->dir, remove_one, 64, FTW_DEPTH | FTW_PHYS);
    open_lab = NULL;
}

/* ---- what it says ---- */

enum err lab_stat(struct lab *l, const char *name, uint64_t *ret, struct why *why) {
    struct wire_empty ask = {0};
    struct client_frame f;
    client_forget(&l->client);
    enum err e = client_ask(&l->client, WIRE_STATS, &ask, &f, why);
    if (e != ERR_OK) return e;
    const struct wire_stats *m = f.message;
    const struct wire_amount *numbers = m->numbers.at;
    for (uint32_t i = 0; f.op == WIRE_NUMBERS && i < m->numbers.count; i++)
        if (slice_eq(numbers[i].name, slice_str(name))) {
            *ret = numbers[i].amount;
            return ERR_OK;
        }
    return why_set(why, ERR_NOT_FOUND, "the server has no number `%s`", name);
}

enum err lab_token(struct lab *l, const char *tenant, const char *role, char ret[LAB_TOKEN_MAX], struct why *why) {
    struct wire_name roles[] = {{slice_str(role)}};
    struct wire_token_new m = {.name = slice_str(role), .tenant = slice_str(tenant), .roles = {roles, 1}};
    struct client_frame f;
    client_forget(&l->client);
    enum err e = client_ask(&l->client, WIRE_TOKEN_NEW, &m, &f, why);
    if (e != ERR_OK) return e;
    const struct wire_token_given *given = f.message;
    snprintf(ret, LAB_TOKEN_MAX, "%.*s", SLICE_FMT(given->token));
    return ERR_OK;
}

/* ---- what it wrote ---- */

static enum err reader_open(const struct lab *l, struct disk **ret_disk, struct journal **ret, struct why *why) {
    enum err e = osdisk_open(l->data, ret_disk, why);
    if (e != ERR_OK) return e;
    e = file_reader(*ret_disk, ret, why);
    if (e != ERR_OK) osdisk_close(*ret_disk);
    return e;
}

static void reader_close(struct disk *d, struct journal *reader) {
    reader->ops->close(reader);
    osdisk_close(d);
}

enum err lab_check(struct lab *l, uint64_t flows, uint64_t ends, struct why *why) {
    uint64_t counts[REC_KIND_END];
    struct disk *d;
    struct journal *reader;
    enum err e = lab_stop(l, why);
    if (e == ERR_OK) e = reader_open(l, &d, &reader, why);
    if (e != ERR_OK) return e;
    e = inspect_count(reader, counts, why);
    reader_close(d, reader);
    if (e != ERR_OK) return e;
    if (counts[REC_SUBMITTED] != flows || counts[REC_ENDED] != ends)
        return why_set(why, ERR_CORRUPT, "the journal has %llu flows and %llu ends, expected were %llu and %llu",
                       (unsigned long long)counts[REC_SUBMITTED], (unsigned long long)counts[REC_ENDED],
                       (unsigned long long)flows, (unsigned long long)ends);
    return ERR_OK;
}

enum err lab_fold(struct lab *l, double *ret, struct why *why) {
    struct disk *d;
    struct journal *reader;
    struct fold f;
    enum err e = reader_open(l, &d, &reader, why);
    if (e != ERR_OK) return e;
    double start = bench_now();
    e = fold_run(reader, UINT64_MAX, &f, why);
    *ret = bench_now() - start;
    if (e == ERR_OK) engine_free(f.engine);
    reader_close(d, reader);
    return e;
}
