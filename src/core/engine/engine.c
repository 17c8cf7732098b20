/* engine.c: the loop of decide, encode, apply, and the gate that holds everything back until it is durable.
 *
 *      command --> decide --> record --> encode --> bytes of the open batch --> journal
 *                    ^                                    | decode                 | durable up to N
 *                    |                                    v                        v
 *                  state <----------------------------- apply --> effects with LSN -> gate --> out
 *
 * A record is applied from the very bytes that are written, so live and replay cannot differ: what the encoding would
 * lose is lost at once, and tests see it.
 *
 * A worked example. The journal is durable up to LSN 40; a submit of one job comes, and a worker is free.
 *
 *      engine_begin(in)          time 1000, random r
 *      engine_command(submit)    41 SUBMITTED       the answer is held, LSN 41
 *      engine_finish()           42 ASSIGNED        the assignment is held, LSN 42
 *      engine_batch()            records 41..42, time 1000, seed r; the next pass fills the other buffer
 *      engine_effect()           nothing: 41 > 40
 *      engine_durable(42)
 *      engine_effect()           the answer to the submit; then the assignment; then nothing
 *
 * If the process dies before engine_durable, the submit was never acknowledged and no worker knows of the job. If it
 * dies after it, replay applies 41 and 42 again and engine_resume derives the assignment anew.
 *
 * Guarantees: LSNs are dense; a batch has one time and one seed; no effect leaves before its LSN is durable, rejections
 * and reads included; at most one batch is in the journal's hands.
 *
 * Must not: read a clock, draw a random number or wait. Whatever a pass knows of the world is in its inputs. */
#include "engine.h"

#include "apply.h"
#include "attempt.h"
#include "decide.h"
#include "dispatch.h"
#include "flow.h"
#include "flow_lists.h"
#include "mutant.h"
#include "panic.h"
#include "question.h"
#include "retention.h"
#include "snapshot.h"
#include "store.h"
#include "timer.h"

#define TIMERS_PER_PASS 4096u    /* records made by time alone before other work gets its turn */
#define FORGOTTEN_PER_PASS 1024u /* flows that leave before other work gets its turn */
#define MEMOS_PER_PASS 4096u     /* looks at kept results before other work gets its turn */
#define ARENA_CHUNK_BYTES 65536
#define ARENA_BYTES_MAX ((size_t)1 << 33)

struct engine {
    struct arena birth; /* holds the engine itself */
    struct state state;
    struct live live;
    struct limits limits;
    struct inputs in;
    bool was_working; /* a long consequence was under way when the pass began */
    uint64_t epoch;
    wall_time resumed; /* when this owner began, by the clock as it is now */
    struct effects effects;

    /* The batch being filled, and the one in the journal: two buffers that change places. */
    struct buf records[2];
    uint32_t filling;
    uint64_t first_lsn;   /* of the batch being filled; 0 = it is empty */
    wall_time batch_time; /* of that batch: the clock may be set in the middle of it */
    uint64_t taken_lsn;   /* last record handed to the journal */
    uint64_t durable_lsn;

    struct arena command_arena; /* of one command or dispatch round */
    struct arena record_arena;  /* of one record being applied */
    struct vec decided;         /* of struct record */
    struct loader *loader;      /* while a snapshot is being restored */
};

/* What a record has beside the bytes that are counted as a submit; and no other record is larger than both. */
#define RECORD_SPARE_BYTES 65536

struct engine *engine_new(uint32_t shard, const struct limits *limits) {
    REQUIRE(limits->batch_bytes_max > 0);
    struct arena birth;
    arena_init(&birth, sizeof(struct engine) + 64, sizeof(struct engine) + 4096);
    struct engine *e = ARENA_NEW(&birth, struct engine);
    e->birth = birth;
    state_init(&e->state, shard);
    live_init(&e->live);
    e->limits = *limits;
    effects_init(&e->effects);
    e->effects.watches = &e->live.watches;
    buf_init(&e->records[0], (size_t)limits->batch_bytes_max);
    buf_init(&e->records[1], (size_t)limits->batch_bytes_max);
    arena_init(&e->command_arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    arena_init(&e->record_arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    vec_init(&e->decided, sizeof(struct record));
    return e;
}

void engine_free(struct engine *e) {
    if (e == NULL) return;
    if (e->loader) loader_free(e->loader);
    state_fini(&e->state);
    live_fini(&e->live);
    effects_fini(&e->effects);
    buf_fini(&e->records[0]);
    buf_fini(&e->records[1]);
    arena_fini(&e->command_arena);
    arena_fini(&e->record_arena);
    vec_fini(&e->decided);
    struct arena birth = e->birth;
    arena_fini(&birth);
}

/* ---- records ---- */

/* Writes a record into the open batch and applies it as replay will: from those bytes. */
static void commit(struct engine *e, const struct record *record) {
    struct buf *out = &e->records[e->filling];
    if (e->first_lsn == 0) {
        e->first_lsn = e->state.lsn + 1;
        e->batch_time = e->in.wall;
        apply_batch(&e->state, e->in.wall, e->in.random, e->epoch, RULES_VERSION);
    }
    uint64_t lsn = e->state.lsn;
    size_t start = out->len;
    record_encode(record, out);
    ENSURE(!out->full); /* engine_is_full leaves room for the largest record */
    struct cursor c = cursor_of(slice_of(out->at + start, out->len - start));
    struct record own;
    enum err err = record_outline(&c, &e->record_arena, &own, NULL);
    ENSURE(err == ERR_OK);
    ENSURE(cursor_left(&c) == 0);
    apply(&e->state, &own);
    ENSURE(e->state.lsn == lsn + 1); /* LSNs are dense */
    arena_reset(&e->record_arena);
}

static void commit_decided(struct engine *e) {
    for (uint32_t i = 0; i < e->decided.count; i++) commit(e, vec_at(&e->decided, i));
    e->decided.count = 0;
}

static struct decision new_decision(struct engine *e, struct reply *reply) {
    e->decided.count = 0;
    arena_reset(&e->command_arena);
    return (struct decision){.state = &e->state,
                             .live = &e->live,
                             .limits = &e->limits,
                             .in = &e->in,
                             .arena = &e->command_arena,
                             .effects = &e->effects,
                             .records = &e->decided,
                             .reply = reply};
}

/* ---- recovery ---- */

enum err engine_load(struct engine *e, struct slice piece, struct why *why) {
    REQUIRE(e->epoch == 0);
    REQUIRE(e->loader || e->state.lsn == 0);
    if (e->loader == NULL) e->loader = loader_new(&e->state);
    return loader_feed(e->loader, piece, why);
}

enum err engine_load_end(struct engine *e, struct why *why) {
    REQUIRE(e->loader != NULL);
    enum err err = loader_end(e->loader, why);
    loader_free(e->loader);
    e->loader = NULL;
    e->taken_lsn = e->durable_lsn = e->state.lsn;
    return err;
}

static enum err check_batch(const struct state *s, const struct batch *b, struct why *why) {
    if (b->shard != s->shard)
        return why_set(why, ERR_CORRUPT, "a batch of shard %u in the journal of shard %u", b->shard, s->shard);
    if (b->rules < 1 || b->rules > RULES_VERSION)
        return why_set(why, ERR_UNSUPPORTED, "a batch by rules %u; this program knows up to %u", b->rules,
                       RULES_VERSION);
    if (b->first_lsn != s->lsn + 1 || b->last_lsn < b->first_lsn)
        return why_set(why, ERR_CORRUPT, "a batch from LSN %llu follows LSN %llu", (unsigned long long)b->first_lsn,
                       (unsigned long long)s->lsn);
    if (b->epoch < s->epoch || b->time.ms < s->now.ms) return why_set(why, ERR_CORRUPT, "epoch or time runs backwards");
    if (!time_fits(b->time.ms)) return why_set(why, ERR_CORRUPT, "a batch of a time that cannot be");
    return ERR_OK;
}

/* What the record that was applied last has emitted. */
static void tell_events(struct engine *e, engine_event_fn each, void *ctx) {
    struct effect effect;
    while (effects_take(&e->effects, UINT64_MAX, &effect))
        if (effect.kind == EFFECT_EVENT) each(ctx, e, &effect);
}

enum err engine_replay(struct engine *e, const struct batch *b, struct why *why) {
    return engine_retell(e, b, NULL, NULL, why);
}

enum err engine_retell(struct engine *e, const struct batch *b, engine_event_fn each, void *ctx, struct why *why) {
    REQUIRE(e->epoch == 0);
    enum err err = check_batch(&e->state, b, why);
    if (err != ERR_OK) return err;
    e->state.effects = each != NULL ? &e->effects : NULL; /* nobody else listens to a replay */
    apply_batch(&e->state, b->time, b->seed, b->epoch, b->rules);
    struct cursor c = cursor_of(b->records);
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn; lsn++) {
        struct record record;
        err = record_outline(&c, &e->record_arena, &record, why);
        if (err == ERR_OK) err = apply_check(&e->state, &record, why);
        if (err != ERR_OK) return why_wrap(why, err, "LSN %llu", (unsigned long long)lsn);
        apply(&e->state, &record);
        arena_reset(&e->record_arena);
        if (each != NULL) tell_events(e, each, ctx);
    }
    ENSURE(e->state.lsn == b->last_lsn);
    e->state.effects = NULL;
    flow_sweep(&e->state);
    if (cursor_left(&c) != 0) return why_set(why, ERR_CORRUPT, "bytes after the last record of a batch");
    e->taken_lsn = e->durable_lsn = e->state.lsn;
    return ERR_OK;
}

static void begin(struct engine *e, const struct inputs *in) {
    wall_time at = e->first_lsn ? e->state.now : (wall_time){in->wall.ms - in->step_ms}; /* one batch, one time */
    REQUIRE(at.ms >= e->state.now.ms);
    e->in = *in;
    e->in.wall = at;
    e->live.now = at;
    e->was_working = e->state.working_head != 0;
}

/* Whatever was synced and not sent when the process died must happen all the same. Workers have no session yet, so
 * assignments reach them when they attach; this is for shells that can reach them at once. */
static void derive_effects(struct engine *e) {
    struct reply unused = {0};
    struct decision d = new_decision(e, &unused);
    const struct state *s = &e->state;
    for (uint32_t i = 1; i <= s->workers.high; i++) {
        if (worker_at(s, i)->id == NULL) continue;
        for (uint32_t r = worker_at(s, i)->first; r; r = run_at(s, r)->next) {
            if (MUTANT(forget_dispatch)) continue;
            struct attempt_effect effect = attempt_effect_of(s, job_at(s, run_at(s, r)->job));
            decide_effect(&d, run_at(s, r)->stop == STOP_NONE ? EFFECT_ASSIGN : EFFECT_STOP, &effect);
        }
    }
    for (uint32_t i = 1; i <= s->questions.high; i++) {
        const struct question *q = question_at(s, i);
        if (q->id != 0 && q->gate != GATE_SERVICE && q->again.ms <= e->in.wall.ms) decide_ask(&d, q);
    }
}

/* A worker may end what it holds when its own lease is over; a lease here may end later than that, never earlier. */
static void renew_leases(struct engine *e) {
    for (uint32_t i = 1; i <= e->state.workers.high; i++) {
        if (worker_at(&e->state, i)->id == NULL) continue;
        struct live_worker *w = live_worker(&e->live, &e->state, i);
        if (w->lease_until.ms == TIME_NEVER) continue;
        live_set_lease(&e->live, w, (mono_time){e->in.mono.ms + e->limits.lease_ms});
        w->attached_at = e->in.wall; /* what it was sent has its time again, too */
    }
}

static void start_leases(struct engine *e) {
    int64_t lease_ms = MUTANT(lease_kept) ? 0 : e->limits.lease_ms;
    for (uint32_t i = 1; i <= e->state.workers.high; i++) {
        if (worker_at(&e->state, i)->id == NULL) continue;
        struct live_worker *w = live_worker(&e->live, &e->state, i);
        live_set_lease(&e->live, w, (mono_time){e->in.mono.ms + lease_ms});
    }
}

/* Backwards: whatever lies in the future of the right clock was noted by the wrong one. Forwards: this owner knows by
 * its monotonic clock that the time in between did not pass for what it noted itself. */
static void set_clock(struct engine *e, wall_time right) {
    int64_t by_ms = right.ms - e->in.wall.ms;
    if (by_ms == 0) return;
    struct record record = {.kind = REC_CLOCK, .version = RECORD_VERSION};
    record.body.as_REC_CLOCK.from_ms = by_ms < 0 ? right.ms : e->resumed.ms;
    record.body.as_REC_CLOCK.by_ms = by_ms;
    commit(e, &record);
    ENSURE(e->state.now.ms == right.ms);
    live_clock_moved(&e->live, by_ms);
    e->in.wall = e->live.now = e->state.now;
    e->resumed.ms = by_ms < 0 && e->resumed.ms > right.ms ? right.ms : e->resumed.ms + (by_ms > 0 ? by_ms : 0);
}

void engine_resume(struct engine *e, uint64_t epoch, struct slice build, const struct inputs *in) {
    REQUIRE(e->epoch == 0);
    REQUIRE(e->loader == NULL);
    REQUIRE(e->first_lsn == 0);
    REQUIRE(epoch > e->state.epoch);
    e->epoch = epoch;
    e->state.effects = &e->effects;
    begin(e, in);
    struct record opened = {.kind = REC_OPENED, .version = RECORD_VERSION};
    opened.body.as_REC_OPENED.epoch = epoch;
    opened.body.as_REC_OPENED.build = build;
    commit(e, &opened);
    if (in->step_ms != 0) set_clock(e, in->wall);
    e->resumed = e->state.now;
    start_leases(e);
    derive_effects(e);
}

/* ---- a pass ---- */

void engine_begin(struct engine *e, const struct inputs *in) {
    REQUIRE(e->epoch != 0);
    begin(e, in);
    if (in->step_ms != 0) set_clock(e, in->wall);
    if (in->stood_still) renew_leases(e);
}

void engine_limits_fit(struct limits *l, uint64_t batch_bytes) {
    REQUIRE(batch_bytes > RECORD_SPARE_BYTES);
    REQUIRE(l->batch_bytes_max > RECORD_SPARE_BYTES);
    int64_t submit = l->batch_bytes_max - RECORD_SPARE_BYTES;
    if ((uint64_t)l->batch_bytes_max > batch_bytes) {
        l->batch_bytes_max = (int64_t)batch_bytes;
        submit = (l->batch_bytes_max - RECORD_SPARE_BYTES) / 2; /* so that a batch holds more than one */
    }
    if (l->submit_bytes_max > submit) l->submit_bytes_max = submit;
}

static size_t largest_record(const struct engine *e) {
    return (size_t)e->limits.submit_bytes_max + RECORD_SPARE_BYTES;
}

bool engine_is_full(const struct engine *e) {
    const struct buf *b = &e->records[e->filling];
    return e->first_lsn && (b->len + largest_record(e) > b->max ||
                            e->state.lsn - e->first_lsn >= (uint64_t)e->limits.batch_records_max);
}

bool engine_has_room(const struct engine *e, uint64_t bytes, uint64_t records) {
    const struct buf *b = &e->records[e->filling];
    uint64_t held = e->first_lsn ? e->state.lsn - e->first_lsn + 1 : 0;
    return b->len + bytes + largest_record(e) <= b->max && held + records <= (uint64_t)e->limits.batch_records_max;
}

void engine_ask(struct engine *e, const struct command *cmd, struct reply *ret) {
    REQUIRE(e->epoch != 0);
    reply_clear(ret);
    option_cache_sweep(&e->live.sets);
    struct decision d = new_decision(e, ret);
    if (engine_is_full(e))
        ret->err = refuse(&d, ERR_BUSY, "too much at once");
    else
        decide(&d, cmd);
    e->live.stale_refused += d.stale;
    if (d.new_sets > 0 && ret->err == ERR_OK) decide_keep_sets(&d, &e->live, &cmd->as.submit);
    commit_decided(e);
    if (ret->err == ERR_OK) live_note(&e->live, &e->state, &e->limits, &e->in, cmd);
    if (ret->err == ERR_OK && cmd->kind == CMD_SCHEDULE_SLOTS) /* the tick has waited for them */
        timer_set(&e->state, TIMER_SCHEDULE, map_get(&e->state.schedule_by_revision, cmd->as.schedule_slots.revision),
                  e->in.wall);
}

enum err engine_command(struct engine *e, const struct command *cmd) {
    struct reply reply;
    engine_ask(e, cmd, &reply);
    if (cmd->token) effects_answer(&e->effects, cmd->token, &reply, e->state.lsn);
    return reply.err;
}

const struct options *engine_set(const struct engine *e, struct slice key) {
    const struct cached_options *set = option_cache_find(&e->live.sets, key);
    return set != NULL ? &set->given : NULL;
}

/* Leases first: an attempt whose worker is gone is lost, not late. */
static void run_timers(struct engine *e) {
    struct reply unused = {0};
    while (!engine_is_full(e)) {
        struct decision d = new_decision(e, &unused);
        if (!decide_lease(&d, &e->live)) break;
        commit_decided(e);
    }
    for (uint32_t i = 0; i < TIMERS_PER_PASS && !engine_is_full(e); i++) {
        struct decision d = new_decision(e, &unused);
        if (!decide_timer(&d, &e->state)) break;
        commit_decided(e);
    }
}

/* One step in a pass, which is half a millisecond; what a command of this pass began has had its first one. */
static void run_consequences(struct engine *e) {
    if (!e->was_working || e->state.working_head == 0 || engine_is_full(e)) return;
    struct record record = {.kind = REC_CONTINUED, .version = RECORD_VERSION};
    record.body.as_REC_CONTINUED.flow = flow_at(&e->state, e->state.working_head)->id;
    commit(e, &record);
}

static void run_questions(struct engine *e) {
    if (e->live.ask_next == 0) return;
    struct reply unused = {0};
    struct decision d = new_decision(e, &unused);
    (void)decide_ask_policy(&d, &e->live, STEP_JOBS_MAX);
}

/* It is its turn, and the policy that let it pass is no longer in force. */
static void revoke(struct engine *e, struct job_ref ref) {
    struct record record = {.kind = REC_REVOKED, .version = RECORD_VERSION};
    record.body.as_REC_REVOKED.flow = ref.flow.v;
    record.body.as_REC_REVOKED.ordinal = ref.ordinal;
    commit(e, &record);
}

static void run_dispatch(struct engine *e) {
    arena_reset(&e->command_arena);
    struct round *round = round_begin(&e->state, &e->live, &e->limits, e->in.wall, &e->command_arena);
    uint32_t job, worker;
    while (round && !engine_is_full(e) && round_next(round, &job, &worker)) {
        struct job_ref ref = job_ref_of(&e->state, job_at(&e->state, job));
        if (policy_has_lapsed(&e->state, job_at(&e->state, job))) {
            revoke(e, ref);
            continue;
        }
        const struct worker *w = worker_at(&e->state, worker);
        struct record record = {.kind = REC_ASSIGNED, .version = RECORD_VERSION};
        record.body.as_REC_ASSIGNED.flow = ref.flow.v;
        record.body.as_REC_ASSIGNED.ordinal = ref.ordinal;
        record.body.as_REC_ASSIGNED.attempt = job_at(&e->state, job)->attempt + 1;
        record.body.as_REC_ASSIGNED.worker = bytes_slice(w->id);
        record.body.as_REC_ASSIGNED.incarnation = w->incarnation;
        commit(e, &record);
        round_given(round);
    }
}

/* Before dispatch: who is given a result needs no worker. */
static void run_memos(struct engine *e) {
    struct reply unused = {0};
    for (uint32_t i = 0; i < MEMOS_PER_PASS && !engine_is_full(e); i++) {
        struct decision d = new_decision(e, &unused);
        if (!decide_memo(&d, &e->state)) break;
        commit_decided(e);
    }
}

/* Finished flows that the history has and nobody needs here any longer. */
static void run_retention(struct engine *e) {
    uint32_t flow;
    for (uint32_t i = 0; i < FORGOTTEN_PER_PASS && !engine_is_full(e); i++) {
        flow = retention_next(&e->state, &e->live, &e->limits, e->in.wall);
        if (flow == 0) return;
        struct record record = {.kind = REC_FORGOTTEN, .version = RECORD_VERSION};
        record.body.as_REC_FORGOTTEN.flow = flow_at(&e->state, flow)->id;
        record.body.as_REC_FORGOTTEN.history_lsn = e->live.projected_lsn;
        commit(e, &record);
    }
}

void engine_finish(struct engine *e) {
    REQUIRE(e->epoch != 0);
    if (!e->in.stood_still) run_timers(e);
    run_retention(e);
    run_consequences(e);
    store_sweep(&e->state, STEP_JOBS_MAX);
    flow_sweep(&e->state);
    run_questions(e);
    if (e->in.stood_still) return; /* which jobs are too late is not known before timers are judged, in the next pass */
    run_memos(e);
    run_dispatch(e);
}

/* ---- out ---- */

bool engine_batch(struct engine *e, struct batch *ret) {
    if (e->first_lsn == 0) return false;
    REQUIRE(e->taken_lsn == e->durable_lsn); /* one append in flight */
    REQUIRE(e->first_lsn == e->taken_lsn + 1);
    *ret = (struct batch){.first_lsn = e->first_lsn,
                          .last_lsn = e->state.lsn,
                          .epoch = e->epoch,
                          .shard = e->state.shard,
                          .rules = RULES_VERSION,
                          .time = e->batch_time,
                          .seed = e->state.seed,
                          .records = buf_slice(&e->records[e->filling])};
    ENSURE(ret->last_lsn >= ret->first_lsn);
    ENSURE(ret->records.len > 0);
    e->taken_lsn = e->state.lsn;
    e->first_lsn = 0;
    e->filling ^= 1u;
    buf_clear(&e->records[e->filling]);
    return true;
}

void engine_durable(struct engine *e, uint64_t lsn) {
    REQUIRE(lsn == e->taken_lsn);
    REQUIRE(lsn >= e->durable_lsn);
    e->durable_lsn = lsn;
}

bool engine_effect(struct engine *e, struct effect *ret) {
    return effects_take(&e->effects, e->durable_lsn, ret);
}

uint32_t engine_watchers(const struct engine *e, const struct effect *effect, watch_fn each, void *ctx) {
    REQUIRE(effect->kind == EFFECT_CHANGED || effect->kind == EFFECT_PUBLISHED);
    const struct store_effect *x = &effect->as.store;
    enum watch_kind kind = effect->kind == EFFECT_CHANGED ? WATCH_KEY : WATCH_CHANNEL;
    return watches_each(&e->live.watches, kind, (struct watch_where){x->tenant, x->flow}, x->key, each, ctx);
}

/* A block of 4 KiB with a header; what a batch is padded to. */
#define BLOCK_RECORD_BYTES 3900u

bool engine_should_fill(const struct engine *e) {
    if (e->first_lsn == 0 || e->in.journal_free_bytes == UINT64_MAX) return false;
    if (e->records[e->filling].len >= BLOCK_RECORD_BYTES) return false;
    return e->in.journal_free_bytes / 2 < e->state.reserved_bytes;
}

#define SMALL_SUBMIT_BYTES (2048u + 4u * ATTEMPT_RECORD_BYTES) /* a job with three retries: see decide_submit.c */

bool engine_takes_work(const struct engine *e, uint64_t journal_free_bytes) {
    return journal_free_bytes == UINT64_MAX || e->state.reserved_bytes + SMALL_SUBMIT_BYTES <= journal_free_bytes;
}

bool engine_has_work(const struct engine *e) {
    const struct state *s = &e->state;
    bool has_memory = s->buried.count || s->store.dropped_spaces.count || s->store.dropped_sets.count;
    return s->working_head || s->asking.head || e->live.ask_next || has_memory;
}

wall_time engine_next_due(const struct engine *e) {
    wall_time timer = timer_next(&e->state), leaving = retention_due(&e->state, &e->live, &e->limits);
    return leaving.ms < timer.ms ? leaving : timer;
}

mono_time engine_next_lease(const struct engine *e) {
    return e->live.lease_next;
}

wall_time engine_now(const struct engine *e) {
    return e->epoch != 0 ? e->in.wall : e->state.now;
}

uint64_t engine_lsn(const struct engine *e) {
    return e->state.lsn;
}

uint64_t engine_durable_lsn(const struct engine *e) {
    return e->durable_lsn;
}

const struct state *engine_state(const struct engine *e) {
    return &e->state;
}

const struct live *engine_live(const struct engine *e) {
    return &e->live;
}

struct digest engine_digest(const struct engine *e) {
    return snapshot_digest(&e->state);
}

enum err engine_snapshot(const struct engine *e, snapshot_write_fn write, void *ctx, struct why *why) {
    REQUIRE(e->loader == NULL);
    return snapshot_write(&e->state, write, ctx, why);
}
