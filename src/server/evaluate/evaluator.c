/* evaluator.c: see evaluator.h. */
#include "evaluator.h"

#include "expr.h"
#include "items.h"
#include "job_scope.h"
#include "names.h"
#include "runtext.h"
#include "server_impl.h"

#define PASS_QUESTIONS_MAX 64u /* about a millisecond of ordinary ones */
#define PASS_MS_MAX 2          /* whatever they are: one may take longer, not many */
#define RETRY_MS 1000
#define EVALUATOR_ARENA_MAX ((size_t)4 << 30) /* job_scope.c bounds what goes in */

struct evaluator_later {
    struct question_effect question;
    int64_t at_ms;
    struct bytes *reason; /* NULL: evaluated again; else it has failed, and this is why */
};

struct evaluator_writing {
    struct question_effect question;
    struct items_put put;
    uint32_t count;
};

/* One question while it is answered. */
struct hearing {
    struct server *s;
    struct question_view question;
    struct job_view job;
    struct flow_view flow;
    struct wire_run run;
    struct scope scope;
    struct arena *arena;
};

static void init(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    vec_init(&evaluator_of(s)->asked, sizeof(struct question_effect));
    vec_init(&evaluator_of(s)->later, sizeof(struct evaluator_later));
    vec_init(&evaluator_of(s)->writing, sizeof(struct evaluator_writing));
    arena_init(&evaluator_of(s)->arena, 65536, EVALUATOR_ARENA_MAX);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 0; i < evaluator_of(s)->later.count; i++)
        bytes_free(((struct evaluator_later *)vec_at(&evaluator_of(s)->later, i))->reason);
    for (uint32_t i = 0; i < evaluator_of(s)->writing.count; i++)
        items_put_end(&((struct evaluator_writing *)vec_at(&evaluator_of(s)->writing, i))->put);
    vec_fini(&evaluator_of(s)->asked);
    vec_fini(&evaluator_of(s)->later);
    vec_fini(&evaluator_of(s)->writing);
    arena_fini(&evaluator_of(s)->arena);
}

static void effect(struct shard *h, void *own, const struct effect *e) {
    (void)own;
    struct server *s = h->server;
    const struct question_effect *q = &e->as.question;
    if (q->gate != GATE_CONDITION && q->gate != GATE_EXPANSION && q->gate != GATE_RENDER) return;
    *(struct question_effect *)vec_push(&evaluator_of(s)->asked) = *q;
}

static void try_later(struct server *s, const struct question_effect *q) {
    *(struct evaluator_later *)vec_push(&evaluator_of(s)->later) =
        (struct evaluator_later){*q, s->now_ms + RETRY_MS, NULL};
}

/* ---- verdicts ---- */

static struct command verdict_of(const struct question_view *q, enum verdict verdict) {
    struct command cmd = {
        .kind = CMD_VERDICT, .token = part_token(evaluator_slot, q->id.v), .principal = SLICE("server")};
    cmd.as.verdict = (struct cmd_verdict){
        .question = q->id, .job = q->job, .revision = q->revision, .hash = q->hash, .verdict = verdict};
    return cmd;
}

static void fail(struct server *s, const struct question_view *q, struct slice reason) {
    struct command cmd = verdict_of(q, VERDICT_FAIL);
    if (reason.len > (size_t)s->limits->reason_bytes_max) reason.len = (size_t)s->limits->reason_bytes_max;
    cmd.as.verdict.reason = reason;
    server_command(s, (conn_id){0}, 0, &cmd);
}

/* ---- the three kinds of questions ---- */

static enum err evaluator_condition(struct hearing *h, struct why *why) {
    struct expr_input in = {.name = "when", .text = h->run.when, .scope = &h->scope, .limits = h->s->limits};
    bool holds = true;
    enum err e = h->run.when.len > 0 ? expr_truth(&in, &holds, why) : ERR_OK;
    if (e != ERR_OK) return e;
    struct command cmd = verdict_of(&h->question, holds ? VERDICT_ALLOW : VERDICT_DENY);
    if (!holds) cmd.as.verdict.reason = SLICE("its `when` is false");
    server_command(h->s, (conn_id){0}, 0, &cmd);
    return ERR_OK;
}

/* The items become a blob first; the verdict that names it follows when that is on disk. */
static enum err evaluator_expansion(struct hearing *h, struct why *why) {
    struct server *s = h->s;
    struct expr_input in = {.name = "foreach", .text = h->run.foreach, .scope = &h->scope, .limits = s->limits};
    struct buf body;
    uint32_t count = 0;
    if (h->run.foreach.len == 0) return why_set(why, ERR_INVALID, "a foreach job without its `foreach`");
    buf_init(&body, (size_t)s->limits->json_bytes_max);
    enum err e = expr_list(&in, (uint32_t)s->limits->foreach_items_max, &body, &count, why);
    if (e != ERR_OK || count == 0) buf_fini(&body);
    if (e != ERR_OK) return e;
    if (count == 0) {
        struct command cmd = verdict_of(&h->question, VERDICT_ALLOW);
        server_command(s, (conn_id){0}, 0, &cmd);
        return ERR_OK;
    }
    struct evaluator_writing w = {.question = {h->question.id, h->question.revision, h->question.gate, h->question.job},
                                  .count = count};
    e = items_put_begin(s, h->flow.tenant, &body, &w.put, why);
    if (e == ERR_OK) *(struct evaluator_writing *)vec_push(&evaluator_of(s)->writing) = w;
    return e;
}

static struct slice hash_of(struct hearing *h, struct slice bytes) {
    uint8_t *hash = arena_alloc(h->arena, DIGEST_BYTES);
    h->s->world.hasher->whole(h->s->world.hasher, bytes, hash);
    return slice_of(hash, DIGEST_BYTES);
}

/* A cache key says what the result depends on; what was filled in belongs to it. */
static struct slice rendered_key(struct hearing *h, struct slice body) {
    uint8_t *both = arena_alloc(h->arena, h->job.cache_key.len + body.len);
    memcpy(both, slice_data(h->job.cache_key), h->job.cache_key.len);
    memcpy(both + h->job.cache_key.len, slice_data(body), body.len);
    return hash_of(h, slice_of(both, h->job.cache_key.len + body.len));
}

/* What belongs to the items of a foreach job stays for its children. */
static enum err evaluator_templates(struct hearing *h, struct why *why) {
    struct server *s = h->s;
    unsigned stages = 0;
    enum err e = runtext_stages(&h->run, &stages, why);
    bool for_children = (stages & STAGE_BIT(STAGE_CHILD)) && h->run.foreach.len > 0;
    struct template_fill how = {.scope = &h->scope,
                                .limits = s->limits,
                                .stage = for_children ? STAGE_READY : STAGE_CHILD,
                                .is_last = !for_children};
    if (e == ERR_OK) e = runtext_render(&h->run, &how, h->arena, why);
    if (e == ERR_OK) e = tlv_check(&wire_run_desc, &h->run, why);
    if (e != ERR_OK) return e;
    struct buf body;
    buf_init(&body, WIRE_BODY_MAX * 2);
    tlv_encode(&wire_run_desc, &h->run, &body);
    if (body.full || body.len > (size_t)s->limits->job_body_bytes_max) {
        e = why_set(why, ERR_LIMIT,
                    "with its templates filled in, the job is larger than %lld bytes (job_body_bytes_max)",
                    (long long)s->limits->job_body_bytes_max);
    } else {
        struct command cmd = verdict_of(&h->question, VERDICT_ALLOW);
        cmd.as.verdict.payload = buf_slice(&body);
        cmd.as.verdict.payload_hash = hash_of(h, buf_slice(&body));
        if (h->job.cache_key.len > 0) cmd.as.verdict.cache_key = rendered_key(h, buf_slice(&body));
        server_command(s, (conn_id){0}, 0, &cmd);
    }
    buf_fini(&body);
    return e;
}

/* ---- one question ---- */

static enum err hear(struct hearing *h, struct why *why) {
    enum err e = tlv_decode(&wire_run_desc, h->job.body, TLV_SKIP_UNKNOWN, h->arena, &h->run, why);
    if (e != ERR_OK) return e;
    /* Only what this question is about needs a scope. */
    struct wire_run asked = h->run;
    bool of_texts = h->question.gate == GATE_RENDER;
    if (!of_texts) asked = (struct wire_run){.params = h->run.params, .late = h->run.late};
    asked.when = h->question.gate == GATE_CONDITION ? h->run.when : (struct slice){0};
    asked.foreach = h->question.gate == GATE_EXPANSION ? h->run.foreach : (struct slice){0};
    e = job_scope_make(h->s, &h->job, &asked, h->arena, &h->scope, why);
    if (e != ERR_OK) return e;
    if (h->question.gate == GATE_CONDITION) return evaluator_condition(h, why);
    if (h->question.gate == GATE_EXPANSION) return evaluator_expansion(h, why);
    return evaluator_templates(h, why);
}

/* False: it was answered, or asked anew, since. */
static bool is_open(struct server *s, const struct question_effect *q, struct question_view *ret) {
    return view_question(server_state(s), q->question, ret) && ret->revision == q->revision;
}

static void answer(struct server *s, const struct question_effect *q) {
    struct hearing h = {.s = s, .arena = &evaluator_of(s)->arena};
    struct why why = {{0}};
    if (!is_open(s, q, &h.question) || !view_job(server_state(s), q->job, &h.job) ||
        !view_flow(server_state(s), q->job.flow, &h.flow))
        return;
    arena_reset(&evaluator_of(s)->arena);
    enum err e = hear(&h, &why);
    if (err_is_retryable(e))
        try_later(s, q);
    else if (e != ERR_OK)
        fail(s, &h.question, slice_str(why.text));
}

/* ---- before it is accepted ---- */

static enum err check_parent(void *ctx, enum runtext_where where, struct slice name, struct why *why) {
    const struct job_spec *job = ctx;
    (void)where;
    if (name.len == 0) return ERR_OK;
    for (uint32_t i = 0; i < job->parent_count; i++)
        if (job->parents[i].flow.v == 0 && slice_eq(job->parents[i].name, name)) return ERR_OK;
    return why_set(why, ERR_INVALID, "it uses outputs of `%.*s`, which must be one of its parents", SLICE_FMT(name));
}

enum err evaluator_check(struct server *s, const struct job_spec *job, const struct options *o,
                         const struct wire_run *run, bool has_slot, struct why *why) {
    unsigned asked = GATE_BIT(GATE_CONDITION) | GATE_BIT(GATE_EXPANSION) | GATE_BIT(GATE_RENDER), roots = 0;
    struct job_spec copy = *job; /* only looked at */
    if (!(o->gates & asked)) return ERR_OK;
    enum err e = runtext_check(run, s->limits, why);
    if (e == ERR_OK && !has_slot) e = runtext_roots(run, &roots, why);
    bool is_used = (roots & (ROOT_BIT(ROOT_SCHEDULE) | ROOT_BIT(ROOT_TRIGGER))) != 0;
    if (e == ERR_OK && (is_used || (!has_slot && run->late.len > 0)))
        e = why_set(why, ERR_INVALID, "it uses `%s`, and no schedule makes this flow",
                    (roots & ROOT_BIT(ROOT_TRIGGER)) != 0 ? "trigger" : "schedule");
    /* one that follows the main jobs may use what any of them left */
    return e == ERR_OK && o->stage == FLOW_STAGE_MAIN ? runtext_jobs(run, check_parent, &copy, why) : e;
}

/* ---- passes ---- */

static void writing_turn(struct server *s) {
    struct vec *list = &evaluator_of(s)->writing;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct evaluator_writing *w = vec_at(list, i);
        struct question_view q;
        struct why why = {{0}};
        bool durable = false, over = !is_open(s, &w->question, &q);
        enum err e = over ? ERR_OK : items_put_step(s, &w->put, &durable, &why);
        if (e != ERR_OK && !err_is_retryable(e)) {
            fail(s, &q, slice_str(why.text));
            over = true;
        }
        if (durable) {
            struct command cmd = verdict_of(&q, VERDICT_ALLOW);
            cmd.as.verdict.items = slice_of(w->put.hash.at, sizeof w->put.hash.at);
            cmd.as.verdict.item_count = w->count;
            server_command(s, (conn_id){0}, 0, &cmd);
        }
        if (over || durable) {
            items_put_end(&w->put);
        } else {
            struct evaluator_writing moved = *w;
            *(struct evaluator_writing *)vec_at(list, kept++) = moved;
        }
    }
    list->count = kept;
}

static void later_turn(struct server *s) {
    struct vec *list = &evaluator_of(s)->later;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct evaluator_later one = *(struct evaluator_later *)vec_at(list, i);
        struct question_view q;
        if (one.at_ms > s->now_ms) {
            *(struct evaluator_later *)vec_at(list, kept++) = one;
        } else if (one.reason == NULL) {
            *(struct question_effect *)vec_push(&evaluator_of(s)->asked) = one.question;
        } else {
            if (is_open(s, &one.question, &q)) fail(s, &q, bytes_slice(one.reason));
            bytes_free(one.reason);
        }
    }
    list->count = kept;
}

static void step(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    struct evaluator *x = evaluator_of(s);
    struct clock *c = s->world.clock;
    writing_turn(s);
    later_turn(s);
    for (uint32_t i = 0; i < PASS_QUESTIONS_MAX && x->asked_at < x->asked.count; i++) {
        if (engine_is_full(server_shard(s)->engine) || c->mono(c).ms > s->now_ms + PASS_MS_MAX) return;
        struct question_effect q = *(struct question_effect *)vec_at(&x->asked, x->asked_at++);
        answer(s, &q);
    }
    if (x->asked_at == x->asked.count) x->asked_at = x->asked.count = 0;
}

/* What was not taken for want of room is evaluated again; what will never be taken (too many children) fails, in the
 * next pass. */
static void answered(struct shard *h, void *own, uint64_t token, const struct reply *reply) {
    (void)own;
    struct server *s = h->server;
    struct question_view q;
    if (reply->err == ERR_OK || reply->err == ERR_STALE || reply->err == ERR_NOT_FOUND) return;
    if (!view_question(server_state(s), (question_id){part_token_number(token)}, &q)) return;
    struct evaluator_later *x = vec_push(&evaluator_of(s)->later);
    *x = (struct evaluator_later){{q.id, q.revision, q.gate, q.job}, s->now_ms + RETRY_MS, NULL};
    if (err_is_retryable(reply->err)) return;
    x->at_ms = s->now_ms;
    x->reason = bytes_new(slice_str(reply->why.text));
}

/* Items that wait for the disk may be there. */
static void stored(struct shard *h, void *own, enum err e) {
    const struct evaluator *x = own;
    if (e == ERR_OK && x->writing.count > 0) part_wake(h, evaluator_slot);
}

static int64_t next_due(const struct shard *h, const void *own) {
    (void)own;
    struct server *s = h->server;
    const struct evaluator *x = evaluator_of(s);
    int64_t next = TIME_NEVER;
    if (x->asked_at < x->asked.count) return s->now_ms;
    for (uint32_t i = 0; i < x->later.count; i++) {
        const struct evaluator_later *one = vec_at(&x->later, i);
        if (one->at_ms < next) next = one->at_ms;
    }
    if (x->writing.count > 0 && s->now_ms + RETRY_MS < next) next = s->now_ms + RETRY_MS; /* a flush wakes us sooner */
    return next;
}

const struct server_part evaluator_part = {.name = "evaluator",
                                           .scope = PART_OF_SHARD,
                                           .bytes = sizeof(struct evaluator),
                                           .effects = EFFECT_BIT(EFFECT_QUESTION),
                                           .init = init,
                                           .fini = fini,
                                           .step = step,
                                           .next_due = next_due,
                                           .effect = effect,
                                           .answered = answered,
                                           .stored = stored};
