/* decide_expand.c: the items of a foreach job, and what may be asked of its children. See decide.h. */
#include "decide.h"
#include "expand.h"
#include "min.h"
#include "panic.h"
#include "question.h"

/* Children get a struct when there is room for them, but their place in the journal now: nothing that was accepted may
 * stop for want of it. */
static enum err check_space(struct decision *d, const struct job *j, uint64_t count) {
    const struct state *s = d->state;
    const struct limits *l = d->limits;
    const struct options *child = &profile_at(s, extra_at(s, j->extra)->child_profile)->options;
    uint64_t at_once = min_u64(count, job_options(s, j)->max_parallel);
    if (s->jobs.count + at_once > (uint64_t)l->jobs_max)
        return refuse(d, ERR_BUSY, "there are %u jobs already (jobs_max)", s->jobs.count);
    if ((child->gates & GATE_BIT(GATE_OUTPUT)) && s->questions.count + at_once > (uint64_t)l->questions_max)
        return refuse(d, ERR_BUSY, "too many questions would be open at once (questions_max)");
    uint64_t reserve = count * (child->retries + 1ull) * ATTEMPT_RECORD_BYTES;
    if (d->in->journal_free_bytes != UINT64_MAX && s->reserved_bytes + reserve > d->in->journal_free_bytes)
        return refuse(d, ERR_NO_SPACE, "the journal has no room for the records that %llu children would need",
                      (unsigned long long)count);
    return ERR_OK;
}

/* Ordinals of a flow's children are not used twice. */
static bool has_ordinals(const struct state *s, const struct flow *f, uint64_t count) {
    if (f->fan == 0) return true;
    const struct u32vec *all = &fan_at(s, f->fan)->expansions;
    ENSURE(all->count > 0); /* a fan without expansions is given back */
    const struct expansion *last = expansion_at(s, all->at[all->count - 1]);
    return (uint64_t)last->first + last->count + count < NO_ORDINAL;
}

enum err decide_expand(struct decision *d, const struct command *cmd, const struct question *q) {
    const struct cmd_verdict *c = &cmd->as.verdict;
    const struct state *s = d->state;
    const struct job *j = job_at(s, q->job);
    REQUIRE(q->gate == GATE_EXPANSION);
    const struct flow *f = flow_at(s, j->flow);
    if (c->item_count > d->limits->foreach_items_max)
        return refuse(d, ERR_LIMIT, "a foreach over more than %lld items (foreach_items_max)",
                      (long long)d->limits->foreach_items_max);
    if (c->items.len != (c->item_count ? 32u : 0u))
        return refuse(d, ERR_INVALID, "items are named by the hash of their blob, 32 bytes; no items by none");
    if (!has_ordinals(s, f, c->item_count)) return refuse(d, ERR_LIMIT, "the flow has had too many children");
    enum err e = check_space(d, j, c->item_count);
    if (e == ERR_OK) e = decide_room_children(d, f->tenant, c->item_count);
    if (e != ERR_OK) return e;
    struct job_ref ref = job_ref_of(s, j);
    struct rec_expanded *rec = &decide_record(d, REC_EXPANDED, cmd)->body.as_REC_EXPANDED;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->question = q->id;
    rec->revision = q->revision;
    rec->hash = c->hash;
    rec->items = c->items;
    rec->count = c->item_count;
    return ERR_OK;
}

enum err decide_no_struct(struct decision *d, const struct flow *f, uint32_t ordinal) {
    const struct expansion *x = expand_find(d->state, f, ordinal);
    if (x == NULL) return refuse(d, ERR_NOT_FOUND, "the flow has no job number %u", ordinal);
    uint32_t item = ordinal - x->first;
    enum job_state state = expand_bare_state(x, ordinal);
    if (state == JOB_WAITING)
        return refuse(d, ERR_STATE, "child %u has not begun: only its foreach job can be asked to do that", item);
    if (state == JOB_SUCCEEDED) return refuse(d, ERR_STATE, "child %u has succeeded and left nothing behind", item);
    return refuse(d, ERR_STATE, "child %u never began: its foreach job was called off", item);
}

enum err decide_retry_child(struct decision *d, const struct job *child) {
    REQUIRE(child->part == PART_CHILD);
    const struct job *whole = expand_whole(d->state, child);
    if (whole->part == PART_ENDING) return refuse(d, ERR_STATE, "its foreach job is being called off");
    if (!job_state_is_terminal(whole->state) || whole->cause == CAUSE_CHILDREN) return ERR_OK;
    if (whole->state == JOB_SUCCEEDED) return refuse(d, ERR_STATE, "its foreach job has succeeded without it");
    return refuse(d, ERR_STATE, "its foreach job is %s: start that one again", job_state_word(whole->state));
}
