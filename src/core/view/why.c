/* why.c: the one reason why a job is not running. The order of BLOCK_TABLE is the order of the answer. See view.h. */
#include "why.h"

#include "class.h"
#include "expand.h"
#include "external.h"
#include "finale.h"
#include "flow.h"
#include "panic.h"
#include "question.h"
#include "quota.h"
#include "registry.h"

#define CLASSES_ASKED_MAX 256u /* each costs a look at every worker */

const char *block_word(enum block b) {
    static const char *const words[BLOCK_COUNT] = {
#define X(block, word, text) [block] = word,
        BLOCK_TABLE(X)
#undef X
    };
    REQUIRE((unsigned)b < BLOCK_COUNT);
    return words[b];
}

const char *block_text(enum block b) {
    static const char *const texts[BLOCK_COUNT] = {
#define X(block, word, text) [block] = text,
        BLOCK_TABLE(X)
#undef X
    };
    REQUIRE((unsigned)b < BLOCK_COUNT);
    return texts[b];
}

/* The first parent that is still open; in its own flow if there is one. */
static struct job_ref open_parent(const struct state *s, const struct job *j) {
    const struct flow *f = flow_at(s, j->flow);
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 30);
    struct rec_job rec;
    job_record(j, &arena, &rec);
    struct job_ref found = {{f->id}, NO_ORDINAL};
    for (uint32_t i = 0; i < rec.parents.count && found.ordinal == NO_ORDINAL; i++) {
        const struct job *parent = job_at(s, f->jobs.at[rec.parents.at[i]]);
        if (!job_state_is_terminal(parent->state) || (parent->flags & JOBF_UNTOLD)) found.ordinal = parent->ordinal;
    }
    arena_fini(&arena);
    return found;
}

/* How close the closest worker comes: later members of enum fit are closer. */
static enum fit best_fit(const struct state *s, const struct live *l, const struct limits *limits,
                         const struct class_ *c) {
    enum fit best = FIT_OTHER_POOL;
    for (uint32_t i = 1; i <= s->workers.high; i++) {
        if (worker_at(s, i)->id == NULL) continue;
        enum fit fit = place_fit(s, l, limits, c, i);
        if (fit == FIT_YES) return FIT_YES;
        if (fit > best) best = fit;
    }
    return best;
}

static enum block one_pool_block(const struct state *s, struct slice name) {
    uint32_t index = pool_find(s, name);
    if (index == 0) return BLOCK_NO_WORKERS;
    const struct pool_ *p = pool_entry(s, index);
    if (p->paused) return BLOCK_PAUSED;
    return p->state == POOL_ACTIVE ? BLOCK_NO_WORKERS : BLOCK_POOL_INACTIVE;
}

/* Pools and topics explain better than the absence of workers. Of several pools one that is open has only that to say;
 * else the first one speaks. */
static enum block pool_block(const struct state *s, const struct demand *d) {
    if (d->pool.len) return one_pool_block(s, d->pool);
    uint32_t topic = topic_find(s, d->topic);
    if (topic == 0) return BLOCK_NO_POOL_MAPPING;
    const struct tlv_list *pools = &topic_at(s, topic)->pools;
    const struct name_item *list = pools->at;
    ENSURE(pools->count > 0); /* else the topic would not be there */
    for (uint32_t i = 0; i < pools->count; i++)
        if (one_pool_block(s, list[i].name) == BLOCK_NO_WORKERS) return BLOCK_NO_WORKERS;
    return one_pool_block(s, list[0].name);
}

static enum block limit_block(const struct state *s, const struct class_ *c, struct why_job *ret) {
    struct hold hold;
    if (!quota_holds(s, c, s->now, &hold)) return BLOCK_NOTHING;
    ret->until = hold.until;
    if (hold.kind == LIMIT_TENANT) return BLOCK_TENANT_LIMIT;
    ret->limit = quota_name(quota_at(s, hold.quota));
    return hold.kind == LIMIT_KEY ? BLOCK_KEY_LIMIT : BLOCK_RATE_LIMIT;
}

enum block why_unplaced(const struct state *s, const struct live *l, const struct limits *limits,
                        const struct class_ *c) {
    switch (best_fit(s, l, limits, c)) {
    case FIT_YES: return BLOCK_QUEUE;
    case FIT_OTHER_POOL:
    case FIT_POOL_CLOSED: return pool_block(s, &c->demand);
    case FIT_AWAY: return BLOCK_NO_WORKERS;
    case FIT_TENANT: return BLOCK_TENANT_WORKERS;
    case FIT_CAPABILITY: return BLOCK_CAPABILITY;
    case FIT_PINNED: return BLOCK_PREFERENCE;
    case FIT_OVERLOADED: return BLOCK_OVERLOADED;
    case FIT_FULL: return BLOCK_CAPACITY;
    }
    PANIC("a fit of no kind");
}

static enum block ready_block(const struct state *s, const struct live *l, const struct limits *limits,
                              const struct job *j, struct why_job *ret) {
    const struct flow *f = flow_at(s, j->flow);
    if (f->paused || tenant_at(s, f->tenant)->paused) return BLOCK_PAUSED;
    if (f->is_working || j->link == 0) return BLOCK_SETTLING;
    const struct class_ *c = class_at(s, j->link);
    if (pool_block(s, &c->demand) == BLOCK_PAUSED) return BLOCK_PAUSED; /* a pause comes before limits */
    enum block limit = limit_block(s, c, ret);
    if (limit != BLOCK_NOTHING) return limit;
    if (policy_has_lapsed(s, j)) return BLOCK_POLICY;
    return why_unplaced(s, l, limits, c);
}

static void why_ready(const struct state *s, const struct live *l, const struct limits *limits, const struct job *j,
                      struct why_job *ret) {
    REQUIRE(j->state == JOB_READY);
    const struct options *o = job_options(s, j);
    ret->block = ready_block(s, l, limits, j, ret);
    if (ret->block == BLOCK_RATE_LIMIT) return;
    if (ret->block == BLOCK_PREFERENCE)
        ret->until.ms = j->since.ms + o->prefer_ms;
    else if (o->start_within_ms > 0)
        ret->until.ms = j->since.ms + o->start_within_ms;
}

static void why_no_room(const struct state *s, const struct expansion *x, struct why_job *ret) {
    const struct job *whole = job_at(s, x->job);
    ret->block = flow_at(s, whole->flow)->is_working ? BLOCK_SETTLING : x->is_open ? BLOCK_PARALLEL : BLOCK_PARENTS;
    ret->parents_open = 1;
    ret->parent = job_ref_of(s, whole);
}

/* A child that never began, or left nothing behind. */
static bool why_bare(const struct state *s, struct job_ref ref, struct why_job *ret) {
    uint32_t flow = flow_find(s, ref.flow);
    const struct expansion *x = flow ? expand_find(s, flow_at(s, flow), ref.ordinal) : NULL;
    if (x && expand_bare_state(x, ref.ordinal) == JOB_WAITING) why_no_room(s, x, ret);
    return x != NULL;
}

static void why_waiting(const struct state *s, const struct job *j, struct why_job *ret) {
    if (j->part == PART_CHILD && j->parents_open) {
        why_no_room(s, expansion_at(s, j->expansion), ret);
    } else if (j->part == PART_WHOLE || j->part == PART_ENDING) {
        ret->block = BLOCK_CHILDREN;
    } else if (j->parents_open && flow_at(s, j->flow)->of_service) {
        ret->block = BLOCK_VERSION;
    } else if (finale_holds(s, j)) {
        ret->block = BLOCK_STAGE;
    } else if (j->parents_open) {
        ret->block = BLOCK_PARENTS;
        ret->parents_open = j->parents_open;
        ret->parent = open_parent(s, j);
    } else if (external_of(s, j) && j->cause == CAUSE_NONE) { /* begun: a word before that ends with the attempt */
        ret->block = BLOCK_OUTSIDE;
        ret->until.ms = external_deadline_ms(s, j);
        if (job_options(s, j)->poll_ms) ret->poll = j->due;
    } else {
        ret->block = flow_at(s, j->flow)->is_working && !(j->flags & JOBF_TIMED) ? BLOCK_SETTLING : BLOCK_TIME;
        ret->until = j->due;
    }
}

static void why_active(const struct state *s, const struct job *j, struct why_job *ret) {
    const struct run *run = run_at(s, j->link);
    ENSURE(run->attempt == j->attempt);
    ret->worker = worker_at(s, run->worker)->number;
    if (run->stop != STOP_NONE) {
        ret->block = BLOCK_STOPPING;
        ret->until = run->confirm;
    } else if (j->state == JOB_DISPATCHED) {
        ret->block = BLOCK_START;
        ret->until.ms = j->since.ms + job_options(s, j)->dispatch_timeout_ms;
    }
}

bool view_why(const struct state *s, const struct live *l, const struct limits *limits, struct job_ref ref,
              struct why_job *ret) {
    uint32_t index = job_find(s, ref);
    *ret = (struct why_job){.block = BLOCK_NOTHING, .until = {TIME_NEVER}, .poll = {TIME_NEVER}};
    if (index == 0) return why_bare(s, ref, ret);
    const struct job *j = job_at(s, index);
    switch ((enum job_state)j->state) {
    case JOB_WAITING: why_waiting(s, j, ret); break;
    case JOB_HELD:
    case JOB_CHECKING: {
        const struct question *q = question_at(s, j->link);
        ret->block = q->gate == GATE_SERVICE ? BLOCK_HEALTH : BLOCK_QUESTION;
        ret->question.v = q->id;
        ret->until = q->deadline;
        break;
    }
    case JOB_READY: why_ready(s, l, limits, j, ret); break;
    case JOB_DISPATCHED:
    case JOB_RUNNING: why_active(s, j, ret); break;
    case JOB_SUCCEEDED:
    case JOB_FAILED:
    case JOB_TIMED_OUT:
    case JOB_CANCELLED:
    case JOB_DENIED:
    case JOB_QUARANTINED:
    case JOB_SKIPPED:
    case JOB_STATE_COUNT: break;
    }
    return true;
}

struct slice view_words(const struct state *s, const struct live *l, struct job_ref ref) {
    uint32_t job = job_find(s, ref);
    return job != 0 ? live_words_of(l, s, job) : (struct slice){0};
}

void view_ready_blocks(const struct state *s, const struct live *l, const struct limits *limits,
                       uint64_t ret[BLOCK_COUNT]) {
    uint64_t queued = 0;
    uint32_t asked = 0;
    for (uint32_t b = 0; b < BLOCK_COUNT; b++) ret[b] = 0;
    for (uint32_t i = 1; i <= s->classes.high; i++) {
        const struct class_ *c = class_at(s, i);
        if (c->count == 0) continue; /* also of one that was freed */
        struct why_job why = {.block = BLOCK_QUEUE, .until = {TIME_NEVER}};
        if (asked++ < CLASSES_ASKED_MAX) why_ready(s, l, limits, job_at(s, c->head), &why);
        ret[why.block] += c->count;
        queued += c->count;
    }
    ENSURE(queued <= s->by_state[JOB_READY]);
    ret[BLOCK_PAUSED] += s->by_state[JOB_READY] - queued; /* what no class holds is parked */
}
