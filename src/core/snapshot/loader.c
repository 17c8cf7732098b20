/* loader.c: the reading half of snapshot.h. Facts come from the stream, indices are built anew. */
#include "attempt.h"
#include "attempt_notes.h"
#include "batch.h"
#include "buf.h"
#include "class.h"
#include "directory.h"
#include "expand.h"
#include "external.h"
#include "finale.h"
#include "flow.h"
#include "flow_lists.h"
#include "heap.h"
#include "job_transition.h"
#include "memo.h"
#include "mutant.h"
#include "objects.h"
#include "panic.h"
#include "propagate.h"
#include "question.h"
#include "quota.h"
#include "registry.h"
#include "rules.h"
#include "saga.h"
#include "schedule.h"
#include "service.h"
#include "service_versions.h"
#include "snapshot.h"
#include "store.h"
#include "timer.h"

#define OBJECT_BYTES_MAX ((size_t)1 << 31)

struct loader {
    struct arena birth;
    struct state *state;
    struct buf pending; /* bytes of an object that is not whole yet */
    struct arena arena; /* of one object */
    struct digest digest;
    uint64_t objects;
    uint32_t flow; /* whose jobs are coming */
    uint32_t jobs_left;
    uint32_t expansion; /* whose children are coming */
    uint32_t children_left;
    uint32_t item; /* of the store, whose members are coming */
    uint32_t members_left;
    bool has_header, has_end;
};

struct loader *loader_new(struct state *into) {
    REQUIRE(into->lsn == 0); /* a fresh state */
    REQUIRE(into->flows.count == 0);
    struct arena birth;
    arena_init(&birth, sizeof(struct loader) + 64, sizeof(struct loader) + 4096);
    struct loader *l = ARENA_NEW(&birth, struct loader);
    l->birth = birth;
    l->state = into;
    buf_init(&l->pending, OBJECT_BYTES_MAX);
    arena_init(&l->arena, 65536, OBJECT_BYTES_MAX);
    return l;
}

void loader_free(struct loader *l) {
    buf_fini(&l->pending);
    arena_fini(&l->arena);
    struct arena birth = l->birth;
    arena_fini(&birth);
}

static enum err misfit(struct why *why, const char *what) {
    return why_set(why, ERR_CORRUPT, "a snapshot does not fit together: %s", what);
}

#define FITS(fact, what) \
    if (!(fact)) return misfit(why, what)

/* A moment in the state: one that a record named, plus a wait. */
static bool moment_fits(int64_t ms) {
    return ms >= 0 && ms / 4 <= TIME_MS_MAX;
}

static enum err load_header(struct loader *l, const struct snap_header *o, struct why *why) {
    struct state *s = l->state;
    FITS(o->shard == s->shard, "it is of another shard");
    FITS(time_fits(o->now_ms), "a time that cannot be");
    s->epoch = o->epoch;
    s->lsn = o->lsn;
    s->now.ms = o->now_ms;
    s->flow_last = o->flow_last;
    s->question_last = o->question_last;
    s->worker_last = o->worker_last;
    s->policy = o->policy;
    s->history_lsn = o->history_lsn;
    l->has_header = true;
    return ERR_OK;
}

static enum err load_pool(struct loader *l, const struct snap_pool *o, struct why *why) {
    struct state *s = l->state;
    FITS(o->name.len > 0, "a pool without a name");
    if (o->record.len) {
        struct rec_pool rec;
        enum err e = tlv_decode(record_desc(REC_POOL), o->record, TLV_STRICT, &l->arena, &rec, why);
        if (e != ERR_OK) return e;
        FITS(slice_eq(rec.name, o->name), "a pool under another's name");
        pool_apply(s, o->record, &rec);
    }
    pool_entry(s, pool_take(s, o->name))->paused = o->paused;
    return ERR_OK;
}

static enum err load_topic(struct loader *l, const struct snap_topic *o, struct why *why) {
    struct rec_topic rec;
    enum err e = tlv_decode(record_desc(REC_TOPIC), o->record, TLV_STRICT, &l->arena, &rec, why);
    if (e != ERR_OK) return e;
    FITS(rec.name.len > 0, "a topic without a name");
    topic_apply(l->state, o->record, &rec);
    return ERR_OK;
}

static enum err load_worker(struct loader *l, const struct snap_worker *o, struct why *why) {
    struct state *s = l->state;
    struct rec_worker rec;
    enum err e = tlv_decode(record_desc(REC_WORKER), o->record, TLV_STRICT, &l->arena, &rec, why);
    if (e != ERR_OK) return e;
    FITS(worker_info_fits(&rec.info), "a worker without slots");
    FITS(rec.worker.len > 0 && o->number > 0 && o->number <= s->worker_last, "a worker without an id or number");
    FITS(!worker_find(s, rec.worker) && !map_get(&s->worker_by_number, o->number), "a worker twice");
    struct worker *w = worker_at(s, worker_apply(s, &rec, o->number));
    FITS(o->draining || !o->drains_itself, "a worker that drains itself and does not drain");
    w->draining = o->draining;
    w->drains_itself = o->drains_itself;
    return ERR_OK;
}

/* ---- flows ---- */

/* All jobs of the flow are there: what needs them all at once. */
static enum err finish_flow(struct loader *l, struct why *why) {
    struct state *s = l->state;
    REQUIRE(l->jobs_left == 0);
    struct flow *f = flow_at(s, l->flow);
    flow_index_names(s, f);
    for (uint32_t i = 0; i < f->graph->foreign.count; i++) {
        const struct foreign_edge *e = vec_at(&f->graph->foreign, i);
        FITS(e->parent < f->jobs.count, "an edge from no job");
        job_at(s, f->jobs.at[e->parent])->flags |= JOBF_FOREIGN;
    }
    for (uint32_t i = 0; i < f->graph->work.count; i++) FITS(f->graph->work.at[i] < f->jobs.count, "work for no job");
    FITS(f->graph->work_edge == 0 || f->graph->work.count > 0, "work half done and not there");
    FITS(f->graph->work_edge <= f->graph->edges.count, "more work done than there is");
    if (f->graph->work_edge)
        FITS(job_at(s, f->jobs.at[f->graph->work.at[0]])->last_child, "work half done on no children");
    for (uint32_t i = 0; i < f->graph->entered.count; i++) {
        uint32_t ordinal = f->graph->entered.at[i];
        FITS(ordinal < f->jobs.count, "a compensation of no job");
        const struct job *j = job_at(s, f->jobs.at[ordinal]);
        struct extra *x = j->extra ? extra_at(s, j->extra) : NULL;
        FITS(x && x->undo_profile && !x->entered, "a compensation that is not there, or twice");
        x->entered = true;
    }
    saga_restore(s, l->flow);
    if (flow_is_leaving(f)) {
        FITS(f->state != FLOW_RUNNING && f->jobs.count > 0 && f->graph->work.count == 0 && f->graph->foreign.count == 0,
             "a flow that leaves and is not over");
        for (uint32_t i = 0; i < f->jobs.count; i++) /* by_state has not yet those that enter later */
            FITS(job_state_is_terminal(job_at(s, f->jobs.at[i])->state), "a flow that leaves and is not over");
        flow_hide(s, l->flow);
    }
    for (uint32_t i = 0; i < f->graph->work.count; i++) {
        const struct job *j = job_at(s, f->jobs.at[f->graph->work.at[i]]);
        FITS(job_state_is_terminal(j->state) && (j->flags & JOBF_UNTOLD), "work for a job that has nothing to tell");
    }
    propagate_restore(s, l->flow);
    l->flow = 0;
    return ERR_OK;
}

static enum err load_finale(struct state *s, uint32_t flow, const struct snap_flow *o, struct why *why) {
    FITS(o->has_finale || (o->sweep != SWEEP_STAGE && o->sweep != SWEEP_TIMEOUT), "a sweep of a flow without stages");
    if (!o->has_finale) return ERR_OK;
    FITS(moment_fits(o->began_ms) && moment_fits(o->timeout_ms) && moment_fits(o->deadline_ms),
         "a flow of a time that cannot be");
    FITS(o->stage == FLOW_STAGE_MAIN || (!o->more && (o->unwinding == UNWIND_NONE || o->unwinding == UNWIND_DONE)),
         "a flow that has left its main jobs and not ended them");
    FITS(o->state == FLOW_RUNNING || o->stage == FLOW_STAGE_OVER, "a flow that is over before its last stage");
    finale_make(s, flow);
    struct finale *x = finale_at(s, flow_at(s, flow)->finale);
    x->timeout_ms = o->timeout_ms;
    x->began.ms = o->began_ms;
    x->deadline.ms = o->deadline_ms;
    x->stage = o->stage;
    x->called = o->called;
    x->cancelled = o->cancelled;
    x->timed_out = o->timed_out;
    x->late = o->late;
    x->is_again = o->is_again;
    return ERR_OK;
}

static enum err load_flow(struct loader *l, const struct snap_flow *o, struct why *why) {
    struct state *s = l->state;
    uint32_t tenant = tenant_find(s, o->tenant);
    FITS(l->flow == 0, "a flow before the jobs of the last are whole");
    FITS(tenant != 0, "a flow of no tenant");
    FITS(moment_fits(o->created_ms) && moment_fits(o->finished_ms), "a flow of a time that cannot be");
    FITS(o->id != 0 && o->id < INT64_MAX && o->id <= s->flow_last && !flow_find_any(s, (flow_id){o->id}),
         "a flow twice, or without a number");
    FITS(o->rules >= 1 && o->rules <= RULES_VERSION && o->state < FLOW_STATE_COUNT && o->sweep < SWEEP_COUNT,
         "a flow by rules that are not known");
    struct flow_head head;
    enum err e = tlv_decode(&flow_head_desc, o->head, TLV_STRICT, &l->arena, &head, why);
    if (e != ERR_OK) return e;
    l->flow = flow_make(s, o->id, tenant, o->head, 256);
    struct flow *f = flow_at(s, l->flow);
    f->rules = o->rules;
    f->state = o->state;
    flow_shelve(s, f);
    f->paused = o->paused;
    f->more = o->more;
    f->cancelling = o->cancelling;
    f->sweep = o->sweep;
    f->sweep_next = o->sweep_next;
    f->sweep_root = o->sweep_root;
    f->sweep_confirm_ms = o->sweep_confirm_ms;
    if (o->work_edge) flow_graph_own(f)->work_edge = o->work_edge;
    f->created.ms = o->created_ms;
    f->finished.ms = o->finished_ms;
    f->unwinding = o->unwinding;
    f->compensate_on = o->compensate_on;
    e = load_finale(s, l->flow, o, why);
    if (e != ERR_OK) return e;
    if (!MUTANT(flow_timer_forgotten)) finale_set_timer(s, f);
    for (uint32_t i = 0; i < o->work.count; i++) u32vec_push(&flow_graph_own(f)->work, o->work.at[i]);
    for (uint32_t i = 0; i < o->entered.count; i++) u32vec_push(&flow_graph_own(f)->entered, o->entered.at[i]);
    const struct snap_foreign *foreign = o->foreign.at;
    for (uint32_t i = 0; i < o->foreign.count; i++)
        *(struct foreign_edge *)vec_push(&flow_graph_own(f)->foreign) =
            (struct foreign_edge){foreign[i].parent, foreign[i].child_ordinal, foreign[i].child_flow};
    const struct snap_seen *seen = o->seen.at;
    for (uint32_t i = 0; i < o->seen.count; i++)
        *(struct foreign_seen *)vec_push(&flow_graph_own(f)->seen) =
            (struct foreign_seen){seen[i].child, seen[i].parent_ordinal, seen[i].parent_flow, seen[i].state};
    l->jobs_left = o->job_count;
    return l->jobs_left == 0 ? finish_flow(l, why) : ERR_OK;
}

static void load_outside(struct state *s, struct job *j, const struct snap_outside *o) {
    struct arena *arena = &flow_at(s, j->flow)->arena;
    if (o->begun == 0 && o->word == WORD_NONE) return;
    struct external *x = ARENA_NEW(arena, struct external);
    *x = (struct external){.begun = o->begun,
                           .polls = o->polls,
                           .until = {o->until_ms},
                           .word = o->word,
                           .result = arena_slice(arena, o->result),
                           .result_hash = arena_slice(arena, o->result_hash),
                           .reason = arena_slice(arena, o->reason)};
    job_extra(s, j)->external = x;
}

static void load_extra(struct state *s, struct job *j, const struct snap_job *o) {
    bool has_slices = o->result.len || o->result_hash.len || o->constraints.len || o->body.len || o->body_hash.len;
    if (!has_slices && o->policy == 0 && o->artifacts.len == 0) return;
    struct arena *arena = &flow_at(s, j->flow)->arena;
    struct extra *x = job_extra(s, j);
    x->result = arena_slice(arena, o->result);
    x->result_hash = arena_slice(arena, o->result_hash);
    x->constraints = arena_slice(arena, o->constraints);
    x->body = arena_slice(arena, o->body);
    x->body_hash = arena_slice(arena, o->body_hash);
    x->policy = o->policy;
    x->artifacts = arena_slice(arena, o->artifacts);
}

static enum err load_undo(struct loader *l, struct job *j, const struct rec_job *rec, uint32_t undo_profile,
                          struct why *why) {
    FITS(rec->undoes == 0 || (rec->undoes - 1 < j->ordinal && undo_profile == 0), "a compensation of a later job");
    FITS(rec->name.len + UNDO_SUFFIX_BYTES <= UNDO_NAME_BYTES_MAX || undo_profile == 0, "a name that is too long");
    if (rec->undoes) job_extra(l->state, j)->undoes = rec->undoes;
    if (undo_profile) saga_name(l->state, j, undo_profile);
    return ERR_OK;
}

static enum err load_runner(struct loader *l, struct job *j, const struct rec_job *rec, uint32_t runner_profile,
                            struct why *why) {
    struct state *s = l->state;
    FITS((rec->service.len > 0) == (runner_profile != 0), "a service without options, or options without one");
    if (runner_profile == 0) return ERR_OK;
    const struct options *o = &profile_at(s, runner_profile)->options;
    FITS(o->kind == JOB_SERVICE && o->gates == 0, "a service that cannot run");
    FITS(job_options(s, j)->kind == JOB_SERVICE, "a service deployed by another kind of job");
    service_name_runner(s, j, runner_profile);
    return ERR_OK;
}

static enum err load_memo(struct loader *l, uint32_t job, const struct rec_job *rec, const struct snap_job *o,
                          struct why *why) {
    struct state *s = l->state;
    struct slice key = o->cache_key.len ? o->cache_key : rec->cache_key;
    FITS(key.len || o->from_flow == 0, "a result from another job without a key");
    if (key.len == 0) return ERR_OK;
    memo_name(s, job, key, o->cache_key.len != 0);
    struct memo_job *m = memo_job_at(s, extra_at(s, job_at(s, job)->extra)->memo);
    m->from = (struct job_ref){{o->from_flow}, o->from_ordinal};
    return ERR_OK;
}

static bool job_object_fits(const struct snap_job *o) {
    return rec_artifacts_fit(o->artifacts) && o->used <= UINT16_MAX && (o->flags & ~JOBF_FACTS) == 0 &&
           moment_fits(o->since_ms) && moment_fits(o->due_ms) && moment_fits(o->outside.until_ms) &&
           o->outside.begun <= o->attempt;
}

static void load_job_facts(struct state *s, struct job *j, const struct snap_job *o) {
    j->state = o->state;
    j->cause = o->cause;
    j->flags = o->flags & (uint8_t)~JOBF_DEAD;
    j->gates = o->gates;
    j->attempt = o->attempt;
    j->done_attempt = o->done_attempt;
    j->used = (uint16_t)o->used;
    j->root = o->root ? o->root - 1 : NO_ORDINAL;
    j->since.ms = o->since_ms;
    j->due.ms = o->due_ms;
    j->parents_open = o->parents_open;
    load_extra(s, j, o);
    load_outside(s, j, &o->outside);
    if (!job_state_is_terminal(j->state)) quota_count_job(s, j, 1);
}

struct job_profiles {
    uint32_t own, undo, runner, child; /* 0 = none, but for the first */
};

static enum err check_children(const struct state *s, struct job_profiles profiles, struct why *why) {
    const struct options *child = &profile_at(s, profiles.child)->options;
    FITS(options_expand(&profile_at(s, profiles.own)->options) && profiles.runner == 0, "children of no foreach job");
    FITS(!(child->gates & ~GATE_BIT(GATE_OUTPUT)), "a question before a child");
    return ERR_OK;
}

static enum err load_job(struct loader *l, const struct snap_job *o, struct job_profiles profiles, struct why *why) {
    struct state *s = l->state;
    struct rec_job rec;
    enum err e = tlv_decode(&rec_job_desc, o->text, TLV_STRICT, &l->arena, &rec, why);
    if (e != ERR_OK) return e;
    FITS(rec.name.len > 0, "a job without a name");
    FITS(job_object_fits(o), "a job, or a time of one, that cannot be");
    e = profiles.child ? check_children(s, profiles, why) : ERR_OK;
    if (e != ERR_OK) return e;
    uint32_t index = flow_place_job(s, l->flow, profiles.own, o->text);
    struct job *j = job_at(s, index);
    for (uint32_t i = 0; i < rec.parents.count; i++) FITS(rec.parents.at[i] < j->ordinal, "a parent after its child");
    FITS(o->root <= j->ordinal, "a job dragged down by one that comes after it");
    flow_link_parents(s, l->flow, j, &rec.parents);
    e = load_memo(l, index, &rec, o, why); /* while it is in no state that asks for anything */
    if (e != ERR_OK) return e;
    load_job_facts(s, j, o);
    FITS(note_load(s, j, o), "attempts that cannot be");
    if (profiles.child) expand_name(s, j, profiles.child);
    e = load_undo(l, j, &rec, profiles.undo, why);
    if (e == ERR_OK) e = load_runner(l, j, &rec, profiles.runner, why);
    if (e != ERR_OK) return e;
    /* ready jobs queue by the time they became ready and active ones need their run: both enter later */
    if (j->state != JOB_READY && !job_state_is_active(j->state)) job_enter_loaded(s, index);
    if (o->flags & JOBF_DEAD) {
        FITS(job_state_is_terminal(j->state), "a dead letter that lives");
        dead_push(s, index);
    }
    return ERR_OK;
}

static enum err load_jobs(struct loader *l, const struct snap_jobs *o, struct why *why) {
    struct state *s = l->state;
    FITS(l->flow != 0 && flow_at(s, l->flow)->id == o->flow, "jobs of another flow");
    FITS(o->jobs.count > 0 && o->jobs.count <= l->jobs_left, "more jobs than the flow has");
    const struct snap_profile *profiles = o->profiles.at;
    uint32_t *index = ARENA_ARRAY(&l->arena, uint32_t, o->profiles.count + 1);
    for (uint32_t i = 0; i < o->profiles.count; i++) {
        struct options options;
        enum err e = tlv_decode(&options_desc, profiles[i].options, TLV_STRICT, &l->arena, &options, why);
        if (e != ERR_OK) return e;
        FITS(options_fit(&options), "options that cannot be");
        index[i] = profile_take(s, flow_at(s, l->flow)->tenant, profiles[i].options);
    }
    const struct snap_job *jobs = o->jobs.at;
    for (uint32_t i = 0; i < o->jobs.count; i++) {
        FITS(jobs[i].profile < o->profiles.count, "a job without options");
        FITS(jobs[i].undo_profile <= o->profiles.count, "a compensation without options");
        FITS(jobs[i].runner_profile <= o->profiles.count, "a service without options");
        FITS(jobs[i].child_profile <= o->profiles.count, "children without options");
        struct job_profiles own = {.own = index[jobs[i].profile],
                                   .undo = jobs[i].undo_profile ? index[jobs[i].undo_profile - 1] : 0,
                                   .runner = jobs[i].runner_profile ? index[jobs[i].runner_profile - 1] : 0,
                                   .child = jobs[i].child_profile ? index[jobs[i].child_profile - 1] : 0};
        enum err e = load_job(l, &jobs[i], own, why);
        if (e != ERR_OK) return e;
    }
    l->jobs_left -= o->jobs.count;
    return l->jobs_left == 0 ? finish_flow(l, why) : ERR_OK;
}

/* ---- foreach jobs ---- */

static enum err finish_expansion(struct loader *l) {
    struct state *s = l->state;
    REQUIRE(l->children_left == 0);
    uint32_t flow = job_at(s, expansion_at(s, l->expansion)->job)->flow;
    expand_restore(s, l->expansion);
    if (!flow_at(s, flow)->is_working) propagate_restore(s, flow);
    l->expansion = 0;
    return ERR_OK;
}

static enum err load_expansion(struct loader *l, const struct snap_expansion *o, struct why *why) {
    struct state *s = l->state;
    uint32_t flow = flow_find_any(s, (flow_id){o->flow});
    FITS(flow != 0 && o->job < flow_at(s, flow)->jobs.count, "children of no job");
    uint32_t job = flow_at(s, flow)->jobs.at[o->job];
    FITS(l->expansion == 0, "a foreach before the children of the last are whole");
    FITS(job_at(s, job)->part == PART_NONE, "children of no job");
    FITS(!flow_is_leaving(flow_at(s, flow)) || (!o->is_open && o->pass == SWEEP_NONE), "children of a flow that left");
    const struct job *j = job_at(s, job);
    FITS(j->extra && extra_at(s, j->extra)->child_profile && !expansion_of(s, j), "children of no foreach, or twice");
    FITS(j->gates & GATE_BIT(GATE_EXPANSION), "items of a foreach that has none yet");
    FITS(o->count <= EXPAND_ITEMS_MAX && o->next <= o->count && o->made <= o->next, "more children than there are");
    FITS(o->first >= FIRST_CHILD_ORDINAL && (uint64_t)o->first + o->count < NO_ORDINAL, "children of no ordinal");
    FITS(o->pass < SWEEP_FORGET, "a pass over children that is none");
    FITS(o->pass_next <= o->next && o->again <= o->next, "a pass over no children");
    bool waits = j->state == JOB_WAITING && j->parents_open == 1;
    bool is_over = job_state_is_terminal(j->state);
    bool comes_back = (o->pass == SWEEP_RETRY || o->pass == SWEEP_RERUN) && o->cause != CAUSE_NONE &&
                      flow_at(s, flow)->rules >= CHILDREN_RULES; /* and is called off then */
    FITS(!is_over || o->pass == SWEEP_NONE || o->pass == SWEEP_CANCEL || comes_back,
         "children that begin again after all is over");
    FITS(!o->is_open || waits, "a foreach that waits for children and does not");
    FITS(!o->is_open || o->cause == CAUSE_NONE || o->cause == CAUSE_REQUEST || o->cause == CAUSE_SAGA ||
             o->cause == CAUSE_DEADLINE || o->cause == CAUSE_CHILDREN || o->cause == CAUSE_FLOW_TIMEOUT,
         "a foreach called off for no reason");
    l->expansion = expand_make(s, job, o->count, o->items);
    struct expansion *x = expansion_at(s, l->expansion);
    FITS(x->first == o->first, "children out of order");
    x->next = o->next;
    x->cause = o->cause;
    x->pass = o->pass;
    x->pass_next = o->pass_next;
    x->confirm_ms = o->confirm_ms;
    x->again = o->again;
    x->is_open = o->is_open;
    l->children_left = o->made;
    return l->children_left == 0 ? finish_expansion(l) : ERR_OK;
}

static enum err load_child(struct loader *l, const struct snap_child *o, struct why *why) {
    struct state *s = l->state;
    const struct expansion *x = expansion_at(s, l->expansion);
    const struct snap_job *job = &o->job;
    bool over = job_state_is_terminal(job->state), waits = job->state == JOB_WAITING && job->parents_open;
    FITS(o->item < x->next && !map_get(&x->made, o->item), "a child twice, or one that has not begun");
    FITS(job_object_fits(job) && job->state != JOB_HELD, "a child that cannot be");
    FITS(job->parents_open <= (job->state == JOB_WAITING), "a child with parents");
    FITS((job->flags & (JOBF_UNTOLD | JOBF_LATE | JOBF_APPROVE)) == 0, "a child with a part in the graph");
    FITS(over || waits || x->is_open, "a child under way of a job that is not");
    bool reached = x->pass == SWEEP_RETRY || x->pass == SWEEP_RERUN ||
                   (x->pass == SWEEP_CANCEL && o->item >= x->pass_next);
    FITS(!waits || reached || !job_state_is_terminal(job_at(s, x->job)->state), "a child that waits for ever");
    FITS(!waits || o->item >= x->again, "a child that nobody looks for");
    uint32_t index = expand_make_child(s, l->expansion, o->item);
    struct job *j = job_at(s, index);
    load_job_facts(s, j, job);
    FITS(note_load(s, j, job), "attempts that cannot be");
    expand_count_child(s, index);
    if (j->state != JOB_READY && !job_state_is_active(j->state)) job_enter(s, index);
    if (job->flags & JOBF_DEAD) {
        FITS(over, "a dead letter that lives");
        dead_push(s, index);
        if (flow_is_leaving(flow_at(s, j->flow))) s->dead_count--; /* out of sight, see flow_hide */
    }
    return ERR_OK;
}

static enum err load_children(struct loader *l, const struct snap_children *o, struct why *why) {
    const struct state *s = l->state;
    FITS(l->expansion != 0, "children of no foreach");
    FITS(o->children.count > 0 && o->children.count <= l->children_left, "more children than the foreach has");
    struct job_ref ref = job_ref_of(s, job_at(s, expansion_at(s, l->expansion)->job));
    FITS(ref.flow.v == o->flow && ref.ordinal == o->job, "children of another foreach");
    const struct snap_child *list = o->children.at;
    for (uint32_t i = 0; i < o->children.count; i++) {
        enum err e = load_child(l, &list[i], why);
        if (e != ERR_OK) return e;
    }
    l->children_left -= o->children.count;
    return l->children_left == 0 ? finish_expansion(l) : ERR_OK;
}

/* ---- what refers to jobs ---- */

static enum err load_run(struct loader *l, const struct snap_run *o, struct why *why) {
    struct state *s = l->state;
    uint32_t job = job_find(s, (struct job_ref){{o->flow}, o->ordinal});
    uint32_t worker = map_get(&s->worker_by_number, o->worker);
    FITS(job != 0 && worker != 0 && o->stop < STOP_COUNT, "an attempt of no job or worker");
    FITS(moment_fits(o->confirm_ms) && moment_fits(o->assigned_ms) && moment_fits(o->started_ms),
         "a time that cannot be");
    struct job *j = job_at(s, job);
    FITS(job_state_is_active(j->state) && j->link == 0, "an attempt of a job that has none");
    FITS(o->attempt == j->attempt, "another attempt than the last of its job");
    FITS(j->note != 0 && attempt_note_at(s, j->note)->facts == NULL, "an open attempt that is over");
    uint32_t before = worker_at(s, worker)->last;
    FITS(before == 0 || run_at(s, before)->fence < o->fence, "attempts out of order");
    uint32_t index = pool_alloc(&s->runs);
    ENSURE(index != 0);
    *run_at(s, index) = (struct run){.job = job,
                                     .worker = worker,
                                     .attempt = o->attempt,
                                     .stop = o->stop,
                                     .fence = o->fence,
                                     .incarnation = o->incarnation,
                                     .confirm = {o->confirm_ms},
                                     .assigned = {o->assigned_ms},
                                     .started = {o->started_ms}};
    run_attach(s, index);
    j->link = index;
    job_enter(s, job);
    return ERR_OK;
}

static enum err load_question(struct loader *l, const struct snap_question *o, struct why *why) {
    struct state *s = l->state;
    uint32_t job = job_find(s, (struct job_ref){{o->flow}, o->ordinal});
    FITS(job != 0 && o->id != 0 && o->id <= s->question_last, "a question about no job");
    struct job *j = job_at(s, job);
    FITS(j->state == (o->gate == GATE_OUTPUT ? JOB_CHECKING : JOB_HELD) && j->link == 0,
         "a question about a job that stands before none");
    FITS(map_get(&s->question_by_id, o->id) == 0, "a question twice");
    uint32_t quorum = job_options(s, j)->quorum;
    FITS(o->voters.len % 8 == 0 && o->voters.len / 8 <= quorum && o->votes < quorum, "more voices than a quorum");
    FITS(moment_fits(o->asked_ms) && moment_fits(o->deadline_ms) && moment_fits(o->again_ms), "a time that cannot be");
    uint32_t index = pool_alloc(&s->questions);
    ENSURE(index != 0);
    struct question *q = question_at(s, index);
    *q = (struct question){.id = o->id,
                           .job = job,
                           .revision = o->revision,
                           .gate = o->gate,
                           .asked = {o->asked_ms},
                           .deadline = {o->deadline_ms ? o->deadline_ms : TIME_NEVER},
                           .again = {o->again_ms},
                           .votes = o->votes};
    if (q->gate == GATE_APPROVAL && quorum > 1) {
        q->voters = ARENA_ARRAY(&flow_at(s, j->flow)->arena, uint64_t, quorum);
        struct cursor c = cursor_of(o->voters);
        for (uint32_t i = 0; i < o->voters.len / 8; i++) q->voters[i] = cursor_u64(&c);
    }
    j->link = index;
    map_put(&s->question_by_id, q->id, index);
    timer_set(s, TIMER_QUESTION, index, question_due(s, q));
    return ERR_OK;
}

static enum err load_key(struct loader *l, const struct snap_key *o, struct why *why) {
    struct state *s = l->state;
    uint32_t tenant = tenant_find(s, o->tenant);
    FITS(tenant != 0 && o->key.len > 0 && o->hash.len == 32, "a key of nobody");
    FITS(key_find(s, tenant, o->key, &l->arena) == 0, "a key twice");
    key_add(s, tenant, o->key, o->hash, o->flow, o->job_count, (wall_time){o->expires_ms});
    return ERR_OK;
}

static enum err load_item(struct loader *l, const struct snap_item *o, struct why *why) {
    struct state *s = l->state;
    uint32_t tenant = tenant_find(s, o->tenant);
    uint32_t flow = o->flow ? flow_find(s, (flow_id){o->flow}) : 0;
    FITS(l->members_left == 0, "a key before the members of the last are whole");
    FITS(tenant != 0 && o->key.len > 0, "a key of nobody");
    FITS(o->flow == 0 || (flow && flow_at(s, flow)->tenant == tenant), "a key of no flow");
    FITS(item_find(&s->store, space_find(&s->store, tenant, o->flow), o->key) == 0, "a key twice");
    FITS((o->kind == ITEM_SET) == (o->members > 0), "a set without members, or members without a set");
    FITS(o->version > 0 && o->version <= s->lsn && o->expires_ms >= 0, "a key from no record");
    struct rec_store_entry e = {
        .key = o->key, .kind = o->kind, .value = o->value, .number = o->number, .expires_ms = o->expires_ms};
    l->item = store_load_item(s, tenant, o->flow, &e, o->version);
    l->members_left = o->members;
    return ERR_OK;
}

static enum err load_members(struct loader *l, const struct snap_members *o, struct why *why) {
    struct store *t = &l->state->store;
    FITS(o->members.count > 0 && o->members.count <= l->members_left, "more members than the set has");
    const struct rec_store_item *list = o->members.at;
    for (uint32_t i = 0; i < o->members.count; i++) {
        FITS(!member_find(t, item_at(t, l->item)->as.set, list[i].text), "a member twice");
        store_load_member(l->state, l->item, list[i].text);
    }
    l->members_left -= o->members.count;
    return ERR_OK;
}

static enum err load_end(struct loader *l, const struct snap_end *o, struct why *why) {
    FITS(l->flow == 0, "it ends inside a flow");
    FITS(l->members_left == 0, "it ends inside a set");
    FITS(l->expansion == 0, "it ends inside a foreach");
    FITS(o->objects == l->objects, "objects are missing");
    FITS(o->digest_lo == l->digest.lo && o->digest_hi == l->digest.hi, "the digest is another");
    l->has_end = true;
    return ERR_OK;
}

static enum err load_tenant(struct loader *l, const struct snap_tenant *o, struct why *why) {
    FITS(o->name.len > 0 && o->weight > 0 && !tenant_find(l->state, o->name), "a tenant twice, or without a name");
    struct tenant *t = tenant_at(l->state, tenant_take(l->state, o->name));
    t->weight = o->weight;
    t->paused = o->paused;
    return ERR_OK;
}

static enum err load_limit(struct loader *l, const struct snap_limit *o, struct why *why) {
    struct state *s = l->state;
    uint32_t tenant = tenant_find(s, o->tenant);
    FITS(tenant != 0, "a limit of no tenant");
    if (o->kind == LIMIT_TENANT) {
        struct tenant *t = tenant_at(s, tenant);
        t->running_max = o->running;
        t->queued_max = o->queued;
        t->bytes_max = o->bytes;
        return ERR_OK;
    }
    FITS(o->name.len > 0 && !quota_find(s, tenant, o->kind, o->name), "a limit twice, or without a name");
    if (o->kind == LIMIT_RATE) {
        FITS(quota_rate_is_sound(o->rate_milli, o->burst), "a rate that cannot be");
        FITS(o->level <= o->burst * TOKEN, "a rate that holds more than it can");
        FITS(moment_fits(o->filled_ms), "a rate of a time that cannot be");
    }
    struct quota *q = quota_at(s, quota_take(s, tenant, o->kind, o->name));
    q->is_set = true;
    q->width = o->width;
    q->rate_milli = o->rate_milli;
    q->burst = o->burst;
    q->level = o->level;
    q->filled.ms = o->filled_ms;
    return ERR_OK;
}

/* A flow that may be a version: one job that can run, and be stopped at most by the service. */
static enum err load_version(struct loader *l, uint32_t service, uint64_t id, uint32_t *ret, struct why *why) {
    struct state *s = l->state;
    *ret = 0;
    if (id == 0) return ERR_OK;
    uint32_t flow = flow_find(s, (flow_id){id});
    FITS(flow != 0 && !flow_at(s, flow)->of_service, "a version that is not there, or twice");
    const struct flow *f = flow_at(s, flow);
    FITS(f->jobs.count == 1 && f->tenant == service_at(s, service)->tenant, "a version that is none");
    FITS(f->unwinding == UNWIND_NONE && f->sweep == SWEEP_NONE && f->graph->foreign.count == 0 &&
             f->state == FLOW_RUNNING && f->finale == 0,
         "a version with a past");
    const struct job *j = job_at(s, f->jobs.at[0]);
    const struct options *o = job_options(s, j);
    FITS(o->kind == JOB_SERVICE && o->gates == 0, "a version that cannot run");
    FITS(!job_state_is_terminal(j->state) || j->state == JOB_CANCELLED, "a version that ended by itself");
    FITS(j->state != JOB_HELD && j->state != JOB_CHECKING && !service_is_deployed_by(s, j), "a version that asks");
    FITS(!(j->flags & (JOBF_UNTOLD | JOBF_DEAD)), "a version with consequences");
    service_link(s, service, flow);
    *ret = flow;
    return ERR_OK;
}

static bool has_attempt(const struct state *s, uint32_t flow) {
    return flow && job_state_is_active(job_at(s, flow_at(s, flow)->jobs.at[0])->state);
}

/* Whether a version that is not the one to run is over, or its worker was told so. */
static bool is_leaving(const struct state *s, uint32_t flow) {
    if (flow == 0) return true;
    const struct job *j = job_at(s, flow_at(s, flow)->jobs.at[0]);
    return job_state_is_terminal(j->state) ||
           (job_state_is_active(j->state) && j->link != 0 && run_at(s, j->link)->stop == STOP_CANCEL);
}

/* Two versions may have a process while one starts before the other stops, or while both are on their way out. */
static enum err load_overlap(struct loader *l, uint32_t index, const struct snap_service *o, struct why *why) {
    struct state *s = l->state;
    struct service *v = service_at(s, index);
    uint32_t second = 0;
    enum err e = load_version(l, index, o->retiring_too, &second, why);
    if (e != ERR_OK) return e;
    FITS(o->overlaps ||
             (!o->previous_healthy && o->previous_since_ms == 0 && o->previous_port == 0 && o->previous_note.len == 0),
         "the health of a version that does not run");
    FITS(moment_fits(o->previous_since_ms), "a time that cannot be");
    FITS(!o->overlaps || (v->previous.flow && v->current.flow && o->deployer && v->desired == SERVICE_RUNNING),
         "a version that runs beside none");
    FITS(second == 0 || (v->previous.flow == 0 && !has_attempt(s, v->current.flow)), "three versions that run");
    FITS(has_attempt(s, v->current.flow) + has_attempt(s, v->previous.flow) + has_attempt(s, v->retiring) +
                 has_attempt(s, second) <=
             2,
         "three versions that run");
    FITS(is_leaving(s, v->retiring) && is_leaving(s, second) && (o->overlaps || is_leaving(s, v->previous.flow)),
         "two versions that run");
    FITS(o->overlaps ? !has_attempt(s, v->current.flow) || !has_attempt(s, v->retiring)
                     : !has_attempt(s, v->current.flow) || !has_attempt(s, v->previous.flow),
         "two versions that run");
    if (!o->overlaps && second == 0) return ERR_OK;
    v->beside = pool_alloc(&s->besides);
    ENSURE(v->beside != 0);
    *beside_at(s, v->beside) = (struct two_versions){
        .service = index,
        .is_open = o->overlaps,
        .health = {.healthy = o->previous_healthy, .since = {o->previous_since_ms}, .port = o->previous_port},
        .retiring = second};
    if (o->previous_note.len > 0) beside_at(s, v->beside)->health.note = bytes_new(o->previous_note);
    return ERR_OK;
}

static enum err load_service(struct loader *l, const struct snap_service *o, struct why *why) {
    struct state *s = l->state;
    uint32_t tenant = tenant_find(s, o->tenant);
    FITS(tenant != 0 && o->name.len > 0 && !service_find(s, tenant, o->name), "a service twice, or of nobody");
    FITS(moment_fits(o->since_ms), "a time that cannot be");
    FITS(o->current || o->previous || o->retiring || o->retiring_too, "a service without a version");
    uint32_t index = service_make(s, tenant, o->name);
    struct service *v = service_at(s, index);
    v->desired = o->desired;
    v->health = (struct health){.healthy = o->healthy, .since = {o->since_ms}, .port = o->port};
    if (o->note.len > 0) v->health.note = bytes_new(o->note);
    v->version_last = o->version_last;
    v->current.number = o->current_number;
    v->previous.number = o->previous_number;
    enum err e = load_version(l, index, o->current, &v->current.flow, why);
    if (e == ERR_OK) e = load_version(l, index, o->previous, &v->previous.flow, why);
    if (e == ERR_OK) e = load_version(l, index, o->retiring, &v->retiring, why);
    if (e == ERR_OK) e = service_versions_load(v, o, &l->arena, why);
    if (e == ERR_OK) e = load_overlap(l, index, o, why);
    if (e != ERR_OK) return e;
    if (o->deployer == 0) return ERR_OK;
    uint32_t job = job_find(s, (struct job_ref){{o->deployer}, o->deployer_ordinal});
    FITS(job != 0 && v->current.flow != 0, "a deployment by no job");
    const struct job *j = job_at(s, job);
    FITS(flow_at(s, j->flow)->tenant == tenant && service_is_deployed_by(s, j), "a deployment by another job");
    FITS(j->state == JOB_HELD && j->link && question_at(s, j->link)->gate == GATE_SERVICE, "a deployment that is over");
    v->deployer = job;
    return ERR_OK;
}

static enum err load_tally(struct loader *l, const struct snap_tally *o, struct why *why) {
    const struct snap_count *counts = o->counts.at;
    for (uint32_t i = 0; i < o->counts.count; i++) {
        FITS(counts[i].what < TALLY_COUNT && counts[i].n > 0, "a count of nothing");
        FITS(l->state->tally[counts[i].what] == 0, "a count twice");
        l->state->tally[counts[i].what] = counts[i].n;
    }
    return ERR_OK;
}

static enum err load_checkpoint(struct loader *l, const struct snap_checkpoint *o, struct why *why) {
    struct checkpoint *c = &l->state->checkpoint;
    FITS(c->number == 0 && o->number > 0, "a checkpoint twice, or none");
    FITS(o->from_lsn > 0 && o->from_lsn <= o->upto_lsn && o->upto_lsn < o->lsn && o->lsn <= l->state->lsn,
         "a checkpoint of what is to come");
    FITS(o->chain.len == sizeof c->chain && o->key.len == sizeof c->key && o->signature.len == sizeof c->signature,
         "a checkpoint without a hash or a signature");
    FITS(time_fits(o->time_ms), "a time that cannot be");
    *c = (struct checkpoint){.number = o->number,
                             .lsn = o->lsn,
                             .from_lsn = o->from_lsn,
                             .upto_lsn = o->upto_lsn,
                             .time.ms = o->time_ms};
    memcpy(c->chain, o->chain.ptr, sizeof c->chain);
    memcpy(c->key, o->key.ptr, sizeof c->key);
    memcpy(c->signature, o->signature.ptr, sizeof c->signature);
    return ERR_OK;
}

static enum err load_object(struct loader *l, enum object_kind kind, const void *o, struct why *why) {
    FITS(l->has_header != (kind == OBJ_HEADER), "the header is not first");
    FITS(!l->has_end, "objects after the end");
    switch (kind) {
    case OBJ_HEADER: return load_header(l, o, why);
    case OBJ_TENANT: return load_tenant(l, o, why);
    case OBJ_POOL: return load_pool(l, o, why);
    case OBJ_TOPIC: return load_topic(l, o, why);
    case OBJ_WORKER: return load_worker(l, o, why);
    case OBJ_FLOW: return load_flow(l, o, why);
    case OBJ_JOBS: return load_jobs(l, o, why);
    case OBJ_RUN: return load_run(l, o, why);
    case OBJ_QUESTION: return load_question(l, o, why);
    case OBJ_KEY: return load_key(l, o, why);
    case OBJ_SCHEDULE: return schedule_load(l->state, o, &l->arena, why);
    case OBJ_MEMO: return memo_load(l->state, o, why);
    case OBJ_END: return load_end(l, o, why);
    case OBJ_ITEM: return load_item(l, o, why);
    case OBJ_MEMBERS: return load_members(l, o, why);
    case OBJ_LIMIT: return load_limit(l, o, why);
    case OBJ_EXPANSION: return load_expansion(l, o, why);
    case OBJ_CHILDREN: return load_children(l, o, why);
    case OBJ_SERVICE: return load_service(l, o, why);
    case OBJ_TALLY: return load_tally(l, o, why);
    case OBJ_CHECKPOINT: return load_checkpoint(l, o, why);
    case OBJ_DIRECTORY: return directory_load(l->state, o, why);
    case OBJ_TOKEN: return directory_load_token(l->state, o, &l->arena, why);
    case OBJ_SESSION: return directory_load_session(l->state, o, why);
    case OBJ_TICKET: return directory_load_ticket(l->state, o, why);
    case OBJ_KIND_END: break;
    }
    return misfit(why, "an object of no kind");
}

/* ---- the stream ---- */

union object {
#define X(kind, number, type, word, text) struct type as_##type;
    OBJECT_TABLE(X)
#undef X
};

/* Takes one whole object off the bytes; *ret_bytes 0 = it is not whole yet. */
static enum err take_object(struct loader *l, struct slice bytes, size_t *ret_bytes, struct why *why) {
    struct cursor c = cursor_of(bytes);
    uint64_t kind = cursor_varint(&c);
    uint64_t len = cursor_varint(&c);
    *ret_bytes = 0;
    if (c.bad) {
        FITS(bytes.len < 20, "a frame that is none");
        return ERR_OK;
    }
    FITS(len <= OBJECT_BYTES_MAX / 2, "an object too large");
    if (cursor_left(&c) < len) return ERR_OK;
    struct slice message = cursor_bytes(&c, (size_t)len);
    const struct tlv_desc *desc = kind < OBJ_KIND_END ? object_desc((enum object_kind)kind) : NULL;
    if (desc == NULL)
        return why_set(why, ERR_UNSUPPORTED, "snapshot object %llu is not known", (unsigned long long)kind);
    union object object;
    arena_reset(&l->arena);
    enum err e = tlv_decode(desc, message, TLV_STRICT, &l->arena, &object, why);
    if (e == ERR_OK) e = load_object(l, (enum object_kind)kind, &object, why);
    arena_reset(&l->state->scratch);
    if (e != ERR_OK) return why_wrap(why, e, "snapshot object %s", desc->name);
    if (kind != OBJ_END) {
        digest_add(&l->digest, (enum object_kind)kind, message);
        l->objects++;
    }
    *ret_bytes = bytes.len - cursor_left(&c);
    ENSURE(*ret_bytes > 0);
    return ERR_OK;
}

enum err loader_feed(struct loader *l, struct slice piece, struct why *why) {
    buf_put_slice(&l->pending, piece);
    if (l->pending.full) return misfit(why, "an object too large");
    size_t done = 0;
    while (done < l->pending.len) {
        size_t taken = 0;
        enum err e = take_object(l, slice_of(l->pending.at + done, l->pending.len - done), &taken, why);
        if (e != ERR_OK) return e;
        if (taken == 0) break;
        done += taken;
    }
    ENSURE(done <= l->pending.len);
    if (done) {
        memmove(l->pending.at, l->pending.at + done, l->pending.len - done);
        buf_cut(&l->pending, l->pending.len - done);
    }
    return ERR_OK;
}

/* Ready jobs enter their queues in the order in which they became ready. */
static void queue_ready(struct state *s) {
    struct heap by_time;
    heap_init(&by_time, NULL, NULL);
    for (uint32_t i = 1; i <= s->jobs.high; i++)
        if (job_at(s, i)->flow && job_at(s, i)->state == JOB_READY) heap_push(&by_time, job_at(s, i)->since.ms, i);
    while (by_time.count) {
        job_enter(s, (uint32_t)heap_pop(&by_time).ref);
        arena_reset(&s->scratch);
    }
    heap_fini(&by_time);
}

static void link_questions(struct state *s) {
    struct heap by_id;
    heap_init(&by_id, NULL, NULL);
    for (uint32_t i = 1; i <= s->questions.high; i++)
        if (question_at(s, i)->id) heap_push(&by_id, (int64_t)question_at(s, i)->id, i);
    while (by_id.count) question_link(s, (uint32_t)heap_pop(&by_id).ref);
    heap_fini(&by_id);
}

static enum err check_links(const struct state *s, struct why *why) {
    for (uint32_t i = 1; i <= s->jobs.high; i++) {
        const struct job *j = job_at(s, i);
        if (j->flow == 0) continue;
        bool linked = job_state_is_active(j->state) || j->state == JOB_HELD || j->state == JOB_CHECKING;
        FITS(linked == (j->link != 0) || j->state == JOB_READY, "a job without its attempt or question");
    }
    return ERR_OK;
}

enum err loader_end(struct loader *l, struct why *why) {
    FITS(l->has_end && l->pending.len == 0, "it is cut short");
    queue_ready(l->state);
    link_questions(l->state);
    ended_restore(l->state);
    return check_links(l->state, why);
}
