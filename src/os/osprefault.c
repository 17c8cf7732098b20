/* osprefault.c: see osprefault.h. [made, wanted) is what the thread has to do; it takes it from the front, in pieces.
 * What its user has passed meanwhile it leaves out. */
#include "osprefault.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "panic.h"

#define PIECE_BYTES ((uintptr_t)256 << 10) /* so that the one who follows does not catch up with it */

struct osprefault {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t ahead_bytes;
    uintptr_t made, wanted; /* multiples of PIECE_BYTES */
    bool is_busy, is_over;
};

/* What the system refuses is given on first use, as ever. */
static void make(uintptr_t at) {
    void *piece = (void *)at; /* NOLINT(performance-no-int-to-ptr) */
    (void)madvise(piece, PIECE_BYTES, MADV_POPULATE_WRITE);
}

static void *run(void *ctx) {
    struct osprefault *o = ctx;
    pthread_mutex_lock(&o->lock);
    while (!o->is_over) {
        if (o->made == o->wanted) {
            pthread_cond_wait(&o->changed, &o->lock);
            continue;
        }
        uintptr_t at = o->made;
        o->made += PIECE_BYTES;
        o->is_busy = true;
        pthread_mutex_unlock(&o->lock);
        make(at);
        pthread_mutex_lock(&o->lock);
        o->is_busy = false;
        pthread_cond_broadcast(&o->changed);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

struct osprefault *osprefault_open(size_t ahead_bytes) {
    REQUIRE(ahead_bytes >= PIECE_BYTES);
    struct osprefault *o = calloc(1, sizeof *o);
    if (o == NULL) PANIC("no memory");
    o->ahead_bytes = ahead_bytes;
    ENSURE(pthread_mutex_init(&o->lock, NULL) == 0);
    ENSURE(pthread_cond_init(&o->changed, NULL) == 0);
    if (pthread_create(&o->thread, NULL, run, o) == 0) return o;
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
    free(o);
    return NULL;
}

void osprefault_reach(struct osprefault *o, void *at) {
    uintptr_t from = ((uintptr_t)at + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
    uintptr_t to = ((uintptr_t)at + o->ahead_bytes) / PIECE_BYTES * PIECE_BYTES;
    pthread_mutex_lock(&o->lock);
    if (to > o->wanted) {
        if (o->made < from) o->made = from;
        o->wanted = to;
        pthread_cond_broadcast(&o->changed);
    }
    pthread_mutex_unlock(&o->lock);
}

/* A piece as large as what should be ready shows where the heap will grow, and that there is room. It is not used. */
void osprefault_reach_heap(struct osprefault *o) {
    void *next = malloc(o->ahead_bytes);
    if (next == NULL) return;
    osprefault_reach(o, next);
    free(next);
}

void osprefault_settle(struct osprefault *o) {
    pthread_mutex_lock(&o->lock);
    while (o->made != o->wanted || o->is_busy) pthread_cond_wait(&o->changed, &o->lock);
    pthread_mutex_unlock(&o->lock);
}

void osprefault_close(struct osprefault *o) {
    if (o == NULL) return;
    pthread_mutex_lock(&o->lock);
    o->is_over = true;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    ENSURE(pthread_join(o->thread, NULL) == 0);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
    free(o);
}
