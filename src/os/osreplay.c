/* osreplay.c: see osreplay.h. Starting a child keeps the starting thread waiting until the child has its own program,
 * for tens of milliseconds on a busy machine; so each child has a thread, which starts it and then waits for its end.
 * The loop knows nothing but its socket. */
#include "osreplay.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "panic.h"

#define RECALLS_MAX 8u
#define READ_BYTES 65536u
#define STACK_BYTES 65536u
#define ARGS 6u
#define ARG_BYTES 24u

extern char **environ;

struct recall {
    replay_id id; /* 0 = free */
    struct osreplay *owner;
    int fd;
    watch_id watch;
    struct replay_handler handler;
};

struct osreplay {
    struct replayer recaller; /* first: the interface's pointer is ours */
    struct osloop *loop;
    char *locator;
    uint64_t id_last;
    struct recall all[RECALLS_MAX];
    uint8_t space[READ_BYTES];
};

/* ---- the child ---- */

struct starting { /* the thread's own */
    int fd;
    char *locator;
    char numbers[4][ARG_BYTES];
};

static void spawn_and_wait(const struct starting *x) {
    static char self[] = "/proc/self/exe", name[] = "reeve", child[] = OSREPLAY_CHILD;
    char numbers[4][ARG_BYTES];
    memcpy(numbers, x->numbers, sizeof numbers);
    char *argv[ARGS + 2] = {name, child, x->locator, numbers[0], numbers[1], numbers[2], numbers[3], NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    ENSURE(posix_spawn_file_actions_init(&actions) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, x->fd, STDIN_FILENO) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, x->fd, STDOUT_FILENO) == 0);
    int failed = posix_spawn(&pid, self, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(x->fd); /* its end of the socket is the child's alone: when the child goes, the loop reads the end */
    int status;
    while (failed == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
}

static void *thread_run(void *ctx) {
    struct starting *x = ctx;
    spawn_and_wait(x);
    free(x->locator);
    free(x);
    return NULL;
}

static bool thread_start(struct starting *x) {
    pthread_attr_t attr;
    pthread_t thread;
    ENSURE(pthread_attr_init(&attr) == 0);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    bool well = pthread_create(&thread, &attr, thread_run, x) == 0;
    (void)pthread_attr_destroy(&attr);
    return well;
}

static bool child_start(const struct osreplay *o, const struct replay_spec *spec, int fd) {
    struct starting *x = malloc(sizeof *x);
    char *locator = strdup(o->locator);
    if (x == NULL || locator == NULL) PANIC("no memory");
    *x = (struct starting){.fd = fd, .locator = locator};
    const unsigned long long numbers[4] = {spec->after_lsn, spec->after_ordinal, spec->flow, spec->most};
    for (uint32_t i = 0; i < 4; i++) snprintf(x->numbers[i], ARG_BYTES, "%llu", numbers[i]);
    if (thread_start(x)) return true;
    free(x->locator);
    free(x);
    return false;
}

/* ---- the calls ---- */

static struct recall *recall_of(struct osreplay *o, replay_id id) {
    for (uint32_t i = 0; i < RECALLS_MAX; i++)
        if (id.v != 0 && o->all[i].id.v == id.v) return &o->all[i];
    return NULL;
}

static void let_go(struct recall *r) {
    osloop_unwatch(r->owner->loop, r->watch);
    (void)close(r->fd);
    *r = (struct recall){0};
}

static void readable(void *ctx, unsigned when) {
    struct recall *r = ctx;
    struct osreplay *o = r->owner;
    struct replay_handler h = r->handler;
    replay_id id = r->id;
    (void)when;
    ssize_t n = read(r->fd, o->space, READ_BYTES);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) {
        h.told(h.ctx, id, slice_of(o->space, (size_t)n));
        return;
    }
    let_go(r);
    h.ended(h.ctx, id);
}

static replay_id op_start(struct replayer *self, const struct replay_spec *spec, const struct replay_handler *h) {
    struct osreplay *o = (struct osreplay *)self;
    struct recall *r = NULL;
    struct why why;
    int fds[2];
    for (uint32_t i = 0; i < RECALLS_MAX && r == NULL; i++)
        if (o->all[i].id.v == 0) r = &o->all[i];
    if (r == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return (replay_id){0};
    *r = (struct recall){.owner = o, .fd = fds[0], .handler = *h};
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    if (osloop_watch(o->loop, fds[0], OSLOOP_READABLE, readable, r, &r->watch, &why) != ERR_OK ||
        !child_start(o, spec, fds[1])) {
        (void)close(fds[1]);
        let_go(r);
        return (replay_id){0};
    }
    r->id.v = ++o->id_last;
    return r->id;
}

static void op_upto(struct replayer *self, replay_id id, uint64_t lsn) {
    struct recall *r = recall_of((struct osreplay *)self, id);
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++) bytes[i] = (uint8_t)(lsn >> (8 * i));
    /* A few words fit into any socket; a child that is gone is told of by the end of it. */
    if (r != NULL) (void)!send(r->fd, bytes, sizeof bytes, MSG_NOSIGNAL);
}

static void op_pause(struct replayer *self, replay_id id, bool on) {
    struct recall *r = recall_of((struct osreplay *)self, id);
    if (r != NULL) osloop_watch_set(r->owner->loop, r->watch, on ? 0 : OSLOOP_READABLE);
}

static void op_stop(struct replayer *self, replay_id id) {
    struct recall *r = recall_of((struct osreplay *)self, id);
    if (r != NULL) let_go(r);
}

static const struct replayer_ops ops = {op_start, op_upto, op_pause, op_stop};

/* ---- life ---- */

struct osreplay *osreplay_open(struct osloop *loop, const char *locator) {
    struct osreplay *o = calloc(1, sizeof *o);
    if (o == NULL) PANIC("no memory");
    o->recaller.ops = &ops;
    o->loop = loop;
    o->locator = strdup(locator);
    if (o->locator == NULL) PANIC("no memory");
    return o;
}

void osreplay_close(struct osreplay *o) {
    if (o == NULL) return;
    for (uint32_t i = 0; i < RECALLS_MAX; i++)
        if (o->all[i].id.v != 0) let_go(&o->all[i]);
    free(o->locator);
    free(o);
}

struct replayer *osreplay_replayer(struct osreplay *o) {
    return &o->recaller;
}
