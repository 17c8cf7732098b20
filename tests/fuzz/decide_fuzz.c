/* decide_fuzz.c: commands drawn from the input, sensible and senseless, into one engine, with time going by, crashes
 * and restores in between. No panic; and at the end live, replayed and restored states have one digest. */
#include <string.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"
#include "tlvgen.h"
#include "vec.h"
#include "view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COMMANDS_MAX 250
#define RECENT 16u

static const uint8_t cache_keys[3][32] = {{1}, {2}, {3}};

struct lab {
    struct tlvgen_bytes source;
    struct tlvgen g;
    struct arena arena;
    struct limits limits;
    struct inputs in;
    struct engine *engine;
    uint64_t epoch;
    struct buf journal;
    struct vec batches; /* of struct batch, records by offset */
    struct attempt_effect attempts[RECENT];
    question_id questions[RECENT];
    struct slots_effect wanted[RECENT];
    uint32_t attempt_count, question_count, wanted_count;
};

static uint32_t pick(struct lab *l, uint32_t below) {
    return (uint32_t)tlvgen_below(&l->g, below);
}

static struct slice name(struct lab *l, const char *const *names, uint32_t count) {
    return slice_str(names[pick(l, count)]);
}
static struct slice tenant(struct lab *l) {
    static const char *const names[] = {"acme", "acme", "acme", "other", ""};
    return name(l, names, 5);
}
static struct slice worker(struct lab *l) {
    static const char *const names[] = {"w", "v", "u", ""};
    return name(l, names, 4);
}
static struct slice pool(struct lab *l) {
    static const char *const names[] = {"", "default", "gpu", "a"};
    return name(l, names, 4);
}
static struct slice service(struct lab *l) {
    static const char *const names[] = {"api", "web", "web", "web.1", "web.2", "web.3", ""};
    return name(l, names, 7);
}
static struct slice job_name(struct lab *l) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "a-name-that-is-far-too-long", "x\n", ""};
    return name(l, names, pick(l, 8) ? 7 : 10);
}

/* ---- out ---- */

static void collect(struct lab *l) {
    struct effect effect;
    while (engine_effect(l->engine, &effect)) {
        if (effect.kind == EFFECT_ASSIGN || effect.kind == EFFECT_STOP)
            l->attempts[l->attempt_count++ % RECENT] = effect.as.attempt;
        if (effect.kind == EFFECT_SLOTS_WANTED) l->wanted[l->wanted_count++ % RECENT] = effect.as.slots;
        if (effect.kind == EFFECT_QUESTION) l->questions[l->question_count++ % RECENT] = effect.as.question.question;
    }
}

static void flush(struct lab *l) {
    struct batch b;
    if (engine_batch(l->engine, &b)) {
        struct batch *kept = vec_push(&l->batches);
        *kept = b;
        kept->records.ptr = (const uint8_t *)(uintptr_t)l->journal.len;
        buf_put_slice(&l->journal, b.records);
        ENSURE(!l->journal.full);
        engine_durable(l->engine, b.last_lsn);
    }
    collect(l);
}

static struct engine *replay(const struct lab *l) {
    struct engine *e = engine_new(0, &l->limits);
    for (uint32_t i = 0; i < l->batches.count; i++) {
        struct batch b = *(const struct batch *)vec_at(&l->batches, i);
        b.records.ptr = l->journal.at + (uintptr_t)b.records.ptr;
        struct why why;
        enum err err = engine_replay(e, &b, &why);
        ENSURE(err == ERR_OK);
    }
    return e;
}

static enum err append(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

static struct engine *restore(const struct lab *l) {
    struct buf snapshot;
    struct why why;
    buf_init(&snapshot, (size_t)1 << 28);
    ENSURE(engine_snapshot(l->engine, append, &snapshot, &why) == ERR_OK);
    struct engine *e = engine_new(0, &l->limits);
    ENSURE(engine_load(e, buf_slice(&snapshot), &why) == ERR_OK);
    ENSURE(engine_load_end(e, &why) == ERR_OK);
    buf_fini(&snapshot);
    return e;
}

static void check_digests(const struct lab *l) {
    struct engine *copies[2] = {replay(l), restore(l)};
    struct digest live = engine_digest(l->engine);
    for (int i = 0; i < 2; i++) {
        struct digest copy = engine_digest(copies[i]);
        ENSURE(copy.lo == live.lo && copy.hi == live.hi);
        engine_free(copies[i]);
    }
}

static void resume(struct lab *l) {
    engine_resume(l->engine, ++l->epoch, SLICE("fuzz"), &l->in);
    engine_finish(l->engine);
    flush(l);
}

static void crash(struct lab *l) {
    struct engine *next = pick(l, 2) ? replay(l) : restore(l);
    engine_free(l->engine);
    l->engine = next;
    resume(l);
}

/* ---- commands ---- */

static struct options options(struct lab *l) {
    struct options o;
    if (pick(l, 8) == 0) {
        tlvgen_fill(&l->g, &options_desc, &o);
        return o;
    }
    options_default(&o);
    o.retries = pick(l, 3);
    o.on_upstream = (uint8_t)pick(l, 3);
    if (pick(l, 4) == 0) o.gates = (uint8_t)pick(l, 128);
    if (pick(l, 4) == 0) { /* a foreach job */
        o.gates = GATE_BIT(GATE_EXPANSION) | (pick(l, 4) == 0 ? GATE_BIT(GATE_OUTPUT) : 0);
        o.max_parallel = pick(l, 4);
        o.fail_fast = pick(l, 3) == 0;
        o.allow_count = pick(l, 4) == 0 ? pick(l, 3) : 0;
        o.allow_percent = pick(l, 8) == 0 ? pick(l, 110) : 0;
    }
    if (pick(l, 4) == 0) o.kind = (uint8_t)pick(l, JOB_KIND_COUNT);
    if (pick(l, 6) == 0) {
        o.kind = JOB_SERVICE;
        o.restart_base_ms = pick(l, 3) * 500;
        o.restart_reset_ms = (int64_t)pick(l, 3) * 1000;
        o.healthy_within_ms = (int64_t)pick(l, 4) * 5000;
        o.update = (uint8_t)pick(l, UPDATE_COUNT);
        if (pick(l, 2)) o.replica_of = SLICE("web");
    }
    if (o.kind == JOB_BARRIER && pick(l, 4) == 0) {
        o.replica_of = SLICE("web");
        o.replicas = pick(l, 4);
    }
    if (pick(l, 4) == 0) o.delay_ms = (int64_t)pick(l, 5) * 1000;
    if (pick(l, 4) == 0) o.deadline_ms = l->in.wall.ms + (int64_t)pick(l, 20) * 1000;
    if (pick(l, 4) == 0) o.start_within_ms = (int64_t)pick(l, 5) * 1000;
    if (pick(l, 4) == 0) o.run_timeout_ms = (int64_t)pick(l, 5) * 1000;
    if (pick(l, 4) == 0) o.quorum = pick(l, 4);
    if (pick(l, 8) == 0) o.preferred_worker = worker(l);
    if (pick(l, 8) == 0) o.affinity = true;
    if (pick(l, 8) == 0) o.exclusive = true;
    if (pick(l, 8) == 0) o.demand.pool = pool(l);
    if (pick(l, 8) == 0) o.priority = pick(l, 4);
    if (pick(l, 4) == 0) {
        struct name_item *names = ARENA_ARRAY(&l->arena, struct name_item, 3);
        for (uint32_t i = 0; i < 3; i++) names[i].name = job_name(l);
        o.demand.keys = (struct tlv_list){names, pick(l, 3)};
        o.demand.rates = (struct tlv_list){names + 2, pick(l, 2)};
    }
    return o;
}

static struct cmd_jobs jobs(struct lab *l) {
    static const uint8_t hash[32] = {3};
    uint32_t set_count = 1 + pick(l, 3), count = pick(l, 7);
    struct options *sets = ARENA_ARRAY(&l->arena, struct options, set_count);
    for (uint32_t i = 0; i < set_count; i++) sets[i] = options(l);
    struct job_spec *list = ARENA_ARRAY(&l->arena, struct job_spec, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct parent_ref *parents = ARENA_ARRAY(&l->arena, struct parent_ref, 4);
        list[i] = (struct job_spec){.name = job_name(l),
                                    .profile = pick(l, set_count + (pick(l, 8) == 0)),
                                    .parents = parents,
                                    .parent_count = pick(l, 4),
                                    .body = SLICE("body"),
                                    .body_hash = slice_of(hash, pick(l, 16) ? 32 : 0)};
        if (list[i].profile < set_count && sets[list[i].profile].kind == JOB_SERVICE) list[i].service = service(l);
        if (pick(l, 32) == 0) list[i].service = service(l);
        if (pick(l, 3) == 0) list[i].cache_key = slice_of(cache_keys[pick(l, 3)], pick(l, 16) ? 32 : 31);
        if (pick(l, 4)) list[i].name = slice_of(&"abcdefg"[i % 7], 1);
        for (uint32_t k = 0; k < list[i].parent_count; k++) {
            parents[k] = (struct parent_ref){.name = job_name(l)};
            if (i > 0 && pick(l, 4)) parents[k].name = list[pick(l, i)].name;
            if (pick(l, 6) == 0) parents[k].flow.v = pick(l, 8);
            if (pick(l, 8) == 0) parents[k].has_seen = true;
            if (pick(l, 8) == 0) parents[k].shard = pick(l, 2);
            parents[k].seen = (enum job_state)pick(l, JOB_STATE_COUNT);
        }
    }
    return (struct cmd_jobs){sets, set_count, list, count, pick(l, 4) == 0};
}

static void draw_service(struct lab *l, struct command *cmd) {
    cmd->as.service = (struct cmd_service){tenant(l), service(l), (enum service_desired)pick(l, 4), pick(l, 8) == 0,
                                           pick(l, 4) == 0 ? pick(l, 5) : 0};
}

static struct job_ref job(struct lab *l) {
    uint32_t first = pick(l, 4) ? 0 : FIRST_CHILD_ORDINAL;
    return (struct job_ref){{pick(l, 8)}, first + pick(l, 6)};
}

static void draw_submit(struct lab *l, struct command *cmd) {
    static const uint8_t hashes[2][32] = {{1}, {2}};
    cmd->as.submit.jobs = jobs(l);
    if (pick(l, 4)) return;
    static const char *const keys[] = {"k1", "k2", "k3"};
    cmd->as.submit.key = name(l, keys, 3);
    cmd->as.submit.key_hash = slice_of(hashes[pick(l, 2)], 32);
    cmd->as.submit.key_ms = (int64_t)pick(l, 3) * 4000;
}

static void draw_attach(struct lab *l, struct command *cmd) {
    struct cmd_attach *c = &cmd->as.attach;
    c->worker = worker(l);
    c->incarnation = 1 + pick(l, 3);
    if (pick(l, 8) == 0) tlvgen_fill(&l->g, &worker_info_desc, &c->info);
    c->info.slots = pick(l, 5);
    c->info.pool = pool(l);
    c->info.permanent = pick(l, 4) == 0;
    struct held_attempt *held = ARENA_ARRAY(&l->arena, struct held_attempt, 4);
    c->held = held;
    c->held_count = pick(l, 5);
    for (uint32_t i = 0; i < c->held_count; i++) {
        const struct attempt_effect *a = &l->attempts[pick(l, RECENT)];
        held[i] = (struct held_attempt){a->job, a->attempt, (enum held_phase)pick(l, HELD_PHASE_COUNT)};
    }
}

static void draw_attempt(struct lab *l, struct command *cmd) {
    const struct attempt_effect *a = &l->attempts[pick(l, l->attempt_count < RECENT ? l->attempt_count + 1 : RECENT)];
    struct worker_view w;
    cmd->as.attempt = (struct cmd_attempt){.worker = worker(l),
                                           .incarnation = a->incarnation,
                                           .job = a->job,
                                           .attempt = a->attempt,
                                           .percent = pick(l, 110),
                                           .outcome = (enum outcome)(pick(l, 3) ? 0 : pick(l, OUTCOME_COUNT + 1)),
                                           .exit_code = pick(l, 4),
                                           .healthy = pick(l, 3) != 0,
                                           .result = pick(l, 3) ? slice_of(NULL, 0) : SLICE("result")};
    if (pick(l, 8) && view_worker(engine_state(l->engine), engine_live(l->engine), a->worker, &w))
        cmd->as.attempt.worker = w.id;
    if (pick(l, 16) == 0) cmd->as.attempt.job = job(l);
    if (pick(l, 16) == 0) cmd->as.attempt.attempt = pick(l, 4);
    if (pick(l, 16) == 0) cmd->as.attempt.incarnation = pick(l, 4);
}

static void draw_verdict(struct lab *l, struct command *cmd) {
    static const uint8_t hash[32] = {9};
    struct cmd_verdict *c = &cmd->as.verdict;
    struct question_view q = {.gate = GATE_COUNT};
    c->question = l->questions[pick(l, l->question_count < RECENT ? l->question_count + 1 : RECENT)];
    c->verdict = (enum verdict)(pick(l, 2) ? 0 : pick(l, VERDICT_COUNT + 1));
    c->again_ms = l->in.wall.ms + (int64_t)pick(l, 4) * 1000;
    if (view_question(engine_state(l->engine), c->question, &q)) {
        c->revision = q.revision;
        c->hash = q.hash;
    }
    c->policy = pick(l, 4) ? UINT64_MAX : engine_lsn(l->engine) / 8;
    if (pick(l, 8) == 0) c->result = SLICE("result");
    if (pick(l, 16) == 0) c->revision++;
    if (pick(l, 4) == 0) c->payload = SLICE("payload");
    if (pick(l, 4) == 0) c->payload_hash = slice_of(hash, 32);
    bool items = pick(l, 16) ? q.gate == GATE_EXPANSION && c->verdict == VERDICT_ALLOW : pick(l, 2);
    if (items) {
        c->item_count = pick(l, 8) ? pick(l, 9) : 5000;
        if (c->item_count || pick(l, 8) == 0) c->items = slice_of(hash, 32);
    }
    if (pick(l, 4) == 0) c->cache_key = slice_of(cache_keys[pick(l, 3)], 32);
    if (pick(l, 8) == 0) {
        c->question.v = 0;
        c->verdict = VERDICT_QUARANTINE;
        c->job = job(l);
    }
}

static void draw_names(struct lab *l, struct command *cmd) {
    struct name_item *items = ARENA_ARRAY(&l->arena, struct name_item, 3);
    uint32_t count = pick(l, 4);
    for (uint32_t i = 0; i < count && i < 3; i++) items[i].name = pool(l);
    if (count > 3) count = 3;
    if (cmd->kind == CMD_POOL)
        cmd->as.pool = (struct cmd_pool){pool(l), (enum pool_state)pick(l, 4), pick(l, 2), items, count};
    else
        cmd->as.topic = (struct cmd_topic){pool(l), items, count};
}

static void draw_limit(struct lab *l, struct command *cmd) {
    cmd->as.limit = (struct cmd_limit){.tenant = tenant(l),
                                       .kind = (enum limit_kind)pick(l, 4),
                                       .name = job_name(l),
                                       .clear = pick(l, 4) == 0,
                                       .width = pick(l, 4),
                                       .rate_milli = (uint64_t)pick(l, 5) * 700,
                                       .burst = pick(l, 4),
                                       .running = pick(l, 4),
                                       .queued = pick(l, 30),
                                       .bytes = pick(l, 300)};
}

static struct slice key(struct lab *l) {
    static const char *const names[] = {"a", "b", "ab", "abc", "5", "a-key-that-is-too-long", ""};
    return name(l, names, pick(l, 8) ? 5 : 7);
}

static void draw_store(struct lab *l, struct command *cmd) {
    struct cmd_store *c = &cmd->as.store;
    struct store_entry *entries = ARENA_ARRAY(&l->arena, struct store_entry, 4);
    struct slice *members = ARENA_ARRAY(&l->arena, struct slice, 4);
    for (uint32_t i = 0; i < 4; i++) {
        entries[i] = (struct store_entry){key(l), key(l)};
        members[i] = key(l);
    }
    *c = (struct cmd_store){.op = (enum store_op)pick(l, STORE_OP_COUNT + 1),
                            .flow = {pick(l, 3) ? 0 : pick(l, 8)},
                            .entries = entries,
                            .entry_count = pick(l, 5),
                            .condition = (enum store_if)(pick(l, 2) ? 0 : pick(l, STORE_IF_COUNT + 1)),
                            .version = pick(l, 3) ? 0 : engine_lsn(l->engine),
                            .key = key(l),
                            .value = key(l),
                            .number = pick(l, 4) ? (int64_t)pick(l, 9) - 4 : INT64_MAX,
                            .members = members,
                            .member_count = pick(l, 5),
                            .keep_expiry = pick(l, 2),
                            .session = pick(l, 3),
                            .watch = pick(l, 4),
                            .prefix = pick(l, 2),
                            .of_channel = pick(l, 2)};
    if (pick(l, 3) == 0) c->expires_ms = l->in.wall.ms + ((int64_t)pick(l, 8) - 1) * 2000;
    if (pick(l, 4)) cmd->tenant = SLICE("acme");
}

/* Slots every few seconds after what was asked, at times out of order; some for a question long answered. */
static const int64_t *draw_slots(struct lab *l, int64_t after_ms, uint32_t count) {
    int64_t *slots = ARENA_ARRAY(&l->arena, int64_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = (i ? slots[i - 1] : after_ms) + (int64_t)pick(l, 6) * 1000 + (pick(l, 16) > 0);
    return slots;
}

static void draw_schedule(struct lab *l, struct command *cmd) {
    static const char *const names[] = {"s", "t", ""};
    int64_t now = l->in.wall.ms;
    cmd->tenant = tenant(l);
    if (cmd->kind == CMD_SCHEDULE) {
        struct cmd_schedule *c = &cmd->as.schedule;
        *c = (struct cmd_schedule){.name = name(l, names, 3),
                                   .expression = pool(l),
                                   .catch_up = (enum catch_up)pick(l, CATCH_UP_COUNT + 1),
                                   .overlap = (enum overlap)pick(l, OVERLAP_COUNT + 1),
                                   .paused = pick(l, 8) == 0,
                                   .start_ms = pick(l, 4) ? 0 : now + (int64_t)pick(l, 9) * 1000,
                                   .end_ms = pick(l, 2) ? 0 : now + (int64_t)pick(l, 60) * 1000,
                                   .jobs = jobs(l)};
        c->jobs.more &= pick(l, 4) == 0;
        if (pick(l, 3) > 0) return;
        c->when = (unsigned)pick(l, KEY_HOW_ALL + 2);
        c->key = key(l);
        c->key_prefix = pick(l, 2);
        c->own_changes = pick(l, 2);
        c->min_interval_ms = pick(l, 2) ? 0 : (int64_t)pick(l, 5) * 1000;
    } else if (cmd->kind == CMD_SCHEDULE_SLOTS) {
        const struct slots_effect *w = &l->wanted[pick(l, l->wanted_count < RECENT ? l->wanted_count + 1 : RECENT)];
        uint32_t count = pick(l, 6);
        cmd->as.schedule_slots = (struct cmd_schedule_slots){
            .revision = w->revision,
            .after_ms = w->after_ms,
            .slots = draw_slots(l, w->after_ms, count),
            .slot_count = count,
            .earlier = pick(l, 3) ? 0 : pick(l, 9),
            .last = pick(l, 4) == 0,
        };
    } else {
        uint32_t count = pick(l, 4);
        cmd->as.schedule_name = (struct cmd_schedule_name){.name = name(l, names, 3),
                                                           .on = pick(l, 2),
                                                           .slots = draw_slots(l, now - 20000, count),
                                                           .slot_count = count};
        if (cmd->kind == CMD_SCHEDULE_RUN) cmd->as.schedule_name.key = key(l);
    }
}

/* What the server can say: no gap, and nothing that is to come. Its number may be old. */
static void draw_checkpoint(struct lab *l, struct command *cmd) {
    static const uint8_t zero[CHECKPOINT_SIGNATURE_BYTES];
    struct checkpoint last = view_checkpoint(engine_state(l->engine));
    struct slice hash = slice_of(zero, CHECKPOINT_HASH_BYTES);
    if (last.upto_lsn >= engine_lsn(l->engine)) {
        cmd->kind = CMD_READ;
        return;
    }
    cmd->as.checkpoint = (struct cmd_checkpoint){.number = last.number + (last.number == 0 || pick(l, 4) != 0),
                                                 .from_lsn = last.upto_lsn + 1,
                                                 .upto_lsn = engine_lsn(l->engine),
                                                 .chain = hash,
                                                 .key = hash,
                                                 .signature = slice_of(zero, sizeof zero)};
}

static void draw_identity(struct lab *l, struct command *cmd) {
    static const char *const ids[] = {"a", "b", "c"};
    static const uint8_t hashes[4][32] = {{1}, {2}, {3}, {4}}, sealed[60] = {1};
    static struct rec_secret secret;
    static struct rec_token_info tokens[2];
    static struct rec_session session;
    secret = (struct rec_secret){1 + pick(l, 2), SECRET_DATA_KEY, {sealed, sizeof sealed}};
    for (uint32_t i = 0; i < 2; i++)
        tokens[i] = (struct rec_token_info){.id = name(l, ids, 3),
                                            .hash = slice_of(hashes[2 * i + pick(l, 2)], 32),
                                            .name = name(l, ids, 3),
                                            .tenant = pick(l, 2) ? tenant(l) : slice_of(NULL, 0),
                                            .roles = pick(l, 4),
                                            .kind = (uint8_t)pick(l, KIND_COUNT),
                                            .expires_ms = pick(l, 2) * 1000};
    session = (struct rec_session){name(l, ids, 3), pick(l, 3), engine_now(l->engine).ms + pick(l, 3) * 500};
    cmd->as.identity = (struct cmd_identity){.op = (enum identity_op)pick(l, IDENTITY_OP_COUNT),
                                             .log = 1 + pick(l, 2),
                                             .secrets = &secret,
                                             .secret_count = 1,
                                             .tokens = tokens,
                                             .token_count = 1 + pick(l, 2),
                                             .sessions = &session,
                                             .session_count = 1,
                                             .id = name(l, ids, 3),
                                             .hash = slice_of(hashes[pick(l, 4)], 32),
                                             .who = name(l, ids, 3),
                                             .expires_ms = engine_now(l->engine).ms + pick(l, 4) * 500};
}

static void draw(struct lab *l, struct command *cmd) {
    static const char *const people[] = {"ann", "bob", "cid"};
    static const uint8_t often[] = {CMD_SUBMIT,  CMD_SUBMIT, CMD_ADD,      CMD_ATTACH,         CMD_HEARTBEAT,
                                    CMD_STARTED, CMD_DONE,   CMD_DONE,     CMD_DONE,           CMD_VERDICT,
                                    CMD_VERDICT, CMD_CANCEL, CMD_STORE,    CMD_STORE,          CMD_HEALTH,
                                    CMD_SERVICE, CMD_POLICY, CMD_SCHEDULE, CMD_SCHEDULE_SLOTS, CMD_SCHEDULE_SLOTS};
    uint32_t which = pick(l, CMD_COUNT + sizeof often);
    *cmd =
        (struct command){.kind = (enum command_kind)(which < CMD_COUNT ? which : often[which - CMD_COUNT]), .token = 1};
    cmd->tenant = cmd->kind == CMD_SUBMIT || pick(l, 4) == 0 ? tenant(l) : slice_of(NULL, 0);
    cmd->principal = name(l, people, 3);
    switch (cmd->kind) {
    case CMD_SUBMIT: draw_submit(l, cmd); return;
    case CMD_ADD:
        cmd->as.add = (struct cmd_add){.flow = {pick(l, 8)}, .jobs = jobs(l)};
        if (pick(l, 2)) cmd->as.add.adder = (struct job_ref){cmd->as.add.flow, pick(l, 6)};
        cmd->as.add.fence = pick(l, 16);
        return;
    case CMD_CANCEL:
        cmd->as.cancel = (struct cmd_cancel){{pick(l, 8)}, pick(l, 2), pick(l, 6), SLICE("why not")};
        return;
    case CMD_PAUSE:
        cmd->as.pause = (struct cmd_pause){(enum pause_scope)pick(l, 4), {pick(l, 8)}, tenant(l), pick(l, 2)};
        return;
    case CMD_RETRY:
    case CMD_DISCARD: cmd->as.job = job(l); return;
    case CMD_RERUN:
    case CMD_FORGET: cmd->as.flow.v = pick(l, 8); return;
    case CMD_ATTACH: draw_attach(l, cmd); return;
    case CMD_DETACH:
    case CMD_HEARTBEAT:
    case CMD_DRAIN:
        cmd->as.worker = (struct cmd_worker){worker(l),    1 + pick(l, 3), pick(l, 6), pick(l, 101),
                                             pick(l, 101), pick(l, 2),     pick(l, 2)};
        return;
    case CMD_STARTED:
    case CMD_PROGRESS:
    case CMD_HEALTH:
    case CMD_DONE: draw_attempt(l, cmd); return;
    case CMD_VERDICT: draw_verdict(l, cmd); return;
    case CMD_POOL:
    case CMD_TOPIC: draw_names(l, cmd); return;
    case CMD_STORE: draw_store(l, cmd); return;
    case CMD_TENANT: cmd->as.tenant_set = (struct cmd_tenant){tenant(l), pick(l, 5)}; return;
    case CMD_LIMIT: draw_limit(l, cmd); return;
    case CMD_SERVICE: draw_service(l, cmd); return;
    case CMD_POLICY: cmd->as.policy.version = engine_lsn(l->engine) / 8 + pick(l, 3); return;
    case CMD_CHECKPOINT: draw_checkpoint(l, cmd); return;
    case CMD_PROJECTED: cmd->as.lsn = engine_lsn(l->engine) + (pick(l, 8) == 0) - pick(l, 2); return;
    case CMD_SCHEDULE:
    case CMD_SCHEDULE_REMOVE:
    case CMD_SCHEDULE_PAUSE:
    case CMD_SCHEDULE_BACKFILL:
    case CMD_SCHEDULE_RUN:
    case CMD_SCHEDULE_SLOTS: draw_schedule(l, cmd); return;
    case CMD_IDENTITY: draw_identity(l, cmd); return;
    case CMD_READ:
    case CMD_COUNT: return;
    }
}

static void look(const struct lab *l) { /* reading must not fall over either */
    struct why_job why;
    (void)view_why_service(engine_state(l->engine), engine_live(l->engine), &l->limits, SLICE("acme"), SLICE("web"),
                           &why);
    for (uint64_t f = 1; f < 8; f++)
        for (uint32_t i = 0; i < 6; i++)
            (void)view_why(engine_state(l->engine), engine_live(l->engine), &l->limits, (struct job_ref){{f}, i}, &why);
    struct state_counts counts;
    view_counts(engine_state(l->engine), engine_live(l->engine), &counts);
    uint64_t open = 0;
    for (uint32_t s = 0; s < JOB_SUCCEEDED; s++) open += counts.by_state[s];
    ENSURE(open > 0 || counts.store_keys > 0 || counts.reserved_bytes == 0);
}

static void step(struct lab *l) {
    uint32_t ms = pick(l, 16);
    l->in.wall.ms += ms > 12 ? (int64_t)(ms - 12) * 11000 : ms > 8 ? ms * 100 : 0;
    l->in.mono.ms += ms > 12 ? (int64_t)(ms - 12) * 11000 : ms > 8 ? ms * 100 : 0;
    l->in.random += 77;
    if (ms == 7 && pick(l, 4) == 0) {
        crash(l);
        return;
    }
    if (ms == 6) l->in.journal_free_bytes = pick(l, 2) ? UINT64_MAX : pick(l, 200) * 64;
    engine_begin(l->engine, &l->in);
    for (uint32_t n = 1 + pick(l, 3); n > 0; n--) {
        struct command cmd;
        draw(l, &cmd);
        engine_command(l->engine, &cmd);
        arena_reset(&l->arena);
    }
    engine_finish(l->engine);
    flush(l);
    look(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct inputs in = {.wall = {1700000000000}, .mono = {1000}, .random = 42, .journal_free_bytes = UINT64_MAX};
    struct lab l = {.source = {data, data + size}, .in = in};
    l.g = (struct tlvgen){.draw = tlvgen_draw_byte, .ctx = &l.source, .arena = &l.arena, .small = true};
    arena_init(&l.arena, 65536, (size_t)1 << 26);
    buf_init(&l.journal, (size_t)1 << 28);
    vec_init(&l.batches, sizeof(struct batch));
    limits_default(&l.limits);
    l.limits.name_bytes_max = 20;
    l.limits.retention_ms = 5000;
    l.limits.dead_letter_ms = 30000;
    l.limits.ended_flows_max = 5;
    l.limits.flows_max = 6;
    l.limits.jobs_max = 40;
    l.limits.flow_jobs_max = 12;
    l.limits.workers_max = 2;
    l.limits.store_key_bytes_max = 10;
    l.limits.store_entries_max = 3;
    l.limits.store_space_keys_max = 4;
    l.limits.store_set_members_max = 4;
    l.limits.session_watches_max = 2;
    l.limits.idempotency_keys_max = 2;
    l.limits.pools_max = l.limits.topics_max = 2;
    l.limits.job_foreign_children_max = 2;
    l.engine = engine_new(0, &l.limits);
    resume(&l);
    for (int i = 0; i < COMMANDS_MAX && l.source.at < l.source.end; i++) step(&l);
    check_digests(&l);
    engine_free(l.engine);
    vec_fini(&l.batches);
    buf_fini(&l.journal);
    arena_fini(&l.arena);
    return 0;
}
