/* falseclock.c: a machine whose clock is wrong, for programs that are started with this (LD_PRELOAD): the wall clock
 * is as far from the right one as the eight bytes in the file FALSECLOCK say, in milliseconds. They may change at any
 * moment. Clocks that only go on are left alone. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const volatile int64_t *ahead_ms; /* NULL = nobody has said */

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FALSECLOCK");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *ahead_ms, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) ahead_ms = at;
    close(fd);
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ret) {
    int rc = (int)syscall(SYS_clock_gettime, id, ret);
    if (rc != 0 || ahead_ms == NULL || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return rc;
    int64_t ms = *ahead_ms;
    ret->tv_sec += ms / 1000;
    ret->tv_nsec += ms % 1000 * 1000000;
    if (ret->tv_nsec < 0 || ret->tv_nsec >= 1000000000) {
        int up = ret->tv_nsec < 0 ? -1 : 1;
        ret->tv_sec += up;
        ret->tv_nsec -= up * 1000000000L;
    }
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
    struct timespec now;
    (void)zone;
    int rc = clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return rc;
}

EXPORT time_t time(time_t *ret) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL) *ret = now.tv_sec;
    return now.tv_sec;
}
