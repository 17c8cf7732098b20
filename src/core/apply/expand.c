/* expand.c: the children of foreach jobs: which begin, which end, and when the foreach job does. See expand.h.
 *
 * An expansion is a few numbers for all children. `next` divides them: below it a child has begun, from it on a child
 * is nothing but an index. `made` has the structs of those below it that have something to tell.
 *
 * A worked example: a foreach job m over five items, max_parallel 2, one bad child allowed.
 *
 *      record                    children 0..4     next  under_way  bad   made
 *      EXPANDED count 5          - - - - -          0       0        0    {}
 *        two begin at once       r r - - -          2       2        0    {0 1}
 *      ENDED m[0] ok             s r r - -          3       2        0    {1 2}       0 left nothing: no struct
 *      ENDED m[1] exit, final    s F r r -          4       2        1    {1 2 3}     a dead letter keeps its struct
 *      ENDED m[2], m[3] ok       s F s s r          5       1        1    {1 4}
 *      ENDED m[4] ok             s F s s s          5       0        1    {1}         all have ended
 *        finish: 1 bad <= 1 allowed: m SUCCEEDED, and its own children in the graph hear of it
 *
 *      - index only    r ready or running    s succeeded    F failed
 *
 * Work is done in steps (expand_step), each charged to the budget of the record like an edge or a job. An expansion is
 * on the busy list of its flow exactly while has_work() holds; update() sees to that after every change. Calling off,
 * rerun and resume are passes over the children that have a struct (`pass`, `pass_next`).
 *
 * Guarantees: no more than max_parallel children are under way; children begin in the order of their indices, and those
 * that were reset before those that never began; what never began counts for the tenant and in the journal's
 * reservation as if it were queued.
 *
 * Must not: loop over all children in one step; give a child an edge (its `last_child` is the expansion). */
#include "expand.h"

#include "attempt.h"
#include "attempt_notes.h"
#include "class.h"
#include "effects.h"
#include "flow.h"
#include "job_transition.h"
#include "mutant.h"
#include "panic.h"
#include "propagate.h"
#include "question.h"
#include "rules.h"
#include "timer.h"

static uint32_t index_of(const struct state *s, const struct expansion *x) {
    uint32_t index = extra_at(s, job_at(s, x->job)->extra)->expansion;
    ENSURE(index != 0);
    return index;
}

static uint32_t flow_of(const struct state *s, const struct expansion *x) {
    return job_at(s, x->job)->flow;
}

static const struct options *options_of(const struct state *s, const struct expansion *x) {
    return job_options(s, job_at(s, x->job));
}

static uint32_t child_profile(const struct state *s, const struct expansion *x) {
    uint32_t profile = extra_at(s, job_at(s, x->job)->extra)->child_profile;
    ENSURE(profile != 0);
    return profile;
}

uint32_t expand_allowed(const struct options *o, uint32_t count) {
    uint32_t allowed = o->allow_percent ? (uint32_t)((uint64_t)count * o->allow_percent / 100) : o->allow_count;
    return allowed + (MUTANT(allow_off_by_one) ? 1u : 0u);
}

/* ---- finding ---- */

struct expansion *expand_find(const struct state *s, const struct flow *f, uint32_t ordinal) {
    if (f->fan == 0 || ordinal < FIRST_CHILD_ORDINAL) return NULL;
    const struct u32vec *all = &fan_at(s, f->fan)->expansions;
    uint32_t low = 0, high = all->count;
    while (low < high) { /* the first that ends behind the ordinal; one without items is never it */
        uint32_t middle = low + (high - low) / 2;
        const struct expansion *x = expansion_at(s, all->at[middle]);
        if (x->first + x->count <= ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->count ? expansion_at(s, all->at[low]) : NULL;
}

uint32_t expand_find_child(const struct state *s, const struct flow *f, uint32_t ordinal) {
    const struct expansion *x = expand_find(s, f, ordinal);
    return x ? map_get(&x->made, ordinal - x->first) : 0;
}

enum job_state expand_bare_state(const struct expansion *x, uint32_t ordinal) {
    REQUIRE(ordinal >= x->first);
    REQUIRE(ordinal - x->first < x->count);
    if (ordinal - x->first < x->next) return JOB_SUCCEEDED;
    return x->cause == CAUSE_NONE ? JOB_WAITING : JOB_CANCELLED;
}

enum job_cause expand_child_cause(const struct expansion *x) {
    return x->cause == CAUSE_REQUEST || x->cause == CAUSE_SAGA ? (enum job_cause)x->cause : CAUSE_UPSTREAM;
}

enum job_cause expand_stop_cause(const struct state *s, struct job *child) {
    REQUIRE(child->part == PART_CHILD);
    const struct expansion *x = expansion_at(s, child->expansion);
    if (x->cause == CAUSE_NONE) return CAUSE_REQUEST;
    enum job_cause cause = expand_child_cause(x);
    if (cause == CAUSE_UPSTREAM) child->root = job_at(s, x->job)->ordinal;
    return cause;
}

/* ---- what is to be done ---- */

static bool has_room(const struct state *s, const struct expansion *x) {
    uint32_t most = options_of(s, x)->max_parallel + (MUTANT(parallel_off_by_one) ? 1u : 0u);
    return x->is_open && x->cause == CAUSE_NONE && x->under_way < most;
}

static bool is_over(const struct expansion *x) {
    if (!x->is_open || x->under_way) return false;
    return x->cause != CAUSE_NONE || (x->waiting == 0 && x->next == x->count);
}

static bool has_work(const struct state *s, const struct expansion *x) {
    return x->pass != SWEEP_NONE || is_over(x) || (has_room(s, x) && (x->waiting || x->next < x->count));
}

static void list(struct state *s, struct fan *fan, uint32_t index) {
    struct expansion *x = expansion_at(s, index);
    REQUIRE(!x->is_busy);
    uint32_t before = fan->busy_tail;
    if (before && expansion_at(s, before)->first > x->first) { /* rare: most come in order */
        before = 0;                                            /* the last of the list comes behind it */
        for (uint32_t i = fan->busy_head; expansion_at(s, i)->first < x->first; i = expansion_at(s, i)->busy_next)
            before = i;
    }
    uint32_t *link = before ? &expansion_at(s, before)->busy_next : &fan->busy_head;
    x->busy_next = *link;
    *link = index;
    if (fan->busy_tail == before) fan->busy_tail = index;
    x->is_busy = true;
}

static void unlist(struct state *s, struct fan *fan, uint32_t index) {
    struct expansion *x = expansion_at(s, index);
    REQUIRE(x->is_busy);
    REQUIRE(fan->busy_head != 0);
    uint32_t before = 0;
    for (uint32_t i = fan->busy_head; i != index; i = expansion_at(s, i)->busy_next) before = i;
    *(before ? &expansion_at(s, before)->busy_next : &fan->busy_head) = x->busy_next;
    if (fan->busy_tail == index) fan->busy_tail = before;
    x->busy_next = 0;
    x->is_busy = false;
}

/* After every change: on the list of its flow exactly while it has something to do, live as after a restart. */
static void update(struct state *s, struct expansion *x) {
    uint32_t flow = flow_of(s, x);
    struct fan *fan = fan_at(s, flow_at(s, flow)->fan);
    bool busy = has_work(s, x);
    if (busy && !x->is_busy) list(s, fan, index_of(s, x));
    if (!busy && x->is_busy) unlist(s, fan, index_of(s, x));
    ENSURE(x->is_busy == busy);
    propagate_touch(s, flow);
}

bool expand_is_passing(const struct state *s, const struct flow *f) {
    if (!expand_has_work(s, f)) return false;
    for (uint32_t i = fan_at(s, f->fan)->busy_head; i; i = expansion_at(s, i)->busy_next)
        if (expansion_at(s, i)->pass != SWEEP_NONE) return true;
    return false;
}

static void start_pass(struct expansion *x, enum sweep pass, uint32_t confirm_ms) {
    REQUIRE(pass != SWEEP_FORGET);
    x->pass = (uint8_t)pass;
    x->pass_next = 0;
    x->confirm_ms = confirm_ms;
}

/* ---- those that have not begun ---- */

static uint64_t reserve_each(const struct state *s, const struct expansion *x) {
    return (profile_at(s, child_profile(s, x))->options.retries + 1ull) * ATTEMPT_RECORD_BYTES;
}

/* They count as jobs of their tenant, and have their place in the journal. `sign` is 1 or -1. */
static void count_bare(struct state *s, const struct expansion *x, int sign) {
    uint64_t bare = x->count - x->next;
    struct tenant *t = tenant_at(s, flow_at(s, flow_of(s, x))->tenant);
    uint64_t reserve = bare * reserve_each(s, x);
    REQUIRE(x->next <= x->count);
    REQUIRE(sign > 0 || t->queued >= bare);
    REQUIRE(sign > 0 || s->reserved_bytes >= reserve);
    t->queued += (uint64_t)(int64_t)sign * bare;
    s->reserved_bytes += (uint64_t)(int64_t)sign * reserve;
}

/* Why the rest is called off, or CAUSE_NONE. A saga takes what someone asked for along; that, all other reasons. */
static void set_cause(struct state *s, struct expansion *x, enum job_cause cause) {
    bool weaker = x->cause == CAUSE_SAGA || (x->cause != CAUSE_NONE && cause != CAUSE_SAGA && cause != CAUSE_REQUEST);
    if (cause != CAUSE_NONE && weaker) return;
    if ((x->cause == CAUSE_NONE) != (cause == CAUSE_NONE)) count_bare(s, x, cause == CAUSE_NONE ? 1 : -1);
    x->cause = (uint8_t)cause;
}

/* ---- children begin ---- */

uint32_t expand_make_child(struct state *s, uint32_t expansion, uint32_t item) {
    struct expansion *x = expansion_at(s, expansion);
    const struct job *whole = job_at(s, x->job);
    REQUIRE(item < x->count);
    REQUIRE(map_get(&x->made, item) == 0);
    uint32_t index = pool_alloc(&s->jobs);
    ENSURE(index != 0);
    struct job *j = job_at(s, index);
    j->flow = whole->flow;
    j->ordinal = x->first + item;
    j->profile = child_profile(s, x);
    j->text = whole->text;
    j->since = s->now;
    j->root = NO_ORDINAL;
    j->part = PART_CHILD;
    j->expansion = expansion;
    profile_ref(s, j->profile);
    map_put(&x->made, item, index);
    return index;
}

/* The next that never began. Its place in the journal becomes its own. */
static void begin_next(struct state *s, struct expansion *x) {
    REQUIRE(x->is_open);
    REQUIRE(s->reserved_bytes >= reserve_each(s, x));
    uint32_t child = expand_make_child(s, index_of(s, x), x->next);
    s->reserved_bytes -= reserve_each(s, x);
    x->next++;
    x->under_way++;
    job_enter(s, child);
    job_advance(s, child);
}

/* Looks at one of those that began before. */
static void begin_again(struct state *s, struct expansion *x) {
    REQUIRE(x->again < x->next);
    REQUIRE(x->waiting > 0);
    uint32_t child = map_get(&x->made, x->again++);
    if (child == 0 || !expand_waits_for_room(job_at(s, child))) return;
    x->waiting--;
    x->under_way++;
    job_at(s, child)->parents_open = 0;
    job_advance(s, child);
}

/* ---- passes ---- */

static void call_child_off(struct state *s, struct expansion *x, uint32_t child) {
    struct job *j = job_at(s, child);
    if (job_state_is_terminal(j->state)) return;
    if (job_state_is_active(j->state)) {
        attempt_stop(s, child, STOP_CANCEL, x->confirm_ms);
        return;
    }
    if (j->state == JOB_CHECKING) question_close(s, j);
    job_finish(s, child, JOB_CANCELLED, expand_stop_cause(s, j));
}

static void reset_child(struct state *s, struct expansion *x, uint32_t child) {
    struct job *j = job_at(s, child);
    REQUIRE(j->part == PART_CHILD);
    REQUIRE(x->bad > 0);
    uint32_t item = j->ordinal - x->first;
    job_reset(s, child);
    j->parents_open = 1;
    x->bad--;
    x->again = x->waiting && x->again < item ? x->again : item;
    x->waiting++;
}

static void pass_child(struct state *s, struct expansion *x, uint32_t child) {
    const struct job *j = job_at(s, child);
    bool ended_badly = job_state_is_terminal(j->state) && j->state != JOB_SUCCEEDED;
    bool was_called_off = j->cause == CAUSE_UPSTREAM && j->root == job_at(s, x->job)->ordinal;
    switch ((enum sweep)x->pass) {
    case SWEEP_CANCEL:
    case SWEEP_UNWIND: call_child_off(s, x, child); return;
    case SWEEP_RETRY:
        if (ended_badly && was_called_off) reset_child(s, x, child);
        return;
    case SWEEP_RERUN:
        if (ended_badly) reset_child(s, x, child);
        return;
    case SWEEP_RESUME:
        if (j->state == JOB_READY && (j->flags & JOBF_PARKED)) ready_unpark(s, child);
        return;
    case SWEEP_FORGET:
    case SWEEP_TIMEOUT:
    case SWEEP_STAGE:
    case SWEEP_NONE:
    case SWEEP_COUNT: break;
    }
    PANIC("a pass of no kind");
}

/* Such a pass goes on to its end when the foreach job ends in the meantime, and then calls off what it brought back. If
 * it did not, the state of the children would depend on how far the pass had come. */
static bool brings_back(const struct state *s, const struct expansion *x) {
    if (x->pass != SWEEP_RETRY && x->pass != SWEEP_RERUN) return false;
    return flow_at(s, flow_of(s, x))->rules >= CHILDREN_RULES;
}

static void pass_next(struct state *s, struct expansion *x) {
    REQUIRE(x->pass != SWEEP_NONE);
    if (x->made.count == 0) x->pass_next = x->next;
    if (x->pass_next < x->next) {
        uint32_t child = map_get(&x->made, x->pass_next++);
        if (child) pass_child(s, x, child);
    }
    if (x->pass_next < x->next) return;
    bool ended_meanwhile = brings_back(s, x) && x->cause != CAUSE_NONE;
    start_pass(x, ended_meanwhile ? SWEEP_CANCEL : SWEEP_NONE, 0);
}

/* ---- the foreach job ends ---- */

static void finish(struct state *s, struct expansion *x) {
    uint32_t job = x->job;
    REQUIRE(x->is_open);
    bool failed = x->cause == CAUSE_CHILDREN || x->bad > expand_allowed(options_of(s, x), x->count);
    if (x->cause == CAUSE_REQUEST || x->cause == CAUSE_SAGA || x->cause == CAUSE_FLOW_TIMEOUT)
        job_finish(s, job, JOB_CANCELLED, x->cause);
    else if (x->cause == CAUSE_DEADLINE)
        job_finish(s, job, JOB_TIMED_OUT, CAUSE_DEADLINE);
    else
        job_finish(s, job, failed ? JOB_FAILED : JOB_SUCCEEDED, failed ? CAUSE_CHILDREN : CAUSE_NONE);
}

void expand_step(struct state *s, uint32_t flow) {
    REQUIRE(expand_has_work(s, flow_at(s, flow)));
    struct expansion *x = expansion_at(s, fan_at(s, flow_at(s, flow)->fan)->busy_head);
    REQUIRE(has_work(s, x));
    if (x->pass != SWEEP_NONE)
        pass_next(s, x);
    else if (is_over(x))
        finish(s, x);
    else if (x->waiting)
        begin_again(s, x);
    else
        begin_next(s, x);
    update(s, x);
}

void expand_job_ended(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    struct expansion *x = expansion_of(s, j);
    REQUIRE(x->job == job);
    REQUIRE(job_state_is_terminal(j->state));
    REQUIRE(x->under_way == 0);
    x->is_open = false;
    j->part = PART_NONE;
    j->parents_open = 0;
    bool asked_for = j->cause == CAUSE_REQUEST || j->cause == CAUSE_SAGA;
    bool come_back = brings_back(s, x) && x->bad > 0; /* by the pass that is under way */
    if (x->next < x->count || x->waiting || come_back) set_cause(s, x, asked_for ? j->cause : CAUSE_UPSTREAM);
    if (!come_back) start_pass(x, x->waiting ? SWEEP_CANCEL : SWEEP_NONE, 0); /* nobody begins again now */
    update(s, x);
}

void expand_call_off(struct state *s, uint32_t job, enum job_cause cause, uint32_t confirm_ms) {
    struct job *j = job_at(s, job);
    struct expansion *x = expansion_of(s, j);
    REQUIRE(x->is_open);
    REQUIRE(cause != CAUSE_NONE);
    set_cause(s, x, cause);
    j->part = PART_ENDING;
    job_set_timer(s, job);
    start_pass(x, SWEEP_CANCEL, confirm_ms);
    update(s, x);
}

/* ---- children end ---- */

/* Its first attempt went well and left nothing: all there is to know of it is its index. */
static bool has_nothing_to_tell(const struct state *s, const struct job *j) {
    bool plain = j->state == JOB_SUCCEEDED && j->attempt == 1 && j->done_attempt == 1 && j->extra == 0;
    return plain && !(job_options(s, j)->gates & GATE_BIT(GATE_OUTPUT));
}

static void free_child(struct state *s, struct expansion *x, uint32_t child) {
    struct job *j = job_at(s, child);
    REQUIRE(j->part == PART_CHILD);
    REQUIRE(j->timer == 0);
    REQUIRE(j->link == 0);
    REQUIRE(!(j->flags & JOBF_DEAD));
    REQUIRE(s->by_state[j->state] > 0);
    s->by_state[j->state]--;
    map_del(&x->made, j->ordinal - x->first);
    if (j->extra) pool_free(&s->extras, j->extra);
    note_free_all(s, j);
    profile_unref(s, j->profile);
    pool_free(&s->jobs, child);
}

void expand_child_ended(struct state *s, uint32_t child) {
    struct job *j = job_at(s, child);
    struct expansion *x = expansion_at(s, j->expansion);
    REQUIRE(job_state_is_terminal(j->state));
    bool badly = j->state != JOB_SUCCEEDED;
    if (j->flags & JOBF_LATE) { /* it had ended before */
        j->flags &= (uint8_t)~JOBF_LATE;
    } else if (j->parents_open) {
        REQUIRE(x->waiting > 0);
        j->parents_open = 0;
        x->waiting--;
    } else {
        REQUIRE(x->under_way > 0);
        x->under_way--;
    }
    x->bad += badly;
    ENSURE(x->bad <= x->count);
    const struct options *o = options_of(s, x);
    bool hopeless = badly && o->fail_fast && x->bad > expand_allowed(o, x->count);
    if (hopeless && x->is_open && x->cause == CAUSE_NONE) expand_call_off(s, x->job, CAUSE_CHILDREN, UNWIND_CONFIRM_MS);
    if (has_nothing_to_tell(s, j)) {
        bool newest = j->ordinal + 1 == x->first + x->next;
        free_child(s, x, child);
        if (MUTANT(child_twice) && newest && x->count > 1) x->next--;
    }
    update(s, x);
}

/* ---- birth, and second chances ---- */

void expand_name(struct state *s, struct job *j, uint32_t profile) {
    REQUIRE(profile != 0);
    struct extra *x = job_extra(s, j);
    REQUIRE(x->child_profile == 0);
    x->child_profile = profile;
    profile_ref(s, profile);
}

uint32_t expand_make(struct state *s, uint32_t job, uint32_t count, struct slice items) {
    const struct job *j = job_at(s, job);
    struct extra *extra = extra_at(s, j->extra);
    struct flow *f = flow_at(s, j->flow);
    REQUIRE(extra->child_profile != 0);
    REQUIRE(extra->expansion == 0);
    REQUIRE(count <= EXPAND_ITEMS_MAX);
    if (f->fan == 0) f->fan = pool_alloc(&s->fans);
    struct u32vec *all = &fan_at(s, f->fan)->expansions;
    const struct expansion *last = all->count ? expansion_at(s, all->at[all->count - 1]) : NULL;
    uint32_t index = pool_alloc(&s->expansions);
    ENSURE(f->fan != 0);
    ENSURE(index != 0);
    struct expansion *x = expansion_at(s, index);
    x->job = job;
    x->first = last ? last->first + last->count : FIRST_CHILD_ORDINAL;
    x->count = count;
    ENSURE(x->first >= FIRST_CHILD_ORDINAL);
    x->items = arena_slice(&f->arena, items);
    map_init(&x->made);
    u32vec_push(all, index);
    extra->expansion = index;
    return index;
}

void expand_answer(struct state *s, uint32_t job, const struct rec_expanded *rec) {
    struct job *j = job_at(s, job);
    REQUIRE(question_at(s, j->link)->gate == GATE_EXPANSION);
    question_close(s, j);
    count_bare(s, expansion_at(s, expand_make(s, job, rec->count, rec->items)), 1);
    j->gates |= GATE_BIT(GATE_EXPANSION);
    const struct flow *f = flow_at(s, j->flow);
    tally_add(s, f, TALLY_JOBS, rec->count);
    struct event event = {.kind = EVENT_FLOW, .job = {{f->id}, NO_ORDINAL}, .flow_state = f->state};
    emit_event(s, &event);
    job_advance(s, job);
}

void expand_begin(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    struct expansion *x = expansion_of(s, j);
    REQUIRE(x != NULL);
    REQUIRE(!x->is_open);
    REQUIRE(x->cause == CAUSE_NONE);
    x->is_open = true;
    j->part = PART_WHOLE;
    j->parents_open = 1;
    if (j->state == JOB_HELD)
        job_move(s, job, JOB_WAITING, CAUSE_NONE);
    else
        job_set_timer(s, job);
    update(s, x);
}

void expand_reopen(struct state *s, uint32_t job) {
    struct expansion *x = expansion_of(s, job_at(s, job));
    REQUIRE(x != NULL);
    REQUIRE(!x->is_open);
    set_cause(s, x, CAUSE_NONE);
    start_pass(x, SWEEP_RERUN, 0);
    update(s, x);
}

void expand_retry_child(struct state *s, uint32_t child) {
    REQUIRE(job_at(s, child)->part == PART_CHILD);
    struct expansion *x = expansion_at(s, job_at(s, child)->expansion);
    struct job *whole = job_at(s, x->job);
    reset_child(s, x, child);
    if (job_state_is_terminal(whole->state)) {
        job_reset(s, x->job);
        start_pass(x, SWEEP_RETRY, 0); /* only what was called off because of children comes back with it */
        job_judge(s, x->job);
        propagate_sweep(s, whole->flow, SWEEP_RETRY, whole->ordinal, 0);
    }
    update(s, x);
}

void expand_resume(struct state *s, uint32_t job) {
    struct expansion *x = expansion_of(s, job_at(s, job));
    REQUIRE(x != NULL);
    if (x->pass == SWEEP_NONE) start_pass(x, SWEEP_RESUME, 0);
    update(s, x);
}

/* ---- the end of a flow, and its return ---- */

/* `next` falls with the children, so that what is left is always a whole. */
void expand_shed(struct state *s, struct flow *f) {
    REQUIRE(f->fan != 0);
    struct u32vec *all = &fan_at(s, f->fan)->expansions;
    uint32_t index = all->at[all->count - 1];
    struct expansion *x = expansion_at(s, index);
    REQUIRE(x->under_way == 0);
    if (x->cause == CAUSE_NONE) set_cause(s, x, CAUSE_REQUEST); /* what never began counts no longer */
    x->pass_next = x->again = 0;
    if (x->next > 0) {
        uint32_t child = map_get(&x->made, --x->next);
        if (child == 0) return;
        REQUIRE(job_state_is_terminal(job_at(s, child)->state));
        dead_unlink(s, child);
        free_child(s, x, child);
        return;
    }
    map_fini(&x->made);
    extra_at(s, job_at(s, x->job)->extra)->expansion = 0;
    pool_free(&s->expansions, index);
    if (--all->count > 0) return;
    u32vec_fini(all);
    pool_free(&s->fans, f->fan);
    f->fan = 0;
}

void expand_count_child(struct state *s, uint32_t child) {
    const struct job *j = job_at(s, child);
    REQUIRE(j->part == PART_CHILD);
    struct expansion *x = expansion_at(s, j->expansion);
    bool over = job_state_is_terminal(j->state);
    x->waiting += expand_waits_for_room(j);
    x->under_way += !over && !expand_waits_for_room(j);
    x->bad += over && j->state != JOB_SUCCEEDED;
}

void expand_restore(struct state *s, uint32_t expansion) {
    struct expansion *x = expansion_at(s, expansion);
    if (x->cause == CAUSE_NONE) count_bare(s, x, 1);
    if (x->is_open) job_at(s, x->job)->part = x->cause == CAUSE_NONE ? PART_WHOLE : PART_ENDING;
    job_set_timer(s, x->job);
    bool busy = has_work(s, x);
    if (busy) list(s, fan_at(s, flow_at(s, flow_of(s, x))->fan), expansion);
}
