/* engine_fixture.c: see engine_fixture.h. */
#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define START_MS 1700000000000

static void resume(struct fixture *r) {
    r->epoch++;
    engine_resume(r->engine, r->epoch, SLICE("test"), &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
}

void fixture_init(struct fixture *r) {
    memset(r, 0, sizeof *r);
    limits_default(&r->limits);
    r->in = (struct inputs){{START_MS}, {1000}, 42, UINT64_MAX, false, 0};
    buf_init(&r->journal, (size_t)1 << 32);
    vec_init(&r->batches, sizeof(struct batch));
    vec_init(&r->effects, sizeof(struct effect));
    arena_init(&r->kept, 4096, (size_t)1 << 30);
    r->tenant = "acme";
    r->principal = "tester";
    r->engine = engine_new(0, &r->limits);
    resume(r);
}

void fixture_fini(struct fixture *r) {
    engine_free(r->engine);
    engine_free(r->follower);
    buf_fini(&r->journal);
    vec_fini(&r->batches);
    vec_fini(&r->effects);
    arena_fini(&r->kept);
}

static void keep_batch(struct fixture *r, const struct batch *b) {
    struct batch *kept = vec_push(&r->batches);
    *kept = *b;
    kept->records.ptr = (const uint8_t *)(uintptr_t)r->journal.len; /* an offset until it is read */
    buf_put_slice(&r->journal, b->records);
    assert_false(r->journal.full);
}

/* What it says is gone with the next effect. */
static void keep_store_effect(struct fixture *r, struct store_effect *e) {
    e->tenant = arena_slice(&r->kept, e->tenant);
    e->key = arena_slice(&r->kept, e->key);
    e->body = arena_slice(&r->kept, e->body);
    e->owned = NULL;
}

static void collect(struct fixture *r) {
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

void fixture_flush(struct fixture *r) {
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

static void pass_begin(struct fixture *r) {
    r->in.random = r->in.random * 6364136223846793005ULL + 1442695040888963407ULL;
    engine_begin(r->engine, &r->in);
}

enum err fixture_command(struct fixture *r, struct command *cmd) {
    cmd->token = ++r->token;
    if (cmd->principal.len == 0) cmd->principal = slice_str(r->principal);
    pass_begin(r);
    engine_command(r->engine, cmd);
    engine_finish(r->engine);
    fixture_flush(r);
    return r->answered == r->token ? r->reply.err : ERR_UNKNOWN;
}

void fixture_tick(struct fixture *r, int64_t ms) {
    r->in.wall.ms += ms;
    r->in.mono.ms += ms;
    do {
        pass_begin(r);
        engine_finish(r->engine);
        fixture_flush(r);
    } while (engine_has_work(r->engine));
}

/* "7/name" or "name"; NULL pieces are slices of the text. */
static struct parent_ref parse_parent(const char *text, size_t len) {
    const char *slash = memchr(text, '/', len);
    if (slash == NULL) return (struct parent_ref){.name = slice_of(text, len)};
    size_t skip = (size_t)(slash - text) + 1;
    return (struct parent_ref){.name = slice_of(slash + 1, len - skip), .flow = {strtoull(text, NULL, 10)}};
}

/* "name@1~2: a 7/b" → a job with the second option set, a compensation with the third, and the parents a and b of
 * flow 7. */
static void parse_job(const char *text, struct job_spec *job, struct parent_ref *parents) {
    const char *colon = strchr(text, ':');
    size_t head = colon ? (size_t)(colon - text) : strlen(text);
    const char *set = memchr(text, '@', head);
    const char *undo = memchr(text, '~', head);
    if (undo && undo[1] >= '0' && undo[1] <= '9') {
        job->undo_profile = (uint32_t)strtoul(undo + 1, NULL, 10) + 1;
        job->undo_body = SLICE("undo body");
        head = (size_t)(undo - text);
    }
    job->name = slice_of(text, set ? (size_t)(set - text) : head);
    job->profile = set ? (uint32_t)strtoul(set + 1, NULL, 10) : 0;
    job->parents = parents;
    job->body = SLICE("body");
    for (const char *at = colon ? colon + 1 : ""; *at;) {
        while (*at == ' ') at++;
        size_t len = strcspn(at, " ");
        if (len) parents[job->parent_count++] = parse_parent(at, len);
        at += len;
    }
}

struct parsed {
    struct job_spec *specs;
    struct parent_ref (*parents)[64];
};

static struct parsed parse_jobs(const char *const *jobs, uint32_t count) {
    static const uint8_t hash[32] = {7};
    struct parsed p = {calloc(count + 1, sizeof *p.specs), calloc(count + 1, sizeof *p.parents)};
    for (uint32_t i = 0; i < count; i++) {
        parse_job(jobs[i], &p.specs[i], p.parents[i]);
        p.specs[i].body_hash = slice_of(hash, 32);
        if (p.specs[i].undo_profile) p.specs[i].undo_hash = slice_of(hash, 32);
    }
    return p;
}

static void parsed_free(struct parsed *p) {
    free(p->specs);
    free(p->parents);
}

enum err fixture_submit_sets(struct fixture *r, const struct options *sets, uint32_t set_count, const char *const *jobs,
                             uint32_t count, bool more) {
    struct parsed p = parse_jobs(jobs, count);
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, set_count, p.specs, count, more};
    cmd.as.submit.compensate_on = r->compensate_on;
    cmd.as.submit.timeout_ms = r->timeout_ms;
    cmd.as.submit.late_after_ms = r->late_after_ms;
    enum err e = fixture_command(r, &cmd);
    parsed_free(&p);
    return e;
}

enum err fixture_submit(struct fixture *r, const struct options *o, const char *const *jobs, uint32_t count) {
    return fixture_submit_sets(r, o, 1, jobs, count, false);
}

enum err fixture_submit_key(struct fixture *r, const char *key, uint8_t hash_byte, int64_t key_ms) {
    uint8_t hash[32];
    memset(hash, hash_byte, sizeof hash);
    struct options o = fixture_options();
    const char *const jobs[] = {"only"};
    struct parsed p = parse_jobs(jobs, 1);
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.key = slice_str(key);
    cmd.as.submit.key_hash = slice_of(hash, 32);
    cmd.as.submit.key_ms = key_ms;
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, p.specs, 1, false};
    enum err e = fixture_command(r, &cmd);
    parsed_free(&p);
    return e;
}

enum err fixture_add(struct fixture *r, uint64_t flow, const struct options *o, const char *const *jobs, uint32_t count,
                     bool more) {
    struct parsed p = parse_jobs(jobs, count);
    struct command cmd = {.kind = CMD_ADD, .tenant = slice_str(r->tenant)};
    cmd.as.add = (struct cmd_add){.flow = {flow}, .jobs = {o, 1, p.specs, count, more}};
    enum err e = fixture_command(r, &cmd);
    parsed_free(&p);
    return e;
}

enum err fixture_attach_as(struct fixture *r, const char *worker, uint64_t incarnation,
                           const struct worker_info *info) {
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach = (struct cmd_attach){.worker = slice_str(worker), .incarnation = incarnation, .info = *info};
    return fixture_command(r, &cmd);
}

enum err fixture_attach_holding(struct fixture *r, const char *worker, uint64_t incarnation,
                                const struct held_attempt *held, uint32_t count) {
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach = (struct cmd_attach){.worker = slice_str(worker),
                                        .incarnation = incarnation,
                                        .info = {.slots = 4},
                                        .held = held,
                                        .held_count = count};
    return fixture_command(r, &cmd);
}

static enum err worker_command(struct fixture *r, enum command_kind kind, const struct cmd_worker *worker) {
    struct command cmd = {.kind = kind};
    cmd.as.worker = *worker;
    return fixture_command(r, &cmd);
}

enum err fixture_heartbeat(struct fixture *r, const char *worker, uint64_t incarnation, uint32_t credit,
                           uint32_t cpu_percent, uint32_t gpu_percent) {
    struct cmd_worker c = {.worker = slice_str(worker),
                           .incarnation = incarnation,
                           .credit = credit,
                           .cpu_percent = cpu_percent,
                           .gpu_percent = gpu_percent};
    return worker_command(r, CMD_HEARTBEAT, &c);
}

enum err fixture_detach(struct fixture *r, const char *worker, uint64_t incarnation) {
    return worker_command(r, CMD_DETACH, &(struct cmd_worker){.worker = slice_str(worker), .incarnation = incarnation});
}

enum err fixture_drain_itself(struct fixture *r, const char *worker) {
    return worker_command(r, CMD_DRAIN, &(struct cmd_worker){.worker = slice_str(worker), .on = true, .own = true});
}

enum err fixture_drain(struct fixture *r, const char *worker, bool on) {
    return worker_command(r, CMD_DRAIN, &(struct cmd_worker){.worker = slice_str(worker), .on = on});
}

enum err fixture_attach(struct fixture *r, const char *worker, uint64_t incarnation, uint32_t slots) {
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach =
        (struct cmd_attach){.worker = slice_str(worker), .incarnation = incarnation, .info = {.slots = slots}};
    return fixture_command(r, &cmd);
}

enum err fixture_done(struct fixture *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt,
                      enum outcome outcome) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = slice_str(worker),
                                          .incarnation = incarnation,
                                          .job = job,
                                          .attempt = attempt,
                                          .outcome = outcome,
                                          .exit_code = outcome == OUTCOME_EXIT ? 1 : 0};
    return fixture_command(r, &cmd);
}

enum err fixture_started(struct fixture *r, const char *worker, uint64_t incarnation, struct job_ref job,
                         uint32_t attempt) {
    struct command cmd = {.kind = CMD_STARTED};
    cmd.as.attempt =
        (struct cmd_attempt){.worker = slice_str(worker), .incarnation = incarnation, .job = job, .attempt = attempt};
    return fixture_command(r, &cmd);
}

enum err fixture_exit(struct fixture *r, const char *worker, struct job_ref job, uint32_t attempt, uint32_t exit_code) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = slice_str(worker),
                                          .incarnation = 1,
                                          .job = job,
                                          .attempt = attempt,
                                          .outcome = OUTCOME_EXIT,
                                          .exit_code = exit_code};
    return fixture_command(r, &cmd);
}

enum err fixture_cancel(struct fixture *r, struct job_ref job) {
    struct command cmd = {.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = job.flow, .whole = job.ordinal == UINT32_MAX, .ordinal = job.ordinal};
    return fixture_command(r, &cmd);
}

enum err fixture_pause(struct fixture *r, enum pause_scope scope, uint64_t flow, const char *name, bool on) {
    struct command cmd = {.kind = CMD_PAUSE};
    cmd.as.pause = (struct cmd_pause){scope, {flow}, name ? slice_str(name) : slice_of(NULL, 0), on};
    return fixture_command(r, &cmd);
}

static enum err job_command(struct fixture *r, enum command_kind kind, struct job_ref job) {
    struct command cmd = {.kind = kind};
    cmd.as.job = job;
    return fixture_command(r, &cmd);
}

enum err fixture_retry(struct fixture *r, struct job_ref job) {
    return job_command(r, CMD_RETRY, job);
}

enum err fixture_discard(struct fixture *r, struct job_ref job) {
    return job_command(r, CMD_DISCARD, job);
}

static enum err flow_command(struct fixture *r, enum command_kind kind, uint64_t flow) {
    struct command cmd = {.kind = kind};
    cmd.as.flow.v = flow;
    return fixture_command(r, &cmd);
}

enum err fixture_rerun(struct fixture *r, uint64_t flow) {
    return flow_command(r, CMD_RERUN, flow);
}

enum err fixture_forget(struct fixture *r, uint64_t flow) {
    return flow_command(r, CMD_FORGET, flow);
}

enum err fixture_pool(struct fixture *r, const char *name, enum pool_state state, bool refuse_overload,
                      const char *capability) {
    struct name_item item = {capability ? slice_str(capability) : slice_of(NULL, 0)};
    struct command cmd = {.kind = CMD_POOL};
    cmd.as.pool = (struct cmd_pool){slice_str(name), state, refuse_overload, &item, capability ? 1 : 0};
    return fixture_command(r, &cmd);
}

enum err fixture_topic(struct fixture *r, const char *name, const char *pool, const char *second_pool) {
    struct name_item items[2] = {{pool ? slice_str(pool) : slice_of(NULL, 0)},
                                 {second_pool ? slice_str(second_pool) : slice_of(NULL, 0)}};
    struct command cmd = {.kind = CMD_TOPIC};
    cmd.as.topic = (struct cmd_topic){slice_str(name), items, second_pool ? 2 : pool ? 1 : 0};
    return fixture_command(r, &cmd);
}

enum err fixture_weight(struct fixture *r, const char *tenant, uint32_t weight) {
    struct command cmd = {.kind = CMD_TENANT};
    cmd.as.tenant_set = (struct cmd_tenant){slice_str(tenant), weight};
    return fixture_command(r, &cmd);
}

struct cmd_verdict fixture_answer(const struct fixture *r, struct job_ref job, enum verdict verdict) {
    struct question_view q;
    question_id id = fixture_job(r, job.flow.v, job.ordinal).question;
    assert_true(view_question(engine_state(r->engine), id, &q));
    return (struct cmd_verdict){.question = id, .job = job, .revision = q.revision, .hash = q.hash, .verdict = verdict};
}

enum err fixture_send_verdict(struct fixture *r, const struct cmd_verdict *verdict) {
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = *verdict;
    return fixture_command(r, &cmd);
}

enum err fixture_verdict(struct fixture *r, struct job_ref job, enum verdict verdict, const char *payload) {
    static const uint8_t rendered[32] = {9};
    struct cmd_verdict c = fixture_answer(r, job, verdict);
    if (payload) c.payload = slice_str(payload);
    if (payload) c.payload_hash = slice_of(rendered, 32);
    return fixture_send_verdict(r, &c);
}

struct flow_view fixture_flow(const struct fixture *r, uint64_t flow) {
    struct flow_view view;
    assert_true(view_flow(engine_state(r->engine), (flow_id){flow}, &view));
    return view;
}

struct why_job fixture_why(const struct fixture *r, uint64_t flow, uint32_t ordinal) {
    struct why_job why;
    assert_true(view_why(engine_state(r->engine), engine_live(r->engine), &r->limits, ref_of(flow, ordinal), &why));
    return why;
}

struct state_counts fixture_counts(const struct fixture *r) {
    struct state_counts counts;
    view_counts(engine_state(r->engine), engine_live(r->engine), &counts);
    return counts;
}

uint32_t fixture_effects(const struct fixture *r, uint32_t from, enum effect_kind kind) {
    uint32_t count = 0;
    for (uint32_t i = from; i < r->effects.count; i++)
        count += ((const struct effect *)vec_at(&r->effects, i))->kind == kind;
    return count;
}

const char *fixture_worker_of(const struct fixture *r, uint64_t flow, uint32_t ordinal) {
    static char text[256];
    struct job_view job = fixture_job(r, flow, ordinal);
    struct worker_view worker;
    if (!job_state_is_active(job.state)) return "";
    assert_true(view_worker(engine_state(r->engine), engine_live(r->engine), job.worker, &worker));
    (void)snprintf(text, sizeof text, "%.*s", SLICE_FMT(worker.id));
    return text;
}

struct options fixture_options(void) {
    struct options o;
    options_default(&o);
    return o;
}

int fixture_setup(void **state) {
    static struct fixture rig;
    fixture_init(&rig);
    *state = &rig;
    return 0;
}

int fixture_teardown(void **state) {
    struct fixture *r = *state;
    if (!r->hold) fixture_check_digests(r);
    fixture_fini(r);
    return 0;
}

struct job_view fixture_job(const struct fixture *r, uint64_t flow, uint32_t ordinal) {
    struct job_view view;
    assert_true(view_job(engine_state(r->engine), (struct job_ref){{flow}, ordinal}, &view));
    return view;
}

enum job_state fixture_state(const struct fixture *r, uint64_t flow, uint32_t ordinal) {
    return fixture_job(r, flow, ordinal).state;
}

void fixture_run_all(struct fixture *r, const char *worker, uint64_t incarnation) {
    for (uint32_t next = 0; next < r->effects.count; next++) {
        struct effect effect = *(struct effect *)vec_at(&r->effects, next);
        if (effect.kind != EFFECT_ASSIGN) continue;
        struct job_view view;
        if (!view_attempt(engine_state(r->engine), &effect.as.attempt, &view)) continue;
        assert_int_equal(
            fixture_done(r, worker, incarnation, effect.as.attempt.job, effect.as.attempt.attempt, OUTCOME_OK), ERR_OK);
    }
}

static void replay_from(const struct fixture *r, struct engine *e, uint32_t first) {
    for (uint32_t i = first; i < r->batches.count; i++) {
        struct batch b = *(const struct batch *)vec_at(&r->batches, i);
        b.records.ptr = r->journal.at + (uintptr_t)b.records.ptr;
        struct why why;
        enum err err = engine_replay(e, &b, &why);
        if (err != ERR_OK) fail_msg("replay: %s: %s", err_word(err), why.text);
    }
}

struct engine *fixture_replay(const struct fixture *r) {
    struct engine *e = engine_new(0, &r->limits);
    replay_from(r, e, 0);
    return e;
}

static enum err append_piece(void *ctx, struct slice piece, struct why *why) {
    (void)why;
    buf_put_slice(ctx, piece);
    return ERR_OK;
}

struct engine *fixture_reload(const struct fixture *r) {
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

void fixture_check_digests(struct fixture *r) {
    struct engine *replayed = fixture_replay(r), *reloaded = fixture_reload(r);
    assert_digests_equal(r->engine, replayed);
    assert_digests_equal(r->engine, reloaded);
    if (r->follower) {
        replay_from(r, r->follower, r->follower_batches);
        assert_digests_equal(r->engine, r->follower);
    }
    engine_free(replayed);
    engine_free(r->follower);
    r->follower = reloaded;
    r->follower_batches = r->batches.count;
}

void fixture_crash(struct fixture *r) {
    struct engine *replayed = fixture_replay(r);
    engine_free(r->engine);
    r->engine = replayed;
    r->effects.count = 0;
    resume(r);
}
