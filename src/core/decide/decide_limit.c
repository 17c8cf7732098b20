/* decide_limit.c: limits are set here, and those that bind admission are held against new work. Those that bind
 * dispatch (keys, rates, running attempts) are looked at in dispatch.c. */
#include "decide.h"
#include "finale.h"
#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "quota.h"
#include "registry.h"

/* ---- setting ---- */

static enum err check_caller(struct decision *d, const struct command *cmd) {
    const struct cmd_limit *c = &cmd->as.limit;
    if (cmd->tenant.len == 0) return ERR_OK; /* an administrator */
    if (c->kind == LIMIT_TENANT) return refuse(d, ERR_FORBIDDEN, "only an administrator can limit a tenant");
    if (!slice_eq(cmd->tenant, c->tenant))
        return refuse(d, ERR_FORBIDDEN, "a tenant can limit only its own keys and rates");
    return ERR_OK;
}

static enum err check_key(struct decision *d, const struct cmd_limit *c) {
    if (c->width > d->limits->key_width_max)
        return refuse(d, ERR_LIMIT, "a key is at most %lld wide (key_width_max)", (long long)d->limits->key_width_max);
    return ERR_OK;
}

static enum err check_rate(struct decision *d, const struct cmd_limit *c) {
    const struct limits *l = d->limits;
    if (c->rate_milli == 0 || c->burst == 0)
        return refuse(d, ERR_INVALID, "a rate and its burst are at least 1; a key of width 0 lets nothing pass");
    if (c->rate_milli > (uint64_t)l->rate_milli_max)
        return refuse(d, ERR_LIMIT, "a rate is at most %lld tokens in 1,000 s (rate_milli_max)",
                      (long long)l->rate_milli_max);
    if (c->burst > (uint64_t)l->rate_burst_max)
        return refuse(d, ERR_LIMIT, "a burst is at most %lld tokens (rate_burst_max)", (long long)l->rate_burst_max);
    return ERR_OK;
}

static enum err check_numbers(struct decision *d, const struct cmd_limit *c) {
    switch (c->kind) {
    case LIMIT_KEY: return check_key(d, c);
    case LIMIT_RATE: return c->clear ? ERR_OK : check_rate(d, c);
    case LIMIT_TENANT: return ERR_OK;
    case LIMIT_KIND_COUNT: break;
    }
    return refuse(d, ERR_INVALID, "a limit is of a key, a rate or a tenant");
}

static enum err check_room_for_names(struct decision *d, const struct cmd_limit *c, uint32_t tenant) {
    const struct state *s = d->state;
    if (!tenant && s->tenants.count >= (uint64_t)d->limits->tenants_max)
        return refuse(d, ERR_LIMIT, "there are %u tenants already (tenants_max)", s->tenants.count);
    if (c->kind == LIMIT_TENANT || quota_find(s, tenant, c->kind, c->name)) return ERR_OK;
    if (s->quotas.count >= (uint64_t)d->limits->limit_names_max)
        return refuse(d, ERR_BUSY, "there are %u keys and rates already (limit_names_max)", s->quotas.count);
    return ERR_OK;
}

enum err decide_limit(struct decision *d, const struct command *cmd) {
    const struct cmd_limit *c = &cmd->as.limit;
    enum err e = decide_name(d, c->tenant, "a tenant");
    if (e == ERR_OK) e = check_caller(d, cmd);
    if (e == ERR_OK) e = check_numbers(d, c);
    if (e == ERR_OK && c->kind != LIMIT_TENANT)
        e = decide_name(d, c->name, c->kind == LIMIT_KEY ? "a concurrency key" : "a rate");
    if (e != ERR_OK) return e;
    uint32_t tenant = tenant_find(d->state, c->tenant);
    if (c->clear && c->kind != LIMIT_TENANT && !quota_find(d->state, tenant, c->kind, c->name)) return ERR_OK;
    e = check_room_for_names(d, c, tenant);
    if (e != ERR_OK) return e;
    struct rec_limit *rec = &decide_record(d, REC_LIMIT, cmd)->body.as_REC_LIMIT;
    rec->head.tenant = c->tenant;
    rec->kind = (uint8_t)c->kind;
    rec->clear = c->clear;
    if (c->kind != LIMIT_TENANT) rec->name = c->name;
    if (c->clear) return ERR_OK;
    if (c->kind == LIMIT_KEY) rec->width = c->width;
    if (c->kind == LIMIT_RATE) {
        rec->rate_milli = c->rate_milli;
        rec->burst = c->burst;
    }
    if (c->kind == LIMIT_TENANT) {
        rec->running = c->running;
        rec->queued = c->queued;
        rec->bytes = c->bytes;
    }
    return ERR_OK;
}

/* ---- admission ---- */

/* Too much by itself will never fit; too much beside what is there may fit later. */
static enum err check_room(struct decision *d, const struct tenant *t, uint64_t jobs, uint64_t bytes) {
    unsigned long long queued_max = t->queued_max, bytes_max = t->bytes_max;
    if (t->queued_max && jobs > t->queued_max)
        return refuse(d, ERR_LIMIT, "%llu jobs at once; the tenant's limit is %llu unfinished jobs",
                      (unsigned long long)jobs, queued_max);
    if (t->bytes_max && bytes > t->bytes_max)
        return refuse(d, ERR_LIMIT, "these jobs take %llu bytes; the tenant's limit is %llu bytes of unfinished jobs",
                      (unsigned long long)bytes, bytes_max);
    if (t->queued_max && jobs && t->queued + jobs > t->queued_max)
        return refuse(d, ERR_BUSY, "the tenant has %llu unfinished jobs; its limit is %llu",
                      (unsigned long long)t->queued, queued_max);
    if (t->bytes_max && bytes && t->queued_bytes + bytes > t->bytes_max)
        return refuse(d, ERR_BUSY, "the tenant has %llu bytes of unfinished jobs; its limit is %llu",
                      (unsigned long long)t->queued_bytes, bytes_max);
    return ERR_OK;
}

/* The messages as they will be kept. Only done for a tenant whose bytes are limited. */
static uint64_t message_bytes(const struct decision *d, const struct tlv_list *jobs) {
    const struct rec_job *list = jobs->at;
    struct buf message;
    buf_init(&message, (size_t)d->limits->submit_bytes_max * 2);
    for (uint32_t i = 0; i < jobs->count; i++) tlv_encode(&rec_job_desc, &list[i], &message);
    ENSURE(!message.full);
    uint64_t bytes = message.len;
    buf_fini(&message);
    return bytes;
}

enum err decide_room(struct decision *d, uint32_t tenant, const struct tlv_list *jobs) {
    if (tenant == 0) return ERR_OK;
    const struct tenant *t = tenant_at(d->state, tenant);
    if ((t->queued_max == 0 && t->bytes_max == 0) || MUTANT(room_ignored)) return ERR_OK;
    return check_room(d, t, jobs->count, t->bytes_max ? message_bytes(d, jobs) : 0);
}

/* Every job that did not end well counts, though a retry brings back some of them only: the exact number would cost a
 * walk over the flow. */
enum err decide_room_again(struct decision *d, const struct flow *f) {
    const struct state *s = d->state;
    const struct tenant *t = tenant_at(s, f->tenant);
    if (t->queued_max == 0 && t->bytes_max == 0) return ERR_OK;
    uint64_t jobs = 0, bytes = 0;
    for (uint32_t state = JOB_SUCCEEDED + 1; state < JOB_STATE_COUNT; state++) jobs += f->by_state[state];
    jobs += f->by_state[JOB_SUCCEEDED] - finale_main(s, f, JOB_SUCCEEDED); /* what follows the main jobs runs again */
    if (t->bytes_max && f->jobs.count > STEP_JOBS_MAX) bytes = f->arena.bytes;
    for (uint32_t i = 0; t->bytes_max && i < f->jobs.count && f->jobs.count <= STEP_JOBS_MAX; i++) {
        const struct job *j = job_at(s, f->jobs.at[i]);
        bool stays = !job_state_is_terminal(j->state) || (j->state == JOB_SUCCEEDED && !finale_follows(s, j));
        if (!stays) bytes += job_text(j).len;
    }
    const struct u32vec *all = f->fan ? &fan_at(s, f->fan)->expansions : NULL;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const struct expansion *x = expansion_at(s, all->at[i]);
        jobs += x->bad + (x->cause == CAUSE_NONE ? 0 : x->count - x->next);
    }
    return check_room(d, t, jobs, bytes);
}

/* Children have no messages of their own. */
enum err decide_room_children(struct decision *d, uint32_t tenant, uint32_t count) {
    REQUIRE(tenant != 0);
    const struct tenant *t = tenant_at(d->state, tenant);
    return t->queued_max == 0 || MUTANT(room_ignored) ? ERR_OK : check_room(d, t, count, 0);
}
