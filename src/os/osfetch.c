/* osfetch.c: see osfetch.h. As with osreplay.c, starting a child keeps the starting thread waiting, so each child has a
 * thread, which starts it and waits for its end; the loop knows nothing but its socket. */
#include "osfetch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "panic.h"

#define FETCHES_MAX 8u
#define READ_BYTES 65536u
#define STACK_BYTES 65536u
#define ANSWER_BYTES_MAX ((size_t)FETCH_BODY_MAX + 8192)
#define SPEC_BYTES_MAX ((size_t)FETCH_CA_MAX + FETCH_FORM_MAX + 16384)

extern char **environ;

struct one {
    fetch_id id; /* 0 = free */
    struct osfetch *owner;
    int fd;
    watch_id watch;
    struct buf out, in; /* what it is told; what it says */
    struct fetch_handler handler;
};

struct osfetch {
    struct fetcher fetcher; /* first: the interface's pointer is ours */
    struct osloop *loop;
    uint64_t id_last;
    struct one all[FETCHES_MAX];
};

/* ---- the child ---- */

static pid_t spawn(int fd) {
    static char name[] = "reeve", child[] = OSFETCH_CHILD;
    char *argv[] = {name, child, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    ENSURE(posix_spawn_file_actions_init(&actions) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO) == 0);
    if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ) != 0) pid = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(fd); /* the child's alone from now on: when it goes, whoever reads reads the end */
    return pid;
}

static void wait_for(pid_t pid) {
    int status;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
}

static void *thread_run(void *ctx) {
    wait_for(spawn((int)(intptr_t)ctx));
    return NULL;
}

static bool thread_start(int fd) {
    pthread_attr_t attr;
    pthread_t thread;
    ENSURE(pthread_attr_init(&attr) == 0);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    bool well = pthread_create(&thread, &attr, thread_run, (void *)(intptr_t)fd) == 0;
    (void)pthread_attr_destroy(&attr);
    return well;
}

/* ---- answers ---- */

static void answer_read(const struct buf *in, struct arena *arena, struct fetched *ret) {
    struct why why = {{0}};
    if (in->len > 0 && fetched_take(buf_slice(in), arena, ret, &why) == ERR_OK) return;
    *ret =
        (struct fetched){.max_age_s = -1, .problem = SLICE("the process that makes requests ended without an answer")};
}

static void let_go(struct one *x) {
    osloop_unwatch(x->owner->loop, x->watch);
    (void)close(x->fd);
    buf_fini(&x->out);
    buf_fini(&x->in);
    *x = (struct one){0};
}

static void over(struct one *x) {
    struct arena arena;
    struct fetched f;
    struct fetch_handler h = x->handler;
    fetch_id id = x->id;
    arena_init(&arena, 4096, ANSWER_BYTES_MAX);
    answer_read(&x->in, &arena, &f);
    struct buf kept = x->in; /* what was found points into it */
    buf_init(&x->in, 1);
    let_go(x);
    h.came(h.ctx, id, &f);
    buf_fini(&kept);
    arena_fini(&arena);
}

static void more_out(struct one *x) {
    ssize_t n = send(x->fd, x->out.at, x->out.len, MSG_NOSIGNAL);
    if (n > 0) {
        memmove(x->out.at, x->out.at + n, x->out.len - (size_t)n);
        buf_cut(&x->out, x->out.len - (size_t)n);
    }
    if (x->out.len > 0 && (n > 0 || errno == EAGAIN || errno == EINTR)) return;
    buf_clear(&x->out);
    (void)shutdown(x->fd, SHUT_WR);
    osloop_watch_set(x->owner->loop, x->watch, OSLOOP_READABLE);
}

static void ready(void *ctx, unsigned when) {
    struct one *x = ctx;
    if (x->out.len > 0 && (when & OSLOOP_WRITABLE)) more_out(x);
    if (!(when & OSLOOP_READABLE)) return;
    uint8_t *at = buf_space(&x->in, READ_BYTES);
    ssize_t n = at != NULL ? read(x->fd, at, READ_BYTES) : 0;
    if (at != NULL) buf_cut(&x->in, x->in.len - READ_BYTES + (n > 0 ? (size_t)n : 0));
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) over(x);
}

/* ---- the calls ---- */

static fetch_id op_start(struct fetcher *self, const struct fetch_spec *spec, const struct fetch_handler *h) {
    struct osfetch *o = (struct osfetch *)self;
    struct one *x = NULL;
    struct why why;
    int fds[2];
    for (uint32_t i = 0; i < FETCHES_MAX && x == NULL; i++)
        if (o->all[i].id.v == 0) x = &o->all[i];
    if (x == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return (fetch_id){0};
    *x = (struct one){.owner = o, .fd = fds[0], .handler = *h};
    buf_init(&x->out, SPEC_BYTES_MAX);
    buf_init(&x->in, ANSWER_BYTES_MAX + READ_BYTES);
    fetch_spec_put(&x->out, spec);
    ENSURE(!x->out.full);
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    if (osloop_watch(o->loop, fds[0], OSLOOP_READABLE | OSLOOP_WRITABLE, ready, x, &x->watch, &why) != ERR_OK ||
        !thread_start(fds[1])) {
        (void)close(fds[1]);
        let_go(x);
        return (fetch_id){0};
    }
    x->id.v = ++o->id_last;
    return x->id;
}

static void op_stop(struct fetcher *self, fetch_id id) {
    struct osfetch *o = (struct osfetch *)self;
    for (uint32_t i = 0; i < FETCHES_MAX; i++)
        if (id.v != 0 && o->all[i].id.v == id.v) let_go(&o->all[i]);
}

static const struct fetcher_ops ops = {op_start, op_stop};

/* ---- life ---- */

struct osfetch *osfetch_open(struct osloop *loop) {
    struct osfetch *o = calloc(1, sizeof *o);
    if (o == NULL) PANIC("no memory");
    o->fetcher.ops = &ops;
    o->loop = loop;
    return o;
}

void osfetch_close(struct osfetch *o) {
    if (o == NULL) return;
    for (uint32_t i = 0; i < FETCHES_MAX; i++)
        if (o->all[i].id.v != 0) let_go(&o->all[i]);
    free(o);
}

struct fetcher *osfetch_fetcher(struct osfetch *o) {
    return &o->fetcher;
}

/* ---- for programs that wait ---- */

static bool send_all(int fd, struct slice bytes) {
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = slice_of(bytes.ptr + n, bytes.len - (size_t)n);
    }
    return shutdown(fd, SHUT_WR) == 0;
}

static void read_all(int fd, struct buf *in) {
    for (ssize_t n = 1; n != 0;) {
        uint8_t *at = buf_space(in, READ_BYTES);
        if (at == NULL) return;
        n = read(fd, at, READ_BYTES);
        buf_cut(in, in->len - READ_BYTES + (n > 0 ? (size_t)n : 0));
        if (n < 0 && errno != EINTR) return;
    }
}

enum err osfetch_once(const struct fetch_spec *spec, struct arena *arena, struct fetched *ret, struct why *why) {
    struct buf out, in;
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return why_set(why, ERR_IO, "no socket: %s", strerrordesc_np(errno));
    buf_init(&out, SPEC_BYTES_MAX);
    buf_init(&in, ANSWER_BYTES_MAX + READ_BYTES);
    fetch_spec_put(&out, spec);
    pid_t pid = spawn(fds[1]);
    if (pid > 0 && send_all(fds[0], buf_slice(&out))) read_all(fds[0], &in);
    (void)close(fds[0]);
    wait_for(pid);
    struct buf kept;
    buf_init(&kept, 1);
    struct slice said = arena_slice(arena, buf_slice(&in));
    struct why ignored = {{0}};
    if (said.len == 0 || fetched_take(said, arena, ret, &ignored) != ERR_OK) answer_read(&kept, arena, ret);
    buf_fini(&kept);
    buf_fini(&in);
    buf_fini(&out);
    return ERR_OK;
}
