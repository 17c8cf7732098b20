/* shard.c: see shard.h. Everything that leaves a shard comes out of engine_effect, in its order, and only when it is
 * durable. */
#include "shard.h"

#include <stdio.h>

#include "call.h"
#include "hash.h"
#include "min.h"
#include "mutant.h"
#include "panic.h"
#include "server_impl.h"

/* More than this in one pass, and the journal's thread does the append: what comes meanwhile is worth more than the
 * hand-over costs. */
#define HERE_REQUESTS_MAX 512u
#define HERE_BYTES_MAX 32768u
#define FULL_RETRY_MS 200
#define ROOM_MS 50
#define ROOM_LOW_BYTES (256ull << 20) /* below it every pass asks */
#define FILL_MS 3
#define CALLS_MAX 1000001u
#define PARTS_BYTES_MAX ((size_t)1 << 24)
#define CLOCK_LOOK_MS 30000 /* by then it is noticed that the wall clock jumped, if anything waits for a time */
/* While a lease runs there is a pass in each half of this part of it, so a gap as long as the part is no idleness: the
 * process was stopped, or its machine was. */
#define STILL_PART 2
#define READS_MAX 3u      /* of a journal that is trimmed meanwhile */
#define LOST_AGAIN_MS 200 /* between two openings, when nothing was appended in between */

/* ---- parts ---- */

static uint64_t bit(uint8_t slot) {
    return UINT64_C(1) << slot;
}

static uint8_t first_of(uint64_t set) {
    return (uint8_t)__builtin_ctzll(set);
}

static uint64_t from_slot(uint32_t slot) {
    return ~UINT64_C(0) << slot;
}

void *shard_part(const struct shard *h, uint8_t slot) {
    return h->parts[slot];
}

void part_wake(struct shard *h, uint8_t slot) {
    h->ready |= bit(slot);
}

void part_attend(struct shard *h, uint8_t slot, bool on) {
    h->wake_with_pass = on ? h->wake_with_pass | bit(slot) : h->wake_with_pass & ~bit(slot);
}

void part_takes(struct shard *h, uint8_t slot, enum effect_kind kind, bool on) {
    h->taking[kind] = on ? h->taking[kind] | bit(slot) : h->taking[kind] & ~bit(slot);
}

/* What the part says of itself, as sets. */
static void enlist(struct shard *h, uint8_t slot, const struct server_part *p) {
    for (uint32_t kind = 0; kind < EFFECT_KIND_COUNT; kind++)
        if (p->effects & EFFECT_BIT(kind)) h->taking[kind] |= bit(slot);
    if (p->step != NULL) h->with_step |= bit(slot);
    if (p->flush != NULL) h->with_flush |= bit(slot);
    if (p->next_due != NULL) h->with_due |= bit(slot);
    if (p->decided != NULL) h->with_decided |= bit(slot);
    if (p->leaving != NULL) h->with_leaving |= bit(slot);
    if (p->wakes & PART_WAKES_WITH_STATE) h->wake_with_state |= bit(slot);
    if (p->wakes & PART_WAKES_WITH_FDS) h->wake_with_fds |= bit(slot);
    if (p->wakes & PART_WAKES_WITH_PASS) h->wake_with_pass |= bit(slot);
}

void part_retire(struct shard *h, uint8_t slot) {
    uint64_t others = ~bit(slot);
    for (uint32_t kind = 0; kind < EFFECT_KIND_COUNT; kind++) h->taking[kind] &= others;
    h->with_step &= others;
    h->with_flush &= others;
    h->with_due &= others;
    h->with_decided &= others;
    h->with_leaving &= others;
    h->wake_with_state &= others;
    h->wake_with_fds &= others;
    h->wake_with_pass &= others;
}

void shard_parts_init(struct shard *h, enum part_scope scope) {
    ENSURE(server_part_count <= PARTS_MAX);
    struct arena *from = scope == PART_OF_SERVER ? &h->server->birth : &h->birth;
    for (uint8_t slot = 0; slot < server_part_count; slot++) {
        const struct server_part *p = server_parts[slot];
        if (p->scope != scope) continue;
        ENSURE(h->parts[slot] == NULL);
        h->parts[slot] = arena_alloc(from, p->bytes > 0 ? p->bytes : 1);
        enlist(h, slot, p);
        if (p->init != NULL) p->init(h, h->parts[slot]);
        part_wake(h, slot); /* after its first turn it is asked when it wants the next */
    }
}

void shard_parts_fini(struct shard *h, enum part_scope scope) {
    for (uint8_t slot = server_part_count; slot-- > 0;) {
        const struct server_part *p = server_parts[slot];
        if (p->scope != scope || h->parts[slot] == NULL) continue;
        if (p->fini != NULL) p->fini(h, h->parts[slot]);
        part_retire(h, slot);
        h->ready &= ~bit(slot);
        h->due[slot] = TIME_NEVER;
        h->parts[slot] = NULL;
    }
}

/* Changes whenever the state does, or what is durable of it, or what is known of workers. */
static uint64_t moved(const struct shard *h) {
    return engine_lsn(h->engine) + engine_durable_lsn(h->engine) + h->command_count;
}

/* The parts that have a turn though nobody woke them, and their time has come. */
static uint64_t turns_due(struct shard *h) {
    uint64_t set = h->wake_with_pass;
    if (h->server->woken) set |= h->wake_with_fds;
    if (h->due_first > h->server->now_ms) return set;
    for (uint8_t slot = 0; slot < server_part_count; slot++)
        if (h->due[slot] <= h->server->now_ms) set |= bit(slot);
    return set;
}

/* In the order of the table. A part that is woken meanwhile has its turn in this pass if it stands further on. */
void shard_step(struct shard *h) {
    uint64_t set = turns_due(h), now_moved = moved(h), left, behind = ~UINT64_C(0);
    if (now_moved != h->step_moved) set |= h->wake_with_state;
    h->step_moved = now_moved;
    h->visited = set;
    while ((left = (set | h->ready) & behind) != 0) {
        uint8_t slot = first_of(left);
        behind = from_slot(slot + 1u);
        h->ready &= ~bit(slot);
        h->visited |= bit(slot);
        if ((h->with_step & bit(slot)) == 0) continue;
        server_parts[slot]->step(h, h->parts[slot]);
        if (h->state != SHARD_OWNED) return;
    }
}

/* Asks the parts that had a turn when they want the next. */
static void note_dues(struct shard *h) {
    for (uint64_t left = h->visited; left != 0; left &= left - 1) {
        uint8_t slot = first_of(left);
        const struct server_part *p = server_parts[slot];
        h->due[slot] = h->with_due & bit(slot) ? p->next_due(h, h->parts[slot]) : TIME_NEVER;
    }
    h->due_first = TIME_NEVER;
    for (uint64_t left = h->with_due; left != 0; left &= left - 1)
        h->due_first = min_i64(h->due_first, h->due[first_of(left)]);
}

/* Whoever was woken since its step has its flush now, and if it has a step, that in a further pass. */
void shard_flush(struct shard *h) {
    uint64_t set = turns_due(h) | h->visited, left, behind = ~UINT64_C(0);
    h->is_flushing = true;
    while ((left = (set | h->ready) & behind) != 0) {
        uint8_t slot = first_of(left);
        behind = from_slot(slot + 1u);
        h->visited |= bit(slot);
        h->ready &= h->with_step | ~bit(slot);
        if (h->with_flush & bit(slot)) server_parts[slot]->flush(h, h->parts[slot]);
    }
    h->is_flushing = false;
    note_dues(h);
}

/* A shard that could not be opened again has no parts of its own any more. */
void shard_conn_gone(struct shard *h, conn_id conn) {
    for (uint8_t slot = 0; slot < server_part_count; slot++)
        if (server_parts[slot]->conn_gone != NULL && h->parts[slot] != NULL)
            server_parts[slot]->conn_gone(h, h->parts[slot], conn);
}

bool shard_stop_stream(struct shard *h, conn_id conn, uint32_t request) {
    for (uint8_t slot = 0; slot < server_part_count; slot++) {
        const struct server_part *p = server_parts[slot];
        if (p->stop != NULL && p->stop(h, h->parts[slot], conn, request)) return true;
    }
    return false;
}

void shard_stored(struct shard *h, enum err e) {
    for (uint8_t slot = 0; slot < server_part_count; slot++)
        if (server_parts[slot]->stored != NULL) server_parts[slot]->stored(h, h->parts[slot], e);
}

bool shard_is_idle(const struct shard *h) {
    for (uint8_t slot = 0; slot < server_part_count; slot++) {
        const struct server_part *p = server_parts[slot];
        if (p->is_idle != NULL && !p->is_idle(h, h->parts[slot])) return false;
    }
    return h->state == SHARD_OWNED && h->calls.count == 0 && h->append.state == APPEND_NONE &&
           engine_lsn(h->engine) == engine_durable_lsn(h->engine);
}

/* ---- the clock ---- */

/* Asking the file system costs a call; it is asked again after a while, or when a good part of the answer is used. */
uint64_t shard_room(struct shard *h) {
    struct shard_append *a = &h->append;
    struct why why;
    bool is_old = h->server->now_ms >= a->room_ms + ROOM_MS || a->room_ms == 0;
    if (is_old || a->room_bytes < ROOM_LOW_BYTES) {
        a->room_ms = h->server->now_ms;
        if (h->journal->ops->space(h->journal, &a->room_bytes, &why) != ERR_OK) a->room_bytes = 0;
    }
    return a->room_bytes;
}

int64_t shard_clock_apart(struct shard *h) {
    struct clock *c = h->server->world.clock;
    return batch_clock_apart(&h->clock, c->wall(c), c->mono(c));
}

const char *shard_clock_note(struct shard *h) {
    int64_t apart_ms = shard_clock_apart(h), size_ms = apart_ms < 0 ? -apart_ms : apart_ms;
    if (size_ms <= BATCH_CLOCK_APART_MS) return NULL;
    snprintf(
        h->clock_note, sizeof h->clock_note,
        "this machine's clock is %lld s %s the journal's clock; if that lasts for a minute, the journal adopts the "
        "machine's time: check the clock of this machine",
        (long long)size_ms / 1000, apart_ms < 0 ? "behind" : "ahead of");
    return h->clock_note;
}

/* Once for each time that it happens: a clock that jumps about does not fill the log. */
static void tell_apart(struct shard *h) {
    bool apart = h->clock.apart_since.ms != TIME_NEVER;
    const char *note = apart && !h->clock_is_apart ? shard_clock_note(h) : NULL;
    if (note != NULL) server_log(h->server, SERVER_WARN, "clock", "%s", note);
    h->clock_is_apart = apart;
}

static void tell_step(struct shard *h, int64_t step_ms) {
    const char *which = step_ms < 0 ? "ahead of" : "behind";
    long long seconds = (long long)(step_ms < 0 ? -step_ms : step_ms) / 1000;
    server_log(h->server, SERVER_WARN, "clock",
               "the journal's clock was %lld s %s the machine's clock and has been corrected; flows recorded in the "
               "meantime keep their times",
               seconds, which);
    h->clock_steps++;
}

static void inputs(struct shard *h, struct inputs *ret) {
    struct server *s = h->server;
    struct clock *c = s->world.clock;
    mono_time mono = c->mono(c);
    bool stood_still = s->now_ms != 0 && mono.ms - s->now_ms > s->limits->lease_ms / STILL_PART;
    if (stood_still)
        server_log(s, SERVER_WARN, "stood_still",
                   "this process was suspended for %lld ms: every worker gets a full lease again",
                   (long long)(mono.ms - s->now_ms));
    s->now_ms = mono.ms;
    h->stood_still = stood_still;
    h->seed = hash_mix(h->seed + 0x9e3779b97f4a7c15u); /* jitter and ties: good enough, and no system call */
    wall_time wall = c->wall(c);
    int64_t step_ms = h->clock_step_ms != 0 ? h->clock_step_ms : batch_clock_step(&h->clock, wall, mono);
    h->clock_step_ms = 0;
    if (step_ms != 0) tell_step(h, step_ms);
    tell_apart(h);
    *ret = (struct inputs){.wall = batch_clock_now(&h->clock, wall, mono),
                           .mono = mono,
                           .random = h->seed,
                           .journal_free_bytes = shard_room(h),
                           .stood_still = stood_still,
                           .step_ms = step_ms};
}

/* ---- effects ---- */

static void answered(struct shard *h, const struct effect *e) {
    uint64_t token = e->as.answer.token;
    if (h->server->world.observer != NULL && observer_is_token(token)) return; /* he was told */
    if (!part_is_token(token)) {
        call_answered(h, token, e->lsn, e->as.answer.reply);
        return;
    }
    uint8_t slot = part_token_slot(token);
    server_parts[slot]->answered(h, h->parts[slot], token, e->as.answer.reply);
    h->touched |= bit(slot);
}

static void give_effect(struct shard *h, const struct effect *e) {
    for (uint64_t left = h->taking[e->kind]; left != 0; left &= left - 1) {
        uint8_t slot = first_of(left);
        server_parts[slot]->effect(h, h->parts[slot], e);
        h->touched |= bit(slot);
    }
}

void shard_release(struct shard *h) {
    const struct observer *g = h->server->world.observer;
    struct effect e;
    h->touched = 0;
    for (uint64_t left = h->with_leaving; left != 0; left &= left - 1) {
        uint8_t slot = first_of(left);
        server_parts[slot]->leaving(h, h->parts[slot]);
    }
    while (engine_effect(h->engine, &e)) {
        if (g != NULL) g->leaves(g->ctx, &e);
        if (e.kind == EFFECT_ANSWER)
            answered(h, &e);
        else
            give_effect(h, &e);
        if (g != NULL) g->left(g->ctx, &e);
    }
    h->ready |= h->touched;
    for (uint64_t left = h->touched; left != 0; left &= left - 1) {
        uint8_t slot = first_of(left);
        if (server_parts[slot]->released != NULL) server_parts[slot]->released(h, h->parts[slot]);
    }
}

/* ---- appends ---- */

/* Its sum, then the count of its bound: a histogram of metric.h. */
static void note_sync_time(uint64_t sync[SYNC_SLOTS], uint64_t us) {
    uint32_t i = 0;
    while (i < SYNC_BOUND_COUNT && us > metric_sync_bounds_us[i]) i++;
    sync[0] += us;
    sync[1 + i]++;
}

static void append_durable(struct shard *h, uint64_t last_lsn) {
    struct server *s = h->server;
    struct shard_append *a = &h->append;
    uint64_t bytes = a->batch.records.len + h->journal->limits.batch_overhead_bytes;
    a->state = APPEND_NONE;
    note_sync_time(a->sync, s->world.clock->us(s->world.clock) - a->given_us);
    a->last_ms = s->now_ms;
    a->bytes += bytes;
    a->room_bytes -= min_u64(a->room_bytes, bytes);
    if (s->world.observer != NULL) s->world.observer->durable(s->world.observer->ctx, last_lsn);
    engine_durable(h->engine, last_lsn);
}

/* From here on nothing of the engine leaves, and nothing is decided by it: the next pass opens the shard again. */
static void shard_lost(struct shard *h, const struct writer_result *r) {
    bool is_fenced = r->outcome == JOURNAL_FENCED, again = h->append.sync_count == h->opened_sync_count;
    server_log(h->server, SERVER_WARN, "shard_lost",
               "%s (%s): connections are closed, and the state is read anew from the journal",
               is_fenced ? "the journal has another owner" : "nobody knows whether an append reached the journal",
               r->why.text);
    h->state = SHARD_LOST;
    h->reopen_ms = again ? h->server->now_ms + LOST_AGAIN_MS : 0;
}

static void append_ended(struct shard *h, const struct writer_result *r) {
    switch (r->outcome) {
    case JOURNAL_DURABLE:
        h->append.sync_count++;
        if (!r->seal) append_durable(h, r->last_lsn);
        return;
    case JOURNAL_FULL: /* nothing is harmed: everything waits, new work is refused */
        if (r->seal) return;
        h->append.state = APPEND_FULL;
        h->append.again_ms = h->server->now_ms + FULL_RETRY_MS;
        return;
    case JOURNAL_FENCED:
    case JOURNAL_UNKNOWN: shard_lost(h, r); return;
    case JOURNAL_FAILED: break;
    }
    struct why why = r->why;
    server_fail(h->server, why_wrap(&why, ERR_IO, "journal"), &why);
}

static void append_give(struct shard *h) {
    struct server *s = h->server;
    struct shard_append *a = &h->append;
    struct writer_result r;
    bool here = s->served <= HERE_REQUESTS_MAX && a->batch.records.len <= HERE_BYTES_MAX && !s->options.appends_away;
    a->state = APPEND_AWAY;
    a->given_us = s->world.clock->us(s->world.clock);
    if (writer_append(h->writer, h->epoch, a->batch.first_lsn - 1, &a->batch, here, &r)) append_ended(h, &r);
}

/* Near the end of the disk a batch that fills no block waits a moment for company, so that padding is not what uses up
 * the room that accepted work was promised. */
static bool should_fill(struct shard *h) {
    int64_t now_ms = h->server->now_ms;
    if (!engine_should_fill(h->engine, h->journal->limits.fill_bytes)) {
        h->append.fill_by_ms = 0;
        return false;
    }
    if (h->append.fill_by_ms == 0) h->append.fill_by_ms = now_ms + FILL_MS;
    if (now_ms < h->append.fill_by_ms) return true;
    h->append.fill_by_ms = 0;
    return false;
}

static void append_start(struct shard *h) {
    const struct observer *g = h->server->world.observer;
    if (h->append.state == APPEND_FULL && h->server->now_ms >= h->append.again_ms) {
        append_give(h);
        return;
    }
    if (h->append.state != APPEND_NONE || writer_is_busy(h->writer)) return;
    if (should_fill(h) || !engine_batch(h->engine, &h->append.batch)) return;
    if (g != NULL) g->appends(g->ctx, &h->append.batch);
    append_give(h);
}

void shard_take(struct shard *h) {
    struct shard_append *a = &h->append;
    struct writer_result r;
    struct writer_trim_result t;
    /* Nothing is under way. */
    if (!h->server->woken && !writer_is_busy(h->writer) && !a->is_compacting && !a->is_trimming) return;
    if (writer_take(h->writer, &r)) append_ended(h, &r);
    if (!writer_trim_take(h->writer, &t)) return;
    a->is_trimming = false;
    if (t.err != ERR_OK) server_log(h->server, SERVER_WARN, "trim", "%s: %s", err_word(t.err), t.why.text);
}

static void seal_when_idle(struct shard *h) {
    struct shard_append *a = &h->append;
    if (a->last_ms == 0 || a->state != APPEND_NONE || h->server->now_ms < a->last_ms + WRITER_IDLE_MS) return;
    a->last_ms = 0;
    (void)writer_idle(h->writer);
    if (h->server->options.at_rest != NULL) h->server->options.at_rest();
}

/* ---- passes ---- */

void shard_begin(struct shard *h) {
    struct inputs in;
    inputs(h, &in);
    engine_begin(h->engine, &in);
}

void shard_finish(struct shard *h) {
    engine_finish(h->engine);
    shard_release(h); /* reads of a state that is durable already leave without waiting for the append */
    append_start(h);
    if (h->state != SHARD_OWNED) return;
    shard_release(h);
    seal_when_idle(h);
}

/* When the engine wants a pass: a time that is recorded, a lease, work that is left. */
static int64_t engine_due(struct shard *h, int64_t now) {
    int64_t next = TIME_NEVER, now_ms = h->server->now_ms;
    if (engine_has_work(h->engine)) return now;
    wall_time due = engine_next_due(h->engine);
    if (due.ms != TIME_NEVER) {
        int64_t wait = due.ms - h->clock.last.ms;
        if (wait <= 0) return now;
        next = min_i64(now_ms + wait, now_ms + CLOCK_LOOK_MS);
    }
    mono_time lease = engine_next_lease(h->engine);
    if (lease.ms != TIME_NEVER)
        next = min_i64(next, min_i64(lease.ms, now_ms + h->server->limits->lease_ms / (2 * STILL_PART)));
    return next;
}

int64_t shard_next(struct shard *h, int64_t now) {
    const struct shard_append *a = &h->append;
    if (h->state != SHARD_OWNED) return h->state == SHARD_LOST ? h->reopen_ms : now;
    int64_t next = min_i64(h->due_first, engine_due(h, now));
    if ((h->ready & (h->with_step | h->with_flush)) != 0 || h->stood_still) return now;
    if (h->clock.apart_since.ms != TIME_NEVER) next = min_i64(next, h->clock.apart_since.ms + BATCH_CLOCK_PATIENCE_MS);
    if (a->last_ms != 0 && a->state == APPEND_NONE) next = min_i64(next, a->last_ms + WRITER_IDLE_MS);
    if (a->state == APPEND_FULL) next = min_i64(next, a->again_ms);
    if (a->fill_by_ms != 0) next = min_i64(next, a->fill_by_ms);
    return next;
}

/* ---- opening and closing ---- */

struct loading {
    struct byte_sink sink; /* first: the journal passes its address back */
    struct shard *shard;
};

static void tell_recovery(const struct server *s, size_t bytes) {
    if (s->world.recovers != NULL) s->world.recovers(s->world.recovers_ctx, bytes);
}

static enum err load_piece(struct byte_sink *sink, const void *from, size_t len, struct why *why) {
    struct shard *h = ((struct loading *)sink)->shard;
    tell_recovery(h->server, len);
    return engine_load(h->engine, slice_of(from, len), why);
}

static enum err replay(void *ctx, const struct batch *batch, struct why *why) {
    struct shard *h = ctx;
    const struct observer *g = h->server->world.observer;
    h->append.bytes += batch->records.len + h->journal->limits.batch_overhead_bytes; /* since the last snapshot */
    if (g != NULL) g->replayed(g->ctx, batch);
    tell_recovery(h->server, batch->records.len);
    return engine_replay(h->engine, batch, why);
}

/* From the newest snapshot on, to the end. */
static enum err read_all(struct shard *h, struct journal *from, uint64_t *ret_snapshot_lsn, struct why *why) {
    struct snapshot_info snapshot = {0};
    struct loading loading = {{load_piece}, h};
    h->append.bytes = 0;
    enum err e = from->ops->snapshot_get(from, 0, &snapshot, &loading.sink, why);
    if (e == ERR_OK && snapshot.lsn > 0) e = engine_load_end(h->engine, why);
    if (e != ERR_OK) return why_wrap(why, e, "snapshot");
    *ret_snapshot_lsn = snapshot.lsn;
    e = from->ops->read(from, snapshot.lsn + 1, UINT64_MAX, replay, h, why);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "journal");
}

/* What the journal has beyond what was read was appended meanwhile, or is known to be there only now. What was read and
 * is not there now was an append that nobody knew the outcome of: then the reading was in vain. */
static enum err take_over(struct shard *h, struct journal *from, struct why *why) {
    struct journal_head head = {0};
    enum err e = h->journal->ops->acquire(h->journal, h->number, &head, why);
    if (e == ERR_OK && head.lsn > engine_lsn(h->engine))
        e = from->ops->read(from, engine_lsn(h->engine) + 1, head.lsn, replay, h, why);
    if (e != ERR_OK) return why_wrap(why, e, "journal");
    if (head.lsn != engine_lsn(h->engine))
        return why_set(why, shard_is_reopened(h) && head.lsn < engine_lsn(h->engine) ? ERR_NOT_FOUND : ERR_CORRUPT,
                       "journal: its head is at record %llu, its batches end at %llu", (unsigned long long)head.lsn,
                       (unsigned long long)engine_lsn(h->engine));
    if (!MUTANT(old_epoch_after_reopen) || !shard_is_reopened(h)) h->epoch = head.epoch;
    return ERR_OK;
}

/* The journal is read before it is taken over: damage is refused before anything is written. A shard that is opened
 * again reads by a reader, because the writer's second thread may be trimming; what goes beside a reading makes that
 * begin anew. */
static enum err recover(struct shard *h, struct why *why) {
    struct clock *c = h->server->world.clock;
    mono_time begun = c->mono(c);
    struct journal *from = h->journal;
    uint64_t snapshot_lsn = 0;
    uint32_t tries = shard_is_reopened(h) ? READS_MAX : 1;
    enum err e = shard_is_reopened(h) ? h->journal->ops->reader(h->journal, &from, why) : ERR_OK;
    if (e != ERR_OK) return why_wrap(why, e, "journal");
    do {
        engine_free(h->engine);
        h->engine = engine_new(h->number, h->server->limits);
        e = read_all(h, from, &snapshot_lsn, why);
        if (e == ERR_OK) e = take_over(h, from, why);
    } while (e == ERR_NOT_FOUND && --tries > 0);
    if (from != h->journal) from->ops->close(from);
    if (e != ERR_OK) return e;
    h->seed = c->random(c);
    h->clock_step_ms = batch_clock_init(&h->clock, c->wall(c), c->mono(c), engine_now(h->engine));
    h->recovered_records = engine_lsn(h->engine) - snapshot_lsn;
    h->recovered_ms = c->mono(c).ms - begun.ms;
    server_log(h->server, SERVER_INFO, "recovered",
               "read the snapshot of record %llu and %llu records after it (%llu KiB of the journal) in %lld ms",
               (unsigned long long)snapshot_lsn, (unsigned long long)h->recovered_records,
               (unsigned long long)(h->append.bytes / 1024), (long long)h->recovered_ms);
    return ERR_OK;
}

/* The writer, and what it is doing beside appends, goes on over a reopening. */
static void append_reset(struct shard_append *a) {
    a->state = APPEND_NONE;
    a->batch = (struct batch){0};
    a->last_ms = a->fill_by_ms = a->room_ms = 0;
}

enum err shard_open(struct shard *h, struct why *why) {
    struct server *s = h->server;
    REQUIRE(h->engine == NULL && h->journal != NULL);
    REQUIRE(h->writer == NULL || !writer_is_busy(h->writer));
    h->state = SHARD_OWNED;
    h->generation++;
    h->due_first = TIME_NEVER;
    h->step_moved = 0;
    append_reset(&h->append);
    h->opened_sync_count = h->append.sync_count;
    arena_init(&h->birth, 16384, PARTS_BYTES_MAX);
    pool_init(&h->calls, sizeof(struct call), CALLS_MAX);
    enum err e = recover(h, why);
    if (e == ERR_OK && h->writer == NULL) e = writer_open(h->journal, !s->options.without_threads, &h->writer, why);
    return e;
}

void shard_start(struct shard *h) {
    const struct observer *g = h->server->world.observer;
    struct inputs in;
    inputs(h, &in);
    if (g != NULL) g->resumes(g->ctx, h->engine, h->epoch);
    engine_resume(h->engine, h->epoch, bytes_slice(h->server->build), &in);
    for (uint8_t slot = 0; slot < server_part_count && h->state == SHARD_OWNED; slot++)
        if (server_parts[slot]->resumed != NULL) server_parts[slot]->resumed(h, h->parts[slot]);
    if (h->state != SHARD_OWNED) return;
    engine_finish(h->engine);
    append_start(h); /* from here on the first pass goes on */
}

void shard_close(struct shard *h) {
    REQUIRE(h->writer == NULL || !writer_is_busy(h->writer)); /* a batch on its way is the engine's */
    call_free_all(h);
    shard_parts_fini(h, PART_OF_SHARD);
    engine_free(h->engine);
    h->engine = NULL;
    pool_fini(&h->calls);
    arena_fini(&h->birth);
}
