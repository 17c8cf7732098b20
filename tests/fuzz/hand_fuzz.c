/* hand_fuzz.c: whatever comes at the port of a worker of a Titan master (titan_worker/titan_worker.h) is answered in
 * frames, passed over or ends the connection; nothing escapes its folder. The first byte says in what pieces the rest
 * comes.
 *
 * Around it is a world in which nothing happens: files are kept by nobody, processes start and end at the next pass. */
#include <stdio.h>
#include <string.h>

#include "panic.h"
#include "titan.h"
#include "titan_place.h"
#include "titan_worker.h"
#include "vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    bool is_closed;
    struct buf said;
    struct proc_handler handler;
    uint64_t processes, told;
    int64_t now_ms;
    uint64_t dials;
} it;

/* ---- time ---- */

static mono_time mono(struct clock *c) {
    (void)c;
    return (mono_time){it.now_ms};
}
static wall_time wall(struct clock *c) {
    (void)c;
    return (wall_time){it.now_ms};
}
static uint64_t number(struct clock *c) {
    (void)c;
    return 4;
}

/* ---- connections ---- */

static conn_id dial(struct net *n, const char *address, const struct net_handler *handler) {
    (void)n, (void)address, (void)handler; /* the master is never reached */
    return (conn_id){1000 + ++it.dials};
}
static void send_(struct net *n, conn_id c, struct slice bytes) {
    (void)n;
    ENSURE(c.v == 1 && !it.is_closed);
    buf_put_slice(&it.said, bytes);
}
static uint64_t unsent(struct net *n, conn_id c) {
    (void)n, (void)c;
    return 0;
}
static void pause_(struct net *n, conn_id c, bool on) {
    (void)n, (void)c, (void)on;
}
static void close_(struct net *n, conn_id c) {
    (void)n;
    if (c.v == 1) it.is_closed = true;
}

/* ---- files: of each the name is looked at ---- */

static void check_inside(const char *path) {
    ENSURE(path[0] != '/' && strcmp(path, "..") != 0 && strstr(path, "../") == NULL);
}
static enum err make(struct space *s, const char *name, struct why *why) {
    (void)s, (void)why;
    check_inside(name);
    return ERR_OK;
}
static void path(struct space *s, const char *name, const char *inside, char ret[SPACE_PATH_MAX]) {
    (void)s;
    check_inside(inside);
    snprintf(ret, SPACE_PATH_MAX, "/space/%s/%s", name, inside);
}
static enum err write_(struct space *s, const char *name, const char *inside, struct slice bytes, bool executable,
                       struct why *why) {
    (void)s, (void)name, (void)bytes, (void)executable, (void)why;
    check_inside(inside);
    bool is_ours = strcmp(inside, TITAN_PLACE_SHARED "/.shared") == 0; /* the folder where jobs of DAGs start */
    ENSURE(strchr(inside, '/') == NULL || is_ours);
    return ERR_OK;
}
static enum err read_(struct space *s, const char *name, const char *inside, struct buf *ret, struct why *why) {
    (void)s, (void)name, (void)why;
    check_inside(inside);
    buf_put_slice(ret, SLICE("#!/bin/sh\n"));
    return ERR_OK;
}
static enum err read_at(struct space *s, const char *name, const char *inside, uint64_t offset, size_t most,
                        struct buf *ret, struct why *why) {
    (void)s, (void)name, (void)offset, (void)why;
    check_inside(inside);
    buf_put(ret, "#!/b", most < 4 ? most : 4);
    return ERR_OK;
}
static void remove_(struct space *s, const char *name) {
    (void)s;
    check_inside(name);
}

/* ---- processes ---- */

static enum err start(struct proc *p, const struct proc_spec *spec, const struct proc_handler *handler, proc_id *ret,
                      struct why *why) {
    (void)p, (void)why;
    ENSURE(spec->argv[0] != NULL && spec->workdir[0] == '/');
    it.handler = *handler;
    *ret = (proc_id){++it.processes};
    return ERR_OK;
}
static void pause_process(struct proc *p, proc_id id, bool on) {
    (void)p, (void)id, (void)on;
}
static void signal_(struct proc *p, proc_id id, int signal) {
    (void)p, (void)id, (void)signal;
}

/* All that run write something, and end. */
static void processes_end(void) {
    struct proc_usage usage = {0};
    while (it.told < it.processes) {
        proc_id id = {++it.told};
        it.handler.output(it.handler.ctx, id, PROC_OUT, SLICE("line\nanother"));
        it.handler.ended(it.handler.ctx, id, 0, 0, &usage);
    }
}

static void said_check(void) {
    struct slice left = buf_slice(&it.said);
    struct titan_frame f;
    struct why why;
    size_t need = 0;
    while (left.len > 0) {
        enum err e = titan_take(&left, TITAN_BODY_BYTES_MAX, &f, &need, &why);
        ENSURE(e == ERR_OK && need == 0);
        ENSURE(f.opcode == TITAN_ACK || f.opcode == TITAN_ERROR || f.opcode == TITAN_KILL_WORKER);
    }
    buf_clear(&it.said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct net_ops net_ops = {
        .dial = dial, .send = send_, .unsent = unsent, .pause = pause_, .close = close_};
    static const struct space_ops space_ops = {
        .make = make, .path = path, .write = write_, .read = read_, .read_at = read_at, .remove = remove_};
    static const struct proc_ops proc_ops = {.start = start, .pause = pause_process, .signal = signal_};
    struct clock clock = {wall, mono, number, number};
    struct net net = {&net_ops};
    struct space space = {&space_ops};
    struct proc proc = {&proc_ops};
    struct titan_worker_world world = {&clock, &space, &net, &proc};
    struct titan_worker_options options = {.master = "127.0.0.1:9", .capability = "GENERAL", .slots = 4};
    struct titan_worker *hand = NULL;
    struct why why;
    if (size == 0) return 0;
    memset(&it, 0, sizeof it);
    buf_init(&it.said, 1u << 26);
    limits_default(&options.limits);
    enum err e = titan_worker_open(&world, &options, &hand, &why);
    ENSURE(e == ERR_OK);
    titan_worker_listens(hand, 8080);
    const struct net_handler *h = titan_worker_handler(hand);
    struct net_peer peer = {.address = "127.0.0.1:1"};
    h->opened(h->ctx, (conn_id){1}, &peer);
    size_t step = data[0] == 0 ? size : data[0];
    for (size_t at = 1; at < size && !it.is_closed; at += step) {
        size_t len = size - at < step ? size - at : step;
        h->received(h->ctx, (conn_id){1}, slice_of(data + at, len));
        said_check();
        it.now_ms += 100;
        if (at % 3 == 0) processes_end();
        titan_worker_pass(hand);
        (void)titan_worker_next(hand);
    }
    processes_end();
    titan_worker_pass(hand);
    if (!it.is_closed) h->closed(h->ctx, (conn_id){1}, "over");
    titan_worker_close(hand);
    buf_fini(&it.said);
    return 0;
}
