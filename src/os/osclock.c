/* osclock.c: the real time and real randomness. Holds no state. */
#include "osclock.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "panic.h"

static int64_t ms_of(clockid_t id) {
    struct timespec t;
    int rc = clock_gettime(id, &t);
    ENSURE(rc == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static wall_time wall(struct clock *c) {
    (void)c;
    return (wall_time){ms_of(CLOCK_REALTIME)};
}

static mono_time mono(struct clock *c) {
    (void)c;
    return (mono_time){ms_of(CLOCK_MONOTONIC)};
}

static uint64_t us(struct clock *c) {
    (void)c;
    struct timespec t;
    int rc = clock_gettime(CLOCK_MONOTONIC, &t);
    ENSURE(rc == 0);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* A kernel without randomness is no place to make nonces: that is a panic, not a guess. */
static uint64_t random64(struct clock *c) {
    (void)c;
    uint64_t v;
    ssize_t got;
    do got = getrandom(&v, sizeof v, 0);
    while (got < 0 && errno == EINTR);
    ENSURE(got == (ssize_t)sizeof v);
    return v;
}

struct clock *osclock(void) {
    static struct clock the = {wall, mono, random64, us};
    return &the;
}
