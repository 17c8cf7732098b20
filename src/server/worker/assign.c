/* assign.c: see assign.h. */
#include "assign.h"

#include <stdio.h>

#include "deploy_log.h"
#include "external_step.h"
#include "job_scope.h"
#include "job_token.h"
#include "record.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "utf8.h"

#define ASSIGN_FRAME_BYTES (1u << 20) /* of bodies in one frame; a longer one is split */
#define INPUTS_MAX 1024u
#define CHILDREN_MAX 4096u         /* of a foreach job, and bytes that they left: given as an input; */
#define CHILDREN_BYTES_MAX 65536u  /* what is more is got by a template */
#define INPUT_BYTES_MAX (4u << 20) /* of results in one assignment; of those beyond it only the hash is told */

extern const uint8_t assign_slot;

struct assign {
    struct vec waiting; /* conn_id: of workers that have assignments which are not sent yet */
};

static struct wire_attempt wire_attempt_of(const struct server *s, const struct attempt_effect *a) {
    return (struct wire_attempt){s->options.shard, a->job.flow.v, a->job.ordinal, a->attempt};
}

/* What the children of a foreach job left together, if it is not too much; else nothing. */
static struct slice children_left(struct server *s, struct job_ref ref) {
    struct slice list = {0};
    struct why ignored;
    (void)!job_scope_children(s, ref, CHILDREN_MAX, CHILDREN_BYTES_MAX, &s->frame_arena, &list, &ignored);
    return list;
}

/* Results and files of the parents that left any. A parent may have hundreds of siblings, so few are looked at. */
static struct tlv_list inputs_of(struct server *s, struct job_ref ref, size_t *ret_bytes) {
    uint32_t ordinals[INPUTS_MAX];
    uint32_t count = view_parents(server_state(s), ref, ordinals, INPUTS_MAX);
    if (count > INPUTS_MAX) count = INPUTS_MAX;
    if (count == 0) return (struct tlv_list){0};
    struct wire_input *list = ARENA_ARRAY(&s->frame_arena, struct wire_input, count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct job_view parent;
        if (!view_job(server_state(s), (struct job_ref){ref.flow, ordinals[i]}, &parent)) continue;
        bool left_result = parent.result.len > 0 || parent.result_hash.len > 0;
        if (!left_result) parent.result = children_left(s, parent.ref);
        if (!left_result && parent.result.len == 0 && parent.artifacts.len == 0) continue;
        if (*ret_bytes + parent.result.len > INPUT_BYTES_MAX) parent.result.len = 0;
        *ret_bytes += parent.result.len + parent.artifacts.len + 64;
        struct tlv_list artifacts = server_view_artifacts(s, parent.artifacts);
        list[kept++] = (struct wire_input){parent.name, parent.result, parent.result_hash, artifacts};
    }
    return (struct tlv_list){list, kept};
}

/* What runs inside the worker has no use for a token, and making one costs more than a no-op does. */
static bool runs_a_process(uint8_t kind) {
    return job_kind_of(kind)->runs == JOB_RUNS_PROGRAM;
}

static void env_add(struct server *s, const struct wire_pair *pairs, uint32_t count, struct wire_assignment *ret) {
    struct wire_pair *all = ARENA_ARRAY(&s->frame_arena, struct wire_pair, ret->env.count + count);
    if (ret->env.count > 0) memcpy(all, ret->env.at, sizeof *all * ret->env.count);
    memcpy(all + ret->env.count, pairs, sizeof *all * count);
    ret->env = (struct tlv_list){all, ret->env.count + count};
}

/* A job of a flow that a schedule made: which slot it is for. */
static void fill_slot(struct server *s, const struct flow_view *flow, struct wire_assignment *ret) {
    const struct wire_pair env[] = {
        {SLICE("REEVE_SCHEDULE"), flow->schedule},
        {SLICE("REEVE_SLOT"), zone_book_slot(&s->zones, flow->zone, flow->slot.ms, &s->frame_arena)}};
    env_add(s, env, 2, ret);
    const struct flow_cause *c = &flow->cause;
    bool is_text = c->key.len > 0 && memchr(c->key.ptr, 0, c->key.len) == NULL; /* an environment has no other */
    const struct wire_pair trigger[] = {{SLICE("REEVE_TRIGGER_KEY"), c->key},
                                        {SLICE("REEVE_TRIGGER_CHANGE"), slice_str(key_how_word(c->how))}};
    if (is_text && utf8_is_valid(c->key)) env_add(s, trigger, 2, ret);
}

/* A child of a foreach job: which of the items is its own, filled in. */
static void fill_item(struct server *s, const struct job_view *job, struct wire_assignment *ret) {
    struct wire_pair env[2];
    char *index = arena_alloc(&s->frame_arena, 16);
    struct slice item = {0};
    struct why why = {{0}};
    snprintf(index, 16, "%u", job->item);
    enum err e = job_scope_child(s, job, &s->frame_arena, &ret->body, &item, &why);
    if (e != ERR_OK) {
        ret->refusal = arena_slice(&s->frame_arena, slice_str(why.text));
        ret->body = (struct slice){0}; /* for workers that do not know of refusals: there is nothing to run */
    }
    env[0] = (struct wire_pair){SLICE("REEVE_ITEM_INDEX"), slice_str(index)};
    env[1] = (struct wire_pair){SLICE("REEVE_ITEM"), item};
    env_add(s, env, item.ptr != NULL ? 2 : 1, ret);
}

/* Returns about how many bytes it takes. */
static size_t fill(struct server *s, const struct attempt_effect *a, const struct job_view *job,
                   struct wire_assignment *ret) {
    size_t bytes = 0;
    struct flow_view flow = {0};
    (void)view_flow(server_state(s), a->job.flow, &flow);
    *ret = (struct wire_assignment){.attempt = wire_attempt_of(s, a),
                                    .fence = a->fence,
                                    .job = server_view_job_name(s, job),
                                    .kind = job->options->kind,
                                    .body = job->body,
                                    .tenant = flow.tenant,
                                    .trace = flow.trace,
                                    .constraints = job->constraints,
                                    .run_timeout_ms = job->options->run_timeout_ms,
                                    .exclusive = job->options->exclusive,
                                    .compensation = job->undoes != UINT32_MAX,
                                    .cpu_milli = job->options->demand.cpu_milli,
                                    .gpus = job->options->demand.gpus,
                                    .memory_bytes = job->options->demand.memory_bytes};
    if (runs_a_process(job->options->kind) || job->options->calls) {
        char *token = arena_alloc(&s->frame_arena, JOB_TOKEN_BYTES);
        job_token_make(s, a, token);
        ret->token = slice_str(token);
        bytes += JOB_TOKEN_BYTES;
    }
    if (job->parent_count > 0) ret->inputs = inputs_of(s, a->job, &bytes);
    if (job->item != UINT32_MAX) fill_item(s, job, ret);
    if (job->options->calls) external_step_fill(s, a, job, ret);
    if (flow.schedule.len > 0) fill_slot(s, &flow, ret);
    return bytes + 256 + ret->body.len + job->constraints.len;
}

/* May come in the middle of another answer, whose parts are in the same arena. */
void assign_flush(struct server *s, struct session *n) {
    uint32_t at = 0, total = n->assigns.count;
    while (at < total) {
        struct wire_assignment *list = ARENA_ARRAY(&s->frame_arena, struct wire_assignment, total - at);
        uint32_t count = 0;
        size_t bytes = 0;
        for (; at < total && bytes < ASSIGN_FRAME_BYTES; at++) {
            const struct attempt_effect *a = vec_at(&n->assigns, at);
            struct job_view job;
            if (!view_attempt(server_state(s), a, &job)) continue; /* no longer open */
            bytes += fill(s, a, &job, &list[count++]);
        }
        struct wire_assign m = {.epoch = server_shard(s)->epoch, .assignments = {list, count}};
        if (count > 0) session_send(s, n, WIRE_ASSIGN, 0, 0, &m);
    }
    n->assigns.count = 0;
}

/* Its own, if it has one. May come in the middle of another answer: nothing is reset. */
static uint32_t kill_grace_ms(struct server *s, struct job_ref ref) {
    struct job_view job;
    struct wire_run run;
    struct why ignored;
    bool has = view_job(server_state(s), ref, &job) &&
               tlv_decode(&wire_run_desc, job.body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &ignored) == ERR_OK;
    return has && run.kill_grace_ms != 0 ? run.kill_grace_ms : (uint32_t)s->limits->kill_grace_ms;
}

static void stop(struct server *s, struct session *n, const struct effect *e) {
    static const uint8_t causes[STOP_COUNT] = {
        [STOP_NONE] = WIRE_STOP_CANCEL,
        [STOP_CANCEL] = WIRE_STOP_CANCEL,
        [STOP_DEADLINE] = WIRE_STOP_DEADLINE,
        [STOP_RUN_TIMEOUT] = WIRE_STOP_RUN_TIMEOUT,
        [STOP_DISPATCH_TIMEOUT] = WIRE_STOP_DISPATCH_TIMEOUT,
    };
    const struct attempt_effect *a = &e->as.attempt;
    struct wire_stopped one = {.attempt = wire_attempt_of(s, a),
                               .cause = e->kind == EFFECT_DROP ? WIRE_STOP_DROP : causes[a->stop],
                               .grace_ms = kill_grace_ms(s, a->job)};
    struct wire_stop_attempts m = {.epoch = server_shard(s)->epoch, .stops = {&one, 1}};
    session_send(s, n, WIRE_CANCEL_ATTEMPT, 0, 0, &m);
}

static void effect(struct shard *h, void *own, const struct effect *e) {
    struct assign *x = own;
    struct server *s = h->server;
    struct session *n = session_of_worker(s, e->as.attempt.worker);
    if (n == NULL) return; /* it is away; what it must know it hears when it attaches */
    if (e->kind != EFFECT_ASSIGN) {
        stop(s, n, e);
        return;
    }
    deploy_log_assigned(s, e->as.attempt.job.flow);
    if (n->assigns.count == 0) *(conn_id *)vec_push(&x->waiting) = n->conn;
    *(struct attempt_effect *)vec_push(&n->assigns) = e->as.attempt;
}

static void released(struct shard *h, void *own) {
    struct assign *x = own;
    struct server *s = h->server;
    arena_reset(&s->frame_arena);
    for (uint32_t i = 0; i < x->waiting.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&x->waiting, i));
        if (n != NULL && n->assigns.count > 0) assign_flush(s, n);
    }
    x->waiting.count = 0;
}

static void init(struct shard *h, void *own) {
    struct assign *x = own;
    (void)h;
    vec_init(&x->waiting, sizeof(conn_id));
}

static void fini(struct shard *h, void *own) {
    struct assign *x = own;
    (void)h;
    vec_fini(&x->waiting);
}

const struct server_part assign_part = {.name = "assign",
                                        .scope = PART_OF_SHARD,
                                        .bytes = sizeof(struct assign),
                                        .effects = EFFECT_BIT(EFFECT_ASSIGN) | EFFECT_BIT(EFFECT_STOP) |
                                                   EFFECT_BIT(EFFECT_DROP),
                                        .init = init,
                                        .fini = fini,
                                        .effect = effect,
                                        .released = released};
