/* flow_lists.c: see flow_lists.h. */
#include "flow_lists.h"

#include "attempt_notes.h"
#include "class.h"
#include "expand.h"
#include "finale.h"
#include "flow.h"
#include "job_transition.h"
#include "memo.h"
#include "mutant.h"
#include "panic.h"

/* Memory of flows that is given back at once: giving a page back takes the system as long as a job takes us. */
#define RELEASE_BYTES ((size_t)4 << 20)

/* ---- the lists ---- */

static struct ended_list *list_of(struct state *s, const struct flow *f) {
    REQUIRE(f->ended != ENDED_NO);
    return &s->ended[f->ended];
}

static enum flow_list_id flow_list_of(const struct flow *f) {
    bool is_kept = f->state != FLOW_RUNNING && f->ended == ENDED_NO;
    return is_kept ? FLOW_LIST_KEPT : (enum flow_list_id)f->state;
}

static void move_to(struct state *s, struct flow *f, enum flow_list_id list) {
    REQUIRE(f->id != 0);
    if (f->flow_list == list) return;
    if (f->flow_list != FLOW_LIST_NONE) numset_del(&s->flow_lists[f->flow_list], f->id);
    if (list != FLOW_LIST_NONE) numset_put(&s->flow_lists[list], f->id);
    f->flow_list = (uint8_t)list;
}

void flow_shelve(struct state *s, struct flow *f) {
    _Static_assert((int)FLOW_LIST_CANCELLED == (int)FLOW_CANCELLED && (int)FLOW_LIST_KEPT == (int)FLOW_STATE_COUNT,
                   "a list for each state");
    move_to(s, f, flow_list_of(f));
}

static void append(struct state *s, uint32_t flow, enum ended kind) {
    struct flow *f = flow_at(s, flow);
    struct ended_list *list = &s->ended[kind];
    REQUIRE(kind != ENDED_NO);
    REQUIRE(f->ended == ENDED_NO);
    REQUIRE(!f->of_service); /* a version leaves when its service says so */
    REQUIRE(list->tail == 0 || flow_at(s, list->tail)->settled_lsn <= f->settled_lsn);
    f->ended = (uint8_t)kind;
    f->ended_next = 0;
    f->ended_prev = list->tail;
    if (list->tail)
        flow_at(s, list->tail)->ended_next = flow;
    else
        list->head = flow;
    list->tail = flow;
    list->count++;
    flow_shelve(s, f);
}

static void unlist(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    if (f->ended == ENDED_NO) return;
    struct ended_list *list = list_of(s, f);
    REQUIRE(list->count > 0);
    if (f->ended_prev)
        flow_at(s, f->ended_prev)->ended_next = f->ended_next;
    else
        list->head = f->ended_next;
    if (f->ended_next)
        flow_at(s, f->ended_next)->ended_prev = f->ended_prev;
    else
        list->tail = f->ended_prev;
    f->ended_next = f->ended_prev = 0;
    f->ended = ENDED_NO;
    list->count--;
    ENSURE((list->head == 0) == (list->count == 0));
}

void ended_leave(struct state *s, uint32_t flow) {
    unlist(s, flow);
    flow_shelve(s, flow_at(s, flow));
}

void ended_enter(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    unlist(s, flow);
    f->settled = s->now;
    f->settled_lsn = s->lsn + 1; /* of the record being applied */
    bool dead = f->dead_count > 0 && !MUTANT(dead_letter_forgotten);
    append(s, flow, dead ? ENDED_DEAD : ENDED_CLEAN);
}

void ended_dead_moved(struct state *s, uint32_t flow) {
    const struct flow *f = flow_at(s, flow);
    if (f->ended == ENDED_NO) return;
    if ((f->ended == ENDED_DEAD) != (f->dead_count > 0)) ended_enter(s, flow);
}

/* The end, or a later word about a job that left the flow as it was. */
static wall_time last_change(const struct state *s, const struct flow *f) {
    wall_time last = f->finished;
    for (uint32_t i = 0; i < f->jobs.count; i++) {
        wall_time since = job_at(s, f->jobs.at[i])->since;
        if (since.ms > last.ms) last = since;
    }
    return last;
}

/* A snapshot does not say by which record a flow ended: by one before its own end is certain, and enough. */
void ended_restore(struct state *s) {
    struct heap by_end; /* equal keys come out by reference: the flow's number, found again through the table */
    heap_init(&by_end, NULL, NULL);
    for (uint32_t i = 1; i <= s->flows.high; i++) {
        const struct flow *f = flow_at(s, i);
        bool stays = f->state == FLOW_RUNNING || flow_is_leaving(f); /* versions of services run */
        if (!stays) heap_push(&by_end, last_change(s, f).ms, f->id);
    }
    while (by_end.count) {
        struct heap_item first = heap_pop(&by_end);
        uint32_t flow = flow_find(s, (flow_id){first.ref});
        struct flow *f = flow_at(s, flow);
        f->settled.ms = first.key;
        f->settled_lsn = s->lsn;
        append(s, flow, f->dead_count ? ENDED_DEAD : ENDED_CLEAN);
    }
    heap_fini(&by_end);
}

/* ---- leaving ---- */

void flow_hide(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->state != FLOW_RUNNING);
    unlist(s, flow);
    move_to(s, f, FLOW_LIST_NONE);
    if (s->flow_recent == flow) s->flow_recent = 0;
    map_del(&s->flow_by_id, f->id);
    map_put(&s->leaving_by_id, f->id, flow);
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++) {
        REQUIRE(s->by_state[i] >= f->by_state[i]);
        s->by_state[i] -= f->by_state[i];
        f->by_state[i] = 0;
    }
    f->upstream_failed = 0;
    REQUIRE(s->dead_count >= f->dead_count);
    s->dead_count -= f->dead_count;
    f->schedule = 0;
    if (f->graph->entered.count > 0) flow_graph_own(f)->entered.count = 0; /* nothing is undone any more */
}

/* Edges that open jobs of other flows still hold to the job. */
static void drop_foreign_edges(struct state *s, const struct flow *f, const struct job *j) {
    struct rec_job rec;
    job_record(j, &s->scratch, &rec);
    const struct rec_foreign *list = rec.foreign.at;
    for (uint32_t i = 0; i < rec.foreign.count; i++) {
        uint32_t parent = job_find(s, (struct job_ref){{list[i].flow}, list[i].ordinal});
        if (list[i].seen != JOB_WAITING || parent == 0) continue;
        struct job *p = job_at(s, parent);
        struct flow *other = flow_at(s, p->flow);
        uint32_t kept_count = 0;
        /* the mark says whether there are such edges and nothing else: a restored state, which derives it from them,
         * must visit the same jobs in the same step */
        p->flags &= (uint8_t)~JOBF_FOREIGN;
        if (other->graph->foreign.count == 0) continue;
        struct vec *edges = &flow_graph_own(other)->foreign;
        for (uint32_t e = 0; e < edges->count; e++) {
            struct foreign_edge edge = *(struct foreign_edge *)vec_at(edges, e);
            if (edge.parent == list[i].ordinal) {
                if (edge.child_flow == f->id && edge.child_ordinal == j->ordinal) continue;
                p->flags |= JOBF_FOREIGN;
            }
            *(struct foreign_edge *)vec_at(edges, kept_count++) = edge;
        }
        edges->count = kept_count;
    }
}

void flow_shed_job(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(flow_is_leaving(f));
    REQUIRE(f->jobs.count > 0);
    if (f->fan) { /* children first */
        expand_shed(s, f);
        return;
    }
    uint32_t index = f->jobs.at[f->jobs.count - 1];
    struct job *j = job_at(s, index);
    REQUIRE(job_state_is_terminal(j->state));
    REQUIRE(j->timer == 0);
    REQUIRE(j->link == 0);
    dead_unlink(s, index);
    drop_foreign_edges(s, f, j);
    if (j->extra) {
        const struct extra *x = extra_at(s, j->extra);
        if (x->undo_profile) profile_unref(s, x->undo_profile);
        if (x->runner_profile) profile_unref(s, x->runner_profile);
        if (x->child_profile) profile_unref(s, x->child_profile);
        memo_unname(s, index);
        pool_free(&s->extras, j->extra);
    }
    note_free_all(s, j);
    profile_unref(s, j->profile);
    j->flow = 0;
    pool_free(&s->jobs, index);
    f->jobs.count--;
}

void flow_free(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->jobs.count == 0);
    REQUIRE(!f->is_working);
    REQUIRE(f->ended == ENDED_NO);
    REQUIRE(f->fan == 0);
    REQUIRE(tenant_at(s, f->tenant)->flows > 0);
    map_del(&s->leaving_by_id, f->id);
    tenant_at(s, f->tenant)->flows--;
    finale_free(s, f);
    f->id = 0;
    if (flow_bytes(f) > RELEASE_BYTES) {
        u32vec_push(&s->buried, flow);
        return;
    }
    flow_release_memory(f);
    pool_free(&s->flows, flow);
}

void flow_sweep(struct state *s) {
    if (s->buried.count == 0) return;
    uint32_t flow = s->buried.at[s->buried.count - 1];
    if (!flow_release_some(flow_at(s, flow), RELEASE_BYTES)) return;
    s->buried.count--;
    pool_free(&s->flows, flow);
}
