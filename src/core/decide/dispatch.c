/* dispatch.c: one round of assignments: which ready job goes to which worker next. See dispatch.h for what it costs.
 *
 * Ready jobs of equal demand stand in one queue, their class. The classes that may be served are *contenders*; the
 * contenders of one tenant and one priority form a *group*. Three heaps answer "who is first":
 *
 *      round.heap      groups       priority, then the share of the tenant, then weight, then age
 *      group.heap      contenders   age of the first job in the queue
 *      contender.heap  workers      not overloaded, then load, then served longest ago
 *
 * A worked example: tenants x (weight 2) and y (weight 1) have many ready jobs of one priority, a worker has six free
 * slots, and all shares are 0. A share grows by 1/weight with each assignment:
 *
 *      assignment     1    2    3    4    5    6
 *      goes to        x    y    x    x    y    x          at equal shares the heavier goes first
 *      share of x    1/2  1/2   1   3/2  3/2   2
 *      share of y     0    1    1    1    2    2
 *
 * so x gets twice as much as y, and neither is ever off by more than one. A tenant that was idle joins at the share of
 * the one served last (share_clock): it does not save up a claim.
 *
 * Keys in a heap grow old while assignments change loads, shares and queues. Within a round they only get worse, so the
 * first of a heap is read anew; if it is still first it is the best, else it sinks and the next one is looked at.
 *
 * Guarantees: the job of a paused flow, of a flow that is being swept, or of a class that a limit holds is never named;
 * a job is named at most once in a round; the choice follows from the state, the volatile state and the limits alone.
 *
 * Must not: change a fact. It parks jobs of paused flows and sets classes aside, both of which are indices. */
#include "dispatch.h"

#include <string.h>

#include "class.h"
#include "expand.h"
#include "panic.h"
#include "place.h"
#include "quota.h"
#include "timer.h"

#define SHARE_UNIT ((uint64_t)1 << 32)
#define UNFIT_MAX 4u /* workers of a class that came up in vain, before all of them are looked through */

struct candidate { /* a worker with a free slot */
    uint32_t worker;
    struct load load;
};

struct contender { /* a class that has ready jobs */
    uint32_t class_;
    uint32_t priority;
    uint32_t tenant;
    int64_t since_ms; /* of its first job */
    uint64_t flow;
    uint32_t ordinal;
    struct candidate *heap; /* best worker first, whether it fits or not; NULL = not looked yet */
    uint32_t heap_count;
    uint32_t unfit; /* how many of them did not fit */
};

/* The contenders of one tenant and one priority. Whoever is served raises the share of its tenant: were the share a key
 * of each class, all classes of the tenant would have to be put back, and a round would cost the square of them. */
struct group {
    uint32_t priority;
    uint32_t weight;
    uint64_t share;          /* of the tenant */
    struct contender **heap; /* first come first */
    uint32_t heap_count;
};

struct round {
    struct state *state;
    struct live *live;
    const struct limits *limits;
    wall_time now;
    struct arena *arena;
    struct candidate *free; /* best worker first */
    uint32_t free_count;
    uint32_t class_count;
    struct group **heap; /* best group first */
    uint32_t heap_count;
    uint32_t worker; /* of the assignment under way */
    uint32_t tenant;
};

/* ---- three small heaps ---- */

static void candidate_sink(struct candidate *heap, uint32_t count, uint32_t at) {
    struct candidate moving = heap[at];
    for (uint32_t child; (child = at * 2 + 1) < count; at = child) {
        if (child + 1 < count && load_is_better(&heap[child + 1].load, &heap[child].load)) child++;
        if (!load_is_better(&heap[child].load, &moving.load)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void candidate_heap(struct candidate *heap, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;) candidate_sink(heap, count, i);
}

static bool came_first(const struct contender *a, const struct contender *b) {
    if (a->since_ms != b->since_ms) return a->since_ms < b->since_ms;
    if (a->flow != b->flow) return a->flow < b->flow;
    return a->ordinal < b->ordinal;
}

/* For sorting: groups stand together, and inside of one the first come first. */
static bool stands_before(const struct contender *a, const struct contender *b) {
    if (a->priority != b->priority) return a->priority > b->priority;
    if (a->tenant != b->tenant) return a->tenant < b->tenant;
    return came_first(a, b);
}

static void contender_sink(struct contender **heap, uint32_t count, uint32_t at,
                           bool (*first)(const struct contender *a, const struct contender *b)) {
    struct contender *moving = heap[at];
    for (uint32_t child; (child = at * 2 + 1) < count; at = child) {
        if (child + 1 < count && first(heap[child + 1], heap[child])) child++;
        if (!first(heap[child], moving)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static bool group_is_first(const struct group *a, const struct group *b) {
    if (a->priority != b->priority) return a->priority > b->priority;
    if (a->share != b->share) return a->share < b->share;
    /* the heavier first: it has the more often yet to come, and so nobody is ever off by more than one */
    if (a->weight != b->weight) return a->weight > b->weight;
    return came_first(a->heap[0], b->heap[0]);
}

static void group_sink(struct group **heap, uint32_t count, uint32_t at) {
    struct group *moving = heap[at];
    for (uint32_t child; (child = at * 2 + 1) < count; at = child) {
        if (child + 1 < count && group_is_first(heap[child + 1], heap[child])) child++;
        if (!group_is_first(heap[child], moving)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* The first contender of the first group is out of this round. */
static void drop_contender(struct round *r) {
    REQUIRE(r->heap_count > 0);
    struct group *g = r->heap[0];
    REQUIRE(g->heap_count > 0);
    g->heap[0] = g->heap[--g->heap_count];
    if (g->heap_count)
        contender_sink(g->heap, g->heap_count, 0, came_first);
    else
        r->heap[0] = r->heap[--r->heap_count];
    if (r->heap_count) group_sink(r->heap, r->heap_count, 0);
}

/* ---- keys ---- */

/* A tenant that was idle joins where the others are: it cannot save up a claim. */
static uint64_t share_of(struct round *r, uint32_t tenant) {
    uint64_t *share = live_share(r->live, tenant);
    if (*share < r->live->share_clock) *share = r->live->share_clock;
    return *share;
}

static void read_contender(const struct round *r, struct contender *x) {
    const struct class_ *c = class_at(r->state, x->class_);
    const struct job *j = job_at(r->state, c->head);
    x->priority = c->priority;
    x->tenant = c->tenant;
    x->since_ms = j->since.ms;
    x->flow = flow_at(r->state, j->flow)->id;
    x->ordinal = j->ordinal;
}

static void read_group(struct round *r, struct group *g) {
    uint32_t tenant = g->heap[0]->tenant;
    g->priority = g->heap[0]->priority;
    g->share = share_of(r, tenant);
    g->weight = tenant_at(r->state, tenant)->weight;
}

/* ---- a round ---- */

static uint32_t collect_workers(struct round *r) {
    const struct state *s = r->state;
    r->free = ARENA_ARRAY(r->arena, struct candidate, s->workers.count);
    for (uint32_t i = 1; i <= s->workers.high; i++)
        if (place_free_slots(s, r->live, i))
            r->free[r->free_count++] = (struct candidate){i, place_load(s, r->live, r->limits, i)};
    ENSURE(r->free_count <= s->workers.count);
    candidate_heap(r->free, r->free_count);
    return r->free_count;
}

/* True when a limit keeps the class from being served now. A key or a rate takes it off the list until something is
 * given back, a token comes or the limit is set: so held classes cost a round nothing. */
static bool is_held(struct round *r, uint32_t class_) {
    struct hold hold;
    if (!quota_holds(r->state, class_at(r->state, class_), r->now, &hold)) return false;
    if (hold.until.ms != TIME_NEVER) timer_set(r->state, TIMER_QUOTA, hold.quota, hold.until);
    if (hold.quota) class_hold(r->state, class_, hold.quota);
    return true;
}

static uint32_t collect_classes(struct round *r, struct contender ***ret) {
    const struct state *s = r->state;
    uint32_t most = 0, count = 0;
    for (uint32_t i = s->ready_classes; i; i = class_at(s, i)->next) most++;
    struct contender *all = ARENA_ARRAY(r->arena, struct contender, most);
    struct contender **list = ARENA_ARRAY(r->arena, struct contender *, most);
    for (uint32_t i = s->ready_classes, next; i; i = next) {
        next = class_at(s, i)->next;
        if (tenant_at(s, class_at(s, i)->tenant)->paused || is_held(r, i)) continue;
        struct contender *x = &all[count];
        x->class_ = i;
        read_contender(r, x);
        list[count++] = x;
    }
    ENSURE(count <= most);
    *ret = list;
    return count;
}

/* A sorted piece of the list is a heap already. */
static void sort(struct contender **list, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;) contender_sink(list, count, i, stands_before);
    for (uint32_t left = count; left-- > 1;) { /* the first goes to the end */
        struct contender *first = list[0];
        list[0] = list[left];
        list[left] = first;
        contender_sink(list, left, 0, stands_before);
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        struct contender *swap = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = swap;
    }
}

static void collect_groups(struct round *r) {
    struct contender **list = NULL;
    uint32_t count = r->class_count = collect_classes(r, &list);
    sort(list, count);
    r->heap = ARENA_ARRAY(r->arena, struct group *, count ? count : 1);
    for (uint32_t i = 0; i < count;) {
        struct group *g = ARENA_NEW(r->arena, struct group);
        g->heap = list + i;
        for (; i < count && list[i]->tenant == g->heap[0]->tenant && list[i]->priority == g->heap[0]->priority; i++)
            g->heap_count++;
        read_group(r, g);
        r->heap[r->heap_count++] = g;
    }
    ENSURE(r->heap_count <= count);
    for (uint32_t i = r->heap_count / 2; i-- > 0;) group_sink(r->heap, r->heap_count, i);
}

struct round *round_begin(struct state *indices, struct live *live, const struct limits *limits, wall_time now,
                          struct arena *arena) {
    if (indices->ready_classes == 0 || indices->workers.count == 0) return NULL;
    struct round *r = ARENA_NEW(arena, struct round);
    *r = (struct round){.state = indices, .live = live, .limits = limits, .now = now, .arena = arena};
    if (collect_workers(r) == 0) return NULL;
    collect_groups(r);
    return r;
}

/* The first job of a class, after those of paused flows were set aside; 0 when the class has nothing for this round. */
static uint32_t first_job(struct round *r, uint32_t class_) {
    struct state *s = r->state;
    const struct class_ *c = class_at(s, class_);
    for (uint32_t left = c->count; left > 0; left--) {
        uint32_t job = c->head;
        const struct flow *f = flow_at(s, job_at(s, job)->flow);
        /* for a moment: its jobs are being gone through one by one, or will be */
        if (f->sweep != SWEEP_NONE || f->unwinding == UNWIND_DUE || expand_is_passing(s, f)) return 0;
        if (!f->paused) return job;
        ready_park(s, job); /* may free the class, when this was the last */
    }
    return 0;
}

/* Whether a worker fits costs several times as much as where it stands, and mostly the first one does: it is asked of
 * whoever comes up. Loads have grown since, and are read anew then, too. */
static void look_for_workers(struct round *r, struct contender *x) {
    x->heap_count = r->free_count;
    x->heap = r->free;
    if (r->class_count == 1) return; /* nobody else needs it */
    x->heap = ARENA_ARRAY(r->arena, struct candidate, r->free_count);
    memcpy(x->heap, r->free, sizeof *x->heap * r->free_count);
}

/* Where few fit, asking all of them once is cheaper than bringing each one up. */
static void sift_workers(struct round *r, struct contender *x) {
    const struct class_ *c = class_at(r->state, x->class_);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->heap_count; i++)
        if (place_fit(r->state, r->live, r->limits, c, x->heap[i].worker) == FIT_YES) x->heap[kept++] = x->heap[i];
    x->heap_count = kept;
    candidate_heap(x->heap, kept);
}

/* The best worker for the class as things stand now, or 0. */
static uint32_t best_worker(struct round *r, struct contender *x) {
    if (x->heap == NULL) look_for_workers(r, x);
    const struct class_ *c = class_at(r->state, x->class_);
    while (x->heap_count) {
        struct candidate *top = &x->heap[0];
        if (place_fit(r->state, r->live, r->limits, c, top->worker) != FIT_YES) {
            if (++x->unfit == UNFIT_MAX) {
                sift_workers(r, x);
                continue;
            }
            *top = x->heap[--x->heap_count];
        } else {
            struct load now = place_load(r->state, r->live, r->limits, top->worker);
            if (!load_is_better(&top->load, &now)) return top->worker;
            top->load = now;
        }
        if (x->heap_count) candidate_sink(x->heap, x->heap_count, 0);
    }
    return 0;
}

/* Attempts of replicas of the same set on a worker. */
static uint32_t replicas_on(const struct state *s, uint32_t worker, uint32_t tenant, struct slice set) {
    uint32_t count = 0;
    for (uint32_t run = worker_at(s, worker)->first; run; run = run_at(s, run)->next) {
        const struct job *j = job_at(s, run_at(s, run)->job);
        const struct options *o = job_options(s, j);
        count += o->kind == JOB_SERVICE && o->replica_of.len && flow_at(s, j->flow)->tenant == tenant &&
                 slice_eq(o->replica_of, set);
    }
    return count;
}

/* For a replica: of the workers that fit, one with the fewest of its set, and of those the best. All are asked: there
 * are few replicas, and each is seldom given away. */
static uint32_t worker_apart(struct round *r, struct contender *x, struct slice set) {
    if (x->heap == NULL) look_for_workers(r, x);
    const struct class_ *c = class_at(r->state, x->class_);
    uint32_t best = 0, fewest = 0;
    struct load load = {0};
    for (uint32_t i = 0; i < x->heap_count; i++) {
        uint32_t worker = x->heap[i].worker;
        if (place_fit(r->state, r->live, r->limits, c, worker) != FIT_YES) continue;
        uint32_t count = replicas_on(r->state, worker, x->tenant, set);
        struct load now = place_load(r->state, r->live, r->limits, worker);
        bool is_better = best == 0 || count < fewest || (count == fewest && load_is_better(&now, &load));
        if (!is_better) continue;
        best = worker;
        fewest = count;
        load = now;
    }
    return best;
}

/* True when the first group and its first contender are where their keys, read anew, put them. */
static bool is_up_to_date(struct round *r) {
    struct group *g = r->heap[0];
    struct contender *x = g->heap[0];
    read_contender(r, x);
    contender_sink(g->heap, g->heap_count, 0, came_first);
    read_group(r, g);
    group_sink(r->heap, r->heap_count, 0);
    return r->heap[0] == g && g->heap[0] == x;
}

bool round_next(struct round *r, uint32_t *ret_job, uint32_t *ret_worker) {
    while (r->heap_count) {
        struct contender *x = r->heap[0]->heap[0];
        uint32_t job = is_held(r, x->class_) ? 0 : first_job(r, x->class_);
        if (job == 0) {
            drop_contender(r);
            continue;
        }
        if (!is_up_to_date(r)) continue;
        const struct options *o = job_options(r->state, job_at(r->state, job));
        uint32_t worker = o->replica_of.len ? worker_apart(r, x, o->replica_of) : best_worker(r, x);
        if (worker == 0) {
            drop_contender(r);
            continue;
        }
        r->worker = worker;
        r->tenant = x->tenant;
        /* a class may be freed with its last job */
        if (class_at(r->state, x->class_)->count == 1) drop_contender(r);
        *ret_job = job;
        *ret_worker = worker;
        return true;
    }
    return false;
}

void round_given(struct round *r) {
    REQUIRE(tenant_at(r->state, r->tenant)->weight > 0);
    live_worker(r->live, r->state, r->worker)->served = ++r->live->served_last;
    uint64_t *share = live_share(r->live, r->tenant);
    r->live->share_clock = *share;
    *share += SHARE_UNIT / tenant_at(r->state, r->tenant)->weight;
}
