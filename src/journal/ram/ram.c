/* ram.c: see ram.h. Guarantees: all that a journal's threads and readers share is under `lock`; what a callback is
 * given is a copy, so no lock is held while it runs. Must not: outlive a process, so nothing is ever synced. */
#include "ram.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "bytes.h"
#include "panic.h"
#include "vec.h"

#define BATCH_BYTES_MAX (64u << 20)
#define OVERHEAD_BYTES 128u /* counted for a batch beside its records */
#define PIECE_BATCHES 16u   /* a caller that reads backwards takes so many at a time */
#define SNAPSHOTS_KEPT 2u
#define SNAPSHOT_BYTES_MAX ((size_t)1 << 32)
#define PIECE_BYTES 65536u /* of a snapshot on its way */

struct kept_batch {
    struct batch batch; /* its records are in `bytes` */
    struct bytes *bytes;
};

struct kept_snapshot {
    struct snapshot_info info;
    struct bytes *bytes;
};

struct ram {
    struct arena birth; /* holds this object */
    struct ram_options options;
    pthread_mutex_t lock;
    uint32_t open_count; /* journals and readers on it */
    bool goes_with_last; /* of them */
    bool has_shard;
    uint32_t shard;
    uint64_t epoch;         /* of the last owner */
    bool sealed;            /* nothing was appended since the last seal or acquire */
    struct vec batches;     /* struct kept_batch, oldest first */
    uint64_t dropped_count; /* batches that were trimmed */
    uint64_t trimmed_lsn;   /* the last record of them */
    uint64_t used_bytes;
    wall_time time;
    struct vec snapshots; /* struct kept_snapshot, oldest first */
    bool has_late;
    struct kept_batch late; /* of unknown outcome, there from the next acquire on */
    struct ram_journal *watchers;
    bool is_armed;
    enum ram_fault fault;
    uint32_t skip;
};

struct ram_journal {
    struct journal journal; /* first: the interface's pointer is ours */
    struct arena birth;     /* holds this object */
    struct ram *ram;
    bool is_reader;
    atomic_bool dead;
    uint64_t epoch;  /* owned; 0 = none */
    struct buf copy; /* of what is read */
    void (*moved)(void *ctx, uint64_t head_lsn);
    void *moved_ctx;
    struct ram_journal *next_watcher;
};

static struct ram_journal *of(struct journal *j) {
    return (struct ram_journal *)j;
}

static void lock(struct ram *r) {
    ENSURE(pthread_mutex_lock(&r->lock) == 0);
}

static void unlock(struct ram *r) {
    ENSURE(pthread_mutex_unlock(&r->lock) == 0);
}

static struct kept_batch *batch_at(const struct ram *r, uint32_t i) {
    return vec_at(&r->batches, i);
}

static struct kept_snapshot *snapshot_at(const struct ram *r, uint32_t i) {
    return vec_at(&r->snapshots, i);
}

static uint64_t head_lsn(const struct ram *r) {
    return r->batches.count > 0 ? batch_at(r, r->batches.count - 1)->batch.last_lsn : r->trimmed_lsn;
}

/* What every call but close begins with. */
static enum err begin(struct ram_journal *m, bool writes, struct why *why) {
    if (m->dead) return why_set(why, ERR_IO, "the journal failed before");
    if (writes && m->is_reader) return why_set(why, ERR_STATE, "the journal is open for reading only");
    return ERR_OK;
}

/* ---- owning ---- */

static void batch_keep(struct ram *r, struct kept_batch kept) {
    struct kept_batch *to = vec_push(&r->batches);
    *to = kept;
    r->used_bytes += kept.batch.records.len + OVERHEAD_BYTES;
    r->time = kept.batch.time;
    r->sealed = false;
    for (struct ram_journal *m = r->watchers; m != NULL; m = m->next_watcher) m->moved(m->moved_ctx, head_lsn(r));
}

static enum err op_acquire(struct journal *j, uint32_t shard, struct journal_head *ret, struct why *why) {
    struct ram_journal *m = of(j);
    struct ram *r = m->ram;
    enum err e = begin(m, true, why);
    if (e != ERR_OK) return e;
    lock(r);
    if (r->has_shard && r->shard != shard) {
        e = why_set(why, ERR_CONFLICT, "the journal belongs to shard %u, not %u", r->shard, shard);
    } else {
        if (r->has_late) batch_keep(r, r->late);
        r->has_late = false;
        r->has_shard = true;
        r->shard = shard;
        r->sealed = true;
        m->epoch = ++r->epoch;
        *ret = (struct journal_head){r->epoch, head_lsn(r), r->time};
    }
    unlock(r);
    return e;
}

static bool is_owner(const struct ram_journal *m) {
    return m->epoch != 0 && m->epoch == m->ram->epoch;
}

static enum journal_outcome fenced(struct ram_journal *m, struct why *why) {
    m->epoch = 0;
    (void)why_set(why, ERR_FENCED, "the journal is not owned");
    return JOURNAL_FENCED;
}

/* The outcome that was asked for. `ret_kept` says whether the batch is to be part of the journal. */
static enum journal_outcome fault_take(struct ram_journal *m, struct kept_batch kept, bool *ret_kept, struct why *why) {
    struct ram *r = m->ram;
    r->is_armed = false;
    *ret_kept = false;
    switch (r->fault) {
    case RAM_FENCED: r->epoch++; return fenced(m, why);
    case RAM_FULL: (void)why_set(why, ERR_NO_SPACE, "no room, as asked"); return JOURNAL_FULL;
    case RAM_FAILED:
        m->dead = true;
        (void)why_set(why, ERR_IO, "failed, as asked");
        return JOURNAL_FAILED;
    case RAM_UNKNOWN_KEPT: *ret_kept = true; break;
    case RAM_UNKNOWN_LATE:
        r->has_late = true;
        r->late = kept;
        break;
    case RAM_UNKNOWN_LOST: break;
    }
    m->epoch = 0;
    (void)why_set(why, ERR_IO, "unknown, as asked");
    return JOURNAL_UNKNOWN;
}

static enum journal_outcome append_locked(struct ram_journal *m, const struct batch *batch, struct why *why) {
    struct ram *r = m->ram;
    if (r->used_bytes + batch->records.len + OVERHEAD_BYTES > r->options.bytes_max) {
        (void)why_set(why, ERR_NO_SPACE, "the journal has %llu bytes of %llu", (unsigned long long)r->used_bytes,
                      (unsigned long long)r->options.bytes_max);
        return JOURNAL_FULL;
    }
    struct kept_batch kept = {.batch = *batch, .bytes = bytes_new(batch->records)};
    kept.batch.records = bytes_slice(kept.bytes);
    bool is_kept = true;
    enum journal_outcome outcome = JOURNAL_DURABLE;
    if (r->is_armed && r->skip-- == 0) outcome = fault_take(m, kept, &is_kept, why);
    if (is_kept)
        batch_keep(r, kept);
    else if (!r->has_late)
        bytes_free(kept.bytes);
    return outcome;
}

static enum journal_outcome op_append(struct journal *j, uint64_t epoch, uint64_t expected_head,
                                      const struct batch *batch, struct why *why) {
    struct ram_journal *m = of(j);
    if (begin(m, false, why) != ERR_OK) return JOURNAL_FAILED;
    REQUIRE(batch->records.len <= j->limits.batch_bytes_max);
    REQUIRE(batch->last_lsn >= batch->first_lsn);
    lock(m->ram);
    bool ours = is_owner(m) && m->epoch == epoch && head_lsn(m->ram) == expected_head;
    ENSURE(!ours || (batch->epoch == epoch && batch->shard == m->ram->shard));
    ENSURE(!ours || batch->first_lsn == expected_head + 1);
    enum journal_outcome outcome = ours ? append_locked(m, batch, why) : fenced(m, why);
    unlock(m->ram);
    return outcome;
}

static enum err op_seal(struct journal *j, struct why *why) {
    struct ram_journal *m = of(j);
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    lock(m->ram);
    if (is_owner(m))
        m->ram->sealed = true;
    else
        e = why_set(why, ERR_FENCED, "the journal is not owned");
    unlock(m->ram);
    return e;
}

static enum err op_release(struct journal *j, uint64_t epoch, struct why *why) {
    struct ram_journal *m = of(j);
    if (epoch != m->epoch) return why_set(why, ERR_FENCED, "epoch %llu is over", (unsigned long long)epoch);
    enum err e = op_seal(j, why);
    if (e == ERR_OK) m->epoch = 0;
    return e;
}

static enum err op_space(struct journal *j, uint64_t *ret_free_bytes, struct why *why) {
    struct ram_journal *m = of(j);
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    lock(m->ram);
    uint64_t max = m->ram->options.bytes_max;
    *ret_free_bytes = max == UINT64_MAX ? max : max - m->ram->used_bytes;
    unlock(m->ram);
    return ERR_OK;
}

static bool op_wants_prepare(struct journal *j) {
    (void)j;
    return false;
}

static enum err op_prepare(struct journal *j, struct why *why) {
    return begin(of(j), true, why);
}

/* ---- reading ---- */

static enum err op_shard(struct journal *j, uint32_t *ret, struct why *why) {
    struct ram_journal *m = of(j);
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    lock(m->ram);
    if (m->ram->has_shard)
        *ret = m->ram->shard;
    else
        e = why_set(why, ERR_NOT_FOUND, "the journal is empty");
    unlock(m->ram);
    return e;
}

/* The index of the batch with this record, or where it would be: binary search, because batches are in order. */
static uint32_t batch_find(const struct ram *r, uint64_t lsn) {
    uint32_t low = 0, high = r->batches.count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (batch_at(r, mid)->batch.last_lsn < lsn)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* A copy of the batch with this record; first_lsn = 0 when the journal ends before it. */
static enum err batch_copy(struct ram_journal *m, uint64_t lsn, struct batch *ret, struct why *why) {
    struct ram *r = m->ram;
    enum err e = ERR_OK;
    *ret = (struct batch){.first_lsn = 0};
    lock(r);
    uint32_t i = batch_find(r, lsn);
    if (lsn <= r->trimmed_lsn) {
        e = why_set(why, ERR_NOT_FOUND, "the journal begins at record %llu, after %llu",
                    (unsigned long long)r->trimmed_lsn + 1, (unsigned long long)lsn);
    } else if (i < r->batches.count) {
        *ret = batch_at(r, i)->batch;
        buf_clear(&m->copy);
        buf_put_slice(&m->copy, ret->records);
        ret->records = buf_slice(&m->copy);
    }
    unlock(r);
    return e;
}

static enum err op_read(struct journal *j, uint64_t from_lsn, uint64_t to_lsn, journal_batch_fn each, void *ctx,
                        struct why *why) {
    struct ram_journal *m = of(j);
    REQUIRE(each != NULL || to_lsn < from_lsn);
    struct batch b = {.first_lsn = 0};
    uint64_t lsn = from_lsn > 0 ? from_lsn : 1;
    enum err e = begin(m, false, why);
    if (e == ERR_OK) e = batch_copy(m, lsn, &b, why);
    while (e == ERR_OK && b.first_lsn != 0 && lsn <= to_lsn) {
        e = each(ctx, &b, why);
        lsn = b.last_lsn + 1;
        if (e == ERR_OK && lsn <= to_lsn) e = batch_copy(m, lsn, &b, why);
    }
    return e;
}

static enum err op_pieces(struct journal *j, uint64_t upto_lsn, uint64_t *ret_first_lsns, uint32_t most,
                          uint32_t *ret_count, struct why *why) {
    struct ram_journal *m = of(j);
    uint32_t count = 0;
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    lock(m->ram);
    for (uint32_t i = m->ram->batches.count; count < most && i-- > 0;) {
        uint64_t first = batch_at(m->ram, i)->batch.first_lsn;
        bool begins = i == 0 || (m->ram->dropped_count + i) % PIECE_BATCHES == 0;
        if (begins && first <= upto_lsn) ret_first_lsns[count++] = first;
    }
    unlock(m->ram);
    *ret_count = count;
    return ERR_OK;
}

static enum err op_verify(struct journal *j, struct journal_report *ret, struct why *why) {
    struct ram_journal *m = of(j);
    struct ram *r = m->ram;
    struct journal_report report = {0};
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    lock(r);
    report.batch_count = r->batches.count;
    for (uint32_t i = 0; i < r->batches.count; i++) report.payload_bytes += batch_at(r, i)->batch.records.len;
    if (r->batches.count > 0) report.first_lsn = batch_at(r, 0)->batch.first_lsn;
    report.last_lsn = head_lsn(r);
    report.epoch = r->epoch;
    report.sealed = r->sealed || head_lsn(r) == 0;
    report.snapshot_count = r->snapshots.count;
    if (r->snapshots.count > 0) report.snapshot_lsn = snapshot_at(r, r->snapshots.count - 1)->info.lsn;
    unlock(r);
    *ret = report;
    return ERR_OK;
}

/* ---- snapshots ---- */

static enum err pump(struct byte_source *from, struct buf *to, struct why *why) {
    enum err e = ERR_OK;
    for (size_t got = 1; e == ERR_OK && got > 0;) {
        size_t len = to->len;
        uint8_t *bytes = buf_space(to, PIECE_BYTES);
        if (bytes == NULL) return why_set(why, ERR_LIMIT, "the snapshot is too large for memory");
        got = 0;
        e = from->more(from, bytes, PIECE_BYTES, &got, why);
        ENSURE(got <= PIECE_BYTES);
        buf_cut(to, len + got);
    }
    return e;
}

static void snapshot_drop(struct ram *r, uint32_t i) {
    bytes_free(snapshot_at(r, i)->bytes);
    for (i++; i < r->snapshots.count; i++) *snapshot_at(r, i - 1) = *snapshot_at(r, i);
    r->snapshots.count--;
}

/* In order of their records; one of the same record takes the place of the first. */
static void snapshot_keep(struct ram *r, const struct snapshot_info *info, struct slice bytes) {
    uint32_t at = 0;
    while (at < r->snapshots.count && snapshot_at(r, at)->info.lsn < info->lsn) at++;
    if (at < r->snapshots.count && snapshot_at(r, at)->info.lsn == info->lsn) snapshot_drop(r, at);
    (void)vec_push(&r->snapshots);
    for (uint32_t i = r->snapshots.count - 1; i > at; i--) *snapshot_at(r, i) = *snapshot_at(r, i - 1);
    *snapshot_at(r, at) = (struct kept_snapshot){*info, bytes_new(bytes)};
    while (r->snapshots.count > SNAPSHOTS_KEPT) snapshot_drop(r, 0);
}

static enum err op_snapshot_put(struct journal *j, const struct snapshot_info *info, struct byte_source *from,
                                struct why *why) {
    struct ram_journal *m = of(j);
    struct buf bytes;
    enum err e = begin(m, true, why);
    if (e != ERR_OK) return e;
    buf_init(&bytes, SNAPSHOT_BYTES_MAX);
    e = pump(from, &bytes, why);
    lock(m->ram);
    uint64_t head = head_lsn(m->ram);
    if (e == ERR_OK && (info->lsn == 0 || info->lsn > head))
        e = why_set(why, ERR_INVALID, "a snapshot at record %llu of a journal that ends at %llu",
                    (unsigned long long)info->lsn, (unsigned long long)head);
    if (e == ERR_OK) snapshot_keep(m->ram, info, buf_slice(&bytes));
    unlock(m->ram);
    buf_fini(&bytes);
    return e;
}

static enum err op_snapshots(struct journal *j, struct snapshot_list *ret, struct why *why) {
    struct ram_journal *m = of(j);
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    ret->count = 0;
    lock(m->ram);
    for (uint32_t i = m->ram->snapshots.count; i-- > 0;) ret->lsn[ret->count++] = snapshot_at(m->ram, i)->info.lsn;
    unlock(m->ram);
    return ERR_OK;
}

static enum err op_snapshot_get(struct journal *j, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to,
                                struct why *why) {
    struct ram_journal *m = of(j);
    struct snapshot_info info = {0};
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    buf_clear(&m->copy);
    lock(m->ram);
    for (uint32_t i = m->ram->snapshots.count; info.lsn == 0 && i-- > 0;) {
        const struct kept_snapshot *s = snapshot_at(m->ram, i);
        if (lsn != 0 && s->info.lsn != lsn) continue;
        info = s->info;
        if (to != NULL) buf_put_slice(&m->copy, bytes_slice(s->bytes));
    }
    unlock(m->ram);
    if (lsn != 0 && info.lsn == 0)
        return why_set(why, ERR_NOT_FOUND, "there is no snapshot of record %llu", (unsigned long long)lsn);
    if (m->copy.len > 0) e = to->more(to, m->copy.at, m->copy.len, why);
    if (e == ERR_OK) *ret = info;
    return e;
}

static enum err op_trim(struct journal *j, uint64_t upto_lsn, struct why *why) {
    struct ram_journal *m = of(j);
    struct ram *r = m->ram;
    uint32_t drop = 0;
    enum err e = begin(m, true, why);
    if (e != ERR_OK) return e;
    lock(r);
    uint64_t covered = r->snapshots.count > 0 ? snapshot_at(r, r->snapshots.count - 1)->info.lsn : 0;
    if (upto_lsn == 0) upto_lsn = covered;
    if (upto_lsn > covered) e = why_set(why, ERR_STATE, "no snapshot covers record %llu", (unsigned long long)upto_lsn);
    while (e == ERR_OK && drop < r->batches.count && batch_at(r, drop)->batch.last_lsn <= upto_lsn) {
        struct kept_batch *b = batch_at(r, drop++);
        r->trimmed_lsn = b->batch.last_lsn;
        r->used_bytes -= b->batch.records.len + OVERHEAD_BYTES;
        bytes_free(b->bytes);
    }
    for (uint32_t i = drop; i < r->batches.count; i++) *batch_at(r, i - drop) = *batch_at(r, i);
    r->batches.count -= drop;
    r->dropped_count += drop;
    unlock(r);
    return e;
}

/* ---- life ---- */

static void watch_end(struct ram_journal *m) {
    struct ram_journal **at = &m->ram->watchers;
    while (*at != NULL && *at != m) at = &(*at)->next_watcher;
    if (*at == m) *at = m->next_watcher;
}

static enum err op_watch(struct journal *j, void (*moved)(void *ctx, uint64_t head_lsn), void *ctx, struct why *why) {
    struct ram_journal *m = of(j);
    enum err e = begin(m, false, why);
    if (e != ERR_OK) return e;
    lock(m->ram);
    watch_end(m);
    m->moved = moved;
    m->moved_ctx = ctx;
    if (moved != NULL) {
        m->next_watcher = m->ram->watchers;
        m->ram->watchers = m;
    }
    unlock(m->ram);
    return ERR_OK;
}

static enum err op_reader(struct journal *j, struct journal **ret, struct why *why) {
    enum err e = ram_open(of(j)->ram, ret, why);
    if (e == ERR_OK) of(*ret)->is_reader = true;
    return e;
}

static const char *op_locator(const struct journal *j) {
    (void)j;
    return NULL; /* memory is of one process */
}

static void op_close(struct journal *j) {
    struct ram_journal *m = of(j);
    struct ram *r = m->ram;
    lock(r);
    watch_end(m);
    bool is_last = --r->open_count == 0;
    unlock(r);
    buf_fini(&m->copy);
    struct arena birth = m->birth;
    arena_fini(&birth);
    if (is_last && r->goes_with_last) ram_free(r);
}

static const struct journal_ops ops = {
    .acquire = op_acquire,
    .append = op_append,
    .seal = op_seal,
    .release = op_release,
    .shard = op_shard,
    .read = op_read,
    .pieces = op_pieces,
    .snapshot_put = op_snapshot_put,
    .snapshots = op_snapshots,
    .snapshot_get = op_snapshot_get,
    .verify = op_verify,
    .trim = op_trim,
    .watch = op_watch,
    .space = op_space,
    .wants_prepare = op_wants_prepare,
    .prepare = op_prepare,
    .reader = op_reader,
    .locator = op_locator,
    .close = op_close,
};

enum err ram_open(struct ram *r, struct journal **ret, struct why *why) {
    (void)why;
    struct arena birth;
    arena_init(&birth, sizeof(struct ram_journal) + 64, sizeof(struct ram_journal) + 4096);
    struct ram_journal *m = ARENA_NEW(&birth, struct ram_journal);
    m->birth = birth;
    m->ram = r;
    m->journal.ops = &ops;
    m->journal.limits =
        (struct journal_limits){.batch_bytes_max = r->options.batch_bytes_max, .batch_overhead_bytes = OVERHEAD_BYTES};
    buf_init(&m->copy, SNAPSHOT_BYTES_MAX);
    lock(r);
    r->open_count++;
    unlock(r);
    *ret = &m->journal;
    return ERR_OK;
}

enum err ram_open_alone(const struct ram_options *o, struct journal **ret, struct why *why) {
    struct ram *r = ram_new(o);
    r->goes_with_last = true;
    return ram_open(r, ret, why);
}

struct ram *ram_new(const struct ram_options *o) {
    struct arena birth;
    arena_init(&birth, sizeof(struct ram) + 64, sizeof(struct ram) + 4096);
    struct ram *r = ARENA_NEW(&birth, struct ram);
    r->birth = birth;
    r->options = *o;
    if (o->bytes_max == 0) r->options.bytes_max = UINT64_MAX;
    if (o->batch_bytes_max == 0) r->options.batch_bytes_max = BATCH_BYTES_MAX;
    ENSURE(pthread_mutex_init(&r->lock, NULL) == 0);
    vec_init(&r->batches, sizeof(struct kept_batch));
    vec_init(&r->snapshots, sizeof(struct kept_snapshot));
    return r;
}

void ram_free(struct ram *r) {
    REQUIRE(r->watchers == NULL);
    for (uint32_t i = 0; i < r->batches.count; i++) bytes_free(batch_at(r, i)->bytes);
    for (uint32_t i = 0; i < r->snapshots.count; i++) bytes_free(snapshot_at(r, i)->bytes);
    if (r->has_late) bytes_free(r->late.bytes);
    vec_fini(&r->batches);
    vec_fini(&r->snapshots);
    pthread_mutex_destroy(&r->lock);
    struct arena birth = r->birth;
    arena_fini(&birth);
}

void ram_arm(struct ram *r, enum ram_fault what, uint32_t skip) {
    lock(r);
    r->is_armed = true;
    r->fault = what;
    r->skip = skip;
    unlock(r);
}

bool ram_is_armed(struct ram *r) {
    lock(r);
    bool is_armed = r->is_armed;
    unlock(r);
    return is_armed;
}
