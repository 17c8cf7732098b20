/* flusher.c: see flusher.h. Guarantees: the caller takes no lock (as in the journal's writer: a lock's holder may be
 * without a processor for milliseconds). The slot goes IDLE -> HANDED -> DONE -> IDLE; what is behind it belongs to the
 * thread while it is HANDED and to the caller otherwise. */
#include "flusher.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "arena.h"
#include "panic.h"

#define WAIT_LOOK_MS 5

enum flusher_slot { SLOT_IDLE, SLOT_HANDED, SLOT_DONE };

struct flusher {
    struct arena birth; /* holds this object */
    bool threaded;
    bool owns_fd;
    int fd; /* -1 when not threaded */
    pthread_t thread;
    sem_t handed; /* the slot is HANDED, or it is closed */
    atomic_uint slot;
    void (*run)(void *ctx);
    void *ctx;
};

static void *flusher_main(void *arg) {
    struct flusher *f = arg;
    for (;;) {
        int rc;
        do rc = sem_wait(&f->handed);
        while (rc != 0 && errno == EINTR);
        ENSURE(rc == 0);
        if (f->slot != SLOT_HANDED) return NULL; /* closed; what was handed over is finished before */
        f->run(f->ctx);
        f->slot = SLOT_DONE;
        uint64_t one = 1;
        ssize_t put;
        do put = write(f->fd, &one, sizeof one);
        while (put < 0 && errno == EINTR);
        ENSURE(put == (ssize_t)sizeof one);
    }
}

static struct flusher *flusher_new(bool threaded, int fd) {
    struct arena birth;
    arena_init(&birth, sizeof(struct flusher) + 64, sizeof(struct flusher) + 4096);
    struct flusher *f = ARENA_NEW(&birth, struct flusher);
    f->birth = birth;
    f->threaded = threaded;
    f->fd = fd;
    ENSURE(sem_init(&f->handed, 0, 0) == 0);
    ENSURE(!threaded || pthread_create(&f->thread, NULL, flusher_main, f) == 0);
    return f;
}

enum err flusher_open(bool threaded, struct flusher **ret, struct why *why) {
    int fd = threaded ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (threaded && fd < 0) return why_set(why, ERR_IO, "eventfd: %s", strerrordesc_np(errno));
    *ret = flusher_new(threaded, fd);
    (*ret)->owns_fd = threaded;
    return ERR_OK;
}

struct flusher *flusher_open_on(int fd) {
    return flusher_new(true, fd);
}

bool flusher_step(struct flusher *f) {
    REQUIRE(!f->threaded);
    if (f->slot != SLOT_HANDED) return false;
    f->run(f->ctx);
    f->slot = SLOT_DONE;
    return true;
}

void flusher_close(struct flusher *f) {
    if (!f->threaded) (void)flusher_step(f);
    ENSURE(sem_post(&f->handed) == 0); /* comes after that of what is under way */
    ENSURE(!f->threaded || pthread_join(f->thread, NULL) == 0);
    (void)sem_destroy(&f->handed);
    if (f->owns_fd) (void)close(f->fd);
    struct arena birth = f->birth;
    arena_fini(&birth);
}

void flusher_hand(struct flusher *f, void (*run)(void *ctx), void *ctx) {
    REQUIRE(f->slot == SLOT_IDLE);
    f->run = run;
    f->ctx = ctx;
    f->slot = SLOT_HANDED;
    ENSURE(sem_post(&f->handed) == 0);
}

int flusher_fd(const struct flusher *f) {
    return f->fd;
}

static void fd_clear(int fd) {
    uint64_t count;
    ssize_t got;
    do got = read(fd, &count, sizeof count);
    while (got < 0 && errno == EINTR);
    ENSURE(got > 0 || errno == EAGAIN);
}

bool flusher_take(struct flusher *f) {
    if (f->threaded) fd_clear(f->fd);
    if (f->slot != SLOT_DONE) return false;
    f->slot = SLOT_IDLE;
    return true;
}

/* Others may share the descriptor and have it cleared: so not for ever. */
void flusher_wait(struct flusher *f) {
    struct pollfd p = {f->fd, POLLIN, 0};
    REQUIRE(f->slot != SLOT_IDLE);
    if (!f->threaded) (void)flusher_step(f);
    while (f->slot != SLOT_DONE) (void)poll(&p, 1, WAIT_LOOK_MS);
    f->slot = SLOT_IDLE;
}
