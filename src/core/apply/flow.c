/* flow.c: see flow.h. */
#include "flow.h"

#include "class.h"
#include "expand.h"
#include "finale.h"
#include "flow_lists.h"
#include "job_transition.h"
#include "memo.h"
#include "panic.h"
#include "quota.h"
#include "saga.h"
#include "service.h"
#include "timer.h"

#define FLOW_CHUNK_BYTES 256
#define FLOW_BYTES_MAX ((size_t)1 << 40)
#define MESSAGE_BYTES_MAX ((size_t)1 << 22) /* of a job: its body and little more */

/* Copies a message behind its own length; returns where the next one goes. */
static uint8_t *keep_at(uint8_t *at, struct slice message) {
    REQUIRE(message.len < UINT32_MAX - 4);
    uint32_t len = (uint32_t)message.len;
    memcpy(at, &len, 4);
    if (len) memcpy(at + 4, message.ptr, len);
    return at + 4 + len;
}

static const uint8_t *keep(struct arena *a, struct slice message) {
    uint8_t *at = arena_space(a, 4 + message.len);
    keep_at(at, message);
    return at;
}

static struct slice kept(const uint8_t *at) {
    uint32_t len;
    memcpy(&len, at, 4);
    return slice_of(at + 4, len);
}

const struct flow_graph flow_graph_none = {0};

struct flow_graph *flow_graph_own(struct flow *f) {
    if (f->graph == &flow_graph_none) {
        struct flow_graph *web = ARENA_NEW(&f->arena, struct flow_graph);
        vec_init(&web->edges, sizeof(struct edge));
        vec_init(&web->foreign, sizeof(struct foreign_edge));
        vec_init(&web->seen, sizeof(struct foreign_seen));
        f->graph = web;
    }
    ENSURE(f->graph != &flow_graph_none); /* which is shared, and never written */
    return f->own_graph;
}

struct slice flow_head_bytes(const struct flow *f) {
    return kept(f->head);
}

uint32_t flow_make(struct state *s, uint64_t id, uint32_t tenant, struct slice head, size_t first_chunk_bytes) {
    REQUIRE(id != 0);
    REQUIRE(id < INT64_MAX);
    REQUIRE(tenant != 0);
    uint32_t index = pool_alloc(&s->flows);
    ENSURE(index != 0);
    struct flow *f = flow_at(s, index);
    f->id = id;
    f->tenant = tenant;
    f->rules = s->rules;
    f->state = FLOW_RUNNING;
    f->created = s->now;
    arena_init(&f->arena, first_chunk_bytes, FLOW_BYTES_MAX);
    f->graph = &flow_graph_none;
    f->head = keep(&f->arena, head);
    map_put(&s->flow_by_id, id, index);
    tenant_at(s, tenant)->flows++;
    f->flow_list = FLOW_LIST_NONE;
    flow_shelve(s, f);
    if (id > s->flow_last) s->flow_last = id;
    ENSURE(s->flow_last >= id);
    return index;
}

uint32_t flow_new(struct state *s, const struct rec_submitted *rec, uint32_t tenant) {
    struct flow_head head = {.name = rec->name,
                             .principal = rec->head.principal,
                             .trace = rec->head.trace,
                             .labels = rec->labels,
                             .schedule = rec->schedule,
                             .slot_ms = rec->slot_ms,
                             .zone = rec->zone,
                             .source = rec->source,
                             .cause = rec->cause};
    REQUIRE(rec->flow > s->flow_last);
    REQUIRE(s->rules != 0); /* those of the batch, which the flow keeps */
    struct buf *encoded = &s->head_bytes;
    buf_clear(encoded);
    tlv_encode(&flow_head_desc, &head, encoded);
    ENSURE(!encoded->full);
    /* a flow of one job fits its first chunk, so a million of them cost one allocation each */
    size_t first =
        rec->jobs.count == 1 ? ((struct rec_job *)rec->jobs.at)->raw.len + encoded->len + 40 : FLOW_CHUNK_BYTES;
    uint32_t index = flow_make(s, rec->flow, tenant, buf_slice(encoded), first);
    tally_add(s, flow_at(s, index), TALLY_FLOWS, 1);
    flow_at(s, index)->more = rec->more;
    flow_at(s, index)->compensate_on = rec->compensate_on;
    if (rec->timeout_ms || rec->deadline_ms || rec->has_stages) {
        finale_make(s, index);
        struct finale *x = finale_at(s, flow_at(s, index)->finale);
        x->timeout_ms = rec->timeout_ms;
        x->deadline.ms = rec->deadline_ms;
    }
    return index;
}

/* Its struct lies in the arena: before that. */
static void release_web(struct flow *f) {
    if (f->graph == &flow_graph_none) return;
    struct flow_graph *web = flow_graph_own(f);
    f->graph = &flow_graph_none;
    u32vec_fini(&web->work);
    u32vec_fini(&web->entered);
    vec_fini(&web->edges);
    vec_fini(&web->foreign);
    vec_fini(&web->seen);
    lean_fini(&web->names);
}

void flow_release_memory(struct flow *f) {
    release_web(f);
    arena_fini(&f->arena);
    u32vec_fini(&f->jobs);
}

bool flow_release_some(struct flow *f, size_t bytes) {
    REQUIRE(f->id == 0); /* it is gone: nobody looks into it */
    if (f->graph != &flow_graph_none) {
        struct flow_graph *web = flow_graph_own(f);
        if (!vec_release(&web->edges, bytes) || !lean_release(&web->names, bytes)) return false;
        release_web(f);
    }
    if (!u32vec_release(&f->jobs, bytes) || !arena_release(&f->arena, bytes)) return false;
    flow_release_memory(f);
    return true;
}

size_t flow_bytes(const struct flow *f) {
    return f->arena.bytes + f->jobs.slots * sizeof(uint32_t) + f->graph->work.slots * sizeof(uint32_t) +
           f->graph->entered.slots * sizeof(uint32_t) + f->graph->edges.slots * sizeof(struct edge) +
           f->graph->foreign.slots * sizeof(struct foreign_edge) + f->graph->seen.slots * sizeof(struct foreign_seen) +
           lean_bytes(&f->graph->names);
}

void flow_head_get(const struct flow *f, struct arena *arena, struct flow_head *ret) {
    enum err e = tlv_decode(&flow_head_desc, kept(f->head), TLV_STRICT, arena, ret, NULL);
    ENSURE(e == ERR_OK);
}

uint32_t flow_open_jobs(const struct flow *f) {
    uint32_t open = 0;
    for (uint32_t state = 0; state < JOB_SUCCEEDED; state++) open += f->by_state[state];
    return open;
}

struct slice job_text(const struct job *j) {
    return kept(j->text);
}

/* The name is the first field of the message; a name is never empty, so it is always written. */
struct slice job_name(const struct job *j) {
    struct cursor c = cursor_of(job_text(j));
    uint64_t tag = cursor_varint(&c);
    struct slice name = cursor_str(&c);
    ENSURE(tag == (1u << 1 | 1u));
    ENSURE(!c.bad);
    return name;
}

void job_record(const struct job *j, struct arena *arena, struct rec_job *ret) {
    enum err e = tlv_decode(&rec_job_desc, job_text(j), TLV_STRICT, arena, ret, NULL);
    ENSURE(e == ERR_OK);
}

struct names_ctx {
    const struct state *state;
    const struct flow *flow;
};

static struct slice name_of(const void *ctx, uint32_t value) { /* value: ordinal + 1 */
    const struct names_ctx *names = ctx;
    REQUIRE(value != 0);
    REQUIRE(value <= names->flow->jobs.count);
    return job_name(job_at(names->state, names->flow->jobs.at[value - 1]));
}

void flow_index_names(struct state *s, struct flow *f) {
    if (f->jobs.count < FLOW_INDEX_MIN) return;
    struct names_ctx ctx = {s, f};
    struct flow_graph *web = flow_graph_own(f);
    REQUIRE(web->named <= f->jobs.count);
    lean_reserve(&web->names, f->jobs.count, name_of, &ctx);
    for (; web->named < f->jobs.count; web->named++)
        lean_put(&web->names, job_name(job_at(s, f->jobs.at[web->named])), web->named + 1, name_of, &ctx);
}

uint32_t flow_job_by_name(const struct state *s, const struct flow *f, struct slice name) {
    if (f->jobs.count >= FLOW_INDEX_MIN) {
        struct names_ctx ctx = {s, f};
        uint32_t found = lean_get(&f->graph->names, name, name_of, &ctx);
        return found ? found - 1 : NO_ORDINAL;
    }
    for (uint32_t i = 0; i < f->jobs.count; i++)
        if (slice_eq(job_name(job_at(s, f->jobs.at[i])), name)) return i;
    return NO_ORDINAL;
}

struct extra *job_extra(struct state *s, struct job *j) {
    if (j->extra == 0) {
        j->extra = pool_alloc(&s->extras);
        ENSURE(j->extra != 0);
    }
    return extra_at(s, j->extra);
}

static uint32_t place_job(struct state *s, uint32_t flow, uint32_t profile, const uint8_t *text) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(profile != 0);
    REQUIRE(text != NULL);
    REQUIRE(f->jobs.count < FIRST_CHILD_ORDINAL);
    uint32_t index = pool_alloc(&s->jobs);
    ENSURE(index != 0);
    struct job *j = job_at(s, index);
    j->flow = flow;
    j->ordinal = f->jobs.count;
    j->profile = profile;
    j->text = text;
    j->since = s->now;
    j->root = NO_ORDINAL;
    profile_ref(s, profile);
    if (f->jobs.at == NULL)
        u32vec_lend(&f->jobs, &f->first_job, index);
    else
        u32vec_push(&f->jobs, index);
    ENSURE(f->jobs.at[j->ordinal] == index);
    return index;
}

uint32_t flow_place_job(struct state *s, uint32_t flow, uint32_t profile, struct slice text) {
    return place_job(s, flow, profile, keep(&flow_at(s, flow)->arena, text));
}

uint32_t flow_make_job(struct state *s, uint32_t flow, uint32_t profile, const struct rec_job *rec) {
    struct buf message;
    buf_init(&message, MESSAGE_BYTES_MAX);
    tlv_encode(&rec_job_desc, rec, &message);
    ENSURE(!message.full);
    uint32_t index = flow_place_job(s, flow, profile, buf_slice(&message));
    buf_fini(&message);
    job_enter(s, index);
    tally_add(s, flow_at(s, flow), TALLY_JOBS, 1);
    quota_count_job(s, job_at(s, index), 1);
    flow_index_names(s, flow_at(s, flow));
    return index;
}

/* Appends at the end of the parent's ring, so that its children are visited in order of ordinals, live as after a
 * restart: `work_edge` counts on it. */
static void add_edge(struct state *s, struct flow *f, uint32_t parent, uint32_t child) {
    struct job *p = job_at(s, f->jobs.at[parent]);
    REQUIRE(p->part != PART_CHILD);
    struct vec *edges = &flow_graph_own(f)->edges;
    struct edge *edge = vec_push(edges);
    uint32_t position = edges->count; /* 1-based */
    edge->child = child;
    if (p->last_child) {
        struct edge *last = vec_at(edges, p->last_child - 1);
        edge->next = last->next;
        last->next = position;
    } else {
        edge->next = position;
    }
    p->last_child = position;
}

void flow_link_parents(struct state *s, uint32_t flow, const struct job *j, const struct tlv_u32s *parents) {
    struct flow *f = flow_at(s, flow);
    for (uint32_t i = 0; i < parents->count; i++) {
        REQUIRE(parents->at[i] < j->ordinal);
        add_edge(s, f, parents->at[i], j->ordinal);
    }
}

/* A parent in another flow that has not ended holds an edge to this job; one that ended was recorded as `seen`. */
static void link_foreign(struct state *s, uint32_t flow, const struct job *j, const struct tlv_list *foreign) {
    const struct rec_foreign *list = foreign->at;
    for (uint32_t i = 0; i < foreign->count; i++) {
        if (list[i].seen != JOB_WAITING) continue;
        uint32_t parent = job_find(s, (struct job_ref){{list[i].flow}, list[i].ordinal});
        ENSURE(parent != 0);
        struct job *p = job_at(s, parent);
        struct foreign_edge *edge = vec_push(&flow_graph_own(flow_at(s, p->flow))->foreign);
        *edge = (struct foreign_edge){list[i].ordinal, j->ordinal, flow_at(s, flow)->id};
        p->flags |= JOBF_FOREIGN;
    }
}

void flow_add_jobs(struct state *s, uint32_t flow, const struct tlv_list *profiles, const struct tlv_list *jobs) {
    struct flow *f = flow_at(s, flow);
    const struct options *sets = profiles->at;
    const struct rec_job *list = jobs->at;
    uint32_t *profile_index = ARENA_ARRAY(&s->scratch, uint32_t, profiles->count ? profiles->count : 1);
    for (uint32_t i = 0; i < profiles->count; i++) {
        profile_index[i] = profile_take(s, f->tenant, sets[i].raw);
        profile_ref(s, profile_index[i]); /* until all jobs are placed: sets that none of them uses go again */
    }
    tally_add(s, f, TALLY_JOBS, jobs->count);
    if (f->jobs.count == 0 && jobs->count > 1) u32vec_reserve(&f->jobs, jobs->count);
    /* one piece of memory for all messages, packed: a job is small beside what rounding would cost it */
    size_t text_bytes = 0;
    for (uint32_t i = 0; i < jobs->count; i++) text_bytes += 4 + list[i].raw.len;
    uint8_t *text = arena_space(&f->arena, text_bytes);
    for (uint32_t i = 0; i < jobs->count; i++) {
        REQUIRE(list[i].profile < profiles->count);
        REQUIRE(list[i].undo_profile <= profiles->count);
        REQUIRE(list[i].child_profile <= profiles->count);
        REQUIRE(list[i].runner_profile <= profiles->count);
        uint32_t index = place_job(s, flow, profile_index[list[i].profile], text);
        text = keep_at(text, list[i].raw);
        struct job *j = job_at(s, index);
        if (list[i].undo_profile) saga_name(s, j, profile_index[list[i].undo_profile - 1]);
        if (list[i].child_profile) expand_name(s, j, profile_index[list[i].child_profile - 1]);
        if (list[i].runner_profile) service_name_runner(s, j, profile_index[list[i].runner_profile - 1]);
        if (list[i].cache_key.len) memo_name(s, index, list[i].cache_key, false);
        flow_link_parents(s, flow, j, &list[i].parents);
        link_foreign(s, flow, j, &list[i].foreign);
        job_enter(s, index);
        quota_count_job(s, j, 1);
    }
    for (uint32_t i = 0; i < profiles->count; i++) profile_unref(s, profile_index[i]);
    flow_index_names(s, f);
}
