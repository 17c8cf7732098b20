/* osforward.c: see osforward.h. Starting a child keeps the starting thread waiting until the child has its own program,
 * so it has a thread, which starts it and then waits for its end (as in osreplay.c). The loop knows its socket. */
#include "osforward.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "panic.h"

#define LINE_BYTES_MAX 1024u
#define STACK_BYTES 65536u

extern char **environ;

struct osforward {
    struct osloop *loop;
    struct osforward_handler handler;
    int fd; /* -1: it has ended */
    watch_id watch;
    char line[LINE_BYTES_MAX];
    size_t len;
};

struct forward_starting { /* the thread's own */
    int fd;
    char *args[OSFORWARD_ARGS];
};

/* ---- the child ---- */

static void starting_free(struct forward_starting *x) {
    for (uint32_t i = 0; i < OSFORWARD_ARGS; i++) free(x->args[i]);
    free(x);
}

static void *thread_run(void *ctx) {
    static char self[] = "/proc/self/exe", name[] = "reeve", child[] = OSFORWARD_CHILD;
    struct forward_starting *x = ctx;
    char *argv[OSFORWARD_ARGS + 3] = {name, child};
    for (uint32_t i = 0; i < OSFORWARD_ARGS; i++) argv[i + 2] = x->args[i];
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    int status;
    ENSURE(posix_spawn_file_actions_init(&actions) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, x->fd, STDIN_FILENO) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, x->fd, STDOUT_FILENO) == 0);
    int failed = posix_spawn(&pid, self, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(x->fd); /* that end is the child's alone: when the child goes, the loop reads the end */
    while (failed == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    starting_free(x);
    return NULL;
}

static bool child_start(int fd, const char *const args[OSFORWARD_ARGS]) {
    struct forward_starting *x = calloc(1, sizeof *x);
    pthread_attr_t attr;
    pthread_t thread;
    ENSURE(x != NULL);
    x->fd = fd;
    for (uint32_t i = 0; i < OSFORWARD_ARGS; i++) {
        x->args[i] = strdup(args[i]);
        ENSURE(x->args[i] != NULL);
    }
    ENSURE(pthread_attr_init(&attr) == 0);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    bool well = pthread_create(&thread, &attr, thread_run, x) == 0;
    (void)pthread_attr_destroy(&attr);
    if (!well) starting_free(x);
    return well;
}

/* ---- its words ---- */

static void let_go(struct osforward *o) {
    osloop_unwatch(o->loop, o->watch);
    (void)close(o->fd);
    o->fd = -1;
}

static void lines_take(struct osforward *o) {
    size_t from = 0;
    for (size_t i = 0; i < o->len; i++) {
        if (o->line[i] != '\n') continue;
        o->handler.line(o->handler.ctx, slice_of(o->line + from, i - from));
        from = i + 1;
    }
    if (from == 0 && o->len == sizeof o->line) from = o->len; /* no line of ours is as long */
    memmove(o->line, o->line + from, o->len - from);
    o->len -= from;
}

static void readable(void *ctx, unsigned when) {
    struct osforward *o = ctx;
    (void)when;
    ssize_t n = read(o->fd, o->line + o->len, sizeof o->line - o->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) {
        o->len += (size_t)n;
        lines_take(o);
        return;
    }
    let_go(o);
    o->handler.ended(o->handler.ctx);
}

/* ---- the calls ---- */

struct osforward *osforward_start(struct osloop *loop, const char *const args[OSFORWARD_ARGS],
                                  const struct osforward_handler *h) {
    struct why why;
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return NULL;
    struct osforward *o = calloc(1, sizeof *o);
    ENSURE(o != NULL);
    *o = (struct osforward){.loop = loop, .handler = *h, .fd = fds[0]};
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    enum err e = osloop_watch(loop, fds[0], OSLOOP_READABLE, readable, o, &o->watch, &why);
    if (e == ERR_OK && child_start(fds[1], args)) return o;
    (void)close(fds[1]);
    if (e == ERR_OK)
        let_go(o);
    else
        (void)close(fds[0]);
    free(o);
    return NULL;
}

void osforward_upto(struct osforward *o, uint64_t lsn) {
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++) bytes[i] = (uint8_t)(lsn >> (8 * i));
    /* A few words fit into any socket; a child that is gone is told of by the end of it. */
    if (o->fd >= 0) (void)!send(o->fd, bytes, sizeof bytes, MSG_NOSIGNAL);
}

void osforward_stop(struct osforward *o) {
    if (o == NULL) return;
    if (o->fd >= 0) let_go(o);
    free(o);
}
