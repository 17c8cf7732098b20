/* simwire.c: see simwire.h. Answers are in simwire_take.c. */
#include "simwire.h"

#include <stdio.h>

#include "moment.h"
#include "panic.h"
#include "record.h"
#include "wire.h"
#include "world.h"

#define SHARD 1u

/* ---- what the wire can say ---- */

static bool jobs_say(const struct cmd_jobs *jobs) {
    for (uint32_t i = 0; i < jobs->job_count; i++)
        for (uint32_t p = 0; p < jobs->jobs[i].parent_count; p++)
            if (jobs->jobs[i].parents[p].has_seen) return false; /* only a history knows that */
    return true;
}

static bool verdict_says(const struct cmd_verdict *v) {
    return v->question.v != 0 || v->job.ordinal < FIRST_CHILD_ORDINAL;
}

bool simwire_says(const struct msg *m) {
    if (m->is_inside) return false;
    switch (m->cmd.kind) {
    case CMD_SUBMIT: return jobs_say(&m->cmd.as.submit.jobs);
    case CMD_ADD: return jobs_say(&m->cmd.as.add.jobs);
    case CMD_CANCEL: return m->cmd.as.cancel.whole || m->cmd.as.cancel.ordinal < FIRST_CHILD_ORDINAL;
    case CMD_RETRY:
    case CMD_DISCARD: return m->cmd.as.job.ordinal < FIRST_CHILD_ORDINAL;
    case CMD_VERDICT: return verdict_says(&m->cmd.as.verdict);
    case CMD_RERUN:
    case CMD_PAUSE:
    case CMD_DRAIN:
    case CMD_POOL:
    case CMD_TOPIC:
    case CMD_TENANT:
    case CMD_STORE:
    case CMD_LIMIT:
    case CMD_SERVICE:
    case CMD_SCHEDULE:
    case CMD_SCHEDULE_REMOVE:
    case CMD_SCHEDULE_PAUSE:
    case CMD_SCHEDULE_BACKFILL:
    case CMD_SCHEDULE_RUN:
    case CMD_READ: return true;
    case CMD_FORGET:
    case CMD_ATTACH:
    case CMD_DETACH:
    case CMD_HEARTBEAT:
    case CMD_STARTED:
    case CMD_PROGRESS:
    case CMD_DONE:
    case CMD_POLICY:
    case CMD_CHECKPOINT:
    case CMD_HEALTH:
    case CMD_SCHEDULE_SLOTS:
    case CMD_IDENTITY:
    case CMD_PROJECTED:
    case CMD_COUNT: break;
    }
    return false;
}

struct slice simwire_tenant(const struct msg *m) {
    return m->cmd.kind == CMD_SERVICE ? m->cmd.as.service.tenant : m->cmd.tenant;
}

/* ---- names ---- */

static struct slice flow_name(struct arena *a, flow_id id) {
    char text[FLOW_TEXT_BYTES];
    flow_text(SHARD, id, text);
    return arena_slice(a, slice_str(text));
}

static struct slice name_in(struct arena *a, flow_id flow, struct slice name) {
    char text[FLOW_TEXT_BYTES + 80];
    flow_text(SHARD, flow, text);
    size_t len = strlen(text);
    len += (size_t)snprintf(text + len, sizeof text - len, "/%.*s", SLICE_FMT(name));
    ENSURE(len < sizeof text);
    return arena_slice(a, slice_of(text, len));
}

/* A client knows the names of the jobs it means; here they are read where it has them from. */
static struct slice job_name(struct world *w, struct arena *a, struct job_ref ref) {
    struct job_view job;
    bool known = w->server.engine != NULL && view_job(engine_state(w->server.engine), ref, &job);
    return name_in(a, ref.flow, known ? job.name : SLICE("j0"));
}

static struct tlv_list names(struct arena *a, const struct name_item *items, uint32_t count) {
    struct wire_name *list = ARENA_ARRAY(a, struct wire_name, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i].name = items[i].name;
    return (struct tlv_list){list, count};
}

static struct tlv_list names_of(struct arena *a, const struct tlv_list *from) {
    return names(a, from->at, from->count);
}

/* ---- flows ---- */

static void demand_of(struct arena *a, const struct demand *d, struct wire_demand *ret) {
    struct wire_pair *labels = ARENA_ARRAY(a, struct wire_pair, d->labels.count + 1);
    struct wire_amount *resources = ARENA_ARRAY(a, struct wire_amount, d->resources.count + 1);
    const struct label *label = d->labels.at;
    const struct resource *resource = d->resources.at;
    for (uint32_t i = 0; i < d->labels.count; i++) labels[i] = (struct wire_pair){label[i].key, label[i].value};
    for (uint32_t i = 0; i < d->resources.count; i++)
        resources[i] = (struct wire_amount){resource[i].name, resource[i].amount};
    *ret = (struct wire_demand){.pool = d->pool,
                                .topic = d->topic,
                                .capabilities = names_of(a, &d->capabilities),
                                .labels = {labels, d->labels.count},
                                .cpu_milli = d->cpu_milli,
                                .memory_bytes = d->memory_bytes,
                                .gpus = d->gpus,
                                .resources = {resources, d->resources.count},
                                .keys = names_of(a, &d->keys),
                                .rates = names_of(a, &d->rates)};
}

static void options_of(struct arena *a, const struct options *o, struct wire_options *ret) {
    *ret = (struct wire_options){
        .kind = o->kind, .priority = (int64_t)o->priority - PRIORITY_NORMAL, .attempts_max = o->retries + 1};
#define X(name, type, journal, wire, standard, wait, text) ret->name = o->name;
    JOB_OPTION_TABLE(X)
#undef X
    demand_of(a, &o->demand, &ret->demand);
}

static void job_of(struct arena *a, const struct job_spec *job, struct wire_job *ret) {
    struct wire_name *parents = ARENA_ARRAY(a, struct wire_name, job->parent_count + 1);
    for (uint32_t i = 0; i < job->parent_count; i++) {
        const struct parent_ref *p = &job->parents[i];
        parents[i].name = p->flow.v != 0 ? name_in(a, p->flow, p->name) : p->name;
    }
    *ret = (struct wire_job){.name = job->name,
                             .options = job->profile,
                             .parent_names = {parents, job->parent_count},
                             .body = job->body,
                             .undo_options = job->undo_profile,
                             .undo_body = job->undo_body,
                             .service = job->service,
                             .cache_key = job->cache_key};
}

static void jobs_of(struct arena *a, const struct cmd_jobs *jobs, struct wire_jobs *ret) {
    struct wire_options *options = ARENA_ARRAY(a, struct wire_options, jobs->profile_count + 1);
    struct wire_job *list = ARENA_ARRAY(a, struct wire_job, jobs->job_count + 1);
    for (uint32_t i = 0; i < jobs->profile_count; i++) options_of(a, &jobs->profiles[i], &options[i]);
    for (uint32_t i = 0; i < jobs->job_count; i++) job_of(a, &jobs->jobs[i], &list[i]);
    *ret = (struct wire_jobs){{options, jobs->profile_count}, {list, jobs->job_count}, jobs->more};
}

struct wire_source simwire_source(struct slice name, struct arena *arena) {
    char text[64];
    int len = snprintf(text, sizeof text, "{\"name\": \"%.*s\"}\n", SLICE_FMT(name));
    ENSURE(len > 0 && (size_t)len < sizeof text);
    return (struct wire_source){.text = arena_slice(arena, slice_of(text, (size_t)len))};
}

static void source_of(struct arena *a, const struct flow_source *from, struct wire_flow *ret) {
    if (from->name.len == 0) return;
    ret->source_name = from->name;
    ret->params = from->params;
    ret->source = simwire_source(from->name, a);
}

static void put_submit(struct arena *a, const struct cmd_submit *c, uint32_t request, struct buf *out) {
    struct wire_flow *flow = ARENA_NEW(a, struct wire_flow);
    *flow = (struct wire_flow){.name = c->name,
                               .key = c->key,
                               .key_ms = c->key_ms,
                               .trace = c->trace,
                               .compensate_on = (uint8_t)c->compensate_on,
                               .timeout_ms = c->timeout_ms,
                               .late_after_ms = c->late_after_ms};
    jobs_of(a, &c->jobs, &flow->part);
    source_of(a, &c->source, flow);
    struct wire_submit m = {{flow, 1}};
    wire_put(out, WIRE_SUBMIT, 0, request, &m);
}

static void put_add(struct arena *a, const struct cmd_add *c, uint32_t request, struct buf *out) {
    struct wire_add_jobs m = {.flow = flow_name(a, c->flow)};
    jobs_of(a, &c->jobs, &m.part);
    wire_put(out, WIRE_ADD_JOBS, 0, request, &m);
}

static void put_target(struct arena *a, enum wire_op op, struct slice target, uint32_t request, struct buf *out) {
    struct wire_name *name = ARENA_NEW(a, struct wire_name);
    name->name = target;
    struct wire_targets m = {.targets = {name, 1}};
    wire_put(out, op, 0, request, &m);
}

/* ---- schedules ---- */

static void put_schedule(struct arena *a, const struct cmd_schedule *c, uint32_t request, struct buf *out) {
    struct wire_schedule_set m = {.name = c->name,
                                  .expression = c->expression,
                                  .catch_up = (uint8_t)c->catch_up,
                                  .overlap = (uint8_t)c->overlap,
                                  .paused = c->paused,
                                  .start_ms = c->start_ms,
                                  .end_ms = c->end_ms,
                                  .calendar = c->calendar};
    if (c->when != 0) {
        char *key = arena_alloc(a, c->key.len + 2);
        snprintf(key, c->key.len + 2, "%.*s%s", SLICE_FMT(c->key), c->key_prefix ? "*" : "");
        m.key = slice_str(key);
        m.when = c->when == KEY_SET ? SLICE("set") : SLICE("changed, deleted");
        m.min_interval_ms = c->min_interval_ms;
    }
    jobs_of(a, &c->jobs, &m.flow.part);
    source_of(a, &c->source, &m.flow);
    wire_put(out, WIRE_SCHEDULE_SET, 0, request, &m);
}

static void put_schedule_change(const struct command *cmd, uint32_t request, struct buf *out) {
    const struct cmd_schedule_name *c = &cmd->as.schedule_name;
    struct wire_schedule_change m = {.name = c->name, .op = WIRE_SCHEDULE_REMOVE};
    if (cmd->kind == CMD_SCHEDULE_PAUSE) m.op = c->on ? WIRE_SCHEDULE_PAUSE : WIRE_SCHEDULE_RESUME;
    if (cmd->kind == CMD_SCHEDULE_BACKFILL) {
        m.op = WIRE_SCHEDULE_BACKFILL;
        m.since_ms = c->slots[0];
        m.until_ms = c->slots[1];
    }
    wire_put(out, WIRE_SCHEDULE_CHANGE, 0, request, &m);
}

static void put_schedule_run(struct arena *a, const struct cmd_schedule_name *c, uint32_t request, struct buf *out) {
    char *slot = arena_alloc(a, MOMENT_TEXT_BYTES);
    moment_text(zone_utc, c->slots[0] / 1000, slot);
    struct wire_schedule_run m = {.name = c->name, .slot = slice_str(slot)};
    wire_put(out, WIRE_SCHEDULE_RUN, 0, request, &m);
}

/* ---- people ---- */

static void put_pause(struct arena *a, const struct cmd_pause *c, uint32_t request, struct buf *out) {
    struct wire_pause m = {.scope = (uint8_t)c->scope, .name = c->name};
    if (c->scope == PAUSE_FLOW) m.name = flow_name(a, c->flow);
    wire_put(out, c->on ? WIRE_PAUSE : WIRE_RESUME, 0, request, &m);
}

static void put_word(struct world *w, struct arena *a, const struct cmd_verdict *c, uint32_t request, struct buf *out) {
    struct wire_complete m = {
        .job = job_name(w, a, c->job), .failed = c->verdict == VERDICT_DENY, .output = c->result, .reason = c->reason};
    wire_put(out, WIRE_COMPLETE, 0, request, &m);
}

static void put_verdict(struct world *w, struct arena *a, const struct cmd_verdict *c, uint32_t request,
                        struct buf *out) {
    struct wire_verdict m = {.question = c->question.v,
                             .revision = c->revision,
                             .hash = c->hash,
                             .verdict = (uint8_t)c->verdict,
                             .reason = c->reason,
                             .payload = c->payload,
                             .again_ms = c->again_ms,
                             .policy = c->policy,
                             .fatal = c->fatal,
                             .items = c->items,
                             .item_count = c->item_count};
    if (c->question.v == 0) m.job = job_name(w, a, c->job);
    wire_put(out, WIRE_VERDICT, 0, request, &m);
}

static void put_limit(const struct cmd_limit *c, uint32_t request, struct buf *out) {
    struct wire_limit m = {.tenant = c->tenant,
                           .kind = (uint8_t)c->kind,
                           .name = c->name,
                           .clear = c->clear,
                           .width = c->width,
                           .rate_milli = c->rate_milli,
                           .burst = c->burst,
                           .running = c->running,
                           .queued = c->queued,
                           .bytes = c->bytes};
    wire_put(out, WIRE_LIMIT, 0, request, &m);
}

/* ---- reads ---- */

static void put_list(enum wire_list_what what, uint32_t request, struct buf *out) {
    struct wire_list m = {.what = (uint8_t)what, .most = 1000};
    wire_put(out, WIRE_LIST, 0, request, &m);
}

static struct tlv_list keys_of(struct arena *a, const struct slice *keys, uint32_t count) {
    struct wire_kv_key *list = ARENA_ARRAY(a, struct wire_kv_key, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i].text = keys[i];
    return (struct tlv_list){list, count};
}

static void put_read(struct arena *a, const struct msg *m, uint32_t request, struct buf *out) {
    struct wire_empty nothing = {0};
    struct wire_get get = {.details = true};
    struct wire_kv_get items = {0};
    switch (m->read) {
    case READ_NOTHING: wire_put(out, WIRE_STATS, 0, request, &nothing); break;
    case READ_FLOW:
        get.target = flow_name(a, m->read_flow);
        wire_put(out, WIRE_GET, 0, request, &get);
        break;
    case READ_QUESTIONS: put_list(WIRE_LIST_QUESTIONS, request, out); break;
    case READ_DEAD: put_list(WIRE_LIST_DEAD, request, out); break;
    case READ_STORE:
        if (m->read_flow.v != 0) items.flow = flow_name(a, m->read_flow);
        items.keys = keys_of(a, m->keys, m->key_count);
        wire_put(out, WIRE_KV_GET, 0, request, &items);
        break;
    }
}

/* ---- the store ---- */

static void put_change(struct arena *a, const struct cmd_store *c, uint32_t request, struct buf *out) {
    struct wire_kv_entry *entries = ARENA_ARRAY(a, struct wire_kv_entry, c->entry_count + 1);
    for (uint32_t i = 0; i < c->entry_count; i++)
        entries[i] = (struct wire_kv_entry){c->entries[i].key, c->entries[i].value};
    struct wire_kv_change m = {.op = (uint8_t)c->op,
                               .entries = {entries, c->entry_count},
                               .condition = (uint8_t)c->condition,
                               .version = c->version,
                               .key = c->key,
                               .value = c->value,
                               .number = c->number,
                               .members = keys_of(a, c->members, c->member_count),
                               .expires_ms = c->expires_ms,
                               .keep_expiry = c->keep_expiry};
    if (c->flow.v != 0) m.flow = flow_name(a, c->flow);
    wire_put(out, WIRE_KV_CHANGE, 0, request, &m);
}

static void put_store(struct arena *a, const struct cmd_store *c, uint32_t request, struct buf *out) {
    if (c->op == STORE_UNWATCH) {
        struct wire_stop m = {.request = (uint32_t)c->watch};
        wire_put(out, WIRE_STOP, 0, request, &m);
    } else if (c->op == STORE_WATCH) {
        struct wire_kv_watch m = {.key = c->key, .prefix = c->prefix, .channel = c->of_channel};
        if (c->flow.v != 0) m.flow = flow_name(a, c->flow);
        wire_put(out, WIRE_KV_WATCH, 0, request, &m);
    } else {
        put_change(a, c, request, out);
    }
}

/* ---- all ---- */

static void put_admin(struct arena *a, const struct command *cmd, uint32_t request, struct buf *out) {
    if (cmd->kind == CMD_DRAIN) {
        struct wire_drain m = {.worker = cmd->as.worker.worker, .undo = !cmd->as.worker.on};
        wire_put(out, WIRE_DRAIN, 0, request, &m);
    } else if (cmd->kind == CMD_POOL) {
        const struct cmd_pool *c = &cmd->as.pool;
        struct wire_pool m = {c->name, (uint8_t)c->state, c->refuse_overload,
                              names(a, c->capabilities, c->capability_count)};
        wire_put(out, WIRE_POOL, 0, request, &m);
    } else if (cmd->kind == CMD_TOPIC) {
        const struct cmd_topic *c = &cmd->as.topic;
        struct wire_topic m = {c->name, names(a, c->pools, c->pool_count)};
        wire_put(out, WIRE_TOPIC, 0, request, &m);
    } else if (cmd->kind == CMD_TENANT) {
        struct wire_tenant m = {cmd->as.tenant_set.name, cmd->as.tenant_set.weight};
        wire_put(out, WIRE_TENANT, 0, request, &m);
    } else if (cmd->kind == CMD_LIMIT) {
        put_limit(&cmd->as.limit, request, out);
    } else {
        REQUIRE(cmd->kind == CMD_SERVICE);
        struct wire_service_set m = {.name = cmd->as.service.name, .desired = (uint8_t)cmd->as.service.desired};
        if (cmd->as.service.restart) m.desired = WIRE_DESIRED_RESTART;
        m.replicas = cmd->as.service.replicas;
        wire_put(out, WIRE_SERVICE_SET, 0, request, &m);
    }
}

void simwire_put(struct world *w, const struct msg *m, uint32_t request, struct buf *out) {
    struct arena arena;
    const struct command *cmd = &m->cmd;
    REQUIRE(simwire_says(m));
    arena_init(&arena, 4096, (size_t)1 << 28);
    switch ((int)cmd->kind) {
    case CMD_SUBMIT: put_submit(&arena, &cmd->as.submit, request, out); break;
    case CMD_ADD: put_add(&arena, &cmd->as.add, request, out); break;
    case CMD_CANCEL:
        put_target(&arena, WIRE_CANCEL,
                   cmd->as.cancel.whole
                       ? flow_name(&arena, cmd->as.cancel.flow)
                       : job_name(w, &arena, (struct job_ref){cmd->as.cancel.flow, cmd->as.cancel.ordinal}),
                   request, out);
        break;
    case CMD_RETRY: put_target(&arena, WIRE_RETRY, job_name(w, &arena, cmd->as.job), request, out); break;
    case CMD_DISCARD: put_target(&arena, WIRE_DISCARD, job_name(w, &arena, cmd->as.job), request, out); break;
    case CMD_RERUN: put_target(&arena, WIRE_RERUN, flow_name(&arena, cmd->as.flow), request, out); break;
    case CMD_PAUSE: put_pause(&arena, &cmd->as.pause, request, out); break;
    case CMD_VERDICT:
        if (cmd->as.verdict.outside)
            put_word(w, &arena, &cmd->as.verdict, request, out);
        else
            put_verdict(w, &arena, &cmd->as.verdict, request, out);
        break;
    case CMD_READ: put_read(&arena, m, request, out); break;
    case CMD_STORE: put_store(&arena, &cmd->as.store, request, out); break;
    case CMD_SCHEDULE: put_schedule(&arena, &cmd->as.schedule, request, out); break;
    case CMD_SCHEDULE_REMOVE:
    case CMD_SCHEDULE_PAUSE:
    case CMD_SCHEDULE_BACKFILL: put_schedule_change(cmd, request, out); break;
    case CMD_SCHEDULE_RUN: put_schedule_run(&arena, &cmd->as.schedule_name, request, out); break;
    default: put_admin(&arena, cmd, request, out); break;
    }
    ENSURE(!out->full);
    arena_fini(&arena);
}
