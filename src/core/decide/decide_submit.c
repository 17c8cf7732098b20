/* decide_submit.c: new flows, and jobs added to running ones.
 *
 * A submit names jobs by name, in any order, with sets of options that they share. What is recorded is complete and in
 * order, so that apply has nothing left to decide:
 *
 *      given                                     recorded (REC_SUBMITTED)
 *        jobs   load    after: fetch               0  fetch   parents {}      options 0
 *               fetch                              1  ok      parents {}      options 1
 *               report  after: load, ok            2  load    parents {0}     options 0, its compensation 2
 *               ok                                 3  report  parents {1 2}   options 0
 *        options  0 {retries 1}  1 {gate}          options    0 {retries 1, backoff and all other defaults}
 *        undo of load: options 0                              1 {gate, defaults}
 *                                                             2 {as 0, priority of compensations}
 *
 * The steps, each of which may refuse:
 *
 *      head       tenant, name, labels, idempotency key; a key that is known is answered from memory
 *      size       flows, jobs, options: the limits on what fits in memory
 *      each job   name, body, questions, compensation, service, cache key
 *      space      journal bytes of the record, and of every attempt that the jobs may make
 *      options    defaults filled in; sets for compensations, services and children derived
 *      graph      names become ordinals in topological order; cycles and unknown names are refused by their path
 *      foreign    parents in other flows: their end if they have one, else an edge
 *      room       what the tenant may have queued
 *
 * Guarantees: an error leaves no record and no trace; a submit that is accepted can be finished, because the journal
 * space of all its attempts is reserved with it.
 *
 * Must not: change anything. Option sets that were checked are remembered by decide_keep_sets, after the decision. */
#include "decide.h"
#include "decide_options.h"
#include "finale.h"
#include "flow.h"
#include "graph.h"
#include "mutant.h"
#include "panic.h"
#include "quota.h"
#include "registry.h"
#include "replica.h"
#include "saga.h"
#include "service.h"

struct known_ctx {
    const struct state *state;
    const struct flow *flow; /* NULL for a new flow */
};

static uint32_t known_ordinal(const void *ctx, struct slice name) {
    const struct known_ctx *known = ctx;
    return known->flow ? flow_job_by_name(known->state, known->flow, name) : NO_NODE;
}

/* Flow numbers are of a shard: the same number elsewhere is another flow. */
static bool is_foreign(const struct decision *d, const struct parent_ref *parent, flow_id own) {
    return parent->flow.v != 0 && (parent->flow.v != own.v || parent->shard != d->state->shard);
}

/* ---- size ---- */

static enum err check_size(struct decision *d, const struct cmd_jobs *jobs, const struct flow *flow) {
    const struct limits *l = d->limits;
    uint32_t present = flow ? flow->jobs.count : 0;
    if (jobs->job_count == 0 && !jobs->more && !flow) return refuse(d, ERR_INVALID, "a flow needs at least one job");
    if (jobs->job_count > l->submit_jobs_max)
        return refuse(d, ERR_LIMIT, "more than %lld jobs at once (submit_jobs_max): send the rest in further parts",
                      (long long)l->submit_jobs_max);
    if ((int64_t)present + jobs->job_count > l->flow_jobs_max)
        return refuse(d, ERR_LIMIT, "the flow would have more than %lld jobs (flow_jobs_max)",
                      (long long)l->flow_jobs_max);
    if ((int64_t)d->state->jobs.count + jobs->job_count > l->jobs_max)
        return refuse(d, ERR_BUSY, "there are %u jobs already (jobs_max)", d->state->jobs.count);
    if (jobs->profile_count > l->submit_profiles_max)
        return refuse(d, ERR_LIMIT, "more than %lld different sets of options (submit_profiles_max)",
                      (long long)l->submit_profiles_max);
    if (d->state->profiles.count + jobs->profile_count > l->profiles_max || d->state->classes.count >= l->classes_max)
        return refuse(d, ERR_BUSY, "too many different demands at once (profiles_max, classes_max)");
    return ERR_OK;
}

static uint64_t text_bytes(const void *option) {
    return ((const struct slice *)option)->len;
}
static uint64_t numbers_bytes(const void *option) {
    return ((const struct tlv_u32s *)option)->count * (uint64_t)5;
}
static uint64_t no_bytes(const void *option) {
    (void)option;
    return 0;
}

static uint64_t names_bytes(const struct tlv_list *list) {
    const struct name_item *names = list->at;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < list->count; i++) bytes += 8 + names[i].name.len;
    return bytes;
}

/* An upper bound of one option set as bytes; options of a fixed size are in the constant. */
static uint64_t options_bytes(const struct options *o) {
    const struct demand *d = &o->demand;
    uint64_t bytes = 256 + d->pool.len + d->topic.len;
#define X(name, type, journal, wire, standard, wait, text) \
    bytes += _Generic(o->name, struct slice                \
                      : text_bytes, struct tlv_u32s        \
                      : numbers_bytes, default             \
                      : no_bytes)(&o->name);
    JOB_OPTION_TABLE(X)
#undef X
    bytes += names_bytes(&d->capabilities) + names_bytes(&d->keys) + names_bytes(&d->rates);
    const struct label *labels = d->labels.at;
    for (uint32_t i = 0; i < d->labels.count; i++) bytes += 8 + labels[i].key.len + labels[i].value.len;
    const struct resource *resources = d->resources.at;
    for (uint32_t i = 0; i < d->resources.count; i++) bytes += 16 + resources[i].name.len;
    return bytes;
}

/* What the jobs will take of the journal: their own record, and room for every attempt they may still make. */
static enum err check_space(struct decision *d, const struct cmd_jobs *jobs) {
    uint64_t bytes = 1024, reserve = 0;
    uint64_t questions = d->state->questions.count;
    bool has_undo = false, has_runner = false;
    for (uint32_t i = 0; i < jobs->job_count; i++) {
        const struct job_spec *spec = &jobs->jobs[i];
        REQUIRE(spec->profile < jobs->profile_count); /* see check_spec */
        REQUIRE(spec->undo_profile <= jobs->profile_count);
        questions += spec->body_hash.len != 0; /* see check_spec: every job that may be asked about has one */
        bytes += 64 + spec->name.len + spec->body.len + spec->service.len + spec->cache_key.len;
        if (spec->service.len) {
            questions++;
            has_runner = true;
            reserve += ATTEMPT_RECORD_BYTES;
        }
        if (spec->undo_profile) {
            const struct options *undo = &jobs->profiles[spec->undo_profile - 1];
            questions += spec->undo_hash.len != 0;
            bytes += 64 + spec->undo_body.len;
            has_undo = true;
            reserve += (uint64_t)(undo->retries + 1) * ATTEMPT_RECORD_BYTES;
        }
        for (uint32_t k = 0; k < spec->parent_count; k++) bytes += spec->parents[k].flow.v ? 32 : 5;
        reserve += (uint64_t)(jobs->profiles[spec->profile].retries + 1) * ATTEMPT_RECORD_BYTES;
    }
    for (uint32_t i = 0; i < jobs->profile_count; i++) {
        uint64_t times = 1u + has_undo + has_runner + options_expand(&jobs->profiles[i]); /* sets made from it */
        bytes += options_bytes(&jobs->profiles[i]) * times;
    }
    if (questions > (uint64_t)d->limits->questions_max)
        return refuse(d, ERR_BUSY, "too many questions would be open at once (questions_max)");
    if (bytes > (uint64_t)d->limits->submit_bytes_max)
        return refuse(d, ERR_LIMIT, "the submit is larger than %lld bytes (submit_bytes_max)",
                      (long long)d->limits->submit_bytes_max);
    if (d->in->journal_free_bytes != UINT64_MAX &&
        d->state->reserved_bytes + bytes + reserve > d->in->journal_free_bytes)
        return refuse(
            d, ERR_NO_SPACE,
            "the disk is too full: %llu KiB are left for the journal, and %llu KiB of it are reserved for accepted "
            "jobs",
            (unsigned long long)d->in->journal_free_bytes >> 10, (unsigned long long)d->state->reserved_bytes >> 10);
    return ERR_OK;
}

/* ---- single jobs ---- */

/* Children are called by the name of their foreach job and their index: `map[17]`. */
static bool is_child_name(struct slice name) {
    REQUIRE(name.len > 0);
    size_t at = name.len - 1, end = at;
    if (name.ptr[at] != ']') return false;
    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9') at--;
    return at < end && at > 0 && name.ptr[at - 1] == '[';
}

static enum err check_spec(struct decision *d, const struct cmd_jobs *jobs, const struct job_spec *spec) {
    enum err e = decide_name(d, spec->name, "a job");
    if (e != ERR_OK) return e;
    if (is_child_name(spec->name))
        return refuse(d, ERR_INVALID, "job name %.*s is that of a child of a foreach job", SLICE_FMT(spec->name));
    if (spec->profile >= jobs->profile_count)
        return refuse(d, ERR_INVALID, "job %.*s refers to missing options", SLICE_FMT(spec->name));
    if (spec->body.len > (size_t)d->limits->job_body_bytes_max)
        return refuse(d, ERR_LIMIT, "the spec of job %.*s is longer than %lld bytes (job_body_bytes_max)",
                      SLICE_FMT(spec->name), (long long)d->limits->job_body_bytes_max);
    if (spec->parent_count > d->limits->job_parents_max)
        return refuse(d, ERR_LIMIT, "job %.*s has more than %lld parents (job_parents_max)", SLICE_FMT(spec->name),
                      (long long)d->limits->job_parents_max);
    const struct options *o = &jobs->profiles[spec->profile];
    bool gated = o->gates != 0 || job_kind_of(o->kind)->asks != GATE_COUNT;
    if (spec->body_hash.len != 0 && spec->body_hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if (gated && spec->body_hash.len == 0)
        return refuse(d, ERR_INVALID, "job %.*s needs approval but has no hash of what is to be approved",
                      SLICE_FMT(spec->name));
    return ERR_OK;
}

static bool runs_on_a_worker(const struct options *o) {
    return job_kind_of(o->kind)->ends == JOB_ENDS_ON_WORKER;
}

static enum err check_service(struct decision *d, const struct command *cmd, const struct cmd_jobs *jobs,
                              const struct job_spec *spec, const struct flow *flow) {
    const struct state *s = d->state;
    bool deploys = jobs->profiles[spec->profile].kind == JOB_SERVICE;
    if (!deploys && spec->service.len == 0) return ERR_OK;
    if (!deploys)
        return refuse(d, ERR_INVALID, "job %.*s names a service and is not of that kind", SLICE_FMT(spec->name));
    enum err e = decide_name(d, spec->service, "a service");
    if (e != ERR_OK) return e;
    struct slice set = jobs->profiles[spec->profile].replica_of;
    if (set.len > 0 && replica_number(set, spec->service) == 0)
        return refuse(d, ERR_INVALID, "service %.*s is no replica of %.*s: replicas are %.*s.1 to %.*s.%u",
                      SLICE_FMT(spec->service), SLICE_FMT(set), SLICE_FMT(set), SLICE_FMT(set), REPLICAS_MAX);
    uint32_t tenant = flow ? flow->tenant : tenant_find(s, cmd->tenant);
    if (!service_find(s, tenant, spec->service) && s->services.count >= d->limits->services_max)
        return refuse(d, ERR_BUSY, "there are %u services already (services_max)", s->services.count);
    return ERR_OK;
}

static enum err check_undo(struct decision *d, const struct cmd_jobs *jobs, const struct job_spec *spec) {
    if (saga_is_undo_name(spec->name))
        return refuse(d, ERR_INVALID, "job name %.*s is that of a compensation", SLICE_FMT(spec->name));
    if (spec->undo_profile == 0) {
        if (spec->undo_body.len == 0 && spec->undo_hash.len == 0) return ERR_OK;
        return refuse(d, ERR_INVALID, "the compensation of job %.*s has no options", SLICE_FMT(spec->name));
    }
    if (spec->undo_profile > jobs->profile_count)
        return refuse(d, ERR_INVALID, "the compensation of job %.*s refers to missing options", SLICE_FMT(spec->name));
    const struct options *undo = &jobs->profiles[spec->undo_profile - 1];
    if (jobs->profiles[spec->profile].stage != FLOW_STAGE_MAIN)
        return refuse(d, ERR_INVALID, "job %.*s runs behind the main jobs and cannot have a compensation",
                      SLICE_FMT(spec->name));
    if (!runs_on_a_worker(&jobs->profiles[spec->profile]) || !runs_on_a_worker(undo))
        return refuse(d, ERR_INVALID, "job %.*s and its compensation must be of a kind that runs on a worker",
                      SLICE_FMT(spec->name));
    if (spec->name.len + UNDO_SUFFIX_BYTES > UNDO_NAME_BYTES_MAX)
        return refuse(d, ERR_LIMIT, "the name of the compensation would be longer than %u bytes: %.*s",
                      UNDO_NAME_BYTES_MAX, SLICE_FMT(spec->name));
    if (spec->undo_body.len > (size_t)d->limits->job_body_bytes_max)
        return refuse(d, ERR_LIMIT, "the compensation of job %.*s is longer than %lld bytes (job_body_bytes_max)",
                      SLICE_FMT(spec->name), (long long)d->limits->job_body_bytes_max);
    if (spec->undo_hash.len != 0 && spec->undo_hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if ((undo->gates & GATE_BIT(GATE_POLICY)) && spec->undo_hash.len == 0)
        return refuse(d, ERR_INVALID, "the compensation of job %.*s has no hash of what its policy is asked about",
                      SLICE_FMT(spec->name));
    return ERR_OK;
}

/* What a memoised job does is its result, and nothing that somebody would have to undo. */
static enum err check_memo(struct decision *d, const struct cmd_jobs *jobs, const struct job_spec *spec) {
    if (spec->cache_key.len == 0) return ERR_OK;
    if (spec->cache_key.len != 32) return refuse(d, ERR_INVALID, "a cache key has 32 bytes");
    if (jobs->profiles[spec->profile].stage != FLOW_STAGE_MAIN)
        return refuse(d, ERR_INVALID, "job %.*s runs behind the main jobs and cannot have a cache key: it has to run",
                      SLICE_FMT(spec->name));
    return decide_memoised(d, spec->name, &jobs->profiles[spec->profile], spec->undo_profile != 0);
}

enum err decide_memoised(struct decision *d, struct slice name, const struct options *o, bool has_undo) {
    if (!runs_on_a_worker(o) || options_expand(o))
        return refuse(d, ERR_INVALID, "job %.*s has a cache key, but is of a kind that leaves no result",
                      SLICE_FMT(name));
    if (has_undo)
        return refuse(d, ERR_INVALID, "job %.*s has a cache key and a compensation: it cannot have both",
                      SLICE_FMT(name));
    return ERR_OK;
}

static uint32_t foreign_children(const struct flow *f, uint32_t ordinal) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->graph->foreign.count; i++)
        count += ((const struct foreign_edge *)vec_at(&f->graph->foreign, i))->parent == ordinal;
    return count;
}

/* A parent in another flow: its end if it has one, else an edge to it. */
static enum err resolve_foreign(struct decision *d, struct slice tenant, const struct parent_ref *parent,
                                struct rec_foreign *ret) {
    const struct state *s = d->state;
    uint32_t flow = parent->shard == s->shard ? flow_find(s, parent->flow) : 0;
    bool own = flow && !flow_at(s, flow)->of_service &&
               slice_eq(tenant, bytes_slice(tenant_at(s, flow_at(s, flow)->tenant)->name));
    *ret = (struct rec_foreign){.flow = parent->flow.v, .shard = parent->shard};
    if (!own) {
        if (flow || !parent->has_seen || !job_state_is_terminal(parent->seen))
            return refuse(d, ERR_NOT_FOUND, "a parent is in a flow that does not exist: %.*s", SLICE_FMT(parent->name));
        ret->ordinal = parent->seen_ordinal;
        ret->seen = (uint8_t)parent->seen;
        return ERR_OK;
    }
    const struct flow *f = flow_at(s, flow);
    ret->ordinal = flow_job_by_name(s, f, parent->name);
    if (ret->ordinal == NO_ORDINAL)
        return refuse(d, ERR_UNKNOWN_NAME, "a parent in another flow does not exist: %.*s", SLICE_FMT(parent->name));
    const struct job *j = job_at(s, f->jobs.at[ret->ordinal]);
    if (job_state_is_terminal(j->state) && !(j->flags & JOBF_UNTOLD)) {
        ret->seen = j->state;
        return ERR_OK;
    }
    if (foreign_children(f, ret->ordinal) >= d->limits->job_foreign_children_max)
        return refuse(d, ERR_LIMIT, "job %.*s has too many children in other flows (job_foreign_children_max)",
                      SLICE_FMT(parent->name));
    return ERR_OK;
}

static enum err collect_foreign(struct decision *d, struct slice tenant, const struct job_spec *spec, flow_id own,
                                struct tlv_list *ret) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->parent_count; i++) count += is_foreign(d, &spec->parents[i], own);
    if (count > d->limits->job_foreign_parents_max)
        return refuse(d, ERR_LIMIT, "job %.*s has too many parents in other flows (job_foreign_parents_max)",
                      SLICE_FMT(spec->name));
    *ret = (struct tlv_list){0};
    if (count == 0) return ERR_OK;
    struct rec_foreign *list = ARENA_ARRAY(d->arena, struct rec_foreign, count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < spec->parent_count; i++) {
        if (!is_foreign(d, &spec->parents[i], own)) continue;
        enum err e = resolve_foreign(d, tenant, &spec->parents[i], &list[n]);
        if (e != ERR_OK) return e;
        for (uint32_t k = 0; k < n; k++)
            if (list[k].flow == list[n].flow && list[k].shard == list[n].shard && list[k].ordinal == list[n].ordinal)
                return refuse(d, ERR_DUPLICATE_NAME, "job %.*s names a parent twice", SLICE_FMT(spec->name));
        n++;
    }
    *ret = (struct tlv_list){list, n};
    return ERR_OK;
}

/* ---- the whole graph ---- */

static enum err order_jobs(struct decision *d, const struct cmd_jobs *jobs, const struct flow *flow, flow_id own,
                           struct graph *ret) {
    struct graph_job *nodes = ARENA_ARRAY(d->arena, struct graph_job, jobs->job_count ? jobs->job_count : 1);
    for (uint32_t i = 0; i < jobs->job_count; i++) {
        const struct job_spec *spec = &jobs->jobs[i];
        struct slice *local = spec->parent_count ? ARENA_ARRAY(d->arena, struct slice, spec->parent_count) : NULL;
        uint32_t n = 0;
        for (uint32_t k = 0; k < spec->parent_count; k++)
            if (!is_foreign(d, &spec->parents[k], own)) local[n++] = spec->parents[k].name;
        nodes[i] = (struct graph_job){spec->name, local, n};
    }
    struct known_ctx known = {d->state, flow};
    return graph_order(nodes, jobs->job_count, flow ? flow->jobs.count : 0, known_ordinal, &known, d->arena, ret,
                       &d->reply->why);
}

/* ---- stages ---- */

/* Few option sets tell mostly that there is none; a set that no job uses means nothing. */
bool decide_has_stages(const struct cmd_jobs *jobs) {
    bool may = false;
    for (uint32_t i = 0; i < jobs->profile_count; i++) may = may || jobs->profiles[i].stage != FLOW_STAGE_MAIN;
    for (uint32_t i = 0; may && i < jobs->job_count; i++)
        if (jobs->profiles[jobs->jobs[i].profile].stage != FLOW_STAGE_MAIN) return true;
    return false;
}

/* Jobs of different stages do not name each other: a stage begins when the one before is over, all of it. */
static enum err check_stages(struct decision *d, const struct cmd_jobs *jobs, const struct graph *graph,
                             const struct flow *flow) {
    if (!decide_has_stages(jobs) && (flow == NULL || flow->finale == 0)) return ERR_OK;
    uint32_t first = flow ? flow->jobs.count : 0;
    for (uint32_t i = 0; i < jobs->job_count; i++) {
        const struct job_spec *spec = &jobs->jobs[i];
        uint8_t own = jobs->profiles[spec->profile].stage;
        for (uint32_t k = 0; k < graph->parents[i].count; k++) {
            uint32_t parent = graph->parents[i].at[k];
            uint8_t other = parent >= first ? jobs->profiles[jobs->jobs[graph->order[parent - first]].profile].stage
                                            : (uint8_t)job_stage(d->state, job_at(d->state, flow->jobs.at[parent]));
            if (other != own)
                return refuse(d, ERR_INVALID,
                              "job %.*s (%s) cannot need a job of %s: the stages run one after the other by themselves",
                              SLICE_FMT(spec->name), flow_stage_words[own], flow_stage_words[other]);
        }
        for (uint32_t k = 0; own != FLOW_STAGE_MAIN && k < spec->parent_count; k++)
            if (is_foreign(d, &spec->parents[k], (flow_id){flow ? flow->id : 0}))
                return refuse(d, ERR_INVALID, "job %.*s (%s) cannot need a job of another flow", SLICE_FMT(spec->name),
                              flow_stage_words[own]);
    }
    return ERR_OK;
}

/* Positions + 1 of sets that are made from others, by the position of the set that they are made from; 0 = none. */
struct derived {
    uint32_t *undo;   /* of compensations */
    uint32_t *runner; /* of what jobs deploy */
    uint32_t *child;  /* of the children of foreach jobs */
};

/* An option set as it is recorded: checked, or as it was when it was checked before. */
static enum err complete_set(struct decision *d, const struct options *given, const struct slice *key,
                             struct options *ret) {
    const struct cached_options *known = key != NULL ? option_cache_find(&d->live->sets, *key) : NULL;
    if (known == NULL) {
        d->new_sets += key != NULL;
        return decide_options(d, given, ret);
    }
    *ret = known->complete;
    return ERR_OK;
}

static enum err complete_sets(struct decision *d, const struct cmd_jobs *jobs, const struct slice *keys,
                              const struct derived *derived, struct options *sets) {
    for (uint32_t i = 0; i < jobs->profile_count; i++) {
        uint32_t undo = derived->undo[i], child = derived->child[i], runner = derived->runner[i];
        enum err e = complete_set(d, &jobs->profiles[i], keys != NULL ? &keys[i] : NULL, &sets[i]);
        if (e != ERR_OK) return e;
        if (undo) decide_undo_options(d, &sets[i], &sets[undo - 1]);
        if (child) decide_child_options(&sets[i], &sets[child - 1]);
        if (runner) decide_runner_options(&sets[i], &sets[runner - 1]);
    }
    return ERR_OK;
}

/* The option sets, and behind them those that are derived. `keys` may be NULL. */
static enum err build_profiles(struct decision *d, const struct cmd_jobs *jobs, const struct slice *keys,
                               struct tlv_list *ret, struct derived *ret_derived) {
    uint32_t *undo = ARENA_ARRAY(d->arena, uint32_t, 3 * ((size_t)jobs->profile_count + 1));
    uint32_t *runner = undo + jobs->profile_count + 1, *child = runner + jobs->profile_count + 1;
    uint32_t count = jobs->profile_count;
    for (uint32_t i = 0; i < jobs->job_count; i++) {
        const struct job_spec *spec = &jobs->jobs[i];
        if (spec->undo_profile && undo[spec->undo_profile - 1] == 0) undo[spec->undo_profile - 1] = ++count;
        if (spec->service.len && runner[spec->profile] == 0) runner[spec->profile] = ++count;
    }
    for (uint32_t i = 0; i < jobs->profile_count; i++)
        if (options_expand(&jobs->profiles[i])) child[i] = ++count;
    if (count > d->limits->submit_profiles_max)
        return refuse(d, ERR_LIMIT,
                      "more than %lld different sets of options with those made from them (submit_profiles_max)",
                      (long long)d->limits->submit_profiles_max);
    *ret_derived = (struct derived){undo, runner, child};
    const struct cached_options *single =
        keys != NULL && count == 1 ? option_cache_find(&d->live->sets, keys[0]) : NULL;
    struct options *sets = (void *)(uintptr_t)(single != NULL ? &single->complete : NULL); /* nobody changes it */
    if (sets == NULL) {
        sets = arena_space(d->arena, sizeof *sets * ((size_t)count + 1)); /* all are filled */
        enum err e = complete_sets(d, jobs, keys, ret_derived, sets);
        if (e != ERR_OK) return e;
    }
    uint64_t names = d->state->quotas.count;
    for (uint32_t i = 0; i < jobs->profile_count; i++) names += sets[i].demand.keys.count + sets[i].demand.rates.count;
    if (names > (uint64_t)d->limits->limit_names_max)
        return refuse(d, ERR_BUSY, "too many keys and rates would be known at once (limit_names_max)");
    *ret = (struct tlv_list){sets, count};
    return ERR_OK;
}

enum err decide_jobs(struct decision *d, const struct command *cmd, const struct cmd_jobs *jobs,
                     const struct flow *flow, flow_id own, struct tlv_list *ret_profiles, struct tlv_list *ret_jobs) {
    REQUIRE(flow == NULL || own.v == flow->id);
    /* an administrator, who has no tenant, adds in the name of the flow's */
    struct slice tenant = flow ? bytes_slice(tenant_at(d->state, flow->tenant)->name) : cmd->tenant;
    enum err e = check_size(d, jobs, flow);
    for (uint32_t i = 0; e == ERR_OK && i < jobs->job_count; i++) {
        e = check_spec(d, jobs, &jobs->jobs[i]);
        if (e == ERR_OK) e = check_undo(d, jobs, &jobs->jobs[i]);
        if (e == ERR_OK) e = check_service(d, cmd, jobs, &jobs->jobs[i], flow);
        if (e == ERR_OK) e = check_memo(d, jobs, &jobs->jobs[i]);
    }
    struct derived derived = {0};
    if (e == ERR_OK) e = check_space(d, jobs);
    /* Others than a submit, and a job that submits, change what they were given before it comes here: bytes would say
     * something else. */
    const struct slice *keys = cmd->kind == CMD_SUBMIT && !cmd->as.submit.adder.flow.v ? cmd->as.submit.set_keys : NULL;
    if (e == ERR_OK) e = build_profiles(d, jobs, keys, ret_profiles, &derived);
    struct graph graph;
    if (e == ERR_OK) e = order_jobs(d, jobs, flow, own, &graph);
    if (e == ERR_OK) e = check_stages(d, jobs, &graph, flow);
    if (e != ERR_OK) return e;
    struct rec_job *list = ARENA_ARRAY(d->arena, struct rec_job, jobs->job_count ? jobs->job_count : 1);
    for (uint32_t k = 0; k < jobs->job_count; k++) {
        ENSURE(graph.order[k] < jobs->job_count);
        const struct job_spec *spec = &jobs->jobs[graph.order[k]];
        list[k] = (struct rec_job){.name = spec->name,
                                   .profile = spec->profile,
                                   .parents = graph.parents[graph.order[k]],
                                   .body = spec->body,
                                   .body_hash = spec->body_hash,
                                   .undo_body = spec->undo_body,
                                   .undo_profile = spec->undo_profile ? derived.undo[spec->undo_profile - 1] : 0,
                                   .undo_hash = spec->undo_hash,
                                   .service = spec->service,
                                   .runner_profile = spec->service.len ? derived.runner[spec->profile] : 0,
                                   .child_profile = derived.child[spec->profile],
                                   .cache_key = spec->cache_key};
        e = collect_foreign(d, tenant, spec, own, &list[k].foreign);
        if (e != ERR_OK) return e;
    }
    *ret_jobs = (struct tlv_list){list, jobs->job_count};
    return decide_room(d, flow ? flow->tenant : tenant_find(d->state, cmd->tenant), ret_jobs);
}

/* ---- submit ---- */

/* True when the key has been used: the reply then holds the first answer, or the conflict. */
static bool answer_from_key(struct decision *d, const struct command *cmd, enum err *ret) {
    const struct cmd_submit *c = &cmd->as.submit;
    REQUIRE(c->key.len > 0);
    uint32_t tenant = tenant_find(d->state, cmd->tenant);
    uint32_t index = key_find(d->state, tenant, c->key, d->arena);
    if (index == 0) return false;
    const struct key *k = key_at(d->state, index);
    /* over, though the tick has not come to it yet */
    if (k->expires.ms <= d->in->wall.ms && !MUTANT(expired_key_served)) {
        struct rec_key_expired *rec = &decide_record(d, REC_KEY_EXPIRED, NULL)->body.as_REC_KEY_EXPIRED;
        rec->head.tenant = cmd->tenant;
        rec->key = c->key;
        return false;
    }
    if (!slice_eq(slice_of(k->hash, 32), c->key_hash)) {
        *ret = refuse(d, ERR_CONFLICT, "the idempotency key was already used for a different flow");
        return true;
    }
    d->reply->flow.v = k->flow;
    d->reply->job_count = k->job_count;
    d->reply->repeated = true;
    *ret = ERR_OK;
    return true;
}

enum err decide_source(struct decision *d, const struct flow_source *source) {
    if (source->hash.len != 0 && source->hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if (source->name.len > 255) return refuse(d, ERR_LIMIT, "the name of the flow file is longer than 255 bytes");
    if (source->params.len > (size_t)d->limits->params_bytes_max)
        return refuse(d, ERR_LIMIT,
                      "the parameters are %zu bytes long; the limit is %lld (params_bytes_max): put long values into a "
                      "file or a blob",
                      source->params.len, (long long)d->limits->params_bytes_max);
    return ERR_OK;
}

static enum err check_head(struct decision *d, const struct command *cmd) {
    const struct cmd_submit *c = &cmd->as.submit;
    enum err e = decide_name(d, cmd->tenant, "a tenant");
    if (e == ERR_OK && c->name.len) e = decide_name(d, c->name, "a flow");
    if (e == ERR_OK && c->key.len) e = decide_key(d, c->key);
    if (e != ERR_OK) return e;
    if (c->key.len && c->key_hash.len != 32)
        return refuse(d, ERR_INVALID, "an idempotency key needs a hash of the body");
    if (c->key_ms < 0 || c->key_ms > d->limits->delay_ms_max)
        return refuse(d, ERR_INVALID, "the key's time is out of range");
    if (c->compensate_on >= COMPENSATE_COUNT) return refuse(d, ERR_INVALID, "compensate_on is fatal or failure");
    if (c->trace.len > 255) return refuse(d, ERR_INVALID, "the trace context is too long");
    e = decide_source(d, &c->source);
    if (e != ERR_OK) return e;
    return decide_tenant_room(d, cmd->tenant);
}

enum err decide_flow_times(struct decision *d, int64_t timeout_ms, int64_t late_after_ms) {
    if (timeout_ms < 0 || timeout_ms > d->limits->delay_ms_max)
        return refuse(d, ERR_LIMIT, "the timeout of the flow is not between 0 and %lld ms (delay_ms_max)",
                      (long long)d->limits->delay_ms_max);
    if (late_after_ms < 0 || late_after_ms > d->limits->delay_ms_max)
        return refuse(d, ERR_LIMIT, "the deadline of the flow is not between 0 and %lld ms away (delay_ms_max)",
                      (long long)d->limits->delay_ms_max);
    return ERR_OK;
}

/* The deadline as a moment. */
static enum err flow_deadline(struct decision *d, const struct cmd_submit *c, int64_t *ret_ms) {
    enum err e = decide_flow_times(d, c->timeout_ms, c->late_after_ms);
    if (e != ERR_OK) return e;
    if (c->deadline_ms && c->late_after_ms)
        return refuse(d, ERR_INVALID, "the deadline of the flow is a time or a duration, not both");
    if (c->deadline_ms < 0 || c->deadline_ms > d->in->wall.ms + d->limits->delay_ms_max)
        return refuse(d, ERR_INVALID, "the deadline of the flow is out of range");
    if (c->deadline_ms && c->deadline_ms <= d->in->wall.ms)
        return refuse(d, ERR_INVALID, "the deadline of the flow has already passed");
    *ret_ms = c->late_after_ms ? d->in->wall.ms + c->late_after_ms : c->deadline_ms;
    return ERR_OK;
}

enum err decide_labels(struct decision *d, const struct label *labels, uint32_t count, struct tlv_list *ret) {
    if (count > d->limits->labels_max)
        return refuse(d, ERR_LIMIT, "more than %lld labels (labels_max)", (long long)d->limits->labels_max);
    *ret = (struct tlv_list){0};
    if (count == 0) return ERR_OK;
    struct label *copy = ARENA_ARRAY(d->arena, struct label, count);
    for (uint32_t i = 0; i < count; i++) {
        enum err e = decide_name(d, labels[i].key, "a label");
        if (e != ERR_OK) return e;
        if (labels[i].value.len > (size_t)d->limits->name_bytes_max)
            return refuse(d, ERR_LIMIT, "a label value is too long");
        copy[i] = labels[i];
    }
    *ret = (struct tlv_list){copy, count};
    return ERR_OK;
}

enum err decide_tenant_room(struct decision *d, struct slice tenant) {
    if (!tenant_find(d->state, tenant) && d->state->tenants.count >= d->limits->tenants_max)
        return refuse(d, ERR_LIMIT, "there are %u tenants already (tenants_max)", d->state->tenants.count);
    return ERR_OK;
}

/* A deliberate defect. */
static void take_last_source(struct decision *d, struct flow_source *ret) {
    uint32_t last = flow_find(d->state, (flow_id){d->state->flow_last});
    struct flow_head head;
    if (last == 0) return;
    flow_head_get(flow_at(d->state, last), d->arena, &head);
    *ret = head.source;
}

enum err decide_submit(struct decision *d, const struct command *cmd) {
    const struct cmd_submit *c = &cmd->as.submit;
    struct tlv_list labels;
    enum err e = check_head(d, cmd);
    int64_t deadline_ms = 0;
    if (e == ERR_OK) e = decide_labels(d, c->labels, c->label_count, &labels);
    if (e == ERR_OK) e = flow_deadline(d, c, &deadline_ms);
    if (e != ERR_OK) return e;
    if (c->key.len && !c->check && answer_from_key(d, cmd, &e)) return e;
    if (d->state->flows.count >= d->limits->flows_max)
        return refuse(d, ERR_BUSY, "there are %u flows already (flows_max)", d->state->flows.count);
    uint32_t tenant = tenant_find(d->state, cmd->tenant);
    uint64_t own = tenant ? tenant_at(d->state, tenant)->flows : 0;
    if (own >= limits_tenant_flows_max(d->limits))
        return refuse(d, ERR_BUSY, "tenant %.*s has %llu flows in memory, the limit of one tenant (flows_tenant_share)",
                      SLICE_FMT(cmd->tenant), (unsigned long long)own);
    uint64_t over = (uint64_t)d->state->ended[ENDED_CLEAN].count + d->state->ended[ENDED_DEAD].count;
    if (over >= (uint64_t)d->limits->ended_flows_max)
        return refuse(d, ERR_BUSY,
                      "%llu finished flows have not left memory (ended_flows_max): the history is at LSN %llu of %llu",
                      (unsigned long long)over, (unsigned long long)d->live->projected_lsn,
                      (unsigned long long)d->state->lsn);
    if (c->key.len && d->state->keys.count >= d->limits->idempotency_keys_max)
        return refuse(d, ERR_BUSY, "too many idempotency keys are alive (idempotency_keys_max)");
    struct tlv_list profiles, jobs;
    struct cmd_jobs given = c->jobs;
    struct slice constraints = {0};
    const struct adder adder = {c->adder, c->fence, {0}};
    if (c->adder.flow.v) e = decide_adder(d, &adder, &c->jobs, &given, &constraints);
    if (e == ERR_OK) e = decide_jobs(d, cmd, &given, NULL, (flow_id){0}, &profiles, &jobs);
    if (e != ERR_OK) return e;
    d->reply->job_count = c->jobs.job_count;
    if (c->check) return ERR_OK;
    struct rec_submitted *rec = &decide_record(d, REC_SUBMITTED, cmd)->body.as_REC_SUBMITTED;
    rec->head.tenant = cmd->tenant;
    rec->head.trace = c->trace;
    rec->flow = d->state->flow_last + 1;
    rec->name = c->name;
    rec->key = c->key;
    if (c->key.len) {
        rec->key_hash = c->key_hash;
        rec->key_expires_ms = d->in->wall.ms + (c->key_ms ? c->key_ms : d->limits->idempotency_ms);
    }
    rec->labels = labels;
    rec->more = c->jobs.more;
    rec->profiles = profiles;
    rec->jobs = jobs;
    rec->constraints = constraints;
    rec->compensate_on = (uint8_t)c->compensate_on;
    rec->timeout_ms = c->timeout_ms;
    rec->deadline_ms = deadline_ms;
    rec->has_stages = decide_has_stages(&c->jobs);
    rec->source = c->source;
    if (MUTANT(source_of_another)) take_last_source(d, &rec->source);
    d->reply->flow.v = rec->flow;
    return ERR_OK;
}

void decide_keep_sets(struct decision *d, struct live *live, const struct cmd_submit *c) {
    REQUIRE(c->set_keys != NULL);
    for (uint32_t i = 0; i < c->jobs.profile_count; i++) {
        const struct options *given = &c->jobs.profiles[i];
        struct options complete;
        if (option_cache_find(&live->sets, c->set_keys[i]) || !option_cache_want(&live->sets, c->set_keys[i], given))
            continue;
        enum err e = decide_options(d, given, &complete);
        ENSURE(e == ERR_OK); /* a moment ago it was */
        option_cache_keep(&live->sets, c->set_keys[i], given, &complete);
    }
}

enum err decide_add(struct decision *d, const struct command *cmd) {
    const struct cmd_add *c = &cmd->as.add;
    uint32_t index = 0;
    enum err e = decide_flow(d, cmd, c->flow, &index);
    if (e != ERR_OK) return e;
    const struct flow *f = flow_at(d->state, index);
    if (f->state != FLOW_RUNNING) return refuse(d, ERR_STATE, "the flow has finished: %s", flow_state_words[f->state]);
    e = decide_not_unwound(d, f, "no jobs can be added");
    if (e != ERR_OK) return e;
    if (f->cancelling) return refuse(d, ERR_STATE, "the flow is being cancelled");
    if (finale_timed_out(d->state, f)) return refuse(d, ERR_STATE, "the time of the flow is over (timeout)");
    if (!finale_may_grow(d->state, f))
        return refuse(d, ERR_STATE, "the main jobs of the flow are over (stage: %s): no jobs can be added",
                      flow_stage_words[flow_stage(d->state, f)]);
    struct tlv_list profiles, jobs;
    struct cmd_jobs given = c->jobs;
    struct slice constraints = {0};
    const struct adder adder = {c->adder, c->fence, c->flow};
    if (c->adder.flow.v) e = decide_adder(d, &adder, &c->jobs, &given, &constraints);
    if (e == ERR_OK) e = decide_jobs(d, cmd, &given, f, c->flow, &profiles, &jobs);
    if (e != ERR_OK) return e;
    struct rec_added *rec = &decide_record(d, REC_ADDED, cmd)->body.as_REC_ADDED;
    rec->flow = c->flow.v;
    rec->more = c->adder.flow.v ? f->more : c->jobs.more; /* a job does not know what its submitter still sends */
    rec->profiles = profiles;
    rec->jobs = jobs;
    rec->constraints = constraints;
    rec->has_stages = decide_has_stages(&c->jobs);
    d->reply->flow = c->flow;
    d->reply->job_count = f->jobs.count + c->jobs.job_count;
    return ERR_OK;
}
