/* view.c: see view.h. */
#include "view.h"

#include "attempt_notes.h"
#include "expand.h"
#include "external.h"
#include "finale.h"
#include "flow.h"
#include "flow_lists.h"
#include "heap.h"
#include "live.h"
#include "memo.h"
#include "panic.h"
#include "question.h"
#include "quota.h"
#include "registry.h"

#define VIEW_BYTES_MAX ((size_t)1 << 30)

uint64_t view_history_lsn(const struct state *s) {
    return s->history_lsn;
}

bool view_has_services(const struct state *s) {
    return s->services.count > 0;
}

bool view_is_of_service(const struct state *s, flow_id id) {
    uint32_t index = flow_find(s, id);
    return index != 0 && flow_at(s, index)->of_service;
}

static void fill_finale(const struct state *s, const struct flow *f, struct flow_view *ret) {
    ret->timeout.ms = ret->deadline.ms = TIME_NEVER;
    if (f->finale == 0) return;
    const struct finale *x = finale_at(s, f->finale);
    for (uint32_t i = 0; i < JOB_STAGE_COUNT - 1; i++)
        for (uint32_t state = 0; state < JOB_STATE_COUNT; state++) {
            ret->has_stages |= x->by_state[i][state] > 0;
            if (state != JOB_WAITING && state != JOB_SKIPPED) ret->ran[i] += x->by_state[i][state];
        }
    ret->stage = (enum flow_stage)x->stage;
    ret->called = (enum flow_stage)x->called;
    ret->outcome = x->stage == FLOW_STAGE_MAIN ? FLOW_RUNNING : finale_outcome(s, f);
    ret->timed_out = x->timed_out;
    if (x->timeout_ms > 0) ret->timeout.ms = x->began.ms + x->timeout_ms;
    if (x->deadline.ms > 0) ret->deadline = x->deadline;
    ret->late = x->late;
}

bool view_flow(const struct state *s, flow_id id, struct flow_view *ret) {
    uint32_t index = flow_find(s, id);
    if (index == 0) return false;
    const struct flow *f = flow_at(s, index);
    struct arena arena;
    arena_init(&arena, 1024, VIEW_BYTES_MAX);
    struct flow_head head; /* its slices lie in the flow; only the list of labels is in the arena */
    flow_head_get(f, &arena, &head);
    arena_fini(&arena);
    *ret = (struct flow_view){.id = id,
                              .name = head.name,
                              .tenant = bytes_slice(tenant_at(s, f->tenant)->name),
                              .principal = head.principal,
                              .trace = head.trace,
                              .state = f->state,
                              .paused = f->paused,
                              .more = f->more,
                              .cancelling = f->cancelling,
                              .settling = f->is_working,
                              .of_service = f->of_service,
                              .unwinding = f->unwinding,
                              .compensate_on = f->compensate_on,
                              .undo_count = f->graph->entered.count,
                              .job_count = f->jobs.count,
                              .by_state = f->by_state,
                              .upstream_failed = f->upstream_failed,
                              .created = f->created,
                              .finished = f->finished,
                              .schedule = head.schedule,
                              .slot = {head.slot_ms},
                              .zone = head.zone,
                              .cause = head.cause,
                              .source = head.source};
    fill_finale(s, f, ret);
    return true;
}

static void fill_extra(const struct state *s, const struct extra *x, struct job_view *ret) {
    if (x->body.len) ret->body = x->body;
    if (x->body_hash.len) ret->body_hash = x->body_hash;
    if (x->constraints.len) ret->constraints = x->constraints;
    ret->result = x->result;
    ret->result_hash = x->result_hash;
    ret->artifacts = x->artifacts;
    ret->begun = x->external ? x->external->begun : 0;
    ret->heard = x->external && x->external->word != WORD_NONE;
    if (x->memo) {
        const struct memo_job *m = memo_job_at(s, x->memo);
        ret->cache_key = memo_key(memo_at(s, m->memo));
        ret->from = m->from;
    }
}

struct tlv_list view_artifacts(struct slice artifacts, struct arena *arena) {
    struct rec_artifacts list = {0};
    struct why why;
    if (artifacts.len == 0) return list.files;
    enum err e = tlv_decode(&rec_artifacts_desc, artifacts, TLV_STRICT, arena, &list, &why);
    ENSURE(e == ERR_OK); /* it came in a record, or the loader looked at it */
    return list.files;
}

static void fill_child(const struct state *s, const struct expansion *x, uint32_t ordinal, struct job_view *ret) {
    const struct job *whole = job_at(s, x->job);
    REQUIRE(whole->extra != 0);
    REQUIRE(ordinal - x->first < x->count);
    fill_extra(s, extra_at(s, whole->extra), ret);
    ret->item = ordinal - x->first;
    ret->whole = whole->ordinal;
    ret->items = x->items;
    ret->has_undo = false;
}

static void fill_job(const struct state *s, const struct job *j, struct job_view *ret) {
    REQUIRE(j->flow != 0);
    struct arena arena;
    arena_init(&arena, 1024, VIEW_BYTES_MAX);
    struct rec_job rec;
    job_record(j, &arena, &rec);
    *ret = (struct job_view){.ref = job_ref_of(s, j),
                             .name = rec.name,
                             .state = j->state,
                             .cause = j->cause,
                             .attempt = j->attempt,
                             .used = j->used,
                             .parent_count = rec.parents.count,
                             .parents_open = j->parents_open,
                             .since = j->since,
                             .due = j->due,
                             .options = job_options(s, j),
                             .body = rec.body,
                             .body_hash = rec.body_hash,
                             .worker = job_worker(s, j),
                             .root = j->root,
                             .dead_letter = (j->flags & JOBF_DEAD) != 0,
                             .has_undo = rec.undo_profile != 0,
                             .has_items = options_expand(job_options(s, j)),
                             .undo_body = rec.undo_body,
                             .undoes = rec.undoes ? rec.undoes - 1 : NO_ORDINAL,
                             .item = NO_ORDINAL};
    arena_fini(&arena);
    if (j->part == PART_CHILD) fill_child(s, expansion_at(s, j->expansion), j->ordinal, ret);
    if (j->extra) fill_extra(s, extra_at(s, j->extra), ret);
    if (job_state_is_active(j->state)) ret->stop = run_at(s, j->link)->stop;
    if (j->state == JOB_HELD || j->state == JOB_CHECKING) ret->question.v = question_at(s, j->link)->id;
}

bool view_calls(const struct state *s, struct job_ref ref) {
    uint32_t index = job_find(s, ref);
    return index != 0 && job_options(s, job_at(s, index))->calls;
}

/* A child without a struct: what follows from its foreach job. */
static bool bare_child(const struct state *s, struct job_ref ref, struct job_view *ret) {
    uint32_t flow = flow_find(s, ref.flow);
    const struct expansion *x = flow ? expand_find(s, flow_at(s, flow), ref.ordinal) : NULL;
    if (x == NULL) return false;
    const struct job *whole = job_at(s, x->job);
    fill_job(s, whole, ret);
    ret->ref = ref;
    ret->state = expand_bare_state(x, ref.ordinal);
    bool cancelled = ret->state == JOB_CANCELLED, succeeded = ret->state == JOB_SUCCEEDED;
    ret->cause = cancelled ? expand_child_cause(x) : CAUSE_NONE;
    ret->root = ret->cause == CAUSE_UPSTREAM ? whole->ordinal : NO_ORDINAL;
    ret->attempt = succeeded;
    ret->used = ret->parents_open = ret->worker = 0;
    ret->since.ms = ret->due.ms = 0;
    ret->options = &profile_at(s, extra_at(s, whole->extra)->child_profile)->options;
    ret->dead_letter = false;
    ret->question.v = 0;
    fill_child(s, x, ref.ordinal, ret);
    return true;
}

bool view_job(const struct state *s, struct job_ref ref, struct job_view *ret) {
    uint32_t job = job_find(s, ref);
    if (job == 0) return bare_child(s, ref, ret);
    fill_job(s, job_at(s, job), ret);
    return true;
}

bool view_job_sent(const struct state *s, struct job_ref ref, struct arena *arena, struct job_sent *ret) {
    uint32_t index = job_find(s, ref);
    if (index == 0) return false;
    const struct job *j = job_at(s, index);
    uint32_t undo = j->extra ? extra_at(s, j->extra)->undo_profile : 0;
    *ret = (struct job_sent){.options = job_options(s, j), .undo = undo ? &profile_at(s, undo)->options : NULL};
    job_record(j, arena, &ret->spec);
    return true;
}

bool view_job_state(const struct state *s, struct job_ref ref, enum job_state *ret_state, enum job_cause *ret_cause) {
    uint32_t flow = flow_find(s, ref.flow), job = flow ? job_find(s, ref) : 0;
    const struct expansion *x = flow && job == 0 ? expand_find(s, flow_at(s, flow), ref.ordinal) : NULL;
    if (job == 0 && x == NULL) return false;
    *ret_state = job ? (enum job_state)job_at(s, job)->state : expand_bare_state(x, ref.ordinal);
    *ret_cause = job                           ? (enum job_cause)job_at(s, job)->cause
                 : *ret_state == JOB_CANCELLED ? expand_child_cause(x)
                                               : CAUSE_NONE;
    return true;
}

bool view_expansion(const struct state *s, struct job_ref ref, struct expansion_view *ret) {
    uint32_t job = job_find(s, ref);
    const struct job *j = job ? job_at(s, job) : NULL;
    const struct expansion *x = j && j->part != PART_CHILD ? expansion_of(s, j) : NULL;
    if (x == NULL) return false;
    *ret = (struct expansion_view){.first = x->first,
                                   .count = x->count,
                                   .items = x->items,
                                   .begun = x->next,
                                   .under_way = x->under_way,
                                   .bad = x->bad,
                                   .allowed = expand_allowed(job_options(s, j), x->count),
                                   .called_off = x->cause != CAUSE_NONE};
    return true;
}

/* `name[17]`: splits it; false when it is no name of a child. */
static bool child_name(struct slice name, struct slice *ret_whole, uint32_t *ret_item) {
    size_t at = name.len;
    uint64_t item = 0, unit = 1;
    if (at < 4 || name.ptr[--at] != ']') return false;
    for (; at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9' && unit < EXPAND_ITEMS_MAX * 10ull; unit *= 10)
        item += unit * (uint64_t)(name.ptr[--at] - '0');
    if (unit == 1 || at < 2 || name.ptr[at - 1] != '[') return false;
    *ret_whole = slice_of(name.ptr, at - 1);
    *ret_item = (uint32_t)item;
    return true;
}

bool view_job_by_name(const struct state *s, flow_id flow, struct slice name, struct job_view *ret) {
    uint32_t index = flow_find(s, flow);
    if (index == 0) return false;
    const struct flow *f = flow_at(s, index);
    uint32_t ordinal = flow_job_by_name(s, f, name), item = 0;
    if (ordinal != NO_ORDINAL) return view_job(s, (struct job_ref){flow, ordinal}, ret);
    if (!child_name(name, &name, &item)) return false;
    ordinal = flow_job_by_name(s, f, name);
    const struct expansion *x = ordinal == NO_ORDINAL ? NULL : expansion_of(s, job_at(s, f->jobs.at[ordinal]));
    return x && item < x->count && view_job(s, (struct job_ref){flow, x->first + item}, ret);
}

uint32_t view_parents(const struct state *s, struct job_ref ref, uint32_t *ret, uint32_t max) {
    REQUIRE(ret != NULL || max == 0);
    uint32_t job = job_find(s, ref);
    if (job == 0) return 0;
    struct arena arena;
    arena_init(&arena, 4096, VIEW_BYTES_MAX);
    struct rec_job rec;
    job_record(job_at(s, job), &arena, &rec);
    uint32_t count = rec.parents.count;
    for (uint32_t i = 0; i < count && i < max; i++) ret[i] = rec.parents.at[i];
    arena_fini(&arena);
    return count;
}

static void fill_question(const struct state *s, const struct question *q, struct question_view *ret) {
    REQUIRE(q->id != 0);
    const struct job *j = job_at(s, q->job);
    const struct options *o = job_options(s, j);
    struct arena arena;
    arena_init(&arena, 1024, VIEW_BYTES_MAX);
    *ret = (struct question_view){.id = {q->id},
                                  .revision = q->revision,
                                  .gate = q->gate,
                                  .job = job_ref_of(s, j),
                                  .hash = question_hash(s, q, &arena), /* lies in the flow */
                                  .asked = q->asked,
                                  .deadline = q->deadline,
                                  .votes = q->votes,
                                  .quorum = o->quorum,
                                  .four_eyes = o->four_eyes,
                                  .role = o->approval_role};
    arena_fini(&arena);
}

bool view_question(const struct state *s, question_id id, struct question_view *ret) {
    uint32_t index = map_get(&s->question_by_id, id.v);
    if (index == 0) return false;
    fill_question(s, question_at(s, index), ret);
    return true;
}

static void fill_worker(const struct state *s, const struct live *l, uint32_t index, struct worker_view *ret) {
    const struct worker *w = worker_at(s, index);
    REQUIRE(w->id != NULL);
    struct live_worker now = l ? live_worker_get(l, s, index) : (struct live_worker){0};
    *ret = (struct worker_view){.number = w->number,
                                .id = bytes_slice(w->id),
                                .incarnation = w->incarnation,
                                .info = &w->info,
                                .draining = w->draining,
                                .attached = now.attached,
                                .active = w->active,
                                .cpu_percent = now.cpu_percent,
                                .gpu_percent = now.gpu_percent,
                                .cpu_milli = w->cpu_milli,
                                .gpus = w->gpus,
                                .memory_bytes = w->memory_bytes,
                                .resources = w->resources};
}

bool view_worker(const struct state *s, const struct live *l, uint32_t number, struct worker_view *ret) {
    uint32_t index = number ? map_get(&s->worker_by_number, number) : 0;
    if (index == 0) return false;
    fill_worker(s, l, index, ret);
    return true;
}

bool view_pool_is_paused(const struct state *s, struct slice name) {
    uint32_t index = pool_find(s, name);
    return index != 0 && pool_entry(s, index)->paused;
}

bool view_has_topic(const struct state *s, struct slice name) {
    return topic_find(s, name) != 0;
}

uint32_t view_worker_by_id(const struct state *s, struct slice id) {
    uint32_t index = worker_find(s, id);
    return index ? worker_at(s, index)->number : 0;
}

bool view_attempt(const struct state *s, const struct attempt_effect *a, struct job_view *ret) {
    uint32_t job = job_find(s, a->job);
    if (job == 0) return false;
    const struct job *j = job_at(s, job);
    if (!job_state_is_active(j->state) || run_at(s, j->link)->fence != a->fence) return false;
    fill_job(s, j, ret);
    return true;
}

static struct limit_view limit_of_tenant(const struct tenant *t) {
    return (struct limit_view){.is_set = t->running_max || t->queued_max || t->bytes_max,
                               .running_max = t->running_max,
                               .running = t->running,
                               .queued_max = t->queued_max,
                               .queued = t->queued,
                               .bytes_max = t->bytes_max,
                               .bytes = t->queued_bytes};
}

static struct limit_view limit_of_quota(const struct state *s, const struct quota *q) {
    return (struct limit_view){.is_set = q->is_set,
                               .width = quota_width(q),
                               .taken = q->taken,
                               .rate_milli = q->rate_milli,
                               .burst = q->burst,
                               .level = quota_level(q, s->now)};
}

bool view_limit(const struct state *s, struct slice tenant, enum limit_kind kind, struct slice name,
                struct limit_view *ret) {
    uint32_t owner = tenant_find(s, tenant);
    if (owner == 0) return false;
    uint32_t index = kind == LIMIT_TENANT ? 0 : quota_find(s, owner, kind, name);
    if (kind != LIMIT_TENANT && index == 0) return false;
    *ret = kind == LIMIT_TENANT ? limit_of_tenant(tenant_at(s, owner)) : limit_of_quota(s, quota_at(s, index));
    return true;
}

/* Tenants have the even places, keys and rates the odd ones: none moves when another comes or goes. */
uint64_t view_limit_next(const struct state *s, uint64_t at, struct limit_row *ret) {
    uint64_t high = s->tenants.high > s->quotas.high ? s->tenants.high : s->quotas.high;
    for (at = at < 2 ? 2 : at + 1; at / 2 <= high; at++) {
        uint32_t i = (uint32_t)(at / 2);
        if (at % 2 == 0 && i <= s->tenants.high) {
            const struct tenant *t = tenant_at(s, i);
            *ret = (struct limit_row){bytes_slice(t->name), SLICE(""), LIMIT_TENANT, limit_of_tenant(t)};
            if (ret->view.is_set) return at;
        }
        if (at % 2 == 1 && i <= s->quotas.high && quota_at(s, i)->text != NULL) {
            const struct quota *q = quota_at(s, i);
            struct slice owner = bytes_slice(tenant_at(s, q->tenant)->name);
            *ret = (struct limit_row){owner, quota_name(q), (enum limit_kind)q->kind, limit_of_quota(s, q)};
            return at;
        }
    }
    return 0;
}

void view_each_flow(const struct state *s, view_flow_fn each, void *ctx) {
    struct heap by_id;
    heap_init(&by_id, NULL, NULL);
    for (uint32_t i = 1; i <= s->flows.high; i++)
        if (flow_at(s, i)->id && !flow_is_leaving(flow_at(s, i))) heap_push(&by_id, (int64_t)flow_at(s, i)->id, i);
    while (by_id.count) each(ctx, (flow_id){(uint64_t)heap_pop(&by_id).key});
    heap_fini(&by_id);
}

uint32_t view_flow_next(const struct state *s, uint32_t at, flow_id *ret) {
    for (uint32_t i = at + 1; i <= s->flows.high; i++) {
        if (flow_at(s, i)->id == 0 || flow_is_leaving(flow_at(s, i))) continue;
        *ret = (flow_id){flow_at(s, i)->id};
        return i;
    }
    return 0;
}

uint32_t view_tenant_next(const struct state *s, uint32_t at, struct slice *ret) {
    if (at >= s->tenants.high) return 0;
    *ret = bytes_slice(tenant_at(s, at + 1)->name);
    return at + 1;
}

struct checkpoint view_checkpoint(const struct state *s) {
    return s->checkpoint;
}

uint64_t view_flow_last(const struct state *s) {
    return s->flow_last;
}

void view_each_job(const struct state *s, flow_id flow, view_job_fn each, void *ctx) {
    uint32_t index = flow_find(s, flow);
    if (index == 0) return;
    const struct flow *f = flow_at(s, index);
    for (uint32_t i = 0; i < f->jobs.count; i++) {
        struct job_view view;
        fill_job(s, job_at(s, f->jobs.at[i]), &view);
        each(ctx, &view);
    }
}

uint32_t view_question_next(const struct state *s, uint32_t at, struct question_view *ret) {
    uint32_t i = at ? question_at(s, at)->next : s->question_head;
    while (i && question_at(s, i)->gate == GATE_SERVICE) i = question_at(s, i)->next; /* that one nobody answers */
    if (i) fill_question(s, question_at(s, i), ret);
    return i;
}

uint32_t view_question_place(const struct state *s, uint64_t id) {
    return map_get(&s->question_by_id, id);
}

void view_each_question(const struct state *s, view_question_fn each, void *ctx) {
    struct question_view view;
    for (uint32_t i = 0; (i = view_question_next(s, i, &view)) != 0;) each(ctx, &view);
}

void view_each_worker(const struct state *s, const struct live *l, view_worker_fn each, void *ctx) {
    for (uint32_t i = 1; i <= s->workers.high; i++) {
        if (worker_at(s, i)->id == NULL) continue;
        struct worker_view view;
        fill_worker(s, l, i, &view);
        each(ctx, &view);
    }
}

static uint32_t dead_step(const struct state *s, uint32_t at, bool newest) {
    return newest ? job_at(s, at)->prev : job_at(s, at)->next;
}

uint32_t view_dead_next(const struct state *s, uint32_t at, bool newest, struct job_view *ret) {
    uint32_t i = at ? dead_step(s, at, newest) : newest ? s->dead_tail : s->dead_head;
    while (i && flow_is_leaving(flow_at(s, job_at(s, i)->flow))) i = dead_step(s, i, newest);
    if (i) fill_job(s, job_at(s, i), ret);
    return i;
}

uint32_t view_dead_place(const struct state *s, struct job_ref ref) {
    uint32_t job = job_find(s, ref);
    return job && job_at(s, job)->flags & JOBF_DEAD ? job : 0;
}

void view_each_dead_letter(const struct state *s, view_job_fn each, void *ctx) {
    for (uint32_t i = s->dead_head; i; i = job_at(s, i)->next) {
        struct job_view view;
        if (flow_is_leaving(flow_at(s, job_at(s, i)->flow))) continue;
        fill_job(s, job_at(s, i), &view);
        each(ctx, &view);
    }
}

void view_each_run(const struct state *s, uint32_t worker, view_job_fn each, void *ctx) {
    uint32_t index = worker ? map_get(&s->worker_by_number, worker) : 0;
    for (uint32_t i = index ? worker_at(s, index)->first : 0; i; i = run_at(s, i)->next) {
        struct job_view view;
        fill_job(s, job_at(s, run_at(s, i)->job), &view);
        each(ctx, &view);
    }
}

static struct memo_view memo_view_of(const struct state *s, const struct memo *m) {
    return (struct memo_view){.tenant = bytes_slice(tenant_at(s, m->tenant)->name),
                              .key = memo_key(m),
                              .from = m->from,
                              .expires = m->expires,
                              .result = bytes_slice(m->result),
                              .result_hash = bytes_slice(m->result_hash),
                              .artifacts = bytes_slice(m->artifacts)};
}

uint32_t view_memo_next(const struct state *s, uint32_t at, struct memo_view *ret) {
    for (uint32_t i = at + 1; i <= s->memos.high; i++) {
        const struct memo *m = memo_at(s, i);
        if (m->key == NULL || !memo_has_entry(m)) continue;
        *ret = memo_view_of(s, m);
        return i;
    }
    return 0;
}

void view_each_memo(const struct state *s, view_memo_fn each, void *ctx) {
    for (uint32_t t = 1; t <= s->tenants.high; t++)
        for (uint32_t i = tenant_at(s, t)->memo_oldest; i; i = memo_at(s, i)->newer) {
            struct memo_view view = memo_view_of(s, memo_at(s, i));
            each(ctx, &view);
        }
}

const uint64_t *view_tally(const struct state *s) {
    return s->tally;
}

void view_counts(const struct state *s, const struct live *l, struct state_counts *ret) {
    *ret = (struct state_counts){.flows = s->flow_by_id.count,
                                 .flows_ended = s->ended[ENDED_CLEAN].count + s->ended[ENDED_DEAD].count,
                                 .projected_lsn = l ? l->projected_lsn : 0,
                                 .workers = s->workers.count,
                                 .questions = s->questions.count,
                                 .keys = s->keys.count,
                                 .limits = s->quotas.count,
                                 .services = s->services.count,
                                 .policy = s->policy,
                                 .dead_letters = s->dead_count,
                                 .stale_refused = l ? l->stale_refused : 0,
                                 .bytes = state_bytes(s),
                                 .reserved_bytes = s->reserved_bytes,
                                 .store_keys = s->store.item_count};
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++) ret->jobs += ret->by_state[i] = s->by_state[i];
    for (uint32_t i = 1; i <= s->tenants.high; i++) ret->memos += tenant_at(s, i)->memo_count;
    ret->flows_running = ret->flows - ret->flows_ended;
}
