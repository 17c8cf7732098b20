/* crash_aim.c: when a kill comes. A random moment finds what takes long; what takes microseconds has to be aimed at:
 * the answer that was just read, output that is just being written, an end between worker and server, a snapshot. That
 * is seen from outside, by the answers of clients and by changes of files (inotify), so the program under test is the
 * one that people have. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "crash_impl.h"

#define ANY_US_MAX 150000u /* from the first request to a random kill */
#define LEAD_US_MAX 60000u /* before one looks for the moment: there is to be something under way */
#define AFTER_US_MAX 3000u /* and after it, but for answers */
#define SLOW_US_MAX 30000u /* the same when the disk is slow */
#define COME_MS 250        /* a moment that does not come by then is not waited for */
#define SNAPSHOT "snap-"

const char *const crash_moment_words[CRASH_MOMENTS] = {"random", "answer", "output", "end", "snapshot"};

void crash_pause_us(uint64_t us) {
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

int64_t crash_wall_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

enum err crash_aim_open(struct crash *c, struct why *why) {
    c->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return c->answered >= 0 ? ERR_OK : why_set(why, ERR_IO, "eventfd: %s", strerrordesc_np(errno));
}

void crash_aim_close(struct crash *c) {
    if (c->answered >= 0) close(c->answered);
    c->answered = -1;
}

void crash_answered(struct crash *c) {
    (void)!write(c->answered, &(uint64_t){1}, sizeof(uint64_t));
}

static bool await_answer(struct crash *c) {
    uint64_t before;
    struct pollfd p = {.fd = c->answered, .events = POLLIN};
    (void)!read(c->answered, &before, sizeof before); /* those that were read meanwhile */
    return poll(&p, 1, COME_MS) > 0;
}

/* Whether one of the changes is of a file whose name begins so. */
static bool has_change(int fd, const char *begins) {
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t len = read(fd, events, sizeof events);
    for (char *at = events; len > 0 && at < events + len;) {
        const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
        if (e->len > 0 && strncmp(e->name, begins, strlen(begins)) == 0) return true;
        at += sizeof *e + e->len;
    }
    return false;
}

static bool await_change(const char *dir, uint32_t mask, const char *begins) {
    double until = bench_now() + COME_MS / 1e3;
    bool came = false;
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) return false;
    bool watched = inotify_add_watch(fd, dir, mask) >= 0;
    for (double now = bench_now(); watched && !came && now < until; now = bench_now()) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, (int)((until - now) * 1000) + 1) > 0) came = has_change(fd, begins);
    }
    close(fd);
    return came;
}

static bool await_moment(struct crash *c, enum crash_moment moment) {
    char dir[BENCH_PATH_MAX + 32];
    switch (moment) {
    case CRASH_ANSWER: return await_answer(c);
    case CRASH_OUTPUT: snprintf(dir, sizeof dir, "%s/logs", c->lab.data); return await_change(dir, IN_MODIFY, "");
    case CRASH_END: snprintf(dir, sizeof dir, "%s/ran", c->lab.dir); return await_change(dir, IN_CLOSE_WRITE, "");
    case CRASH_FOLD:
        snprintf(dir, sizeof dir, "%s/journal", c->lab.data);
        return await_change(dir, IN_CREATE, SNAPSHOT);
    case CRASH_ANY:
    case CRASH_MOMENTS: break;
    }
    return false;
}

void crash_aim(struct crash *c, enum crash_moment moment, bool is_slow) {
    uint64_t lead = crash_draw(&c->random);
    uint64_t after = crash_draw(&c->random) % (is_slow ? SLOW_US_MAX : AFTER_US_MAX);
    crash_pause_us(moment == CRASH_ANY ? lead % ANY_US_MAX : lead % LEAD_US_MAX);
    bool came = await_moment(c, moment);
    c->moments[came ? moment : CRASH_ANY]++;
    if (came && moment != CRASH_ANSWER) crash_pause_us(after);
}
