/* osproc.c: see osproc.h. The worker's side: pipes, orders to the nursery, words to and from keepers.
 *
 * Guarantees: no call waits for a process; what a process wrote is handed out before its end is told, as all who could
 * write are dead by then. Must not: call a handler from inside a call of the port. */
#include "osproc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "map.h"
#include "oslisteners.h"
#include "ossupervisor.h"
#include "panic.h"
#include "pool.h"
#include "vec.h"

#define PROCS_MAX 100000u
#define IDLE_MAX 64u /* keepers that wait for work; more of them end */
#define READ_BYTES 65536u
#define READS_MAX 4u /* of one stream at a time, so that nobody else waits long */
#define EVENTS_MAX 64
#define FEED_BYTES_MAX (1u << 30)
#define ORDER_BYTES_MAX (64u << 20)
#define PATH_BYTES_MAX 4096u

enum osproc_watch { WATCH_OUT = PROC_OUT, WATCH_ERR = PROC_ERR, WATCH_IN, WATCH_CONTROL, WATCH_COUNT };

struct osproc_entry {
    uint64_t id; /* first: never 0 while in use */
    struct proc_handler handler;
    int fds[WATCH_COUNT]; /* -1 = closed */
    struct buf feed;
    size_t fed;
    bool feed_over, paused;
    bool is_over; /* the keeper has spoken, or is gone; what the pipes hold is still to be read */
    uint32_t exit_code, signal;
    uint32_t uid; /* 0 = none of its own */
    struct proc_usage usage;
    int32_t keeper; /* pid; 0 = it has not told it yet */
    struct oslisteners_seen port; /* of the last look at who answers at its port */
};

struct idle {
    int control;
    int32_t keeper; /* pid */
};

struct osproc {
    struct proc proc; /* first: the port's pointer is ours */
    int epoll, nursery;
    int32_t nursery_pid;
    uint64_t serial;
    bool is_gone; /* the nursery */
    struct pool entries;
    struct map by_id;
    uint32_t uid_first, uid_count, uid_next;
    uint8_t *uid_taken; /* a byte each */
    struct vec idle;    /* of struct idle: keepers that have nothing to do */
    uint8_t chunk[READ_BYTES];
};

static struct osproc *of(struct proc *p) {
    return (struct osproc *)p;
}

static struct osproc_entry *find(struct osproc *o, uint64_t id) {
    uint32_t index = map_get(&o->by_id, id);
    return index ? pool_at(&o->entries, index) : NULL;
}

static enum err fail(struct why *why, const char *what) {
    return why_set(why, errno == EMFILE || errno == ENFILE ? ERR_BUSY : ERR_IO, "%s: %s", what, strerrordesc_np(errno));
}

/* ---- watching ---- */

static void watch(struct osproc *o, const struct osproc_entry *e, enum osproc_watch which, uint32_t events) {
    if (e->fds[which] < 0) return;
    struct epoll_event event = {.events = events, .data.u64 = e->id * WATCH_COUNT + which};
    ENSURE(epoll_ctl(o->epoll, EPOLL_CTL_MOD, e->fds[which], &event) == 0);
}

static void unwatch(struct osproc *o, struct osproc_entry *e, enum osproc_watch which) {
    (void)o;
    if (e->fds[which] < 0) return;
    (void)close(e->fds[which]); /* the only descriptor of its end: that takes it out of the epoll set, too */
    e->fds[which] = -1;
}

static enum err watch_new(struct osproc *o, struct osproc_entry *e, enum osproc_watch which, int fd, uint32_t events,
                          struct why *why) {
    struct epoll_event event = {.events = events, .data.u64 = e->id * WATCH_COUNT + which};
    e->fds[which] = fd;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return fail(why, "fcntl");
    if (epoll_ctl(o->epoll, EPOLL_CTL_ADD, fd, &event) != 0) return fail(why, "epoll_ctl");
    return ERR_OK;
}

static void entry_free(struct osproc *o, struct osproc_entry *e) {
    for (int which = 0; which < WATCH_COUNT; which++) unwatch(o, e, (enum osproc_watch)which);
    buf_fini(&e->feed);
    if (e->uid != 0) o->uid_taken[e->uid - o->uid_first] = 0;
    pool_free(&o->entries, map_del(&o->by_id, e->id));
}

/* ---- starting ---- */

static const char *path_of(const char *const *env) {
    for (; *env != NULL; env++)
        if (strncmp(*env, "PATH=", 5) == 0) return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

static bool is_program(const char *path, int *ret_code) {
    struct stat st;
    if (stat(path, &st) != 0) return false;
    if (S_ISREG(st.st_mode) && access(path, X_OK) == 0) return true;
    *ret_code = EACCES;
    return false;
}

/* As a shell would find it: with a slash from the workdir on, else along PATH. */
static enum err program_find(const struct proc_spec *s, char ret[PATH_BYTES_MAX], struct why *why) {
    const char *name = s->argv[0];
    int code = ENOENT;
    if (strchr(name, '/') != NULL) {
        bool is_relative = name[0] != '/';
        snprintf(ret, PATH_BYTES_MAX, "%s%s%s", is_relative ? s->workdir : "", is_relative ? "/" : "", name);
        if (is_program(ret, &code)) return ERR_OK;
    } else {
        for (const char *at = path_of(s->env); *name != 0 && *at != 0;) {
            size_t len = strcspn(at, ":");
            snprintf(ret, PATH_BYTES_MAX, "%.*s/%s", (int)len, at, name);
            if (len > 0 && is_program(ret, &code)) return ERR_OK;
            at += len + (at[len] == ':');
        }
    }
    if (code == EACCES) return why_set(why, ERR_FORBIDDEN, "%s is not an executable file", name);
    return why_set(why, ERR_NOT_FOUND, "there is no program %s", name);
}

/* Of its sandbox: whatever is wrong besides is found when it is entered. */
static enum err paths_check(const char *const *paths, struct why *why) {
    for (; paths != NULL && *paths != NULL; paths++)
        if (access(*paths, F_OK) != 0)
            return why_set(why, ERR_NOT_FOUND, "its sandbox names %s: %s", *paths, strerrordesc_np(errno));
    return ERR_OK;
}

static uint32_t texts_put(struct buf *b, const char *const *texts) {
    uint32_t count = 0;
    for (; texts[count] != NULL; count++) buf_put(b, texts[count], strlen(texts[count]) + 1);
    return count;
}

static enum err order_write(const struct proc_spec *s, const char *program, uint32_t uid, int *ret, struct why *why) {
    struct buf b;
    struct supervisor_order order = {.has_stdin = s->has_stdin || s->stdin_path != NULL, .limits = s->limits};
    buf_init(&b, ORDER_BYTES_MAX);
    buf_put(&b, &order, sizeof order);
    buf_put(&b, program, strlen(program) + 1);
    buf_put(&b, s->workdir, strlen(s->workdir) + 1);
    order.argc = texts_put(&b, s->argv);
    order.envc = texts_put(&b, s->env);
    order.sandbox = ossandbox_put(&s->sandbox, uid, &b);
    enum err e = b.full ? why_set(why, ERR_LIMIT, "arguments and environment are too long") : ERR_OK;
    int fd = e == ERR_OK ? memfd_create("reeve-order", MFD_CLOEXEC) : -1;
    if (e == ERR_OK && fd < 0) e = fail(why, "memfd_create");
    if (e == ERR_OK) {
        memcpy(b.at, &order, sizeof order);
        if (write(fd, b.at, b.len) != (ssize_t)b.len) e = fail(why, "write");
    }
    buf_fini(&b);
    if (e == ERR_OK)
        *ret = fd;
    else if (fd >= 0)
        (void)close(fd);
    return e;
}

/* The one that was free for longest: what the last one with it left behind is gone by then. */
static enum err uid_take(struct osproc *o, struct osproc_entry *e, struct why *why) {
    for (uint32_t i = 0; i < o->uid_count; i++) {
        uint32_t at = o->uid_next++ % o->uid_count;
        if (o->uid_taken[at]) continue;
        o->uid_taken[at] = 1;
        e->uid = o->uid_first + at;
        return ERR_OK;
    }
    if (o->uid_count == 0) return why_set(why, ERR_UNSUPPORTED, "this worker has no uids for its jobs");
    return why_set(why, ERR_BUSY, "all %u uids of this worker are in use", o->uid_count);
}

/* Gives the order to a keeper that has nothing to do, or to a new one. */
static enum err order_send(struct osproc *o, struct osproc_entry *e, const int fds[SUPERVISOR_FD_COUNT],
                           struct why *why) {
    struct supervisor_message order = {.word = SUPERVISOR_ORDER}, call = {.word = SUPERVISOR_NEW};
    uint32_t count = fds[SUPERVISOR_FD_IN] >= 0 ? SUPERVISOR_FD_COUNT : SUPERVISOR_FD_IN;
    while (o->idle.count > 0) {
        const struct idle *i = vec_at(&o->idle, --o->idle.count);
        enum err err = ossupervisor_send(i->control, &order, fds, count, why);
        e->keeper = i->keeper;
        if (err == ERR_OK) return watch_new(o, e, WATCH_CONTROL, i->control, EPOLLIN, why);
        (void)close(i->control); /* it was killed while it waited */
    }
    e->keeper = 0;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return fail(why, "socketpair");
    enum err err = ossupervisor_send(o->nursery, &call, &pair[1], 1, why);
    if (err == ERR_IO) o->is_gone = true;
    if (err == ERR_OK) err = ossupervisor_send(pair[0], &order, fds, count, why); /* it waits there for the keeper */
    (void)close(pair[1]);
    if (err == ERR_OK) return watch_new(o, e, WATCH_CONTROL, pair[0], EPOLLIN, why);
    (void)close(pair[0]);
    return err;
}

/* Our ends go into the entry, theirs into `theirs`; whoever fails half-way closes both. */
static enum err pipes_make(struct osproc *o, struct osproc_entry *e, const struct proc_spec *s,
                           int theirs[SUPERVISOR_FD_COUNT], struct why *why) {
    int pair[2];
    enum err err = ERR_OK;
    for (int stream = 0; stream < 2 && err == ERR_OK; stream++) {
        if (pipe2(pair, O_CLOEXEC) != 0) return fail(why, "pipe");
        theirs[SUPERVISOR_FD_OUT + stream] = pair[1];
        err = watch_new(o, e, (enum osproc_watch)stream, pair[0], EPOLLIN, why);
    }
    if (err == ERR_OK && s->has_stdin) {
        if (pipe2(pair, O_CLOEXEC) != 0) return fail(why, "pipe");
        theirs[SUPERVISOR_FD_IN] = pair[0];
        err = watch_new(o, e, WATCH_IN, pair[1], 0, why);
    }
    if (err != ERR_OK) return err;
    if (!s->has_stdin && s->stdin_path != NULL) {
        theirs[SUPERVISOR_FD_IN] = open(s->stdin_path, O_RDONLY | O_CLOEXEC);
        if (theirs[SUPERVISOR_FD_IN] < 0) return fail(why, s->stdin_path);
    }
    return ERR_OK;
}

static enum err op_start(struct proc *p, const struct proc_spec *spec, const struct proc_handler *handler, proc_id *ret,
                         struct why *why) {
    struct osproc *o = of(p);
    char program[PATH_BYTES_MAX];
    REQUIRE(spec->argv[0] != NULL && spec->workdir != NULL);
    if (access(spec->workdir, X_OK) != 0)
        return why_set(why, ERR_NOT_FOUND, "workdir %s: %s", spec->workdir, strerrordesc_np(errno));
    enum err err = ERR_OK;
    if (spec->sandbox.files && strchr(spec->argv[0], '/') == NULL)
        snprintf(program, sizeof program, "%s", spec->argv[0]); /* looked for inside: here is not there */
    else
        err = program_find(spec, program, why);
    if (err == ERR_OK) err = paths_check(spec->sandbox.read, why);
    if (err == ERR_OK) err = paths_check(spec->sandbox.write, why);
    if (err != ERR_OK) return err;
    uint32_t index = pool_alloc(&o->entries);
    if (index == 0) return why_set(why, ERR_LIMIT, "%u processes run already", PROCS_MAX);
    struct osproc_entry *e = pool_at(&o->entries, index);
    *e = (struct osproc_entry){.id = ++o->serial, .handler = *handler, .fds = {-1, -1, -1, -1}};
    map_put(&o->by_id, e->id, index);
    buf_init(&e->feed, FEED_BYTES_MAX);
    int theirs[SUPERVISOR_FD_COUNT] = {-1, -1, -1, -1};
    err = pipes_make(o, e, spec, theirs, why);
    if (err == ERR_OK && spec->sandbox.own_uid) err = uid_take(o, e, why);
    if (err == ERR_OK) err = order_write(spec, program, e->uid, &theirs[SUPERVISOR_FD_ORDER], why);
    if (err == ERR_OK) err = order_send(o, e, theirs, why);
    for (int i = 0; i < SUPERVISOR_FD_COUNT; i++)
        if (theirs[i] >= 0) (void)close(theirs[i]);
    if (err == ERR_OK)
        *ret = (proc_id){e->id};
    else
        entry_free(o, e);
    return err;
}

/* ---- the other calls; each is fine for a process that has just ended ---- */

static void op_feed(struct proc *p, proc_id id, struct slice bytes) {
    struct osproc_entry *e = find(of(p), id.v);
    if (e == NULL || e->fds[WATCH_IN] < 0) return; /* it has closed its input: as with a pipe to a dead reader */
    REQUIRE(!e->feed_over);
    if (e->fed == e->feed.len) {
        buf_clear(&e->feed);
        e->fed = 0;
    }
    buf_put_slice(&e->feed, bytes);
    ENSURE(!e->feed.full);
    watch(of(p), e, WATCH_IN, EPOLLOUT);
}

static void op_feed_end(struct proc *p, proc_id id) {
    struct osproc_entry *e = find(of(p), id.v);
    if (e == NULL) return;
    e->feed_over = true;
    if (e->fed == e->feed.len) unwatch(of(p), e, WATCH_IN);
}

static void op_pause(struct proc *p, proc_id id, bool on) {
    struct osproc_entry *e = find(of(p), id.v);
    if (e == NULL || e->paused == on) return;
    e->paused = on;
    for (int which = WATCH_OUT; which <= WATCH_ERR; which++) {
        if (e->fds[which] < 0) continue;
        /* Taken out, not set to nothing: a hang-up would be told all the same, again and again. */
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = e->id * WATCH_COUNT + (unsigned)which};
        ENSURE(epoll_ctl(of(p)->epoll, on ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, e->fds[which], &event) == 0);
    }
}

static void say(struct osproc *o, proc_id id, const struct supervisor_message *m) {
    const struct osproc_entry *e = find(o, id.v);
    if (e == NULL || e->fds[WATCH_CONTROL] < 0) return;
    (void)send(e->fds[WATCH_CONTROL], m, sizeof *m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void op_signal(struct proc *p, proc_id id, int number) {
    struct supervisor_message m = {.word = SUPERVISOR_SIGNAL, .signal = number};
    say(of(p), id, &m);
}

static void op_kill_at(struct proc *p, proc_id id, int64_t mono_ms) {
    struct supervisor_message m = {.word = SUPERVISOR_KILL_AT, .kill_at_ms = mono_ms};
    say(of(p), id, &m);
}

/* ---- what happened ---- */

static void hear_output(struct osproc *o, struct osproc_entry *e, enum osproc_watch which) {
    uint64_t id = e->id;
    /* After the end of everyone who could write, what is there is all there is. */
    for (uint32_t i = 0; e->is_over || i < READS_MAX; i++) {
        if (e->paused || e->fds[which] < 0) return;
        ssize_t got = read(e->fds[which], o->chunk, READ_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN && !e->is_over) return;
        if (got <= 0) {
            unwatch(o, e, which);
            return;
        }
        struct slice bytes = slice_of(o->chunk, (size_t)got);
        e->handler.output(e->handler.ctx, (proc_id){id}, (enum proc_stream)which, bytes);
    }
}

static void hear_input(struct osproc *o, struct osproc_entry *e, uint32_t events) {
    if (events & EPOLLERR) { /* it reads no more */
        unwatch(o, e, WATCH_IN);
        return;
    }
    while (e->fed < e->feed.len) {
        ssize_t put = write(e->fds[WATCH_IN], e->feed.at + e->fed, e->feed.len - e->fed);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) return;
        if (put < 0) {
            unwatch(o, e, WATCH_IN);
            return;
        }
        e->fed += (size_t)put;
    }
    buf_fini(&e->feed);
    buf_init(&e->feed, FEED_BYTES_MAX);
    e->fed = 0;
    watch(o, e, WATCH_IN, 0);
    if (e->feed_over)
        unwatch(o, e, WATCH_IN);
    else
        e->handler.stdin_ready(e->handler.ctx, (proc_id){e->id});
}

static void hear_control(struct osproc *o, struct osproc_entry *e) {
    struct supervisor_message m;
    ssize_t got = recv(e->fds[WATCH_CONTROL], &m, sizeof m, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    bool is_told = got == (ssize_t)sizeof m;
    if (is_told && m.word == SUPERVISOR_BORN) {
        e->keeper = m.pid;
        return;
    }
    if (is_told) {
        e->exit_code = m.exit_code;
        e->signal = m.exit_signal;
        e->usage = m.usage;
    } else {
        e->signal = SIGKILL; /* the keeper was killed, and its tree with it */
    }
    e->is_over = true;
    if (is_told && o->idle.count < IDLE_MAX) { /* the keeper is free for the next one */
        (void)epoll_ctl(o->epoll, EPOLL_CTL_DEL, e->fds[WATCH_CONTROL], NULL);
        *(struct idle *)vec_push(&o->idle) = (struct idle){e->fds[WATCH_CONTROL], e->keeper};
        e->fds[WATCH_CONTROL] = -1;
    }
    unwatch(o, e, WATCH_CONTROL);
    unwatch(o, e, WATCH_IN);
}

/* A keeper tells its pid before it starts the process, so it is there to be read, if not read yet. */
static enum proc_port op_port_owner(struct proc *p, proc_id id, uint32_t port, struct why *why) {
    struct osproc *o = of(p);
    struct osproc_entry *e = find(o, id.v);
    struct supervisor_message m = {0};
    if (e == NULL || e->is_over) return PROC_PORT_UNKNOWN;
    if (e->keeper == 0 && recv(e->fds[WATCH_CONTROL], &m, sizeof m, MSG_PEEK) == (ssize_t)sizeof m) hear_control(o, e);
    return e->keeper != 0 ? oslisteners_owner(port, e->keeper, &e->port, why) : PROC_PORT_UNKNOWN;
}

static void finish(struct osproc *o, struct osproc_entry *e) {
    hear_output(o, e, WATCH_OUT);
    hear_output(o, e, WATCH_ERR);
    if (e->fds[WATCH_OUT] >= 0 || e->fds[WATCH_ERR] >= 0) return; /* paused: the rest is read later */
    struct proc_handler handler = e->handler;
    struct proc_usage usage = e->usage;
    uint64_t id = e->id;
    uint32_t exit_code = e->exit_code, number = e->signal;
    entry_free(o, e);
    handler.ended(handler.ctx, (proc_id){id}, exit_code, number, &usage);
}

static void hear(struct osproc *o, uint64_t id, enum osproc_watch which, uint32_t events) {
    struct osproc_entry *e = find(o, id);
    if (e == NULL || e->fds[which] < 0) return; /* gone since */
    switch (which) {
    case WATCH_OUT:
    case WATCH_ERR: hear_output(o, e, which); break;
    case WATCH_IN: hear_input(o, e, events); break;
    case WATCH_CONTROL: hear_control(o, e); break;
    case WATCH_COUNT: PANIC("no such descriptor");
    }
    e = find(o, id);
    if (e != NULL && e->is_over) finish(o, e);
}

static const struct proc_ops ops = {
    .start = op_start,
    .feed = op_feed,
    .feed_end = op_feed_end,
    .pause = op_pause,
    .signal = op_signal,
    .kill_at = op_kill_at,
    .port_owner = op_port_owner,
};

void osproc_run(struct proc *p) {
    struct osproc *o = of(p);
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(o->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 == 0)
            o->is_gone = true;
        else
            hear(o, events[i].data.u64 / WATCH_COUNT, (enum osproc_watch)(events[i].data.u64 % WATCH_COUNT),
                 events[i].events);
    }
    if (o->is_gone) (void)epoll_ctl(o->epoll, EPOLL_CTL_DEL, o->nursery, NULL);
}

int osproc_fd(const struct proc *p) {
    return ((const struct osproc *)p)->epoll;
}

bool osproc_is_well(const struct proc *p) {
    return !((const struct osproc *)p)->is_gone;
}

enum err osproc_open(const struct oscgroup *groups, struct proc **ret, struct why *why) {
    int nursery = -1;
    int32_t pid = 0;
    enum err e = ossupervisor_fork_server(groups, &nursery, &pid, why);
    if (e != ERR_OK) return e;
    (void)signal(SIGPIPE, SIG_IGN);
    struct osproc *o = calloc(1, sizeof *o);
    ENSURE(o != NULL);
    *o = (struct osproc){.proc = {&ops}, .nursery = nursery, .nursery_pid = pid};
    o->epoll = epoll_create1(EPOLL_CLOEXEC);
    ENSURE(o->epoll >= 0);
    struct epoll_event event = {.events = EPOLLRDHUP, .data.u64 = 0};
    ENSURE(epoll_ctl(o->epoll, EPOLL_CTL_ADD, nursery, &event) == 0);
    pool_init(&o->entries, sizeof(struct osproc_entry), PROCS_MAX);
    map_init(&o->by_id);
    vec_init(&o->idle, sizeof(struct idle));
    *ret = &o->proc;
    return ERR_OK;
}

void osproc_uids(struct proc *p, uint32_t first, uint32_t last) {
    struct osproc *o = of(p);
    REQUIRE(first > 0 && last >= first && o->uid_taken == NULL);
    o->uid_first = first;
    o->uid_count = last - first + 1;
    o->uid_taken = calloc(o->uid_count, 1);
    ENSURE(o->uid_taken != NULL);
}

void osproc_close(struct proc *p) {
    struct osproc *o = of(p);
    for (uint32_t i = 1; i <= o->entries.high; i++) {
        struct osproc_entry *e = pool_at(&o->entries, i);
        if (e->id != 0) entry_free(o, e);
    }
    for (uint32_t i = 0; i < o->idle.count; i++) (void)close(((struct idle *)vec_at(&o->idle, i))->control);
    vec_fini(&o->idle);
    (void)close(o->nursery); /* the nursery kills everything and ends */
    int status;
    while (waitpid(o->nursery_pid, &status, 0) < 0 && errno == EINTR) {
    }
    (void)close(o->epoll);
    free(o->uid_taken);
    pool_fini(&o->entries);
    map_fini(&o->by_id);
    free(o);
}
