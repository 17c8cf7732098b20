/* flow_recorded.c: see flow_recorded.h. */
#include "flow_recorded.h"

#include <stdio.h>

#include "map.h"
#include "panic.h"
#include "server_view.h"

struct recorded {
    struct server *s;
    struct arena *arena;
    int64_t age_ms;
    struct map set_of;  /* by where the engine keeps the options: position + 1 */
    struct vec options; /* of struct wire_options */
    uint32_t *place;    /* by ordinal: position of the job + 1; 0 = it is left out */
};

static struct tlv_list names_of(struct arena *a, const struct tlv_list *from) {
    struct wire_name *list = ARENA_ARRAY(a, struct wire_name, from->count + 1);
    const struct name_item *names = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i].name = names[i].name;
    return (struct tlv_list){list, from->count};
}

static struct tlv_list pairs_of(struct arena *a, const struct tlv_list *from) {
    struct wire_pair *list = ARENA_ARRAY(a, struct wire_pair, from->count + 1);
    const struct label *labels = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i] = (struct wire_pair){labels[i].key, labels[i].value};
    return (struct tlv_list){list, from->count};
}

static struct tlv_list amounts_of(struct arena *a, const struct tlv_list *from) {
    struct wire_amount *list = ARENA_ARRAY(a, struct wire_amount, from->count + 1);
    const struct resource *amounts = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i] = (struct wire_amount){amounts[i].name, amounts[i].amount};
    return (struct tlv_list){list, from->count};
}

/* The other way round than the request of a submit goes (req_flow.c). */
static struct wire_options options_of(const struct recorded *x, const struct options *o) {
    struct wire_options w = {.kind = o->kind,
                             .priority = (int64_t)o->priority - PRIORITY_NORMAL,
                             .attempts_max = o->retries + 1,
                             .demand = {.pool = o->demand.pool,
                                        .topic = o->demand.topic,
                                        .capabilities = names_of(x->arena, &o->demand.capabilities),
                                        .labels = pairs_of(x->arena, &o->demand.labels),
                                        .cpu_milli = o->demand.cpu_milli,
                                        .memory_bytes = o->demand.memory_bytes,
                                        .gpus = o->demand.gpus,
                                        .resources = amounts_of(x->arena, &o->demand.resources),
                                        .keys = names_of(x->arena, &o->demand.keys),
                                        .rates = names_of(x->arena, &o->demand.rates)}};
#define X(name, type, journal, wire, standard, wait, text) w.name = o->name;
    JOB_OPTION_TABLE(X)
#undef X
    if (w.deadline_ms != 0) w.deadline_ms += x->age_ms;
    if (w.not_before_ms != 0) w.not_before_ms += x->age_ms;
    return w;
}

/* A compensation goes before everything, which is no priority that anybody may ask for: it gets it again. */
static uint32_t set_place(struct recorded *x, const struct options *o, bool is_undo) {
    uint32_t place = map_get(&x->set_of, (uint64_t)(uintptr_t)o);
    if (place != 0) return place - 1;
    struct wire_options *w = vec_push(&x->options);
    *w = options_of(x, o);
    if (is_undo) w->priority = 0;
    map_put(&x->set_of, (uint64_t)(uintptr_t)o, x->options.count);
    return x->options.count - 1;
}

/* A job of another flow by its name; of one that is gone by what it was, so that the refusal can name it. */
static struct slice foreign_name(struct recorded *x, const struct rec_foreign *f) {
    struct job_view job;
    struct job_ref ref = {{f->flow}, f->ordinal};
    if (view_job(server_state(x->s), ref, &job)) return arena_slice(x->arena, server_view_job_name(x->s, &job));
    char text[FLOW_TEXT_BYTES + 16];
    flow_text(f->shard, ref.flow, text);
    size_t len = strlen(text);
    len += (size_t)snprintf(text + len, sizeof text - len, "/%u", f->ordinal);
    return arena_slice(x->arena, slice_of(text, len));
}

static void job_put(struct recorded *x, const struct job_sent *sent, struct wire_job *w) {
    const struct rec_job *spec = &sent->spec;
    const struct rec_foreign *foreign = spec->foreign.at;
    uint32_t *parents = ARENA_ARRAY(x->arena, uint32_t, spec->parents.count + 1);
    struct wire_name *names = ARENA_ARRAY(x->arena, struct wire_name, spec->foreign.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->parents.count; i++)
        if (x->place[spec->parents.at[i]] != 0) parents[count++] = x->place[spec->parents.at[i]] - 1;
    for (uint32_t i = 0; i < spec->foreign.count; i++) names[i].name = foreign_name(x, &foreign[i]);
    *w = (struct wire_job){.name = spec->name,
                           .options = set_place(x, sent->options, false),
                           .parents = {parents, count},
                           .parent_names = {names, spec->foreign.count},
                           .body = spec->body,
                           .undo_body = spec->undo_body,
                           .service = spec->service,
                           .cache_key = spec->cache_key};
    if (sent->undo != NULL) w->undo_options = set_place(x, sent->undo, true) + 1;
}

enum err flow_recorded_read(struct server *s, const struct flow_view *flow, struct arena *arena, struct wire_jobs *ret,
                            struct why *why) {
    struct recorded x = {.s = s, .arena = arena};
    uint32_t count = 0;
    if (flow->of_service)
        return why_set(why, ERR_UNSUPPORTED, "the flow is a version of a service: use `reeve deploy` or `restart`");
    x.age_ms = engine_now(server_shard(s)->engine).ms - flow->created.ms;
    x.place = ARENA_ARRAY(arena, uint32_t, flow->job_count + 1);
    struct wire_job *jobs = ARENA_ARRAY(arena, struct wire_job, flow->job_count + 1);
    map_init(&x.set_of);
    vec_init(&x.options, sizeof(struct wire_options));
    for (uint32_t i = 0; i < flow->job_count; i++) {
        struct job_sent sent;
        bool is_there = view_job_sent(server_state(s), (struct job_ref){flow->id, i}, arena, &sent);
        ENSURE(is_there); /* ordinals of jobs have no gaps */
        if (sent.spec.undoes != 0) continue;
        job_put(&x, &sent, &jobs[count++]);
        x.place[i] = count;
    }
    struct wire_options *options = ARENA_ARRAY(arena, struct wire_options, x.options.count + 1);
    if (x.options.count > 0) memcpy(options, x.options.at, x.options.count * sizeof *options);
    *ret = (struct wire_jobs){.options = {options, x.options.count}, .jobs = {jobs, count}};
    map_fini(&x.set_of);
    vec_fini(&x.options);
    return ERR_OK;
}
