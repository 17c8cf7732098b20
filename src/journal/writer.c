/* writer.c: see writer.h.
 *
 * Guarantees: the slot goes IDLE -> HANDED -> DONE -> IDLE, moved under `lock`; the journal is touched by the journal
 * thread only while the slot is HANDED, by the caller only while it is IDLE; the house thread makes only the calls that
 * may run beside an append. Must not: hold `lock` across a disk call,
 * or retry anything. */
#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "arena.h"
#include "file.h"
#include "panic.h"

enum slot { SLOT_IDLE, SLOT_HANDED, SLOT_DONE };

struct writer {
    struct arena birth; /* holds this object */
    struct journal *journal;
    int fd;
    bool busy;     /* the caller's own view, so that asking costs no lock */
    bool unsealed; /* the caller's own view: a batch was appended and no seal since */
    pthread_t append_thread, house_thread;
    pthread_mutex_t lock;
    pthread_cond_t handed;   /* the slot is HANDED, or stop */
    pthread_cond_t wanted;   /* a segment or a trim is wanted, or stop */
    enum slot slot;
    bool segment_wanted;
    bool trim_wanted, trim_done;
    bool stop;
    uint64_t trim_lsn;
    struct writer_trim_result trim;
    bool seal; /* what is handed over */
    uint64_t epoch, expected_head;
    struct batch batch;
    struct writer_result result;
};

static void append_now(struct writer *w, uint64_t epoch, uint64_t expected_head, const struct batch *batch,
                       struct writer_result *ret) {
    ret->why.text[0] = 0;
    ret->seal = false;
    ret->last_lsn = batch->last_lsn;
    ret->outcome = w->journal->ops->append(w->journal, epoch, expected_head, batch, &ret->why);
}

static void seal_now(struct writer *w, struct writer_result *ret) {
    *ret = (struct writer_result){.outcome = JOURNAL_DURABLE, .seal = true};
    enum err e = file_seal(w->journal, &ret->why);
    if (e != ERR_OK) ret->outcome = e == ERR_NO_SPACE ? JOURNAL_FULL : JOURNAL_FAILED;
}

static void want_segment(struct writer *w) {
    if (!file_wants_prepare(w->journal)) return;
    pthread_mutex_lock(&w->lock);
    w->segment_wanted = true;
    pthread_cond_signal(&w->wanted);
    pthread_mutex_unlock(&w->lock);
}

static void tell(struct writer *w) {
    uint64_t one = 1;
    ssize_t put;
    do put = write(w->fd, &one, sizeof one);
    while (put < 0 && errno == EINTR);
    ENSURE(put == (ssize_t)sizeof one);
}

static void *append_main(void *arg) {
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->slot != SLOT_HANDED && !w->stop) pthread_cond_wait(&w->handed, &w->lock);
        if (w->slot != SLOT_HANDED) break; /* what was handed over is finished even when told to stop */
        pthread_mutex_unlock(&w->lock);
        struct writer_result r;
        if (w->seal) seal_now(w, &r);
        else append_now(w, w->epoch, w->expected_head, &w->batch, &r);
        pthread_mutex_lock(&w->lock);
        ENSURE(w->slot == SLOT_HANDED);
        w->result = r;
        w->slot = SLOT_DONE;
        pthread_mutex_unlock(&w->lock);
        tell(w);
        want_segment(w);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Called and returning with `lock` held; lets go of it meanwhile. */
static void prepare_now(struct writer *w) {
    w->segment_wanted = false;
    pthread_mutex_unlock(&w->lock);
    /* A failure is not lost: the append that needs the segment meets it again and answers for it. */
    struct why why;
    if (file_prepare(w->journal, &why) != ERR_OK) why.text[0] = 0;
    pthread_mutex_lock(&w->lock);
}

static void trim_now(struct writer *w) {
    uint64_t lsn = w->trim_lsn;
    w->trim_wanted = false;
    pthread_mutex_unlock(&w->lock);
    struct writer_trim_result r = {.err = ERR_OK};
    r.err = w->journal->ops->trim(w->journal, lsn, &r.why);
    pthread_mutex_lock(&w->lock);
    if (!w->trim_done || w->trim.err == ERR_OK) w->trim = r;
    w->trim_done = true;
    pthread_mutex_unlock(&w->lock);
    tell(w);
    pthread_mutex_lock(&w->lock);
}

/* A segment goes before a trim: an append may be about to need it, while nobody waits for a trim. */
static void *house_main(void *arg) {
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        if (w->segment_wanted) prepare_now(w);
        else if (w->trim_wanted) trim_now(w);
        else pthread_cond_wait(&w->wanted, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

enum err writer_open(struct journal *j, struct writer **ret, struct why *why) {
    REQUIRE(j != NULL);
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) return why_set(why, ERR_IO, "eventfd: %s", strerrordesc_np(errno));
    struct arena birth;
    arena_init(&birth, sizeof(struct writer) + 64, sizeof(struct writer) + 4096);
    struct writer *w = ARENA_NEW(&birth, struct writer);
    w->birth = birth;
    w->journal = j;
    w->fd = fd;
    ENSURE(pthread_mutex_init(&w->lock, NULL) == 0);
    ENSURE(pthread_cond_init(&w->handed, NULL) == 0);
    ENSURE(pthread_cond_init(&w->wanted, NULL) == 0);
    ENSURE(pthread_create(&w->append_thread, NULL, append_main, w) == 0);
    ENSURE(pthread_create(&w->house_thread, NULL, house_main, w) == 0);
    want_segment(w);
    *ret = w;
    return ERR_OK;
}

void writer_close(struct writer *w) {
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->handed);
    pthread_cond_broadcast(&w->wanted);
    pthread_mutex_unlock(&w->lock);
    ENSURE(pthread_join(w->append_thread, NULL) == 0);
    ENSURE(pthread_join(w->house_thread, NULL) == 0);
    pthread_cond_destroy(&w->handed);
    pthread_cond_destroy(&w->wanted);
    pthread_mutex_destroy(&w->lock);
    (void)close(w->fd);
    struct arena birth = w->birth;
    arena_fini(&birth);
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
    pthread_mutex_lock(&w->lock);
    ENSURE(w->slot == SLOT_IDLE);
    w->epoch = epoch;
    w->expected_head = expected_head;
    w->batch = *batch;
    w->seal = false;
    w->slot = SLOT_HANDED;
    w->busy = true;
    pthread_cond_signal(&w->handed);
    pthread_mutex_unlock(&w->lock);
    return false;
}

bool writer_is_busy(const struct writer *w) {
    return w->busy;
}

int writer_fd(const struct writer *w) {
    return w->fd;
}

/* The fd says that something ended, not what: a trim may have told first, or two may have told at once. */
bool writer_take(struct writer *w, struct writer_result *ret) {
    uint64_t count;
    ssize_t got;
    do got = read(w->fd, &count, sizeof count);
    while (got < 0 && errno == EINTR);
    ENSURE(got > 0 || errno == EAGAIN);
    if (got < 0 || !w->busy) return false;
    bool done = false;
    pthread_mutex_lock(&w->lock);
    if (w->slot == SLOT_DONE) {
        *ret = w->result;
        w->slot = SLOT_IDLE;
        w->busy = false;
        done = true;
    }
    pthread_mutex_unlock(&w->lock);
    return done;
}

bool writer_idle(struct writer *w) {
    if (w->busy || !w->unsealed) return false;
    w->unsealed = false;
    pthread_mutex_lock(&w->lock);
    ENSURE(w->slot == SLOT_IDLE);
    w->seal = true;
    w->slot = SLOT_HANDED;
    w->busy = true;
    pthread_cond_signal(&w->handed);
    pthread_mutex_unlock(&w->lock);
    return true;
}

void writer_trim(struct writer *w, uint64_t upto_lsn) {
    pthread_mutex_lock(&w->lock);
    /* 0 reaches furthest; of two numbers the higher one does. */
    if (!w->trim_wanted || upto_lsn == 0 || (w->trim_lsn != 0 && upto_lsn > w->trim_lsn)) w->trim_lsn = upto_lsn;
    w->trim_wanted = true;
    pthread_cond_signal(&w->wanted);
    pthread_mutex_unlock(&w->lock);
}

bool writer_trim_take(struct writer *w, struct writer_trim_result *ret) {
    pthread_mutex_lock(&w->lock);
    bool done = w->trim_done;
    if (done) *ret = w->trim;
    w->trim_done = false;
    pthread_mutex_unlock(&w->lock);
    return done;
}
