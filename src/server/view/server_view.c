/* server_view.c: see server_view.h. */
#include "server_view.h"

#include "state_view.h"

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
