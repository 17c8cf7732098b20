/* flusher.h: one function at a time on another thread, for a loop that must not wait.
 *
 *     flusher_hand(f, run, ctx);  … poll flusher_fd(f) …  if (flusher_take(f)) use what run left in ctx
 *
 * Whatever `ctx` holds is the thread's from the hand-over until flusher_take said true. Not threaded: it waits until
 * the owner calls flusher_step; there is no fd. */
#ifndef REEVE_FLUSHER_H
#define REEVE_FLUSHER_H

#include <stdbool.h>

#include "err.h"

struct flusher;

CHECKED enum err flusher_open(bool threaded, struct flusher **ret, struct why *why);
/* The same with an eventfd of the caller's, which several may share. */
struct flusher *flusher_open_on(int fd);
bool flusher_step(struct flusher *f);  /* does what was handed over; false: there is nothing */
void flusher_close(struct flusher *f); /* waits for what is under way */
void flusher_hand(struct flusher *f, void (*run)(void *ctx), void *ctx); /* nothing may be under way */
int flusher_fd(const struct flusher *f);                                 /* readable when it has ended; -1 = none */
bool flusher_take(struct flusher *f);                                    /* never waits */
void flusher_wait(struct flusher *f); /* until what is under way has ended, and takes it */

#endif
