/* osbackground.c: see osbackground.h. A thread says that it is through by a word on an eventfd; the loop joins it. */
#include "osbackground.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "panic.h"

#define WORKS_MAX 2u /* at a time: they read from the disk that the journal writes to */

struct background_piece {
    struct osbackground *owner;
    pthread_t thread;
    bool is_used;
    atomic_bool is_over;
    void (*work)(void *ctx);
    void (*done)(void *ctx);
    void *ctx;
};

struct osbackground {
    struct background port; /* first: the interface's pointer is ours */
    struct osloop *loop;
    int fd;
    watch_id watch;
    struct background_piece all[WORKS_MAX];
};

static void *run(void *ctx) {
    struct background_piece *p = ctx;
    uint64_t one = 1;
    p->work(p->ctx);
    atomic_store(&p->is_over, true);
    ssize_t n = write(p->owner->fd, &one, sizeof one);
    ENSURE(n == (ssize_t)sizeof one);
    return NULL;
}

static void finish(struct background_piece *p) {
    ENSURE(pthread_join(p->thread, NULL) == 0);
    p->is_used = false;
    p->done(p->ctx);
}

static void readable(void *ctx, unsigned when) {
    struct osbackground *o = ctx;
    uint64_t count;
    (void)when;
    if (read(o->fd, &count, sizeof count) != (ssize_t)sizeof count) return;
    for (uint32_t i = 0; i < WORKS_MAX; i++)
        if (o->all[i].is_used && atomic_load(&o->all[i].is_over)) finish(&o->all[i]);
}

static bool op_start(struct background *self, void (*work)(void *ctx), void (*done)(void *ctx), void *ctx) {
    struct osbackground *o = (struct osbackground *)self;
    struct background_piece *p = NULL;
    for (uint32_t i = 0; i < WORKS_MAX && p == NULL; i++)
        if (!o->all[i].is_used) p = &o->all[i];
    if (p == NULL) return false;
    p->owner = o;
    p->work = work;
    p->done = done;
    p->ctx = ctx;
    atomic_store(&p->is_over, false);
    p->is_used = pthread_create(&p->thread, NULL, run, p) == 0;
    return p->is_used;
}

static void op_settle(struct background *self) {
    struct osbackground *o = (struct osbackground *)self;
    for (uint32_t i = 0; i < WORKS_MAX; i++)
        if (o->all[i].is_used) finish(&o->all[i]);
}

static const struct background_ops ops = {op_start, op_settle};

enum err osbackground_open(struct osloop *loop, struct osbackground **ret, struct why *why) {
    struct osbackground *o = calloc(1, sizeof *o);
    if (o == NULL) PANIC("no memory");
    o->port.ops = &ops;
    o->loop = loop;
    o->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum err e = o->fd >= 0 ? ERR_OK : why_set(why, ERR_IO, "eventfd: none is left");
    if (e == ERR_OK) e = osloop_watch(loop, o->fd, OSLOOP_READABLE, readable, o, &o->watch, why);
    if (e == ERR_OK) {
        *ret = o;
        return ERR_OK;
    }
    if (o->fd >= 0) (void)close(o->fd);
    free(o);
    return e;
}

void osbackground_close(struct osbackground *o) {
    if (o == NULL) return;
    op_settle(&o->port);
    osloop_unwatch(o->loop, o->watch);
    (void)close(o->fd);
    free(o);
}

struct background *osbackground_port(struct osbackground *o) {
    return &o->port;
}
