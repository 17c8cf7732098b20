/* floor.h: what the machine can do at best, measured in the run whose figures are compared with it.
 *
 *   F     256 bytes by pwrite and fdatasync, again and again, into a file that has its size and its zeroes already
 *   T(n)  a TCP server of one thread with n connections: what one pass of its loop reads from all of them is appended
 *         by one pwrite and synced once, then everyone gets an answer
 *   H     what one job costs three processes that do nothing else: a client asks, a server appends 256 bytes, syncs,
 *         answers, sends an order; a worker sends its end at once; the server appends, syncs and tells both. By TCP
 *   S     /bin/true by posix_spawn with setsid, two pipes read to their end, a directory made and removed; two at a
 *         time */
#ifndef REEVE_FLOOR_H
#define REEVE_FLOOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "slice.h"

/* Syncs per second. */
CHECKED enum err floor_sync(const char *dir, double seconds, double *ret, struct why *why);

struct floor_server {
    pid_t pid;
    char address[64];
};
/* Answers each frame with one of `answer_bytes`. Connections are not greeted. */
CHECKED enum err floor_server_start(struct floor_server *s, const char *dir, size_t answer_bytes, struct why *why);
void floor_server_stop(struct floor_server *s);

/* An HTTP server on the program's own loop that gives everyone the same answer: what the loop and the system cost. */
CHECKED enum err floor_http_start(struct floor_server *s, struct slice answer, struct why *why);

/* Seconds of one way there and back. */
CHECKED enum err floor_hops(const char *dir, double seconds, double *ret, struct why *why);

/* Processes per second. */
CHECKED enum err floor_spawn(const char *dir, uint32_t count, double *ret, struct why *why);

#define FLOOR_FLIGHT_MAX 64u
struct floor_command {
    char *const *argv; /* the first is its path */
    char *const *env;
    uint32_t flight; /* so many at a time */
};
/* The same with another program than /bin/true. */
CHECKED enum err floor_spawn_of(const char *dir, const struct floor_command *c, uint32_t count, double *ret,
                                struct why *why);

#endif
