/* rig.c: see rig.h. */
#include "rig.h"

#include <stdlib.h>

#define START_MS 1700000000000

static void resume(struct rig *r) {
    r->epoch++;
    engine_resume(r->engine, r->epoch, SLICE("test"), &r->in);
    engine_finish(r->engine);
    rig_flush(r);
}

void rig_init(struct rig *r) {
    memset(r, 0, sizeof *r);
    limits_default(&r->limits);
    r->in = (struct inputs){{START_MS}, {1000}, 42, UINT64_MAX};
    buf_init(&r->journal, (size_t)1 << 32);
    vec_init(&r->batches, sizeof(struct batch));
    vec_init(&r->effects, sizeof(struct effect));
    arena_init(&r->kept, 4096, (size_t)1 << 30);
    r->engine = engine_new(0, &r->limits);
    resume(r);
}

void rig_fini(struct rig *r) {
    engine_free(r->engine);
    buf_fini(&r->journal);
    vec_fini(&r->batches);
    vec_fini(&r->effects);
    arena_fini(&r->kept);
}

static void keep_batch(struct rig *r, const struct batch *b) {
    struct batch *kept = vec_push(&r->batches);
    *kept = *b;
    kept->records.ptr = (const uint8_t *)(uintptr_t)r->journal.len; /* an offset until it is read */
    buf_put_slice(&r->journal, b->records);
    assert_false(r->journal.full);
}

/* What it says is gone with the next effect. */
static void keep_store_effect(struct rig *r, struct store_effect *e) {
    e->tenant = arena_slice(&r->kept, e->tenant);
    e->key = arena_slice(&r->kept, e->key);
    e->body = arena_slice(&r->kept, e->body);
    e->owned = NULL;
}

static void collect(struct rig *r) {
    struct effect effect;
    while (engine_effect(r->engine, &effect)) {
        assert_true(effect.lsn <= engine_durable_lsn(r->engine));
        if (effect.kind == EFFECT_ANSWER) {
            r->reply = *effect.as.answer.reply;
            r->answered = effect.as.answer.token;
            effect.as.answer.reply = NULL;
        }
        if (effect.kind == EFFECT_ASSIGN) r->jobs_assigned++;
        if (effect.kind == EFFECT_CHANGED || effect.kind == EFFECT_PUBLISHED) keep_store_effect(r, &effect.as.store);
        *(struct effect *)vec_push(&r->effects) = effect;
    }
}

void rig_flush(struct rig *r) {
    struct batch b;
    if (r->taken_lsn && !r->hold) { /* what was held back becomes durable now */
        engine_durable(r->engine, r->taken_lsn);
        r->taken_lsn = 0;
    }
    if (!r->taken_lsn && engine_batch(r->engine, &b)) {
        keep_batch(r, &b);
        if (r->hold)
            r->taken_lsn = b.last_lsn;
        else
            engine_durable(r->engine, b.last_lsn);
    }
    collect(r);
}

static void pass_begin(struct rig *r) {
    r->in.random = r->in.random * 6364136223846793005ULL + 1442695040888963407ULL;
    engine_begin(r->engine, &r->in);
}

enum err rig_command(struct rig *r, struct command *cmd) {
    cmd->token = ++r->token;
    if (cmd->principal.len == 0) cmd->principal = SLICE("tester");
    pass_begin(r);
    engine_command(r->engine, cmd);
    engine_finish(r->engine);
    rig_flush(r);
    return r->answered == r->token ? r->reply.err : ERR_UNKNOWN;
}

void rig_tick(struct rig *r, int64_t ms) {
    r->in.wall.ms += ms;
    r->in.mono.ms += ms;
    do {
        pass_begin(r);
        engine_finish(r->engine);
        rig_flush(r);
    } while (engine_has_work(r->engine));
}

/* "name: a b" → a job with parents a and b. The pieces are slices of the text. */
static void parse_job(const char *text, struct job_spec *job, struct parent_ref *parents) {
    const char *colon = strchr(text, ':');
    job->name = colon ? slice_of(text, (size_t)(colon - text)) : slice_str(text);
    job->parents = parents;
    job->body = SLICE("body");
    for (const char *at = colon ? colon + 1 : ""; *at;) {
        while (*at == ' ') at++;
        size_t len = strcspn(at, " ");
        if (len) parents[job->parent_count++] = (struct parent_ref){.name = slice_of(at, len)};
        at += len;
    }
}

enum err rig_submit(struct rig *r, const struct options *o, const char *const *jobs, uint32_t count) {
    static const uint8_t hash[32] = {7};
    struct job_spec *specs = calloc(count + 1, sizeof *specs);
    struct parent_ref(*parents)[64] = calloc(count + 1, sizeof *parents);
    for (uint32_t i = 0; i < count; i++) {
        parse_job(jobs[i], &specs[i], parents[i]);
        specs[i].body_hash = slice_of(hash, 32);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, specs, count, false};
    enum err e = rig_command(r, &cmd);
    free(specs);
    free(parents);
    return e;
}

enum err rig_attach(struct rig *r, const char *worker, uint64_t incarnation, uint32_t slots) {
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach =
        (struct cmd_attach){.worker = slice_str(worker), .incarnation = incarnation, .info = {.slots = slots}};
    return rig_command(r, &cmd);
}

enum err rig_done(struct rig *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt,
                  enum outcome outcome) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = slice_str(worker),
                                          .incarnation = incarnation,
                                          .job = job,
                                          .attempt = attempt,
                                          .outcome = outcome,
                                          .exit_code = outcome == OUTCOME_EXIT ? 1 : 0};
    return rig_command(r, &cmd);
}

enum err rig_started(struct rig *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt) {
    struct command cmd = {.kind = CMD_STARTED};
    cmd.as.attempt =
        (struct cmd_attempt){.worker = slice_str(worker), .incarnation = incarnation, .job = job, .attempt = attempt};
    return rig_command(r, &cmd);
}

enum err rig_cancel(struct rig *r, struct job_ref job) {
    struct command cmd = {.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = job.flow, .whole = job.ordinal == UINT32_MAX, .ordinal = job.ordinal};
    return rig_command(r, &cmd);
}

struct job_view rig_job(const struct rig *r, uint64_t flow, uint32_t ordinal) {
    struct job_view view;
    assert_true(view_job(engine_state(r->engine), (struct job_ref){{flow}, ordinal}, &view));
    return view;
}

enum job_state rig_state(const struct rig *r, uint64_t flow, uint32_t ordinal) {
    return rig_job(r, flow, ordinal).state;
}

void rig_run_all(struct rig *r, const char *worker, uint64_t incarnation) {
    for (uint32_t next = 0; next < r->effects.count; next++) {
        struct effect effect = *(struct effect *)vec_at(&r->effects, next);
        if (effect.kind != EFFECT_ASSIGN) continue;
        struct job_view view;
        if (!view_attempt(engine_state(r->engine), &effect.as.attempt, &view)) continue;
        assert_int_equal(rig_done(r, worker, incarnation, effect.as.attempt.job, effect.as.attempt.attempt, OUTCOME_OK),
                         ERR_OK);
    }
}

struct engine *rig_replay(const struct rig *r) {
    struct engine *e = engine_new(0, &r->limits);
    for (uint32_t i = 0; i < r->batches.count; i++) {
        struct batch b = *(const struct batch *)vec_at(&r->batches, i);
        b.records.ptr = r->journal.at + (uintptr_t)b.records.ptr;
        struct why why;
        enum err err = engine_replay(e, &b, &why);
        if (err != ERR_OK) fail_msg("replay: %s: %s", err_word(err), why.text);
    }
    return e;
}

static enum err append_piece(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

struct engine *rig_reload(const struct rig *r) {
    struct buf snapshot;
    struct why why;
    buf_init(&snapshot, (size_t)1 << 32);
    assert_int_equal(engine_snapshot(r->engine, append_piece, &snapshot, &why), ERR_OK);
    struct engine *e = engine_new(0, &r->limits);
    for (size_t at = 0; at < snapshot.len; at += 777) { /* in awkward pieces */
        size_t len = snapshot.len - at < 777 ? snapshot.len - at : 777;
        enum err err = engine_load(e, slice_of(snapshot.at + at, len), &why);
        if (err != ERR_OK) fail_msg("load: %s: %s", err_word(err), why.text);
    }
    enum err err = engine_load_end(e, &why);
    if (err != ERR_OK) fail_msg("load: %s: %s", err_word(err), why.text);
    buf_fini(&snapshot);
    return e;
}

void rig_check_digests(const struct rig *r) {
    struct engine *replayed = rig_replay(r), *reloaded = rig_reload(r);
    assert_digests_equal(r->engine, replayed);
    assert_digests_equal(r->engine, reloaded);
    engine_free(replayed);
    engine_free(reloaded);
}

void rig_crash(struct rig *r) {
    struct engine *replayed = rig_replay(r);
    engine_free(r->engine);
    r->engine = replayed;
    r->effects.count = 0;
    resume(r);
}
