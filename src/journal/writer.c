/* writer.c: see writer.h.
 *
 * Guarantees: the caller never takes a lock here. A mutex is held for nanoseconds, but its holder may lose the
 * processor meanwhile; with one, a loop on a busy machine was seen to wait for 8 ms (ADR 0013). So all that the
 * threads share goes to and fro by flags: whoever raises one wrote the fields behind it before and does not touch
 * them until the other lowers it. The slot goes IDLE -> HANDED -> DONE -> IDLE; the journal is touched by the journal
 * thread only while the slot is HANDED, by the caller only while it is IDLE; the house thread makes only the calls
 * that may run beside an append. Must not: retry anything. */
#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "arena.h"
#include "panic.h"

enum writer_slot { SLOT_IDLE, SLOT_HANDED, SLOT_DONE };

struct writer {
    struct arena birth; /* holds this object */
    struct journal *journal;
    bool threaded;
    int fd; /* -1 when not threaded */
    bool busy;     /* the caller's own view of the slot */
    bool unsealed; /* the caller's own: a batch was appended and no seal since */
    pthread_t append_thread, house_thread;
    sem_t handed; /* the slot is HANDED, or stop */
    sem_t wanted; /* something for the house thread, or stop */
    atomic_bool stop;

    atomic_uint slot; /* guards what follows */
    bool seal;
    uint64_t epoch, expected_head;
    struct batch batch;
    struct writer_result result;

    atomic_bool segment_wanted;

    atomic_bool trim_wanted, trim_done;
    _Atomic uint64_t trim_lsn;
    struct writer_trim_result trim; /* the house thread's until trim_done, then the caller's */

    atomic_bool chore_wanted, chore_done;
    void (*chore)(void *ctx); /* the caller's until chore_wanted, then the house thread's until chore_done */
    void *chore_ctx;
};

static void wake(sem_t *s) {
    ENSURE(sem_post(s) == 0);
}

static void await(sem_t *s) {
    int rc;
    do rc = sem_wait(s);
    while (rc != 0 && errno == EINTR);
    ENSURE(rc == 0);
}

static void tell(struct writer *w) {
    uint64_t one = 1;
    ssize_t put;
    if (!w->threaded) return; /* the owner asks after each step */
    do put = write(w->fd, &one, sizeof one);
    while (put < 0 && errno == EINTR);
    ENSURE(put == (ssize_t)sizeof one);
}

/* ---- appending ---- */

static void append_now(struct writer *w, uint64_t epoch, uint64_t expected_head, const struct batch *batch,
                       struct writer_result *ret) {
    ret->why.text[0] = 0;
    ret->seal = false;
    ret->last_lsn = batch->last_lsn;
    ret->outcome = w->journal->ops->append(w->journal, epoch, expected_head, batch, &ret->why);
}

static void seal_now(struct writer *w, struct writer_result *ret) {
    *ret = (struct writer_result){.outcome = JOURNAL_DURABLE, .seal = true};
    enum err e = w->journal->ops->seal(w->journal, &ret->why);
    if (e == ERR_NO_SPACE)
        ret->outcome = JOURNAL_FULL;
    else if (e != ERR_OK)
        ret->outcome = e == ERR_FENCED ? JOURNAL_FENCED : JOURNAL_FAILED;
}

static void want_segment(struct writer *w) {
    if (w->journal->ops->wants_prepare(w->journal) && !atomic_exchange(&w->segment_wanted, true)) wake(&w->wanted);
}

static void append_step(struct writer *w) {
    if (w->seal) seal_now(w, &w->result);
    else append_now(w, w->epoch, w->expected_head, &w->batch, &w->result);
    w->slot = SLOT_DONE;
    tell(w);
    want_segment(w);
}

static void *append_main(void *arg) {
    struct writer *w = arg;
    for (;;) {
        await(&w->handed);
        if (w->slot != SLOT_HANDED) break; /* stop; what was handed over is finished before */
        append_step(w);
    }
    return NULL;
}

/* ---- housekeeping ---- */

static void prepare_now(struct writer *w) {
    /* A failure is not lost: the append that needs the segment meets it again and answers for it. */
    struct why why;
    if (w->journal->ops->prepare(w->journal, &why) != ERR_OK) why.text[0] = 0;
}

static void trim_now(struct writer *w) {
    w->trim = (struct writer_trim_result){.err = ERR_OK};
    w->trim.err = w->journal->ops->trim(w->journal, w->trim_lsn, &w->trim.why);
    w->trim_done = true;
    tell(w);
}

static void chore_now(struct writer *w) {
    w->chore(w->chore_ctx);
    w->chore_done = true;
    tell(w);
}

/* A segment goes first: an append may be about to need it, while nobody waits for the others. */
static bool house_step(struct writer *w) {
    if (w->stop) return false;
    if (atomic_exchange(&w->segment_wanted, false)) prepare_now(w);
    else if (atomic_exchange(&w->chore_wanted, false)) chore_now(w);
    else if (!w->trim_done && atomic_exchange(&w->trim_wanted, false)) trim_now(w);
    else return false;
    return true;
}

static void *house_main(void *arg) {
    struct writer *w = arg;
    while (!w->stop) {
        await(&w->wanted);
        while (house_step(w)) {}
    }
    return NULL;
}

bool writer_step(struct writer *w) {
    REQUIRE(!w->threaded);
    if (w->slot != SLOT_HANDED) return house_step(w);
    append_step(w);
    return true;
}

/* ---- life ---- */

enum err writer_open(struct journal *j, bool threaded, struct writer **ret, struct why *why) {
    REQUIRE(j != NULL);
    int fd = threaded ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (threaded && fd < 0) return why_set(why, ERR_IO, "eventfd: %s", strerrordesc_np(errno));
    struct arena birth;
    arena_init(&birth, sizeof(struct writer) + 64, sizeof(struct writer) + 4096);
    struct writer *w = ARENA_NEW(&birth, struct writer);
    w->birth = birth;
    w->journal = j;
    w->threaded = threaded;
    w->fd = fd;
    ENSURE(sem_init(&w->handed, 0, 0) == 0);
    ENSURE(sem_init(&w->wanted, 0, 0) == 0);
    ENSURE(!threaded || pthread_create(&w->append_thread, NULL, append_main, w) == 0);
    ENSURE(!threaded || pthread_create(&w->house_thread, NULL, house_main, w) == 0);
    want_segment(w);
    *ret = w;
    return ERR_OK;
}

void writer_close(struct writer *w) {
    if (!w->threaded && w->slot == SLOT_HANDED) append_step(w);
    w->stop = true;
    wake(&w->handed); /* comes after that of a batch in flight */
    wake(&w->wanted);
    ENSURE(!w->threaded || pthread_join(w->append_thread, NULL) == 0);
    ENSURE(!w->threaded || pthread_join(w->house_thread, NULL) == 0);
    (void)sem_destroy(&w->handed);
    (void)sem_destroy(&w->wanted);
    if (w->threaded) (void)close(w->fd);
    struct arena birth = w->birth;
    arena_fini(&birth);
}

/* ---- the caller's side ---- */

static void hand_over(struct writer *w) {
    ENSURE(!w->busy && w->slot == SLOT_IDLE);
    w->busy = true;
    w->slot = SLOT_HANDED;
    wake(&w->handed);
}

bool writer_append(struct writer *w, uint64_t epoch, uint64_t expected_head, const struct batch *batch, bool here,
                   struct writer_result *ret) {
    REQUIRE(!w->busy);
    REQUIRE(batch->last_lsn >= batch->first_lsn);
    w->unsealed = true;
    if (here) {
        append_now(w, epoch, expected_head, batch, ret);
        want_segment(w);
        return true;
    }
    w->seal = false;
    w->epoch = epoch;
    w->expected_head = expected_head;
    w->batch = *batch;
    hand_over(w);
    return false;
}

bool writer_idle(struct writer *w) {
    if (w->busy || !w->unsealed) return false;
    w->unsealed = false;
    w->seal = true;
    hand_over(w);
    return true;
}

bool writer_is_busy(const struct writer *w) {
    return w->busy;
}

int writer_fd(const struct writer *w) {
    return w->fd;
}

static void fd_clear(int fd) {
    uint64_t count;
    ssize_t got;
    do got = read(fd, &count, sizeof count);
    while (got < 0 && errno == EINTR);
    ENSURE(got > 0 || errno == EAGAIN);
}

/* The fd says that something ended, not what: a trim may have told first, or two may have told at once. */
bool writer_take(struct writer *w, struct writer_result *ret) {
    if (w->threaded) fd_clear(w->fd);
    if (!w->busy || w->slot != SLOT_DONE) return false;
    *ret = w->result;
    w->slot = SLOT_IDLE;
    w->busy = false;
    return true;
}

void writer_chore(struct writer *w, void (*fn)(void *ctx), void *ctx) {
    REQUIRE(fn != NULL && w->chore == NULL);
    w->chore = fn;
    w->chore_ctx = ctx;
    w->chore_wanted = true;
    wake(&w->wanted);
}

bool writer_chore_take(struct writer *w) {
    if (!w->chore_done) return false;
    w->chore_done = false;
    w->chore = NULL;
    return true;
}

void writer_trim(struct writer *w, uint64_t upto_lsn) {
    /* 0 reaches furthest; of two numbers the higher one does. If the one waiting begins just now, the second finds
     * nothing left to do. */
    uint64_t waiting = w->trim_lsn;
    if (!w->trim_wanted || upto_lsn == 0 || (waiting != 0 && upto_lsn > waiting)) w->trim_lsn = upto_lsn;
    w->trim_wanted = true;
    wake(&w->wanted);
}

bool writer_trim_take(struct writer *w, struct writer_trim_result *ret) {
    if (!w->trim_done) return false;
    *ret = w->trim;
    w->trim_done = false;
    wake(&w->wanted); /* another one may have waited for this */
    return true;
}
