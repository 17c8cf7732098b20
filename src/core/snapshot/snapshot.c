/* snapshot.c: the writing half of snapshot.h, and the digest. */
#include "snapshot.h"

#include "attempt_notes.h"
#include "buf.h"
#include "directory.h"
#include "expand.h"
#include "external.h"
#include "flow.h"
#include "hash.h"
#include "heap.h"
#include "memo.h"
#include "mutant.h"
#include "objects.h"
#include "panic.h"
#include "quota.h"
#include "schedule.h"
#include "service.h"
#include "service_versions.h"
#include "store.h"

#define OBJECT_BYTES_MAX ((size_t)1 << 31)
#define CHUNK_JOBS_MAX 256u
#define CHUNK_MEMBERS_MAX 256u
#define CHUNK_BYTES_MAX ((size_t)1 << 20)
#define HASH_SEED_HI 0x9e3779b97f4a7c15ULL

/* Objects go to `put`, one after the other, in an order that depends on the facts alone. */
typedef enum err (*put_fn)(void *ctx, enum object_kind kind, struct slice message, struct why *why);

struct snapshot_writer {
    const struct state *state;
    put_fn put;
    void *ctx;
    struct why *why;
    struct buf message;
    struct arena arena; /* of one object */
    enum err err;       /* the first failure; nothing is put after it */
};

static void put(struct snapshot_writer *w, enum object_kind kind, const void *object) {
    if (w->err != ERR_OK) return;
    buf_clear(&w->message);
    tlv_encode(object_desc(kind), object, &w->message);
    ENSURE(!w->message.full);
    w->err = w->put(w->ctx, kind, buf_slice(&w->message), w->why);
    arena_reset(&w->arena);
}

static void put_header(struct snapshot_writer *w) {
    const struct state *s = w->state;
    struct snap_header o = {.shard = s->shard,
                            .epoch = s->epoch,
                            .lsn = s->lsn,
                            .now_ms = s->now.ms,
                            .flow_last = s->flow_last,
                            .question_last = s->question_last,
                            .worker_last = s->worker_last,
                            .policy = s->policy,
                            .history_lsn = s->history_lsn};
    put(w, OBJ_HEADER, &o);
}

static void put_names(struct snapshot_writer *w) {
    const struct state *s = w->state;
    for (uint32_t i = 1; i <= s->tenants.high; i++) {
        const struct tenant *t = tenant_at(s, i);
        if (t->name == NULL) continue;
        struct snap_tenant o = {bytes_slice(t->name), t->weight, t->paused};
        put(w, OBJ_TENANT, &o);
    }
    for (uint32_t i = 1; i <= s->pools.high; i++) {
        const struct pool_ *p = pool_entry(s, i);
        if (p->name == NULL) continue;
        struct snap_pool o = {bytes_slice(p->name), bytes_slice(p->record), p->paused};
        put(w, OBJ_POOL, &o);
    }
    for (uint32_t i = 1; i <= s->topics.high; i++) {
        const struct topic *t = topic_at(s, i);
        if (t->name == NULL) continue;
        struct snap_topic o = {bytes_slice(t->record)};
        put(w, OBJ_TOPIC, &o);
    }
    for (uint32_t i = 1; i <= s->workers.high; i++) {
        const struct worker *k = worker_at(s, i);
        if (k->id == NULL) continue;
        struct snap_worker o = {k->number, bytes_slice(k->record), k->draining, k->drains_itself};
        put(w, OBJ_WORKER, &o);
    }
}

static void put_limits(struct snapshot_writer *w) {
    const struct state *s = w->state;
    for (uint32_t i = 1; i <= s->tenants.high; i++) {
        const struct tenant *t = tenant_at(s, i);
        if (t->name == NULL || !(t->running_max || t->queued_max || t->bytes_max) || MUTANT(limit_forgotten)) continue;
        struct snap_limit o = {.tenant = bytes_slice(t->name),
                               .kind = LIMIT_TENANT,
                               .running = t->running_max,
                               .queued = t->queued_max,
                               .bytes = t->bytes_max};
        put(w, OBJ_LIMIT, &o);
    }
    for (uint32_t i = 1; i <= s->quotas.high; i++) {
        const struct quota *q = quota_at(s, i);
        if (q->text == NULL || !q->is_set || MUTANT(limit_forgotten)) continue;
        struct snap_limit o = {.tenant = bytes_slice(tenant_at(s, q->tenant)->name),
                               .kind = q->kind,
                               .name = quota_name(q),
                               .width = q->width,
                               .rate_milli = q->rate_milli,
                               .burst = q->burst,
                               .level = q->level,
                               .filled_ms = q->filled.ms};
        put(w, OBJ_LIMIT, &o);
    }
}

static void put_finale(const struct state *s, const struct flow *f, struct snap_flow *o) {
    if (f->finale == 0) return;
    const struct finale *x = finale_at(s, f->finale);
    o->has_finale = true;
    o->timeout_ms = x->timeout_ms;
    o->began_ms = x->began.ms;
    o->deadline_ms = x->deadline.ms;
    o->stage = x->stage;
    o->called = x->called;
    o->cancelled = x->cancelled;
    o->timed_out = x->timed_out;
    o->late = x->late;
    o->is_again = x->is_again;
}

static void put_flow(struct snapshot_writer *w, const struct flow *f) {
    struct snap_foreign *foreign = ARENA_ARRAY(&w->arena, struct snap_foreign, f->graph->foreign.count + 1);
    for (uint32_t i = 0; i < f->graph->foreign.count; i++) {
        const struct foreign_edge *e = vec_at(&f->graph->foreign, i);
        foreign[i] = (struct snap_foreign){e->parent, e->child_flow, e->child_ordinal};
    }
    struct snap_seen *seen = ARENA_ARRAY(&w->arena, struct snap_seen, f->graph->seen.count + 1);
    for (uint32_t i = 0; i < f->graph->seen.count; i++) {
        const struct foreign_seen *x = vec_at(&f->graph->seen, i);
        seen[i] = (struct snap_seen){x->child, x->parent_flow, x->parent_ordinal, x->state};
    }
    struct snap_flow o = {.id = f->id,
                          .tenant = bytes_slice(tenant_at(w->state, f->tenant)->name),
                          .rules = f->rules,
                          .state = f->state,
                          .paused = f->paused,
                          .more = f->more,
                          .cancelling = f->cancelling,
                          .sweep = f->sweep,
                          .sweep_next = f->sweep_next,
                          .sweep_root = f->sweep_root,
                          .sweep_confirm_ms = f->sweep_confirm_ms,
                          .work = {f->graph->work.count ? f->graph->work.at + f->graph->work_head : NULL,
                                   f->graph->work.count - f->graph->work_head},
                          .work_edge = f->graph->work_edge,
                          .created_ms = f->created.ms,
                          .finished_ms = f->finished.ms,
                          .head = flow_head_bytes(f),
                          .foreign = {foreign, f->graph->foreign.count},
                          .seen = {seen, f->graph->seen.count},
                          .job_count = f->jobs.count,
                          .unwinding = f->unwinding,
                          .entered = {f->graph->entered.at, f->graph->entered.count},
                          .compensate_on = f->compensate_on};
    put_finale(w->state, f, &o);
    put(w, OBJ_FLOW, &o);
}

static struct snap_job job_object(struct snapshot_writer *w, const struct job *j) {
    const struct state *s = w->state;
    struct snap_attempt *attempts = NULL;
    struct snap_job o = {.text = job_text(j),
                         .state = j->state,
                         .cause = j->cause,
                         .flags = j->flags & JOBF_FACTS,
                         .gates = j->gates,
                         .attempt = j->attempt,
                         .done_attempt = j->done_attempt,
                         .used = j->used,
                         .worker = job_worker(s, j),
                         .root = j->root == NO_ORDINAL ? 0 : j->root + 1,
                         .since_ms = j->since.ms,
                         .due_ms = j->due.ms,
                         .parents_open = j->parents_open};
    if (j->extra) {
        const struct extra *x = extra_at(s, j->extra);
        o.result = x->result;
        o.result_hash = x->result_hash;
        o.constraints = x->constraints;
        o.body = x->body;
        o.body_hash = x->body_hash;
        o.policy = x->policy;
        o.artifacts = x->artifacts;
        if (x->external)
            o.outside = (struct snap_outside){.begun = x->external->begun,
                                              .polls = x->external->polls,
                                              .until_ms = x->external->until.ms,
                                              .word = x->external->word,
                                              .result = x->external->result,
                                              .result_hash = x->external->result_hash,
                                              .reason = x->external->reason};
        if (x->memo) {
            const struct memo_job *m = memo_job_at(s, x->memo);
            if (m->is_rendered) o.cache_key = memo_key(memo_at(s, m->memo));
            o.from_flow = m->from.flow.v;
            o.from_ordinal = m->from.ordinal;
        }
    }
    o.attempts.count = note_facts(s, j, &w->arena, &attempts);
    o.attempts.at = attempts;
    return o;
}

static struct slice profile_bytes(struct snapshot_writer *w, const struct profile *p) {
    struct slice key = bytes_slice(p->key);
    if (!MUTANT(deadline_forgotten)) return slice_of(key.ptr + 4, key.len - 4);
    struct options o = p->options;
    o.deadline_ms = 0;
    struct buf b;
    buf_init(&b, OBJECT_BYTES_MAX);
    tlv_encode(&options_desc, &o, &b);
    struct slice copy = arena_slice(&w->arena, buf_slice(&b));
    buf_fini(&b);
    return copy;
}

/* Position of a profile in the chunk's list, by first use. Few profiles, so a walk from the newest is short. */
static uint32_t chunk_profile(uint32_t *known, uint32_t *count, uint32_t profile) {
    for (uint32_t i = *count; i-- > 0;)
        if (known[i] == profile) return i;
    known[*count] = profile;
    return (*count)++;
}

/* One object with the jobs from `first` on; returns how many it holds. */
static uint32_t put_chunk(struct snapshot_writer *w, const struct flow *f, uint32_t first) {
    const struct state *s = w->state;
    struct snap_job *jobs = ARENA_ARRAY(&w->arena, struct snap_job, CHUNK_JOBS_MAX);
    uint32_t *known = ARENA_ARRAY(&w->arena, uint32_t, 4 * CHUNK_JOBS_MAX); /* its own and those of what it may make */
    uint32_t profile_count = 0, count = 0;
    size_t bytes = 0;
    for (; first + count < f->jobs.count && count < CHUNK_JOBS_MAX && bytes < CHUNK_BYTES_MAX; count++) {
        const struct job *j = job_at(s, f->jobs.at[first + count]);
        jobs[count] = job_object(w, j);
        jobs[count].profile = chunk_profile(known, &profile_count, j->profile);
        uint32_t undo_profile = j->extra ? extra_at(s, j->extra)->undo_profile : 0;
        if (undo_profile) jobs[count].undo_profile = chunk_profile(known, &profile_count, undo_profile) + 1;
        uint32_t runner = j->extra ? extra_at(s, j->extra)->runner_profile : 0;
        if (runner) jobs[count].runner_profile = chunk_profile(known, &profile_count, runner) + 1;
        uint32_t child_profile = j->extra ? extra_at(s, j->extra)->child_profile : 0;
        if (child_profile) jobs[count].child_profile = chunk_profile(known, &profile_count, child_profile) + 1;
        bytes += jobs[count].text.len + jobs[count].result.len + jobs[count].body.len + jobs[count].artifacts.len;
    }
    ENSURE(count > 0); /* or the caller would go on for ever */
    ENSURE(profile_count <= 4 * CHUNK_JOBS_MAX);
    struct snap_profile *profiles = ARENA_ARRAY(&w->arena, struct snap_profile, profile_count + 1);
    for (uint32_t i = 0; i < profile_count; i++) profiles[i].options = profile_bytes(w, profile_at(s, known[i]));
    struct snap_jobs o = {.flow = f->id, .profiles = {profiles, profile_count}, .jobs = {jobs, count}};
    put(w, OBJ_JOBS, &o);
    return count;
}

static void put_flows(struct snapshot_writer *w) {
    const struct state *s = w->state;
    struct heap by_id;
    heap_init(&by_id, NULL, NULL);
    for (uint32_t i = 1; i <= s->flows.high; i++)
        if (flow_at(s, i)->id) heap_push(&by_id, (int64_t)flow_at(s, i)->id, i);
    while (by_id.count && w->err == ERR_OK) {
        const struct flow *f = flow_at(s, (uint32_t)heap_pop(&by_id).ref);
        put_flow(w, f);
        for (uint32_t first = 0; first < f->jobs.count && w->err == ERR_OK;) first += put_chunk(w, f, first);
    }
    heap_fini(&by_id);
}

/* One object with children that have something to tell; returns from which index on to look for the next. */
static uint32_t put_children(struct snapshot_writer *w, const struct expansion *x, uint32_t item) {
    REQUIRE(item < x->next);
    const struct state *s = w->state;
    struct snap_child *children = ARENA_ARRAY(&w->arena, struct snap_child, CHUNK_JOBS_MAX);
    uint32_t count = 0;
    size_t bytes = 0;
    for (; item < x->next && count < CHUNK_JOBS_MAX && bytes < CHUNK_BYTES_MAX; item++) {
        uint32_t child = map_get(&x->made, item);
        if (child == 0 || (MUTANT(expansion_forgotten) && job_at(s, child)->state == JOB_FAILED)) continue;
        children[count] = (struct snap_child){item, job_object(w, job_at(s, child))};
        children[count].job.text = slice_of(NULL, 0);
        bytes += children[count].job.result.len + children[count].job.artifacts.len;
        count++;
    }
    struct job_ref ref = job_ref_of(s, job_at(s, x->job));
    struct snap_children o = {.flow = ref.flow.v, .job = ref.ordinal, .children = {children, count}};
    if (count) put(w, OBJ_CHILDREN, &o);
    return item;
}

static uint32_t children_to_put(const struct state *s, const struct expansion *x) {
    uint32_t count = x->made.count;
    for (uint32_t item = 0; MUTANT(expansion_forgotten) && item < x->next; item++) {
        uint32_t child = map_get(&x->made, item);
        count -= child && job_at(s, child)->state == JOB_FAILED;
    }
    return count;
}

static void put_expansions(struct snapshot_writer *w, const struct flow *f) {
    const struct state *s = w->state;
    const struct u32vec *all = &fan_at(s, f->fan)->expansions;
    for (uint32_t i = 0; i < all->count && w->err == ERR_OK; i++) {
        const struct expansion *x = expansion_at(s, all->at[i]);
        struct snap_expansion o = {.flow = f->id,
                                   .job = job_at(s, x->job)->ordinal,
                                   .first = x->first,
                                   .count = x->count,
                                   .next = x->next,
                                   .items = x->items,
                                   .cause = x->cause,
                                   .pass = x->pass,
                                   .pass_next = x->pass_next,
                                   .confirm_ms = x->confirm_ms,
                                   .again = x->again,
                                   .is_open = x->is_open,
                                   .made = children_to_put(s, x)};
        put(w, OBJ_EXPANSION, &o);
        for (uint32_t item = 0; o.made && item < x->next && w->err == ERR_OK;) item = put_children(w, x, item);
    }
}

static void put_fans(struct snapshot_writer *w) {
    const struct state *s = w->state;
    for (uint32_t i = 1; i <= s->flows.high && s->expansions.count && w->err == ERR_OK; i++)
        if (flow_at(s, i)->id && flow_at(s, i)->fan) put_expansions(w, flow_at(s, i));
}

static void put_run(struct snapshot_writer *w, const struct run *r) {
    const struct state *s = w->state;
    struct job_ref ref = job_ref_of(s, job_at(s, r->job));
    struct snap_run o = {.flow = ref.flow.v,
                         .ordinal = ref.ordinal,
                         .attempt = r->attempt,
                         .worker = worker_at(s, r->worker)->number,
                         .incarnation = r->incarnation,
                         .fence = r->fence,
                         .stop = r->stop,
                         .confirm_ms = r->confirm.ms,
                         .assigned_ms = r->assigned.ms,
                         .started_ms = r->started.ms};
    put(w, OBJ_RUN, &o);
}

static void put_runs(struct snapshot_writer *w) {
    const struct state *s = w->state;
    struct heap by_fence;
    heap_init(&by_fence, NULL, NULL);
    for (uint32_t i = 1; i <= s->runs.high; i++)
        if (run_at(s, i)->job) heap_push(&by_fence, (int64_t)run_at(s, i)->fence, i);
    while (by_fence.count) put_run(w, run_at(s, (uint32_t)heap_pop(&by_fence).ref));
    heap_fini(&by_fence);
}

static void put_question(struct snapshot_writer *w, const struct question *q) {
    const struct state *s = w->state;
    struct job_ref ref = job_ref_of(s, job_at(s, q->job));
    uint32_t voter_count = q->voters ? q->votes : 0;
    struct buf voters;
    buf_init(&voters, 4096);
    for (uint32_t i = 0; i < voter_count; i++) buf_put_u64(&voters, q->voters[i]);
    struct snap_question o = {.id = q->id,
                              .flow = ref.flow.v,
                              .ordinal = ref.ordinal,
                              .revision = q->revision,
                              .gate = q->gate,
                              .asked_ms = q->asked.ms,
                              .deadline_ms = q->deadline.ms == TIME_NEVER ? 0 : q->deadline.ms,
                              .again_ms = q->again.ms,
                              .votes = q->votes,
                              .voters = buf_slice(&voters)};
    put(w, OBJ_QUESTION, &o);
    buf_fini(&voters);
}

static void put_schedules(struct snapshot_writer *w) {
    for (uint32_t i = 1; i <= w->state->schedules.high; i++) {
        if (schedule_at(w->state, i)->key == NULL) continue;
        struct snap_schedule o = schedule_object(w->state, schedule_at(w->state, i), &w->arena);
        put(w, OBJ_SCHEDULE, &o);
    }
}

static void put_memos(struct snapshot_writer *w) {
    const struct state *s = w->state;
    for (uint32_t t = 1; t <= s->tenants.high; t++) {
        if (tenant_at(s, t)->name == NULL) continue;
        for (uint32_t i = tenant_at(s, t)->memo_oldest; i; i = memo_at(s, i)->newer) {
            struct snap_memo o = memo_object(s, memo_at(s, i));
            put(w, OBJ_MEMO, &o);
        }
    }
}

static void put_rest(struct snapshot_writer *w) {
    const struct state *s = w->state;
    for (uint32_t i = 1; i <= s->questions.high; i++)
        if (question_at(s, i)->id) put_question(w, question_at(s, i));
    for (uint32_t i = 1; i <= s->keys.high; i++) {
        const struct key *k = key_at(s, i);
        if (k->text == NULL) continue;
        struct slice text = bytes_slice(k->text);
        struct snap_key o = {.tenant = bytes_slice(tenant_at(s, k->tenant)->name),
                             .key = slice_of(text.ptr + 4, text.len - 4),
                             .hash = slice_of(k->hash, 32),
                             .flow = k->flow,
                             .job_count = k->job_count,
                             .expires_ms = k->expires.ms};
        put(w, OBJ_KEY, &o);
    }
}

static uint64_t flow_id_of(const struct state *s, uint32_t flow) {
    return flow ? flow_at(s, flow)->id : 0;
}

static void put_overlap(const struct state *s, const struct service *v, struct snap_service *o) {
    if (v->beside == 0 || MUTANT(overlap_forgotten)) return;
    const struct two_versions *both = beside_at(s, v->beside);
    o->retiring_too = flow_id_of(s, both->retiring);
    o->overlaps = both->is_open;
    if (!both->is_open) return;
    o->previous_healthy = both->health.healthy;
    o->previous_since_ms = both->health.since.ms;
    o->previous_port = both->health.port;
    o->previous_note = bytes_slice(both->health.note);
}

static void put_services(struct snapshot_writer *w) {
    const struct state *s = w->state;
    for (uint32_t i = 1; i <= s->services.high; i++) {
        const struct service *v = service_at(s, i);
        if (v->key == NULL) continue;
        struct snap_service o = {.tenant = bytes_slice(tenant_at(s, v->tenant)->name),
                                 .name = service_name(v),
                                 .desired = v->desired,
                                 .healthy = v->health.healthy,
                                 .since_ms = v->health.since.ms,
                                 .version_last = v->version_last,
                                 .current = flow_id_of(s, v->current.flow),
                                 .previous = flow_id_of(s, v->previous.flow),
                                 .retiring = flow_id_of(s, v->retiring),
                                 .current_number = v->current.number,
                                 .previous_number = v->previous.number,
                                 .port = v->health.port,
                                 .note = bytes_slice(v->health.note),
                                 .versions = service_versions_object(v, &w->arena)};
        put_overlap(s, v, &o);
        if (v->deployer) {
            struct job_ref ref = job_ref_of(s, job_at(s, v->deployer));
            o.deployer = ref.flow.v;
            o.deployer_ordinal = ref.ordinal;
        }
        put(w, OBJ_SERVICE, &o);
    }
}

static void put_members(struct snapshot_writer *w, uint32_t set) {
    const struct store *t = &w->state->store;
    struct order_place place;
    uint32_t member = member_seek(t, set, (struct slice){0}, &place);
    while (member && w->err == ERR_OK) {
        struct rec_store_item *list = ARENA_ARRAY(&w->arena, struct rec_store_item, CHUNK_MEMBERS_MAX);
        uint32_t count = 0;
        for (; member && count < CHUNK_MEMBERS_MAX; member = member_next(t, set, &place))
            list[count++].text = member_text(t, member);
        struct snap_members o = {.members = {list, count}};
        put(w, OBJ_MEMBERS, &o);
    }
}

static void put_store(struct snapshot_writer *w) {
    const struct store *t = &w->state->store;
    for (uint32_t i = 1; i <= t->items.high && w->err == ERR_OK; i++) {
        const struct item *it = item_at(t, i);
        if (it->text == NULL) continue;
        const struct store_space *p = space_at(t, item_space(it));
        if (p->is_dropped) continue;
        bool forever = it->expires.ms == TIME_NEVER || MUTANT(store_expiry_forgotten);
        struct snap_item o = {.tenant = bytes_slice(tenant_at(w->state, p->tenant)->name),
                              .flow = space_flow(p),
                              .key = item_key(it),
                              .kind = it->kind,
                              .version = it->version,
                              .expires_ms = forever ? 0 : it->expires.ms,
                              .members = item_members(t, it)};
        if (it->kind == ITEM_TEXT) o.value = bytes_slice(it->as.value);
        if (it->kind == ITEM_NUMBER) o.number = it->as.number;
        put(w, OBJ_ITEM, &o);
        if (it->kind == ITEM_SET) put_members(w, it->as.set);
    }
}

static void put_tally(struct snapshot_writer *w) {
    struct snap_count *counts = ARENA_ARRAY(&w->arena, struct snap_count, TALLY_COUNT);
    struct snap_tally o = {{counts, 0}};
    for (uint32_t i = 0; i < TALLY_COUNT; i++)
        if (w->state->tally[i] != 0) counts[o.counts.count++] = (struct snap_count){i, w->state->tally[i]};
    if (o.counts.count > 0) put(w, OBJ_TALLY, &o);
}

static void put_checkpoint(struct snapshot_writer *w) {
    const struct checkpoint *c = &w->state->checkpoint;
    if (c->number == 0 || MUTANT(checkpoint_forgotten)) return;
    struct snap_checkpoint o = {.number = c->number,
                                .lsn = c->lsn,
                                .from_lsn = c->from_lsn,
                                .upto_lsn = c->upto_lsn,
                                .time_ms = c->time.ms,
                                .chain = slice_of(c->chain, sizeof c->chain),
                                .key = slice_of(c->key, sizeof c->key),
                                .signature = slice_of(c->signature, sizeof c->signature)};
    put(w, OBJ_CHECKPOINT, &o);
}

static void put_directory(struct snapshot_writer *w) {
    const struct directory *d = &w->state->directory;
    if (d->log == 0) return;
    struct rec_secret *secrets = ARENA_ARRAY(&w->arena, struct rec_secret, d->secrets.count + 1);
    for (uint32_t i = 0; i < d->secrets.count; i++) {
        const struct secret *x = secret_at(d, i);
        secrets[i] = (struct rec_secret){x->number, x->kind, bytes_slice(x->sealed)};
    }
    struct snap_directory o = {d->log, {secrets, d->secrets.count}};
    put(w, OBJ_DIRECTORY, &o);
    for (uint32_t i = 1; i <= d->tokens.high; i++) {
        struct snap_token token = {bytes_slice(token_at(d, i)->record)};
        if (token_at(d, i)->record != NULL) put(w, OBJ_TOKEN, &token);
    }
    for (uint32_t i = 0; i < d->ended.count; i++) {
        const struct ended_session *x = ended_session_at(d, i);
        struct snap_session ended = {slice_str(x->who), x->number, x->expires_ms};
        put(w, OBJ_SESSION, &ended);
    }
    for (uint32_t i = 0; i < d->tickets.count; i++) {
        const struct ticket *t = ticket_at(d, i);
        struct snap_ticket ticket = {slice_of(t->hash, DIRECTORY_HASH_BYTES), slice_str(t->who), t->expires_ms};
        put(w, OBJ_TICKET, &ticket);
    }
}

static enum err put_all(const struct state *s, put_fn put_one, void *ctx, struct why *why) {
    struct snapshot_writer w = {.state = s, .put = put_one, .ctx = ctx, .why = why};
    buf_init(&w.message, OBJECT_BYTES_MAX);
    arena_init(&w.arena, 65536, OBJECT_BYTES_MAX);
    put_header(&w);
    put_names(&w);
    put_limits(&w);
    put_flows(&w);
    put_fans(&w);
    put_runs(&w);
    put_rest(&w);
    put_services(&w);
    put_store(&w);
    put_schedules(&w);
    put_memos(&w);
    put_tally(&w);
    put_checkpoint(&w);
    put_directory(&w);
    buf_fini(&w.message);
    arena_fini(&w.arena);
    return w.err;
}

/* ---- digest and stream ---- */

/* A sum, so that the order of objects that have none (tenants, keys) does not matter. */
void digest_add(struct digest *d, enum object_kind kind, struct slice message) {
    d->lo += hash64(message.ptr, message.len, (uint64_t)kind);
    d->hi += hash64(message.ptr, message.len, (uint64_t)kind ^ HASH_SEED_HI);
}

static enum err add_to_digest(void *ctx, enum object_kind kind, struct slice message, struct why *why) {
    (void)why;
    digest_add(ctx, kind, message);
    return ERR_OK;
}

struct digest snapshot_digest(const struct state *s) {
    struct digest d = {0};
    enum err e = put_all(s, add_to_digest, &d, NULL);
    ENSURE(e == ERR_OK);
    return d;
}

struct snapshot_stream {
    snapshot_write_fn write;
    void *ctx;
    struct buf frame;
    struct digest digest;
    uint64_t objects;
};

static enum err write_object(void *ctx, enum object_kind kind, struct slice message, struct why *why) {
    struct snapshot_stream *out = ctx;
    if (kind != OBJ_END) digest_add(&out->digest, kind, message);
    out->objects++;
    buf_clear(&out->frame);
    buf_put_varint(&out->frame, (uint64_t)kind);
    buf_put_str(&out->frame, message);
    ENSURE(!out->frame.full);
    return out->write(out->ctx, buf_slice(&out->frame), why);
}

enum err snapshot_write(const struct state *s, snapshot_write_fn write, void *ctx, struct why *why) {
    struct snapshot_stream out = {.write = write, .ctx = ctx};
    buf_init(&out.frame, OBJECT_BYTES_MAX);
    enum err e = put_all(s, write_object, &out, why);
    if (e == ERR_OK) {
        struct snap_end end = {out.objects, out.digest.lo, out.digest.hi};
        struct buf message;
        buf_init(&message, 256);
        tlv_encode(object_desc(OBJ_END), &end, &message);
        ENSURE(!message.full);
        e = write_object(&out, OBJ_END, buf_slice(&message), why);
        buf_fini(&message);
    }
    buf_fini(&out.frame);
    return e;
}
