/* agentlab.c: see agentlab.h. */
#include "agentlab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "file.h"
#include "osclock.h"
#include "osdigest.h"
#include "osdisk.h"
#include "osloop.h"
#include "osproc.h"
#include "osspace.h"
#include "server.h"
#include "test.h"

#define SIX_X \
    "XX"      \
    "XX"      \
    "XX" /* what mkdtemp replaces */
#define PATIENCE_MS 60000
#define ANSWER_BYTES_MAX (64u << 20)

void agentlab_open(struct agentlab *l) {
    const char *base = getenv("TMPDIR");
    *l = (struct agentlab){.conn = -1, .slots = 4, .spool_bytes_max = 1u << 30};
    limits_default(&l->limits);
    l->limits.heartbeat_ms = 200;
    l->limits.lease_ms = 5000;
    l->limits.vault_reserve_bytes = 0;
    snprintf(l->dir, sizeof l->dir, "%s/reeve-test-%s", base != NULL ? base : "/tmp", SIX_X);
    assert_non_null(mkdtemp(l->dir));
    snprintf(l->socket, sizeof l->socket, "unix:%s/socket", l->dir);
    buf_init(&l->in, ANSWER_BYTES_MAX);
    arena_init(&l->arena, 65536, 512u << 20);
}

static int entry_remove(const char *path, const struct stat *st, int flag, struct FTW *at) {
    (void)st, (void)flag, (void)at;
    return remove(path);
}

static void reap(pid_t *pid, int number) {
    if (*pid == 0) return;
    (void)kill(*pid, number);
    (void)waitpid(*pid, NULL, 0);
    *pid = 0;
}

void agentlab_close(struct agentlab *l) {
    reap(&l->worker, SIGKILL);
    reap(&l->server, SIGKILL);
    if (l->conn >= 0) (void)close(l->conn);
    buf_fini(&l->in);
    arena_fini(&l->arena);
    (void)nftw(l->dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the two processes ---- */

static _Noreturn void die(const char *what, const struct why *why) {
    fprintf(stderr, "agentlab: %s: %s\n", what, why->text);
    _exit(99);
}

static void server_line(void *ctx, enum server_level level, const char *what, const char *text) {
    (void)ctx;
    if (getenv("AGENTLAB_LOG") != NULL) fprintf(stderr, "server %d: %s: %s\n", (int)level, what, text);
}

struct lab_process {
    struct osloop *loop;
    struct server *server;
    struct agent *agent;
    struct proc *proc;
};

static void server_turn(void *ctx) {
    struct why why;
    struct lab_process *p = ctx;
    server_pass(p->server);
    if (server_failed(p->server, &why) != ERR_OK) die("server", &why);
}

static mono_time server_when(void *ctx) {
    return server_next(((struct lab_process *)ctx)->server);
}

static void wake(void *ctx, unsigned when) {
    (void)ctx, (void)when;
}

static _Noreturn void server_main(const struct agentlab *l) {
    struct lab_process p = {0};
    struct why why = {{0}};
    char path[240], got[OSLOOP_ADDRESS_MAX];
    struct disk *disk;
    snprintf(path, sizeof path, "%s/server", l->dir);
    int fds[2];
    watch_id w;
    if (osdisk_open(path, &disk, &why) != ERR_OK || osloop_open(100, &p.loop, &why) != ERR_OK) die("server", &why);
    struct server_world world = {
        .disk = disk, .clock = osclock(), .hasher = osdigest(), .net = osloop_net(p.loop), .log = server_line};
    struct server_options o = {.limits = l->limits, .build = "test", .uid = getuid()};
    struct file_options journal;
    file_options_default(&journal);
    journal.archive_days = 1;
    journal.segment_bytes = 1u << 20;
    if (file_open(disk, osclock(), &journal, &world.journal, &why) != ERR_OK) die("journal", &why);
    if (server_open(&world, &o, &p.server, &why) != ERR_OK) die("server", &why);
    server_fds(p.server, &fds[0], &fds[1]);
    for (int i = 0; i < 2; i++)
        if (osloop_watch(p.loop, fds[i], OSLOOP_READABLE, wake, NULL, &w, &why) != ERR_OK) die("watch", &why);
    osloop_own(p.loop, &(struct osloop_owner){server_turn, server_when, &p});
    if (osloop_listen(p.loop, l->socket, server_handler(p.server), got, &why) != ERR_OK) die("listen", &why);
    osloop_run(p.loop);
    _exit(0);
}

static void worker_line(void *ctx, const char *line) {
    (void)ctx;
    if (getenv("AGENTLAB_LOG") != NULL) fprintf(stderr, "worker: %s\n", line);
}

static void worker_turn(void *ctx) {
    struct lab_process *p = ctx;
    agent_pass(p->agent);
    if (agent_is_over(p->agent)) osloop_stop(p->loop);
}

static mono_time worker_when(void *ctx) {
    return agent_next(((struct lab_process *)ctx)->agent);
}

static void procs_ready(void *ctx, unsigned when) {
    (void)when;
    osproc_run(((struct lab_process *)ctx)->proc);
}

static void worker_signal(void *ctx, int number) {
    (void)number;
    agent_drain(((struct lab_process *)ctx)->agent);
}

static _Noreturn void worker_main(const struct agentlab *l) {
    static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", NULL};
    struct lab_process p = {0};
    struct why why = {{0}};
    char path[240];
    struct disk *disk;
    struct space *space;
    watch_id w;
    if (osproc_open(NULL, &p.proc, &why) != ERR_OK) die("processes", &why);
    snprintf(path, sizeof path, "%s/worker", l->dir);
    if (osdisk_open(path, &disk, &why) != ERR_OK || osloop_open(10, &p.loop, &why) != ERR_OK) die("worker", &why);
    snprintf(path, sizeof path, "%s/worker/space", l->dir);
    if (osspace_open(path, &space, &why) != ERR_OK || osspace_sweep(space, &why) != ERR_OK) die("space", &why);
    struct agent_world world = {osclock(), disk, space, osloop_net(p.loop), p.proc};
    struct agent_options o = {.server = l->socket,
                              .name = "w",
                              .build = "test",
                              .slots = l->slots,
                              .env = env,
                              .limits = l->limits,
                              .spool_bytes_max = l->spool_bytes_max,
                              .log = worker_line};
    if (agent_open(&world, &o, &p.agent, &why) != ERR_OK) die("worker", &why);
    if (osloop_watch(p.loop, osproc_fd(p.proc), OSLOOP_READABLE, procs_ready, &p, &w, &why) != ERR_OK)
        die("watch", &why);
    if (osloop_signal(p.loop, SIGTERM, worker_signal, &p, &why) != ERR_OK) die("signal", &why);
    osloop_own(p.loop, &(struct osloop_owner){worker_turn, worker_when, &p});
    osloop_run(p.loop);
    agent_close(p.agent);
    osloop_close(p.loop);
    osproc_close(p.proc);
    osspace_close(space);
    osdisk_close(disk);
    _exit(0);
}

static pid_t start(struct agentlab *l, void (*run)(const struct agentlab *l)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid != 0) return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that failed leaves nobody behind */
    if (l->conn >= 0) (void)close(l->conn);
    run(l);
    _exit(98);
}

void agentlab_server_start(struct agentlab *l) {
    l->server = start(l, server_main);
}

void agentlab_worker_start(struct agentlab *l) {
    l->worker = start(l, worker_main);
}

void agentlab_server_kill(struct agentlab *l) {
    reap(&l->server, SIGKILL);
    if (l->conn >= 0) (void)close(l->conn);
    l->conn = -1;
    buf_clear(&l->in);
}

void agentlab_worker_kill(struct agentlab *l) {
    reap(&l->worker, SIGKILL);
}

int agentlab_worker_term(struct agentlab *l) {
    int status = 0;
    assert_int_equal(kill(l->worker, SIGTERM), 0);
    assert_int_equal(waitpid(l->worker, &status, 0), l->worker);
    l->worker = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the client ---- */

static bool read_more(struct agentlab *l) {
    struct pollfd fd = {.fd = l->conn, .events = POLLIN};
    char bytes[65536];
    if (poll(&fd, 1, PATIENCE_MS) != 1) return false;
    ssize_t got = read(l->conn, bytes, sizeof bytes);
    if (got <= 0) return false;
    buf_put(&l->in, bytes, (size_t)got);
    return true;
}

typedef void (*frame_fn)(void *ctx, const struct frame *f);

/* Sends and reads until the last frame of the answer. */
static void converse(struct agentlab *l, enum wire_op op, const void *message, frame_fn each, void *ctx) {
    struct buf out;
    uint32_t request = ++l->request;
    buf_init(&out, 32u << 20);
    wire_put(&out, op, 0, request, message);
    assert_int_equal(write(l->conn, out.at, out.len), out.len);
    buf_fini(&out);
    for (bool last = false; !last;) {
        struct slice in = buf_slice(&l->in);
        struct frame f;
        size_t need;
        struct why why;
        assert_int_equal(frame_take(&in, ANSWER_BYTES_MAX - 1024, &f, &need, &why), ERR_OK);
        if (need != 0) {
            if (!read_more(l)) fail_msg("no answer to %s", wire_word((uint8_t)op));
            continue;
        }
        if (f.request == request) {
            each(ctx, &f);
            last = !(f.flags & FRAME_MORE);
        }
        memmove(l->in.at, in.ptr, in.len);
        buf_cut(&l->in, in.len);
    }
}

struct lab_answer {
    struct agentlab *l;
    uint8_t expected;
    void *message;
    struct buf *log;
};

static void answer_take(void *ctx, const struct frame *f) {
    struct lab_answer *a = ctx;
    struct why why = {{0}};
    struct frame copy = *f;
    copy.body = arena_slice(&a->l->arena, f->body);
    a->message = arena_alloc(&a->l->arena, wire_info(f->opcode)->desc->size);
    if (wire_take(&copy, &a->l->arena, a->message, &why) != ERR_OK) fail_msg("%s", why.text);
    if (f->opcode == WIRE_ERROR) {
        const struct wire_error *e = a->message;
        fail_msg("error: %.*s: %.*s", SLICE_FMT(e->code), SLICE_FMT(e->message));
    }
    assert_int_equal(f->opcode, a->expected);
    if (a->log == NULL) return;
    const struct wire_log_data *data = a->message;
    const struct wire_log_piece *pieces = data->pieces.at;
    for (uint32_t i = 0; i < data->pieces.count; i++) buf_put_slice(a->log, pieces[i].data);
}

static void client_open(struct agentlab *l) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int64_t until = test_mono_ms() + PATIENCE_MS;
    if (l->conn >= 0) return;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", l->socket + strlen("unix:"));
    for (;;) {
        l->conn = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(l->conn, (struct sockaddr *)&to, sizeof to) == 0) break;
        (void)close(l->conn);
        l->conn = -1;
        if (test_mono_ms() > until) fail_msg("the server does not come up");
        (void)poll(NULL, 0, 10);
    }
    struct wire_hello hello = {.version_min = FRAME_VERSION, .version_max = FRAME_VERSION, .build = SLICE("test")};
    struct lab_answer a = {.l = l, .expected = WIRE_WELCOME};
    converse(l, WIRE_HELLO, &hello, answer_take, &a);
}

const void *agentlab_ask(struct agentlab *l, enum wire_op op, const void *message) {
    client_open(l);
    struct lab_answer a = {.l = l, .expected = wire_info((uint8_t)op)->answer};
    converse(l, op, message, answer_take, &a);
    return a.message;
}

static struct slice body_of(struct agentlab *l, const struct lab_job *j) {
    struct wire_run run = j->run;
    struct buf b;
    if (j->shell != NULL) run.shell = slice_str(j->shell);
    buf_init(&b, 1u << 20);
    tlv_encode(&wire_run_desc, &run, &b);
    struct slice body = arena_slice(&l->arena, buf_slice(&b));
    buf_fini(&b);
    return body;
}

struct slice agentlab_submit(struct agentlab *l, const struct lab_job *jobs, uint32_t count) {
    struct wire_options *options = ARENA_ARRAY(&l->arena, struct wire_options, count);
    struct wire_job *list = ARENA_ARRAY(&l->arena, struct wire_job, count);
    uint32_t sets = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct wire_options o = {.kind = jobs[i].kind,
                                 .attempts_max = jobs[i].attempts_max ? jobs[i].attempts_max : 1,
                                 .backoff_base_ms = 1,
                                 .backoff_cap_ms = 1,
                                 .exclusive = jobs[i].exclusive,
                                 .run_timeout_ms = jobs[i].run_timeout_ms};
        uint32_t set = 0; /* equal ones once */
        while (set < sets && (options[set].kind != o.kind || options[set].attempts_max != o.attempts_max ||
                              options[set].exclusive != o.exclusive || options[set].run_timeout_ms != o.run_timeout_ms))
            set++;
        if (set == sets) options[sets++] = o;
        list[i] = (struct wire_job){.name = slice_str(jobs[i].name),
                                    .options = set,
                                    .parents = {jobs[i].parents, jobs[i].parent_count},
                                    .body = body_of(l, &jobs[i])};
    }
    struct wire_flow flow = {.part = {.options = {options, sets}, .jobs = {list, count}}};
    struct wire_submit submit = {{&flow, 1}};
    const struct wire_submitted *done = agentlab_ask(l, WIRE_SUBMIT, &submit);
    const struct wire_submitted_flow *flows = done->flows.at;
    if (flows[0].flow.len == 0) fail_msg("refused: %.*s", SLICE_FMT(flows[0].message));
    return flows[0].flow;
}

struct slice agentlab_run(struct agentlab *l, const char *shell) {
    struct lab_job job = {.name = "x", .shell = shell};
    return agentlab_submit(l, &job, 1);
}

static struct slice target_of(struct agentlab *l, struct slice flow, const char *name) {
    char text[256];
    int len = snprintf(text, sizeof text, "%.*s/%s", SLICE_FMT(flow), name);
    return arena_slice(&l->arena, slice_of(text, (size_t)len));
}

const struct wire_job_view *agentlab_job(struct agentlab *l, struct slice flow, const char *name) {
    struct wire_get get = {.target = target_of(l, flow, name), .details = true};
    const struct wire_got *got = agentlab_ask(l, WIRE_GET, &get);
    assert_int_equal(got->jobs.count, 1);
    return got->jobs.at;
}

const struct wire_job_view *agentlab_until(struct agentlab *l, struct slice flow, const char *name, const char *state) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    for (;;) {
        const struct wire_job_view *job = agentlab_job(l, flow, name);
        if (slice_eq(job->state, slice_str(state))) return job;
        if (test_mono_ms() > until) fail_msg("%s is %.*s, not %s", name, SLICE_FMT(job->state), state);
        (void)poll(NULL, 0, 5);
    }
}

struct slice agentlab_log(struct agentlab *l, struct slice flow, const char *name) {
    struct buf log;
    struct wire_logs logs = {.job = target_of(l, flow, name)};
    struct lab_answer a = {.l = l, .expected = WIRE_LOG_DATA, .log = &log};
    client_open(l);
    buf_init(&log, ANSWER_BYTES_MAX);
    converse(l, WIRE_LOGS, &logs, answer_take, &a);
    struct slice text = arena_slice(&l->arena, buf_slice(&log));
    buf_fini(&log);
    return text;
}

const char *agentlab_file(struct agentlab *l, const char *path) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    for (;;) {
        char text[256] = "";
        int fd = open(path, O_RDONLY);
        ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        if (fd >= 0) (void)close(fd);
        if (got > 0) return arena_copy(&l->arena, text, (size_t)got + 1);
        if (test_mono_ms() > until) fail_msg("%s does not come", path);
        (void)poll(NULL, 0, 2);
    }
}

bool agentlab_is_dead_soon(long pid) {
    int64_t until = test_mono_ms() + PATIENCE_MS;
    while (test_mono_ms() < until) {
        char path[64], text[256] = "";
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        int fd = open(path, O_RDONLY);
        if (fd < 0) return true;
        ssize_t got = read(fd, text, sizeof text - 1);
        (void)close(fd);
        const char *end = got > 0 ? strrchr(text, ')') : NULL;
        if (end == NULL || end[2] == 'Z' || end[2] == 'X') return true;
        (void)poll(NULL, 0, 2);
    }
    return false;
}
