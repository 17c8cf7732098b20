/* server_view.c: see server_view.h. */
#include "server_view.h"

#include <stdio.h>

#include "state_view.h"
#include "utf8.h"

#define MESSAGE_SHOWN_BYTES 1024u

/* Who has to answer, and whether anyone here does. */
static const char *const gate_texts[GATE_COUNT] = {
    [GATE_CONDITION] = "its `when` is about to be evaluated",
    [GATE_EXPANSION] = "its `foreach` is about to be evaluated, or waits for room for its items",
    [GATE_RENDER] = "its templates are about to be filled in",
    [GATE_POLICY] = "a policy must allow it, but this server asks none yet",
    [GATE_APPROVAL] = "waiting for approval",
    [GATE_EXTERNAL] = "waiting for completion from outside",
    [GATE_OUTPUT] = "its output must be checked, but this server has no checker yet",
    [GATE_SERVICE] = "the service that it deploys is not healthy yet",
};

void server_view_reason(struct server *s, const struct why_job *reason, struct wire_reason *ret) {
    struct question_view q;
    ret->code = slice_str(block_word(reason->block));
    ret->text = slice_str(block_text(reason->block));
    if (reason->block != BLOCK_QUESTION || !view_question(server_state(s), reason->question, &q)) return;
    ret->gate = slice_str(gate_words[q.gate]);
    ret->text = slice_str(gate_texts[q.gate]);
}

static void put_asked(struct buf *b, uint32_t *named, struct slice name) {
    buf_put_slice(b, (*named)++ == 0 ? SLICE(": ") : SLICE(", "));
    buf_put_slice(b, name);
}

/* Which capability is missing depends on the worker that one looks at, so all are named. */
struct slice server_view_asked(struct server *s, const struct job_view *job, enum block block) {
    const struct demand *d = &job->options->demand;
    const struct name_item *names = d->capabilities.at;
    const struct label *labels = d->labels.at;
    bool is_pool = block == BLOCK_NO_WORKERS;
    struct slice text = slice_str(block_text(block));
    uint32_t named = 0;
    struct buf b;
    buf_init(&b, WIRE_TEXT_MAX);
    buf_put_slice(&b, text);
    if (is_pool) put_asked(&b, &named, d->pool.len > 0 ? d->pool : d->topic);
    for (uint32_t i = 0; !is_pool && i < d->capabilities.count; i++) put_asked(&b, &named, names[i].name);
    for (uint32_t i = 0; !is_pool && i < d->labels.count; i++) {
        put_asked(&b, &named, labels[i].key);
        buf_put_u8(&b, '=');
        buf_put_slice(&b, labels[i].value);
    }
    if (!b.full) text = arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
    return text;
}

/* "TEXT: MORE" */
static struct slice with_more(struct server *s, struct slice text, struct slice more) {
    if (more.len == 0) return text;
    size_t len = text.len + 2 + more.len;
    char *both = arena_alloc(&s->frame_arena, len + 1);
    snprintf(both, len + 1, "%.*s: %.*s", SLICE_FMT(text), SLICE_FMT(more));
    return slice_of(both, len);
}

void server_view_health(struct server *s, const struct job_view *job, struct wire_reason *ret) {
    ret->text = with_more(s, ret->text, view_trouble(server_state(s), job->ref, &s->frame_arena));
}

void server_view_words(struct server *s, const struct job_view *job, struct wire_reason *ret) {
    ret->text = with_more(s, ret->text, view_words(server_state(s), engine_live(server_shard(s)->engine), job->ref));
}

void server_view_external(struct server *s, const struct job_view *job, const struct why_job *reason,
                          struct wire_reason *ret) {
    struct wire_run run;
    struct why ignored;
    if (reason->poll.ms != TIME_NEVER) ret->poll_ms = reason->poll.ms;
    if (tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &ignored) != ERR_OK) return;
    ret->text = with_more(s, ret->text, utf8_cut(run.message, MESSAGE_SHOWN_BYTES));
}

static const char *const cause_texts[JOB_CAUSE_COUNT] = {
    [CAUSE_LOST] = "its worker was lost",
    [CAUSE_UPSTREAM] = "a job that it needs did not succeed",
    [CAUSE_NO_WORKER] = "no worker took it in time",
    [CAUSE_REJECTED] = "its worker could not start it",
    [CAUSE_DISPATCH] = "its worker did not start it in time",
    [CAUSE_RUN_TIMEOUT] = "it ran longer than its timeout",
    [CAUSE_DEADLINE] = "its deadline has passed",
    [CAUSE_VERDICT] = "it was rejected",
    [CAUSE_NO_VERDICT] = "it was not approved in time",
    [CAUSE_REQUEST] = "cancelled by request",
    [CAUSE_SAGA] = "its flow failed and was compensated",
    [CAUSE_UNHEALTHY] = "the service that it deploys did not become healthy in time (`reeve logs` of the job shows "
                        "the output of the service)",
    [CAUSE_REPLACED] = "a later deployment of the same service replaced it",
    [CAUSE_CHILDREN] = "more of its items failed than it allows",
};

struct slice server_view_end(struct server *s, const struct wire_job_view *v) {
    struct buf b;
    buf_init(&b, WIRE_TEXT_MAX);
    buf_printf(&b, "the job has finished: %.*s", SLICE_FMT(v->state));
    if (v->signal != 0)
        buf_printf(&b, ", killed by signal %u", v->signal);
    else if (v->exit_code != 0)
        buf_printf(&b, ", exit code %u", v->exit_code);
    for (int cause = 0; cause < JOB_CAUSE_COUNT; cause++)
        if (cause_texts[cause] != NULL && slice_eq(v->cause, slice_str(job_cause_words[cause])))
            buf_printf(&b, ", %s", cause_texts[cause]);
    if (v->reason.len > 0) buf_printf(&b, ": %.*s", SLICE_FMT(v->reason));
    struct slice text = b.full ? v->reason : arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
    return text;
}

static int64_t shown_ms(wall_time t) {
    return t.ms == TIME_NEVER ? 0 : t.ms;
}

static struct tlv_list server_view_names(struct server *s, const struct tlv_list *names) {
    struct wire_name *list = ARENA_ARRAY(&s->frame_arena, struct wire_name, names->count ? names->count : 1);
    const struct name_item *items = names->at;
    for (uint32_t i = 0; i < names->count; i++) list[i].name = items[i].name;
    return (struct tlv_list){list, names->count};
}

static struct tlv_list server_view_labels(struct server *s, const struct tlv_list *labels) {
    struct wire_pair *list = ARENA_ARRAY(&s->frame_arena, struct wire_pair, labels->count ? labels->count : 1);
    const struct label *items = labels->at;
    for (uint32_t i = 0; i < labels->count; i++) list[i] = (struct wire_pair){items[i].key, items[i].value};
    return (struct tlv_list){list, labels->count};
}

static struct state_view lens_of(struct server *s) {
    return (struct state_view){server_state(s), s->options.shard, &s->frame_arena, &s->zones};
}

struct slice server_view_flow_name(struct server *s, flow_id id) {
    struct state_view l = lens_of(s);
    return state_view_flow_name(&l, id);
}

struct slice server_view_job_name(struct server *s, const struct job_view *v) {
    struct state_view l = lens_of(s);
    return state_view_job_name(&l, v);
}

void server_view_flow(struct server *s, const struct flow_view *v, struct wire_flow_view *ret) {
    struct state_view l = lens_of(s);
    state_view_flow(&l, v, ret);
}

struct tlv_list server_view_artifacts(struct server *s, struct slice artifacts) {
    struct state_view l = lens_of(s);
    return state_view_artifacts(&l, artifacts);
}

void server_view_job(struct server *s, const struct job_view *v, bool details, struct wire_job_view *ret) {
    struct state_view l = lens_of(s);
    state_view_job(&l, v, details, ret);
    if (ret->reason.len == 0) ret->reason = view_words(server_state(s), engine_live(server_shard(s)->engine), v->ref);
}

void server_view_node(struct server *s, const struct job_view *v, struct wire_job_view *ret) {
    struct state_view l = lens_of(s);
    state_view_node(&l, v, ret);
}

void server_view_question(struct server *s, const struct question_view *v, struct wire_question_view *ret) {
    struct job_view job;
    *ret = (struct wire_question_view){.question = v->id.v,
                                       .revision = v->revision,
                                       .gate = slice_str(gate_words[v->gate]),
                                       .hash = v->hash,
                                       .asked_ms = v->asked.ms,
                                       .deadline_ms = shown_ms(v->deadline),
                                       .votes = v->votes,
                                       .quorum = v->quorum,
                                       .four_eyes = v->four_eyes,
                                       .role = v->role};
    if (!view_job(server_state(s), v->job, &job)) return;
    ret->job = server_view_job_name(s, &job);
    ret->body = job.body;
}

static struct tlv_list server_view_amounts(struct server *s, const struct tlv_list *from) {
    struct wire_amount *list = ARENA_ARRAY(&s->frame_arena, struct wire_amount, from->count + 1);
    const struct resource *items = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i] = (struct wire_amount){items[i].name, items[i].amount};
    return (struct tlv_list){list, from->count};
}

/* Those of `offered` that are taken of it. */
static struct tlv_list server_view_taken(struct server *s, const struct tlv_list *offered, const uint64_t *taken) {
    struct wire_amount *list = ARENA_ARRAY(&s->frame_arena, struct wire_amount, offered->count + 1);
    const struct resource *items = offered->at;
    uint32_t count = 0;
    for (uint32_t i = 0; taken != NULL && i < offered->count; i++)
        if (taken[i] > 0) list[count++] = (struct wire_amount){items[i].name, taken[i]};
    return (struct tlv_list){list, count};
}

void server_view_worker(struct server *s, const struct worker_view *v, struct wire_worker_view *ret) {
    *ret = (struct wire_worker_view){.worker = v->id,
                                     .incarnation = v->incarnation,
                                     .pool = v->info->pool,
                                     .build = v->info->build,
                                     .attached = v->attached,
                                     .draining = v->draining,
                                     .permanent = v->info->permanent,
                                     .slots = v->info->slots,
                                     .active = v->active,
                                     .capabilities = server_view_names(s, &v->info->capabilities),
                                     .labels = server_view_labels(s, &v->info->labels),
                                     .tenant = v->info->tenant,
                                     .cpu_percent = v->cpu_percent,
                                     .gpu_percent = v->gpu_percent,
                                     .cpu_milli = v->info->cpu_milli,
                                     .cpu_milli_taken = v->cpu_milli,
                                     .memory_bytes = v->info->memory_bytes,
                                     .memory_bytes_taken = v->memory_bytes,
                                     .gpus = v->info->gpus,
                                     .gpus_taken = v->gpus,
                                     .resources = server_view_amounts(s, &v->info->resources),
                                     .resources_taken = server_view_taken(s, &v->info->resources, v->resources)};
}

void server_view_demand(struct server *s, const struct demand_view *v, struct wire_demand_row *ret) {
    const struct demand *d = v->demand;
    *ret = (struct wire_demand_row){.tenant = v->tenant,
                                    .demand = {.pool = d->pool,
                                               .topic = d->topic,
                                               .capabilities = server_view_names(s, &d->capabilities),
                                               .labels = server_view_labels(s, &d->labels),
                                               .cpu_milli = d->cpu_milli,
                                               .memory_bytes = d->memory_bytes,
                                               .gpus = d->gpus,
                                               .resources = server_view_amounts(s, &d->resources),
                                               .keys = server_view_names(s, &d->keys),
                                               .rates = server_view_names(s, &d->rates)},
                                    .priority = (int64_t)v->priority - (int64_t)PRIORITY_NORMAL,
                                    .ready = v->ready,
                                    .more = v->more,
                                    .since_ms = v->since.ms,
                                    .code = slice_str(block_word(v->block)),
                                    .at_once = v->at_once};
}
