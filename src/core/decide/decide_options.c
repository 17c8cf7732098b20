/* decide_options.c: see decide_options.h. */
#include "decide_options.h"

#include "panic.h"
#include "replica.h"

/* ---- lists: copied, sorted by name, no two alike ---- */

typedef struct slice (*item_key_fn)(const void *item);

static struct slice name_key(const void *item) {
    return ((const struct name_item *)item)->name;
}
static struct slice label_key(const void *item) {
    return ((const struct label *)item)->key;
}
static struct slice resource_key(const void *item) {
    return ((const struct resource *)item)->name;
}

struct list_rule {
    item_key_fn key;
    size_t item_bytes;
    int64_t most;
    const char *what;
};

/* Insertion sort: a list has at most a few dozen items, see the limits. */
static enum err sort_list(struct decision *d, const struct list_rule *rule, const struct tlv_list *given,
                          struct tlv_list *ret) {
    if (given->count > rule->most)
        return refuse(d, ERR_LIMIT, "more than %lld times %s", (long long)rule->most, rule->what);
    if (given->count == 0) { /* mostly */
        *ret = (struct tlv_list){0};
        return ERR_OK;
    }
    size_t size = rule->item_bytes;
    uint8_t *items = arena_alloc(d->arena, size * given->count);
    for (uint32_t i = 0; i < given->count; i++) {
        const uint8_t *item = (const uint8_t *)given->at + i * size;
        enum err e = decide_name(d, rule->key(item), rule->what);
        if (e != ERR_OK) return e;
        uint32_t at = i;
        for (; at > 0; at--) {
            int order = slice_cmp(rule->key(items + (at - 1) * size), rule->key(item));
            if (order == 0)
                return refuse(d, ERR_DUPLICATE_NAME, "%s %.*s is named twice", rule->what, SLICE_FMT(rule->key(item)));
            if (order < 0) break;
            memcpy(items + at * size, items + (at - 1) * size, size);
        }
        memcpy(items + at * size, item, size);
    }
    *ret = (struct tlv_list){items, given->count};
    return ERR_OK;
}

static enum err sort_names(struct decision *d, const struct tlv_list *given, struct tlv_list *ret) {
    struct list_rule rule = {name_key, sizeof(struct name_item), d->limits->capabilities_max, "a capability"};
    return sort_list(d, &rule, given, ret);
}
static enum err sort_labels(struct decision *d, const struct tlv_list *given, struct tlv_list *ret) {
    struct list_rule rule = {label_key, sizeof(struct label), d->limits->labels_max, "a label"};
    return sort_list(d, &rule, given, ret);
}
static enum err sort_resources(struct decision *d, const struct tlv_list *given, struct tlv_list *ret) {
    struct list_rule rule = {resource_key, sizeof(struct resource), d->limits->resources_max, "a resource"};
    return sort_list(d, &rule, given, ret);
}

static enum err sort_limits(struct decision *d, const struct tlv_list *given, const char *what, struct tlv_list *ret) {
    struct list_rule rule = {name_key, sizeof(struct name_item), d->limits->job_keys_max, what};
    return sort_list(d, &rule, given, ret);
}

/* ---- jobs ---- */

static enum err optional_name(struct decision *d, struct slice name, const char *what) {
    return name.len ? decide_name(d, name, what) : ERR_OK;
}

static enum err complete_demand(struct decision *d, struct demand *demand) {
    if (demand->pool.len && demand->topic.len) return refuse(d, ERR_INVALID, "a job names a pool or a topic, not both");
    if (demand->pool.len == 0 && demand->topic.len == 0) demand->pool = SLICE(DEFAULT_POOL);
    enum err e = optional_name(d, demand->pool, "a pool");
    if (e == ERR_OK) e = optional_name(d, demand->topic, "a topic");
    if (e == ERR_OK) e = sort_names(d, &demand->capabilities, &demand->capabilities);
    if (e == ERR_OK) e = sort_labels(d, &demand->labels, &demand->labels);
    if (e == ERR_OK) e = sort_resources(d, &demand->resources, &demand->resources);
    if (e == ERR_OK) e = sort_limits(d, &demand->keys, "a concurrency key", &demand->keys);
    if (e == ERR_OK) e = sort_limits(d, &demand->rates, "a rate", &demand->rates);
    return e;
}

static enum err check_wait(struct decision *d, int64_t ms, const char *what) {
    if (ms < 0) return refuse(d, ERR_INVALID, "%s cannot be negative", what);
    if (ms > d->limits->delay_ms_max)
        return refuse(d, ERR_LIMIT, "%s is longer than %lld ms (delay_ms_max)", what,
                      (long long)d->limits->delay_ms_max);
    return ERR_OK;
}

static enum err check_waits(struct decision *d, const struct options *o) {
    enum err e = ERR_OK;
#define X(name, type, journal, wire, standard, wait, text) \
    if ((wait) != NULL && e == ERR_OK)                     \
        e = check_wait(d, _Generic(o->name, int64_t : o->name, uint32_t : o->name, default : 0), wait);
    JOB_OPTION_TABLE(X)
#undef X
    if (e != ERR_OK) return e;
    int64_t latest = d->in->wall.ms + d->limits->delay_ms_max;
    if (o->not_before_ms < 0 || o->not_before_ms > latest) return refuse(d, ERR_INVALID, "not_before is out of range");
    if (o->deadline_ms < 0 || o->deadline_ms > latest) return refuse(d, ERR_INVALID, "the deadline is out of range");
    if (o->deadline_ms && o->deadline_ms <= d->in->wall.ms)
        return refuse(d, ERR_INVALID, "the deadline has already passed");
    return ERR_OK;
}

static enum err check_numbers(struct decision *d, const struct options *o) {
    if (o->kind >= JOB_KIND_COUNT) return refuse(d, ERR_INVALID, "there is no such kind of job");
    if (o->on_upstream >= UPSTREAM_COUNT) return refuse(d, ERR_INVALID, "on_upstream is fail, skip or run");
    if (o->trigger >= TRIGGER_COUNT)
        return refuse(d, ERR_INVALID, "trigger is all_succeeded, none_failed, one_succeeded or all_done");
    if (o->on_upstream == UPSTREAM_RUN && o->trigger != TRIGGER_ALL_SUCCEEDED && o->trigger != TRIGGER_ALL_DONE)
        return refuse(d, ERR_INVALID,
                      "`on_upstream: run` means `trigger: all_done`; beside `trigger: %s` it is `fail` or `skip`",
                      trigger_words[o->trigger]);
    if (o->priority > d->limits->priority_max)
        return refuse(d, ERR_LIMIT, "priority is above %lld (priority_max)", (long long)d->limits->priority_max);
    if (o->retries > d->limits->retries_max)
        return refuse(d, ERR_LIMIT, "more than %lld retries (retries_max)", (long long)d->limits->retries_max);
    if (o->free_losses > d->limits->retries_max)
        return refuse(d, ERR_LIMIT, "more than %lld free losses (retries_max)", (long long)d->limits->retries_max);
    if (o->quorum > d->limits->quorum_max)
        return refuse(d, ERR_LIMIT, "a quorum above %lld (quorum_max)", (long long)d->limits->quorum_max);
    if (o->gates & GATE_BIT(GATE_SERVICE)) return refuse(d, ERR_INVALID, "there is no such gate");
    if (o->token_rights & ~TOKEN_RIGHTS_ALL) return refuse(d, ERR_INVALID, "there is no such right of a token");
    if (o->stage >= JOB_STAGE_COUNT)
        return refuse(d, ERR_INVALID, "the stage of a job is main, on_success, on_failure or finally");
    if (o->retry_on & ~RETRY_ALL)
        return refuse(d, ERR_INVALID, "retry_on has bits of lost (1), timeout (2) and exit (4)");
    if (o->fatal_exits.count > 256) return refuse(d, ERR_LIMIT, "more than 256 fatal exit codes");
    return ERR_OK;
}

static enum err check_foreach(struct decision *d, const struct options *o) {
    if (!options_expand(o)) {
#define X(name, type, journal, wire, standard, wait, text) || o->name
        if (false JOB_OPTIONS_FOREACH(X))
#undef X
            return refuse(d, ERR_INVALID, "max_parallel, fail_fast and allow are of foreach jobs");
        return ERR_OK;
    }
    if (job_kind_of(o->kind)->ends != JOB_ENDS_ON_WORKER)
        return refuse(d, ERR_INVALID, "a foreach is over jobs that run on a worker and end");
    if (o->max_parallel > d->limits->foreach_parallel_max)
        return refuse(d, ERR_LIMIT, "max_parallel is above %lld (foreach_parallel_max)",
                      (long long)d->limits->foreach_parallel_max);
    if (o->allow_percent > 100) return refuse(d, ERR_INVALID, "allow is between 0 and 100 %%");
    if (o->allow_percent && o->allow_count) return refuse(d, ERR_INVALID, "allow is a number or a share, not both");
    return ERR_OK;
}

/* Behind the main jobs nothing is left to undo, and nothing is put into service; a result of before is no substitute
 * for what is to be done now. The clock of a deadline would run while the main jobs do. */
static enum err check_stage(struct decision *d, const struct options *o) {
    if (o->stage == FLOW_STAGE_MAIN) return ERR_OK;
    const char *stage = flow_stage_words[o->stage];
    if (o->kind == JOB_SERVICE)
        return refuse(d, ERR_INVALID, "a job of %s cannot deploy a service: deploy it in the main jobs", stage);
    if (options_expand(o))
        return refuse(d, ERR_INVALID, "a job of %s cannot have foreach: give it the list, or write one job per item",
                      stage);
    if (o->deadline_ms)
        return refuse(d, ERR_INVALID,
                      "a job of %s cannot have a deadline, which would pass while the main jobs run: use `timeout` or "
                      "`start_within`",
                      stage);
    return ERR_OK;
}

static enum err check_outside(struct decision *d, const struct options *o) {
    if (!o->calls)
        return o->poll_ms || o->poll_cap_ms ? refuse(d, ERR_INVALID, "polls are of external jobs that have attempts")
                                            : ERR_OK;
    if (o->kind != JOB_EXTERNAL) return refuse(d, ERR_INVALID, "only an external job waits for what is done outside");
    if (o->gates & GATE_BIT(GATE_EXTERNAL))
        return refuse(d, ERR_INVALID, "an external job that has attempts waits behind them, not before");
    if (o->poll_ms && o->poll_ms < d->limits->poll_ms_min)
        return refuse(d, ERR_LIMIT, "a poll every %u ms is more than one in %lld ms (poll_ms_min)", o->poll_ms,
                      (long long)d->limits->poll_ms_min);
    return ERR_OK;
}

/* The name of what is deployed is looked at with the job: decide_submit. */
static enum err check_replicas(struct decision *d, const struct options *o) {
    if (o->update >= UPDATE_COUNT) return refuse(d, ERR_INVALID, "update is stop_first or start_first");
    if (o->update != UPDATE_STOP_FIRST && o->kind != JOB_SERVICE)
        return refuse(d, ERR_INVALID, "`update` is of services");
    if (o->update == UPDATE_START_FIRST && o->exclusive)
        return refuse(
            d, ERR_INVALID,
            "`update: start_first` runs two versions at once, which `exclusive: true` forbids: leave one out");
    if (o->replicas == 0 && o->replica_of.len == 0) return ERR_OK;
    if (o->kind != JOB_SERVICE && o->kind != JOB_BARRIER)
        return refuse(d, ERR_INVALID, "replicas are of services and of the barrier behind them");
    if (o->kind == JOB_SERVICE && o->replicas != 0)
        return refuse(d, ERR_INVALID,
                      "a job deploys one replica: submit one job for each and a barrier behind them, as flow files do");
    if (o->kind == JOB_BARRIER && (o->replicas == 0 || o->replica_of.len == 0))
        return refuse(d, ERR_INVALID, "a barrier behind replicas has both `replica_of` and `replicas`");
    if (o->replica_of.len + REPLICA_SUFFIX_BYTES > 255)
        return refuse(d, ERR_LIMIT, "the name of a service with replicas is longer than %u bytes",
                      255 - REPLICA_SUFFIX_BYTES);
    if (o->replicas > d->limits->replicas_max)
        return refuse(d, ERR_LIMIT, "more than %lld replicas (replicas_max)", (long long)d->limits->replicas_max);
    return ERR_OK;
}

static void fill_service(const struct decision *d, struct options *o) {
    if (o->kind != JOB_SERVICE) {
#define X(name, type, journal, wire, standard, wait, text) o->name = 0;
        JOB_OPTIONS_SERVICE(X)
#undef X
        return;
    }
    if (o->restart_base_ms == 0) o->restart_base_ms = (uint32_t)d->limits->service_restart_ms;
    if (o->restart_cap_ms == 0) o->restart_cap_ms = (uint32_t)d->limits->service_restart_cap_ms;
    if (o->restart_reset_ms == 0) o->restart_reset_ms = d->limits->service_reset_ms;
    if (o->healthy_within_ms == 0) o->healthy_within_ms = d->limits->service_healthy_ms;
    if (o->stop_within_ms == 0) o->stop_within_ms = (uint32_t)d->limits->stop_confirm_ms;
}

static void fill_defaults(struct decision *d, struct options *o) {
    fill_service(d, o);
    uint8_t asks = job_kind_of(o->kind)->asks;
    if (asks != GATE_COUNT && !o->calls) o->gates |= GATE_BIT(asks);
    if (o->poll_cap_ms < o->poll_ms) o->poll_cap_ms = o->poll_ms; /* as often as the first time */
    if (o->delay_from_submit) { /* known now, also for jobs that are added later: recorded as the time itself */
        int64_t start = d->in->wall.ms + o->delay_ms;
        if (o->delay_ms > 0 && start > o->not_before_ms) o->not_before_ms = start;
        o->delay_ms = 0;
        o->delay_from_submit = false;
    }
    if (o->dispatch_timeout_ms == 0) o->dispatch_timeout_ms = d->limits->dispatch_timeout_ms;
    if (o->quorum == 0) o->quorum = 1;
    if (o->token_rights & TOKEN_SUBMIT) o->token_rights |= TOKEN_READ;
    /* a policy may ask for an approval that the job did not */
    uint8_t expiring = GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_APPROVAL) | GATE_BIT(GATE_EXTERNAL);
    if (((o->gates & expiring) || o->calls) && o->approval_ms == 0) o->approval_ms = d->limits->approval_ms;
    if (options_expand(o) && o->max_parallel == 0) o->max_parallel = (uint32_t)d->limits->foreach_parallel_max;
    bool prefers = o->affinity || o->preferred_worker.len || o->preferred_pool.len;
    if (prefers && o->prefer_ms == 0) o->prefer_ms = d->limits->lease_ms;
    if (!prefers) o->prefer_ms = 0;
}

enum err decide_options(struct decision *d, const struct options *given, struct options *ret) {
    struct options o = *given;
    o.raw = o.demand.raw = slice_of(NULL, 0); /* it is about to differ from what it came as */
    enum err e = check_numbers(d, &o);
    if (e == ERR_OK) e = check_foreach(d, &o);
    if (e == ERR_OK) e = check_stage(d, &o);
    if (e == ERR_OK) e = check_outside(d, &o);
    if (e == ERR_OK) e = check_replicas(d, &o);
    if (e == ERR_OK) e = complete_demand(d, &o.demand);
    if (e == ERR_OK) e = check_waits(d, &o);
    if (e == ERR_OK) e = optional_name(d, o.preferred_worker, "a worker");
    if (e == ERR_OK) e = optional_name(d, o.preferred_pool, "a pool");
    if (e == ERR_OK) e = optional_name(d, o.approval_role, "a role");
    if (e == ERR_OK) e = optional_name(d, o.replica_of, "a service");
    if (e != ERR_OK) return e;
    fill_defaults(d, &o);
    e = tlv_check(&options_desc, &o, &d->reply->why);
    if (e == ERR_OK) *ret = o;
    return e;
}

/* A compensation runs before everything else and however late it is: the absolute times of the set were about the job.
 * Of its questions only the policy's is left, for a time that leaves nobody waiting. */
void decide_undo_options(const struct decision *d, const struct options *complete, struct options *ret) {
    *ret = *complete;
    ret->raw = slice_of(NULL, 0);
    ret->priority = (uint32_t)d->limits->priority_max + 1;
    ret->gates &= GATE_BIT(GATE_POLICY);
    ret->policy_open = true;
    ret->approval_ms = ret->gates ? d->limits->undo_policy_ms : 0;
    ret->quorum = 1;
    ret->four_eyes = false;
    ret->approval_role = slice_of(NULL, 0);
    ret->not_before_ms = 0;
    ret->deadline_ms = 0;
    ret->on_upstream = UPSTREAM_FAIL;
    ret->trigger = TRIGGER_ALL_SUCCEEDED;
    ret->stage = FLOW_STAGE_MAIN;
    ret->affinity = false;
    ret->max_parallel = ret->allow_count = ret->allow_percent = 0; /* of a foreach job there is one compensation */
    ret->fail_fast = false;
    ret->replica_of = slice_of(NULL, 0); /* what a barrier says of a set */
    ret->replicas = 0;
}

/* What is asked before a foreach job and the absolute times are its own, for all children at once; what is asked of an
 * output, each child's. */
void decide_child_options(struct options *whole, struct options *ret) {
    *ret = *whole;
    ret->raw = whole->raw = slice_of(NULL, 0);
    ret->gates &= GATE_BIT(GATE_OUTPUT);
    ret->delay_ms = 0;
    ret->not_before_ms = 0;
    ret->deadline_ms = 0;
    ret->max_parallel = ret->allow_count = ret->allow_percent = 0;
    ret->fail_fast = false;
    whole->gates &= (uint8_t)~GATE_BIT(GATE_OUTPUT);
}

/* What a deployment leaves running: its questions and times were about the job that deploys. */
void decide_runner_options(const struct options *complete, struct options *ret) {
    *ret = *complete;
    ret->raw = slice_of(NULL, 0);
    ret->gates = 0;
    ret->approval_ms = 0;
    ret->quorum = 1;
    ret->four_eyes = ret->policy_open = false;
    ret->approval_role = slice_of(NULL, 0);
    ret->retries = 0;
    ret->on_upstream = UPSTREAM_FAIL;
    ret->trigger = TRIGGER_ALL_SUCCEEDED;
    ret->affinity = false;
    ret->delay_ms = ret->not_before_ms = ret->deadline_ms = 0;
    ret->start_within_ms = ret->run_timeout_ms = 0;
    ret->fatal_exits = (struct tlv_u32s){0};
    ret->retry_on = 0;
}

/* ---- workers ---- */

enum err decide_worker_info(struct decision *d, const struct worker_info *given, struct worker_info *ret) {
    struct worker_info info = *given;
    if (info.pool.len == 0) info.pool = SLICE(DEFAULT_POOL);
    if (info.slots == 0) return refuse(d, ERR_INVALID, "a worker has at least one slot");
    if (info.slots > d->limits->worker_slots_max)
        return refuse(d, ERR_LIMIT, "more than %lld slots (worker_slots_max)", (long long)d->limits->worker_slots_max);
    enum err e = decide_name(d, info.pool, "a pool");
    if (e == ERR_OK) e = optional_name(d, info.build, "a build");
    if (e == ERR_OK) e = optional_name(d, info.tenant, "a tenant");
    if (e == ERR_OK) e = sort_names(d, &info.capabilities, &info.capabilities);
    if (e == ERR_OK) e = sort_labels(d, &info.labels, &info.labels);
    if (e == ERR_OK) e = sort_resources(d, &info.resources, &info.resources);
    if (e == ERR_OK) e = tlv_check(&worker_info_desc, &info, &d->reply->why);
    if (e == ERR_OK) *ret = info;
    return e;
}
