/* simrecover.c: the server's dealings with its journal outside the append: taking over after a death, snapshots and
 * trimming, and the comparison of the live state with what the journal says. Part of simserver.h. */
#include "buf.h"
#include "panic.h"
#include "world.h"

#define SNAPSHOT_BYTES_MAX ((size_t)256 << 20)
#define OPENS_MAX 200u /* starts in a row that a faulty disk may spoil */
#define REOPEN_US 20000

/* ---- recovery ---- */

struct loading {
    struct byte_sink sink; /* first: the journal passes its address back */
    struct simserver *s;
};

static enum err load_piece(struct byte_sink *sink, const void *from, size_t len, struct why *why) {
    struct loading *loading = (struct loading *)sink;
    return engine_load(loading->s->engine, slice_of(from, len), why);
}

static enum err replay_batch(void *ctx, const struct batch *batch, struct why *why) {
    struct simserver *s = ctx;
    const char *wrong = simlog_recovered(&s->log, batch);
    if (wrong) {
        world_red(s->w, "journal", "%s (LSN %lu..%lu)", wrong, (unsigned long)batch->first_lsn,
                  (unsigned long)batch->last_lsn);
    }
    adapter_batch(&s->w->adapter, batch, true);
    return engine_replay(s->engine, batch, why);
}

static enum err recover_state(struct simserver *s, const struct journal_head *head, struct why *why) {
    struct snapshot_info snapshot = {0};
    struct loading loading = {{load_piece}, s};
    enum err err = s->journal->ops->snapshot_get(s->journal, &snapshot, &loading.sink, why);
    if (err != ERR_OK) return why_wrap(why, err, "snapshot");
    if (snapshot.lsn > 0) {
        err = engine_load_end(s->engine, why);
        if (err != ERR_OK) return why_wrap(why, err, "end of snapshot");
        if (engine_lsn(s->engine) != snapshot.lsn) {
            world_red(s->w, "snapshot", "named %lu, holds %lu", (unsigned long)snapshot.lsn,
                      (unsigned long)engine_lsn(s->engine));
        }
    }
    err = s->journal->ops->read(s->journal, snapshot.lsn + 1, replay_batch, s, why);
    if (err != ERR_OK) return why_wrap(why, err, "read");
    WORLD_NOTE(s->w, head->lsn, head->epoch, snapshot.lsn,
               "server: recovered up to %lu, epoch %lu, snapshot %lu", (unsigned long)head->lsn,
               (unsigned long)head->epoch, (unsigned long)snapshot.lsn);
    if (engine_lsn(s->engine) != head->lsn) {
        world_red(s->w, "recovery", "head says %lu, batches end at %lu", (unsigned long)head->lsn,
                  (unsigned long)engine_lsn(s->engine));
    }
    if (head->lsn < s->durable_lsn) {
        world_red(s->w, "lost", "LSN %lu was durable, the journal ends at %lu", (unsigned long)s->durable_lsn,
                  (unsigned long)head->lsn);
    }
    return ERR_OK;
}

static enum err open_journal(struct simserver *s, struct journal_head *ret_head, struct why *why) {
    struct file_options options;
    file_options_default(&options);
    options.segment_bytes = (uint64_t)s->w->plan.segment_kib * 1024;
    options.reserve_bytes = options.segment_bytes;
    options.archive_days = 0;
    enum err err = file_open(simdisk_disk(s->disk), &s->clock, &options, &s->journal, why);
    if (err != ERR_OK) return why_wrap(why, err, "open");
    err = s->journal->ops->acquire(s->journal, 1, ret_head, why);
    if (err != ERR_OK) return why_wrap(why, err, "acquire");
    return ERR_OK;
}

static void reopen(void *ctx, uint64_t generation) {
    struct simserver *s = ctx;
    if (s->up || generation != s->generation) return;
    simserver_start(s);
}

/* A start may be spoilt by a full or failing disk, but never by what a crash left behind. */
static bool refused(struct simserver *s, enum err err, const struct why *why) {
    WORLD_NOTE(s->w, 79, err, s->refused_opens, "server: does not start: %s: %s", err_word(err), why->text);
    bool excused = err == ERR_IO || err == ERR_NO_SPACE;
    if (err == ERR_IO || s->w->quiet) s->refused_opens++; /* a full disk may stay full for long */
    if (!excused || s->refused_opens > OPENS_MAX) {
        world_red(s->w, "recovery", "refused: %s: %s", err_word(err), why->text);
    }
    engine_free(s->engine);
    if (s->journal) s->journal->ops->close(s->journal);
    s->engine = NULL;
    s->journal = NULL;
    if (s->power_doubt)
        simdisk_crash(s->disk, (enum simdisk_crash_policy)rng_below(&s->rng, 4));
    else
        simdisk_kill(s->disk);
    s->power_doubt = false;
    equeue_in(&s->w->queue, REOPEN_US, reopen, s, s->generation);
    return false;
}

bool simserver_recover(struct simserver *s) {
    struct why why = {{0}};
    struct journal_head head = {0};
    ENSURE(s->engine == NULL && s->journal == NULL);
    s->engine = engine_new(1, &s->w->plan.limits);
    bool armed = rng_chance(&s->rng, (uint32_t)s->w->plan.append_crash_ppm * 10);
    if (armed) simdisk_arm(s->disk, SIMDISK_ANY, SIMDISK_POWER, rng_below(&s->rng, 60));
    enum err err = open_journal(s, &head, &why);
    if (err == ERR_OK) err = recover_state(s, &head, &why);
    if (armed) simdisk_arm(s->disk, SIMDISK_ANY, SIMDISK_FINE, 0);
    s->power_doubt |= armed;
    if (err != ERR_OK) return refused(s, err, &why);
    (void)simdisk_slow_ms_take(s->disk);
    simlog_abort(&s->log);
    s->durable_lsn = head.lsn;
    s->epoch = head.epoch;
    adapter_restarted(&s->w->adapter, head.epoch, head.lsn);
    batch_clock_init(&s->batch_clock, world_wall(s->w), simserver_mono(s), head.time);
    struct inputs in;
    simserver_inputs(s, &in);
    engine_resume(s->engine, s->epoch, SLICE("sim"), &in);
    engine_finish(s->engine);
    return true;
}

/* ---- snapshots ---- */

struct saving {
    struct byte_source source; /* first: the journal passes its address back */
    struct buf bytes;
    size_t given;
    struct rng *rng;
};

static enum err save_piece(void *ctx, struct slice piece, struct why *why) {
    struct saving *saving = ctx;
    buf_put_slice(&saving->bytes, piece);
    return saving->bytes.full ? why_set(why, ERR_LIMIT, "snapshot too large") : ERR_OK;
}

static enum err give_piece(struct byte_source *source, void *to, size_t len, size_t *ret, struct why *why) {
    struct saving *saving = (struct saving *)source;
    (void)why;
    size_t left = saving->bytes.len - saving->given;
    size_t moved = left < len ? left : len;
    if (moved > 1 && rng_below(saving->rng, 2)) moved = 1 + rng_below(saving->rng, (uint32_t)moved);
    if (moved > 0) memcpy(to, saving->bytes.at + saving->given, moved);
    saving->given += moved;
    *ret = moved;
    return ERR_OK;
}

static void saving_take(struct simserver *s, struct saving *ret) {
    struct why why = {{0}};
    *ret = (struct saving){.source = {give_piece}, .rng = &s->rng};
    buf_init(&ret->bytes, SNAPSHOT_BYTES_MAX);
    if (engine_snapshot(s->engine, save_piece, ret, &why) != ERR_OK)
        world_red(s->w, "snapshot", "%s", why.text);
}

void simserver_snapshot(struct simserver *s) {
    struct why why = {{0}};
    if (!simserver_is_still(s)) return;
    struct saving saving;
    saving_take(s, &saving);
    struct snapshot_info info = {s->durable_lsn, s->epoch, s->batch_clock.last};
    if (info.lsn == 0) {
        buf_fini(&saving.bytes);
        return;
    }
    bool armed = rng_chance(&s->rng, (uint32_t)s->w->plan.append_crash_ppm * 10);
    if (armed) simdisk_arm(s->disk, SIMDISK_ANY, SIMDISK_POWER, rng_below(&s->rng, 20));
    enum err err = s->journal->ops->snapshot_put(s->journal, &info, &saving.source, &why);
    WORLD_NOTE(s->w, info.lsn, saving.bytes.len, err, "server: snapshot at %lu, %zu bytes: %s %s",
               (unsigned long)info.lsn, saving.bytes.len, err_word(err), why.text);
    if (err == ERR_OK && rng_below(&s->rng, 3) > 0) err = s->journal->ops->trim(s->journal, info.lsn, &why);
    if (err == ERR_OK && rng_below(&s->rng, 3) == 0) err = file_seal(s->journal, &why);
    if (err == ERR_OK && rng_below(&s->rng, 3) == 0) err = file_prepare(s->journal, &why);
    if (armed) simdisk_arm(s->disk, SIMDISK_ANY, SIMDISK_FINE, 0);
    s->power_doubt |= armed;
    buf_fini(&saving.bytes);
    if (err == ERR_OK || err == ERR_NO_SPACE) return;
    if (armed)
        simserver_crash(s, CRASH_POWER);
    else
        simserver_disk_failed(s, err, "snapshot", why.text);
}

/* A clean stop seals the journal first: a torn tail is then no excuse. */
void simserver_stop(struct simserver *s) {
    struct why why = {{0}};
    if (simserver_is_still(s)) {
        enum err err = file_seal(s->journal, &why);
        WORLD_NOTE(s->w, 92, err, s->durable_lsn, "server: stops cleanly: %s %s", err_word(err), why.text);
    }
    simserver_crash(s, CRASH_KILL);
}

/* ---- comparison ---- */

static void must_equal(struct simserver *s, struct engine *other, const char *what) {
    struct digest a = engine_digest(s->engine), b = engine_digest(other);
    if (a.lo != b.lo || a.hi != b.hi || engine_lsn(other) != engine_lsn(s->engine)) {
        world_red(s->w, "digest", "the live state differs from %s at LSN %lu", what,
                  (unsigned long)engine_lsn(s->engine));
    }
    engine_free(other);
}

static void compare_replay(struct simserver *s) {
    struct why why = {{0}};
    struct engine *other = engine_new(1, &s->w->plan.limits);
    if (!simlog_replay(&s->log, other, 0, &why)) world_red(s->w, "replay", "refused: %s", why.text);
    must_equal(s, other, "its full replay");
}

static void compare_snapshot(struct simserver *s) {
    struct why why = {{0}};
    struct saving saving;
    saving_take(s, &saving);
    struct engine *other = engine_new(1, &s->w->plan.limits);
    size_t given = 0;
    while (given < saving.bytes.len) {
        size_t piece = 1 + rng_below(&s->rng, 4096);
        if (piece > saving.bytes.len - given) piece = saving.bytes.len - given;
        if (engine_load(other, slice_of(saving.bytes.at + given, piece), &why) != ERR_OK) {
            world_red(s->w, "snapshot", "refused: %s", why.text);
        }
        given += piece;
    }
    if (engine_load_end(other, &why) != ERR_OK)
        world_red(s->w, "snapshot", "refused at its end: %s", why.text);
    buf_fini(&saving.bytes);
    must_equal(s, other, "its snapshot");
}

void simserver_compare(struct simserver *s) {
    if (!simserver_is_still(s) || s->durable_lsn == 0) return;
    compare_replay(s);
    compare_snapshot(s);
    adapter_compare(&s->w->adapter, s->engine);
}
