/* blob_gc.c: see blob_gc.h. */
#include "blob_gc.h"

#include <stdio.h>

#include "blob.h"
#include "panic.h"
#include "record.h"
#include "server_impl.h"
#include "service_version.h"
#include "view_store.h"

#define STEPS_PER_PASS 512u /* jobs, kept results or keys: well below a millisecond */
#define DROPS_PER_PASS 4096u

/* ---- marking ---- */

/* A worker without a tenant of its own stores what jobs leave under the standard one. */
static void mark(struct server *s, struct slice tenant, struct slice hash) {
    blob_hash h;
    if (hash.len != DIGEST_BYTES) return;
    memcpy(h.at, hash.ptr, DIGEST_BYTES);
    blobs_mark(s->store.blobs, tenant, &h);
    if (!slice_eq(tenant, SLICE(TENANT_STANDARD))) blobs_mark(s->store.blobs, SLICE(TENANT_STANDARD), &h);
}

static void mark_body(struct server *s, struct slice tenant, struct slice body) {
    struct wire_run run;
    struct why ignored;
    if (body.len <= DIGEST_BYTES) return; /* there is no room for a name */
    if (tlv_decode(&wire_run_desc, body, TLV_SKIP_UNKNOWN, &s->arena, &run, &ignored) != ERR_OK) return;
    const struct wire_file *files = run.files.at;
    mark(s, tenant, run.script_hash);
    mark(s, tenant, run.stdin_hash);
    for (uint32_t i = 0; i < run.files.count; i++) mark(s, tenant, files[i].hash);
}

static void mark_artifacts(struct server *s, struct slice tenant, struct slice artifacts) {
    struct tlv_list list = view_artifacts(artifacts, &s->arena);
    const struct rec_artifact *files = list.at;
    for (uint32_t i = 0; i < list.count; i++) mark(s, tenant, files[i].hash);
}

static void mark_job(struct server *s, struct slice tenant, const struct job_view *job) {
    arena_reset(&s->arena);
    mark_body(s, tenant, job->body);
    mark_body(s, tenant, job->undo_body);
    mark(s, tenant, job->result_hash);
    mark(s, tenant, job->items);
    mark_artifacts(s, tenant, job->artifacts);
}

static void effect(struct shard *h, void *own, const struct effect *e) {
    (void)own;
    struct server *s = h->server;
    const struct event *v = &e->as.event;
    struct flow_view flow;
    struct job_view job;
    if (blob_gc_of(s)->phase == BLOB_GC_IDLE || v->kind != EVENT_JOB || v->to != JOB_SUCCEEDED) return;
    if (view_flow(server_state(s), v->job.flow, &flow) && view_job(server_state(s), v->job, &job))
        mark_job(s, flow.tenant, &job);
}

/* ---- walking ---- */

static void enter(struct server *s, enum blob_gc_phase phase) {
    struct blob_gc *x = blob_gc_of(s);
    x->phase = phase;
    x->at = 0;
    x->flow = 0;
}

/* The children of a foreach job that have begun, some of them; true when it was the last. */
static bool walk_children(struct server *s, const struct flow_view *flow, uint32_t *steps) {
    struct blob_gc *x = blob_gc_of(s);
    struct expansion_view all;
    struct job_view child;
    if (!view_expansion(server_state(s), (struct job_ref){flow->id, x->ordinal}, &all)) return true;
    mark(s, flow->tenant, all.items);
    for (; x->child<all.begun && * steps> 0; x->child++, (*steps)--)
        if (view_job(server_state(s), (struct job_ref){flow->id, all.first + x->child}, &child))
            mark_job(s, flow->tenant, &child);
    return x->child >= all.begun;
}

static void walk_schedules(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    struct slice tenant;
    struct tlv_list jobs = {0};
    arena_reset(&s->arena);
    x->at = view_schedule_next(server_state(s), x->at, &s->arena, &tenant, &jobs);
    const struct rec_job *list = jobs.at;
    for (uint32_t i = 0; x->at != 0 && i < jobs.count; i++) {
        mark_body(s, tenant, list[i].body);
        mark_body(s, tenant, list[i].undo_body);
    }
    if (x->at == 0) enter(s, BLOB_GC_JOBS);
}

static void walk_jobs(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    flow_id id;
    for (uint32_t steps = STEPS_PER_PASS, next; steps > 0; x->at = next) {
        struct flow_view flow;
        next = view_flow_next(server_state(s), x->at, &id);
        if (next == 0) {
            enter(s, BLOB_GC_SERVICES);
            return;
        }
        steps--;
        if (id.v != x->flow) x->ordinal = x->child = 0;
        x->flow = id.v;
        if (!view_flow(server_state(s), id, &flow)) continue;
        if (x->ordinal == 0) mark(s, flow.tenant, flow.source.hash);
        for (; x->ordinal < flow.job_count; x->ordinal++, x->child = 0) {
            struct job_view job;
            if (steps == 0) return;
            steps--;
            if (!view_job(server_state(s), (struct job_ref){id, x->ordinal}, &job)) continue;
            mark_job(s, flow.tenant, &job);
            if (!walk_children(s, &flow, &steps)) return;
        }
    }
}

static void walk_services(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    struct service_view v;
    arena_reset(&s->arena);
    x->at = view_service_next(server_state(s), x->at, &v);
    for (uint32_t i = 0; x->at != 0 && i < v.version_count; i++) {
        struct rec_submitted spec;
        struct slice kept = bytes_slice(v.versions[i].spec);
        if (kept.len == 0) continue;
        enum err e = tlv_decode(record_desc(REC_SUBMITTED), kept, TLV_STRICT, &s->arena, &spec, NULL);
        ENSURE(e == ERR_OK);
        const struct rec_job *jobs = spec.jobs.at;
        for (uint32_t k = 0; k < spec.jobs.count; k++) mark_body(s, v.tenant, jobs[k].body);
    }
    if (x->at == 0) enter(s, BLOB_GC_MEMOS);
}

static void walk_memos(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    struct memo_view memo;
    for (uint32_t steps = STEPS_PER_PASS; steps > 0; steps--) {
        x->at = view_memo_next(server_state(s), x->at, &memo);
        if (x->at == 0) {
            enter(s, BLOB_GC_KEYS);
            return;
        }
        arena_reset(&s->arena);
        mark(s, memo.tenant, memo.result_hash);
        mark_artifacts(s, memo.tenant, memo.artifacts);
    }
}

struct blob_gc_keys {
    struct server *server;
    struct slice tenant;
};

static void mark_key(void *ctx, const struct item_view *item) {
    const struct blob_gc_keys *k = ctx;
    size_t prefix = strlen(BLOB_GC_KEEP);
    uint8_t hash[DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];
    bool is_file = blob_gc_of(k->server)->prefix > 0; /* whose values say which blob they are */
    if (is_file ? item->value.len < 2 * DIGEST_BYTES : item->key.len != prefix + 2 * DIGEST_BYTES) return;
    snprintf(text, sizeof text, "%.*s", (int)(2 * DIGEST_BYTES), is_file ? item->value.ptr : item->key.ptr + prefix);
    for (uint32_t i = 0; i < DIGEST_BYTES; i++) {
        unsigned byte = 0;
        if (sscanf(text + (size_t)i * 2, "%2x", &byte) != 1) return;
        hash[i] = (uint8_t)byte;
    }
    mark(k->server, k->tenant, slice_of(hash, DIGEST_BYTES));
}

/* Of the keys that name blobs: ours, then those of the parts; NULL behind the last. */
static const char *prefix_at(uint32_t index) {
    if (index-- == 0) return BLOB_GC_KEEP;
    for (uint8_t slot = 0; slot < server_part_count; slot++) {
        const char *const *keys = server_parts[slot]->blob_keys;
        for (; keys != NULL && *keys != NULL; keys++)
            if (index-- == 0) return *keys;
    }
    return NULL;
}

static void walk_keys(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    struct blob_gc_keys k = {.server = s};
    struct slice last = {0};
    uint32_t at = view_tenant_next(server_state(s), x->at, &k.tenant);
    if (at == 0) {
        x->lsn = engine_lsn(server_shard(s)->engine);
        enter(s, BLOB_GC_DURABLE);
        return;
    }
    struct store_page page = {
        .prefix = slice_str(prefix_at(x->prefix)), .after = bytes_slice(x->key_after), .most = STEPS_PER_PASS};
    struct store_place place = {.tenant = k.tenant};
    bool more = view_items(server_state(s), engine_now(server_shard(s)->engine), place, &page, mark_key, &k, &last);
    struct bytes *after = more ? bytes_new(last) : NULL;
    bytes_free(x->key_after);
    x->key_after = after;
    if (more) return;
    if (prefix_at(++x->prefix) != NULL) return;
    x->at = at;
    x->prefix = 0;
}

/* ---- turns ---- */

static void drop(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    if (!blobs_sweep_step(s->store.blobs, DROPS_PER_PASS, &x->dropped)) return;
    if (x->dropped > 0)
        server_log(s, SERVER_INFO, "sweep", "removed %llu unreferenced blobs", (unsigned long long)x->dropped);
    x->total_dropped += x->dropped;
    x->due_ms = s->now_ms + s->limits->blob_sweep_ms;
    enter(s, BLOB_GC_IDLE);
}

static void walk(struct server *s) {
    struct blob_gc *x = blob_gc_of(s);
    switch (x->phase) {
    case BLOB_GC_IDLE:
        if (s->now_ms < x->due_ms) return;
        x->dropped = 0;
        blobs_sweep_begin(s->store.blobs);
        enter(s, BLOB_GC_SCHEDULES);
        return;
    case BLOB_GC_SCHEDULES: walk_schedules(s); return;
    case BLOB_GC_JOBS: walk_jobs(s); return;
    case BLOB_GC_SERVICES: walk_services(s); return;
    case BLOB_GC_MEMOS: walk_memos(s); return;
    case BLOB_GC_KEYS: walk_keys(s); return;
    case BLOB_GC_DURABLE:
        if (engine_durable_lsn(server_shard(s)->engine) >= x->lsn) enter(s, BLOB_GC_DROP);
        return;
    case BLOB_GC_DROP: drop(s); return;
    }
}

/* Under way, it has a turn in every pass, and is told of jobs that end. */
static void flush(struct shard *h, void *own) {
    const struct blob_gc *x = own;
    walk(h->server);
    part_attend(h, blob_gc_slot, x->phase != BLOB_GC_IDLE);
    part_takes(h, blob_gc_slot, EFFECT_EVENT, x->phase != BLOB_GC_IDLE);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct blob_gc *x = own;
    if (x->phase == BLOB_GC_IDLE) return x->due_ms;
    return x->phase == BLOB_GC_DURABLE ? TIME_NEVER : h->server->now_ms; /* an append that ends wakes us */
}

static void init(struct shard *h, void *own) {
    struct blob_gc *x = own;
    struct clock *c = h->server->world.clock;
    x->due_ms = c->mono(c).ms + h->server->limits->blob_sweep_ms;
}

static void fini(struct shard *h, void *own) {
    struct blob_gc *x = own;
    (void)h;
    bytes_free(x->key_after);
}

const struct server_part blob_gc_part = {.name = "blob_gc",
                                         .scope = PART_OF_SHARD,
                                         .bytes = sizeof(struct blob_gc),
                                         .effects = EFFECT_BIT(EFFECT_EVENT),
                                         .init = init,
                                         .fini = fini,
                                         .flush = flush,
                                         .next_due = next_due,
                                         .effect = effect};
