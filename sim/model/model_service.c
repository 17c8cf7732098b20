/* model_service.c: see model_service.h.
 *
 * A service is a list of versions, each a flow of one job. After every record it is looked at anew: which version is
 * wanted, which others are not over yet, which are not needed any more. */
#include "model_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_job.h"
#include "model_rules.h"
#include "panic.h"

static bool is_text(struct model_text a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static struct trace_bytes text_of(struct model_text t) {
    return (struct trace_bytes){t.at, t.len};
}

/* ---- copies ---- */

static struct trace_bytes copy_bytes(struct trace_bytes b) {
    return text_of(model_text_copy(b));
}

static void *new_array(uint32_t count, size_t elem_bytes) {
    void *array = calloc((size_t)count + 1, elem_bytes);
    REQUIRE(array != NULL);
    return array;
}

static const struct trace_bytes *copy_names(const struct trace_bytes *from, uint32_t count) {
    struct trace_bytes *to = new_array(count, sizeof *to);
    for (uint32_t i = 0; i < count; i++) to[i] = copy_bytes(from[i]);
    return to;
}

struct trace_job *model_runner_copy(const struct trace_job *from) {
    struct trace_job *to = new_array(1, sizeof *to);
    *to = *from;
    struct trace_amount *resources = new_array(from->resource_count, sizeof *resources);
    for (uint32_t i = 0; i < from->resource_count; i++)
        resources[i] = (struct trace_amount){copy_bytes(from->resources[i].name), from->resources[i].amount};
    to->resources = resources;
    to->keys = copy_names(from->keys, from->key_count);
    to->rates = copy_names(from->rates, from->rate_count);
    to->replica_of = copy_bytes(from->replica_of);
    to->fatal_exits = NULL;
    to->fatal_exit_count = 0;
    return to;
}

static void free_const(const void *at) {
    free((void *)(uintptr_t)at);
}

void model_runner_free(const struct trace_job *r) {
    for (uint32_t i = 0; i < r->resource_count; i++) free_const(r->resources[i].name.at);
    for (uint32_t i = 0; i < r->key_count; i++) free_const(r->keys[i].at);
    for (uint32_t i = 0; i < r->rate_count; i++) free_const(r->rates[i].at);
    free_const(r->replica_of.at);
    free_const(r->resources);
    free_const(r->keys);
    free_const(r->rates);
    free_const(r);
}

void model_services_free(struct model *m) {
    for (uint32_t i = 0; i < m->service_count; i++) {
        free(m->services[i].tenant.at);
        free(m->services[i].name.at);
        free(m->services[i].versions);
    }
    for (uint32_t i = 0; i < m->drain_count; i++) free(m->drains[i].worker.at);
    free(m->services);
    free(m->drains);
    free(m->deploys);
    free(m->made_versions);
}

/* ---- finding ---- */

static struct model_service *find(const struct model *m, struct trace_bytes tenant, struct trace_bytes name) {
    for (uint32_t i = 0; i < m->service_count; i++) {
        struct model_service *v = &m->services[i];
        if (!v->gone && is_text(v->tenant, tenant) && is_text(v->name, name)) return v;
    }
    return NULL;
}

static struct model_service *of_flow(const struct model *m, uint64_t flow) {
    for (uint32_t i = 0; i < m->service_count; i++) {
        for (uint32_t k = 0; k < m->services[i].version_count; k++) {
            if (m->services[i].versions[k].flow == flow) return &m->services[i];
        }
    }
    PANIC("a version of no service");
}

static struct model_job *runner_of(const struct model *m, uint64_t flow) {
    struct model_job *j = model_job_find(m, flow, 0);
    REQUIRE(j != NULL);
    return j;
}

static const struct trace_job *spec_of(const struct model *m, uint64_t flow) {
    return &runner_of(m, flow)->spec;
}

static struct model_version *version_of(const struct model_service *v, uint64_t flow) {
    uint32_t i = 0;
    while (i < v->version_count && v->versions[i].flow != flow) i++;
    REQUIRE(i < v->version_count);
    return &v->versions[i];
}

static void stop(struct model *m, uint64_t flow) {
    struct model_job *j = runner_of(m, flow);
    if (model_job_is_active(j)) {
        j->stop = TX_CANCEL;
    } else if (!trace_is_terminal(j->state)) {
        j->behind = false;
        model_rules_end(m, model_flow_find(m, flow), j, TS_CANCELLED, TC_REQUEST);
    }
}

/* A version beside which another may start: it is to run, and nobody was promised that it is alone. */
static bool may_go_on(const struct model *m, uint64_t flow) {
    const struct model_job *j = runner_of(m, flow);
    return !trace_is_terminal(j->state) && j->stop != TX_CANCEL && !j->spec.exclusive;
}

/* What became of a version, for people. */
static void remember(struct model_service *v, uint64_t flow, enum trace_version_state state) {
    for (uint32_t i = 0; i < v->version_count; i++)
        if (v->versions[i].flow == flow) v->versions[i].state = state;
}

/* ---- replicas ---- */

/* The number of a service in a set by its name; 0 = it has none. */
static uint32_t number_in(struct trace_bytes set, struct model_text name) {
    uint32_t number = 0;
    if (name.len < set.len + 2 || memcmp(name.at, set.at, set.len) != 0 || name.at[set.len] != '.') return 0;
    for (uint32_t i = set.len + 1; i < name.len; i++) {
        if (name.at[i] < '0' || name.at[i] > '9' || number > 1000) return 0;
        number = number * 10 + (uint32_t)(name.at[i] - '0');
    }
    return number;
}

/* The member of a set with this number, or NULL. */
static struct model_service *member(const struct model *m, struct model_text tenant, struct trace_bytes set,
                                    uint32_t number) {
    for (uint32_t i = 0; i < m->service_count; i++) {
        struct model_service *v = &m->services[i];
        if (v->gone || v->current == 0 || !is_text(v->tenant, text_of(tenant))) continue;
        struct trace_bytes of = spec_of(m, v->current)->replica_of;
        if (of.len == set.len && memcmp(of.at, set.at, set.len) == 0 && number_in(set, v->name) == number) return v;
    }
    return NULL;
}

static void remove_unless_deployed(struct model_service *v) {
    if (v == NULL || v->deploying) return;
    v->desired = TY_REMOVED;
    remember(v, v->current, TVERSION_RETIRED);
    v->current = v->previous = 0;
}

#define NUMBER_MAX 256u

static void remove_above(struct model *m, struct model_text tenant, struct trace_bytes set, uint32_t replicas) {
    for (uint32_t n = replicas + 1; n <= NUMBER_MAX; n++) remove_unless_deployed(member(m, tenant, set, n));
}

void model_replica_trim(struct model *m, struct model_text tenant, struct trace_bytes set, uint32_t replicas) {
    remove_above(m, tenant, set, replicas);
    struct model_service *alone = find(m, text_of(tenant), set);
    if (alone != NULL && alone->current != 0 && spec_of(m, alone->current)->replica_of.len == 0)
        remove_unless_deployed(alone);
}

/* ---- deploying ---- */

void model_service_deploys(struct model *m, uint64_t flow, uint32_t ordinal) {
    m->deploys = realloc(m->deploys, (m->deploy_count + 1) * sizeof *m->deploys);
    REQUIRE(m->deploys != NULL);
    m->deploys[m->deploy_count++] = (struct model_made){flow, ordinal};
}

static uint64_t make_version(struct model *m, struct model_service *v, struct trace_bytes submitter,
                             const struct trace_job *runner) {
    uint64_t id = 0;
    for (uint32_t i = 0; i < m->flow_count; i++) id = m->flows[i].id > id ? m->flows[i].id : id;
    id++;
    struct model_flow *f = model_flow_push(m, id, submitter, text_of(v->tenant));
    f->of_service = true;
    f->more = true;
    model_job_push(f, runner, m->time_ms);
    f->jobs[0].behind = true;
    v->versions = realloc(v->versions, (v->version_count + 1) * sizeof *v->versions);
    REQUIRE(v->versions != NULL);
    v->versions[v->version_count++] =
        (struct model_version){.flow = id, .runner = runner, .by = v->by, .state = TVERSION_DEPLOYS};
    return id;
}

static void tell_version(struct model *m, uint64_t version, struct model_made by) {
    m->made_versions = realloc(m->made_versions, (m->made_version_count + 1) * sizeof *m->made_versions);
    REQUIRE(m->made_versions != NULL);
    m->made_versions[m->made_version_count++] = (struct model_deployed){version, by};
}

/* The job stands before the question whether what it deploys is healthy. */
static bool is_asking(const struct model_job *j) {
    return j->state == TS_HELD && j->has_question && j->gate == TG_SERVICE;
}

static struct model_service *service_new(struct model *m, struct trace_bytes tenant, struct trace_bytes name) {
    m->services = realloc(m->services, (m->service_count + 1) * sizeof *m->services);
    REQUIRE(m->services != NULL);
    struct model_service *v = &m->services[m->service_count++];
    *v = (struct model_service){.tenant = model_text_copy(tenant), .name = model_text_copy(name)};
    return v;
}

static void deploy(struct model *m, struct model_made by) {
    const struct model_flow *f = model_flow_find(m, by.flow);
    const struct model_job *j = &f->jobs[by.ordinal];
    if (!is_asking(j)) return; /* its own record called it off */
    struct trace_bytes tenant = text_of(f->tenant), name = j->spec.service;
    struct model_service *v = find(m, tenant, name);
    if (v == NULL) v = service_new(m, tenant, name);
    if (v->deploying) {
        struct model_flow *loser = model_flow_find(m, v->by.flow);
        struct model_job *lost = &loser->jobs[v->by.ordinal];
        if (!trace_is_terminal(lost->state)) model_rules_end(m, loser, lost, TS_FAILED, TC_REPLACED);
        remember(v, v->current, TVERSION_FAILED);
        v->current = 0;
    } else {
        v->previous = v->current;
    }
    const struct trace_job *runner = model_flow_find(m, by.flow)->jobs[by.ordinal].spec.runner;
    bool overlaps = v->previous != 0 && runner->start_first && may_go_on(m, v->previous);
    if (overlaps && !v->overlaps) {
        v->previous_healthy = v->healthy;
        v->previous_since_ms = v->since_ms;
    }
    v->overlaps = overlaps;
    if (v->previous != 0 && !overlaps) stop(m, v->previous);
    v->deploying = true;
    v->by = by;
    v->deployed_ms = m->time_ms;
    v->desired = TY_RUNNING;
    v->healthy = false;
    v->since_ms = m->time_ms;
    f = model_flow_find(m, by.flow);
    v->current = make_version(m, v, text_of(f->submitter), runner);
    struct model_flow *version = model_flow_find(m, v->current);
    version->source = model_text_copy(text_of(model_flow_find(m, by.flow)->source)); /* the file that deployed it */
    tell_version(m, v->current, by);
}

bool model_version_made(struct model *m, struct trace_version *ret) {
    if (m->made_version_count == 0) return false;
    struct model_deployed first = m->made_versions[0];
    for (uint32_t i = 1; i < m->made_version_count; i++) m->made_versions[i - 1] = m->made_versions[i];
    m->made_version_count--;
    const struct model_service *v = of_flow(m, first.version);
    *ret = (struct trace_version){.flow = first.version,
                                  .tenant = text_of(v->tenant),
                                  .service = text_of(v->name),
                                  .runner = version_of(v, first.version)->runner,
                                  .by_flow = first.by.flow,
                                  .by_ordinal = first.by.ordinal};
    return true;
}

/* ---- records ---- */

/* One more replica, as that of number `from`. */
static void add_member(struct model *m, const struct trace_scaled *r, struct trace_bytes name) {
    struct model_service *v = find(m, r->tenant, name);
    if (v == NULL) v = service_new(m, r->tenant, name);
    if (v->current != 0) return;
    const struct model_service *like = member(m, v->tenant, r->name, r->from);
    REQUIRE(like != NULL);
    struct trace_bytes submitter = text_of(model_flow_find(m, like->current)->submitter);
    v->desired = TY_RUNNING;
    v->healthy = false;
    v->since_ms = m->time_ms;
    v->current = make_version(m, v, submitter, version_of(like, like->current)->runner);
    struct model_flow *version = model_flow_find(m, v->current);
    version->source = model_text_copy(text_of(model_flow_find(m, like->current)->source)); /* as what it is a copy of */
    struct model_version *made = version_of(v, v->current);
    made->by = (struct model_made){0, 0};
    made->state = TVERSION_CURRENT;
    tell_version(m, v->current, (struct model_made){0, 0});
}

bool model_replica_scaled(struct model *m, const struct trace_scaled *r, char *text) {
    struct model_text tenant = {(uint8_t *)(uintptr_t)r->tenant.at, r->tenant.len};
    const struct model_service *from = r->from != 0 ? member(m, tenant, r->name, r->from) : NULL;
    if (r->replicas == 0 || r->replicas > NUMBER_MAX) return model_object(text, "a set of %u replicas", r->replicas);
    if (r->from != 0 && (from == NULL || from->desired != TY_RUNNING || r->from > r->replicas))
        return model_object(text, "replicas like number %u, which does not run", r->from);
    bool known = false;
    for (uint32_t n = 1; n <= NUMBER_MAX; n++) {
        const struct model_service *v = member(m, tenant, r->name, n);
        if (v != NULL && v->deploying) return model_object(text, "a set is scaled while replica %u is deployed", n);
        if (v == NULL && n <= r->replicas && r->from == 0) return model_object(text, "replica %u is not made", n);
        known |= v != NULL;
    }
    if (!known) return model_object(text, "a set that is not known");
    remove_above(m, tenant, r->name, r->replicas);
    for (uint32_t n = 1; r->from != 0 && n <= r->replicas; n++) {
        char name[300];
        int len = snprintf(name, sizeof name, "%.*s.%u", (int)r->name.len, (const char *)r->name.at, n);
        add_member(m, r, (struct trace_bytes){(const uint8_t *)name, (uint32_t)len});
    }
    return true;
}

bool model_service_set(struct model *m, const struct trace_service *r, char *text) {
    struct model_service *v = find(m, r->tenant, r->name);
    if (v == NULL) return model_object(text, "a service that is not known");
    if (v->desired == TY_REMOVED) return model_object(text, "a service that is being removed");
    if (v->desired == r->desired) return model_object(text, "a service that is so already");
    v->desired = r->desired;
    if (r->desired != TY_RUNNING && v->deploying) {
        struct model_flow *f = model_flow_find(m, v->by.flow);
        model_rules_end(m, f, &f->jobs[v->by.ordinal], TS_FAILED, TC_REQUEST);
    }
    return true;
}

bool model_service_health(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_health *r,
                          char *text) {
    if (!f->of_service) return model_object(text, "the health of what is no service");
    struct model_service *v = of_flow(m, f->id);
    if (!model_job_is_active(j) || j->attempt != r->attempt) return model_object(text, "the health of no open attempt");
    bool beside = v->overlaps && v->previous == f->id;
    if (v->current != f->id && !beside)
        return model_object(text, "the health of a version that is not the current one");
    if (j->stop != TX_NONE) return model_object(text, "the health of what is being stopped");
    if (beside) {
        if (v->previous_healthy != r->healthy) v->previous_since_ms = m->time_ms;
        v->previous_healthy = r->healthy;
        return true;
    }
    if (v->healthy == r->healthy) return true; /* a word about where it listens, or why it does not */
    v->healthy = r->healthy;
    v->since_ms = m->time_ms;
    if (!r->healthy || !v->deploying) return true;
    struct model_flow *by = model_flow_find(m, v->by.flow);
    v->deploying = v->overlaps = false;
    remember(v, v->current, TVERSION_CURRENT);
    remember(v, v->previous, TVERSION_RETIRED);
    v->previous = 0;
    model_rules_end(m, by, &by->jobs[v->by.ordinal], TS_SUCCEEDED, TC_NONE);
    if (spec_of(m, v->current)->replica_of.len == 0) remove_above(m, v->tenant, text_of(v->name), 0);
    return true;
}

bool model_service_unhealthy(struct model *m, struct model_flow *f, struct model_job *j, bool by_nobody, char *text) {
    const struct model_service *v = find(m, text_of(f->tenant), j->spec.service);
    if (!by_nobody) return model_object(text, "a verdict of someone on the health of a service");
    if (v == NULL || m->time_ms < v->deployed_ms + j->spec.healthy_within_ms)
        return model_object(text, "out of time to become healthy too early");
    model_rules_end(m, f, j, TS_FAILED, TC_UNHEALTHY);
    return true;
}

static int64_t restart_ms(const struct trace_job *spec, uint32_t restarts) {
    int64_t wait = spec->restart_base_ms;
    for (uint32_t i = 1; i < restarts && wait < spec->restart_cap_ms; i++) wait *= 2;
    return wait < spec->restart_cap_ms ? wait : spec->restart_cap_ms;
}

void model_service_ended(struct model *m, struct model_flow *f, struct model_job *j, enum trace_outcome outcome) {
    struct model_service *v = of_flow(m, f->id);
    bool current = v->current == f->id, beside = v->overlaps && v->previous == f->id;
    if (beside && v->previous_healthy && m->time_ms - v->previous_since_ms >= j->spec.restart_reset_ms) j->used = 0;
    if (beside) {
        v->previous_healthy = false;
        v->previous_since_ms = m->time_ms;
    }
    if (current && v->healthy && m->time_ms - v->since_ms >= j->spec.restart_reset_ms) j->used = 0;
    if (current) {
        v->healthy = false;
        v->since_ms = m->time_ms;
    }
    if (j->stop == TX_CANCEL) {
        model_rules_end(m, f, j, TS_CANCELLED, TC_REQUEST);
        return;
    }
    bool at_once = j->stop == TX_MOVE || outcome == TO_LOST;
    j->stop = TX_NONE;
    if (at_once) {
        model_rules_move(m, j, TS_READY);
        return;
    }
    j->used++;
    j->waits_for_time = true;
    j->due_least_ms = m->time_ms + restart_ms(&j->spec, j->used);
    j->due_most_ms = j->due_least_ms + (j->spec.backoff_jitter_ms > 0 ? j->spec.backoff_jitter_ms - 1 : 0);
    model_rules_move(m, j, TS_WAITING);
}

static uint32_t drain_of(const struct model *m, struct trace_bytes worker) { /* its place; drain_count = none */
    uint32_t i = 0;
    while (i < m->drain_count && !is_text(m->drains[i].worker, worker)) i++;
    return i;
}

static void drain_end(struct model *m, uint32_t at) {
    free(m->drains[at].worker.at);
    m->drains[at] = m->drains[--m->drain_count];
}

void model_service_drain(struct model *m, struct trace_bytes worker, bool on, bool own) {
    uint32_t at = drain_of(m, worker);
    if (!on) {
        if (at < m->drain_count) drain_end(m, at);
        return;
    }
    if (at == m->drain_count) {
        m->drains = realloc(m->drains, (m->drain_count + 1) * sizeof *m->drains);
        REQUIRE(m->drains != NULL);
        m->drains[m->drain_count++].worker = model_text_copy(worker);
    }
    m->drains[at].own = own;
}

void model_service_attach(struct model *m, struct trace_bytes worker) {
    uint32_t at = drain_of(m, worker);
    if (at < m->drain_count && m->drains[at].own) drain_end(m, at);
}

/* ---- what follows ---- */

/* True when the job no longer waits for the version it made, and nobody has said that this one is healthy. */
static bool has_failed(const struct model *m, const struct model_service *v) {
    if (!v->deploying) return false;
    const struct model_job *j = model_job_find(m, v->by.flow, v->by.ordinal);
    return j == NULL || !is_asking(j);
}

static void let_go(struct model *m, uint64_t flow) {
    struct model_flow *f = model_flow_find(m, flow);
    struct model_job *j = &f->jobs[0];
    if (trace_is_terminal(j->state)) {
        model_rules_retry(m, f, 0, false);
    } else if (j->behind) {
        j->behind = false;
        model_rules_judge_new(m, f, 0);
    }
}

static void look_at(struct model *m, struct model_service *v) {
    if (has_failed(m, v)) {
        v->deploying = false;
        remember(v, v->current, TVERSION_FAILED);
        v->current = v->previous;
        v->previous = 0;
        v->healthy = v->overlaps && v->previous_healthy;
        v->since_ms = v->overlaps ? v->previous_since_ms : m->time_ms;
        v->overlaps = false;
    }
    if (v->desired == TY_REMOVED) {
        remember(v, v->current, TVERSION_RETIRED);
        v->current = v->previous = 0;
    }
    uint64_t wanted = v->desired == TY_RUNNING ? v->current : 0;
    bool clear = true, any = false;
    for (uint32_t i = 0; i < v->version_count; i++) {
        struct model_version *version = &v->versions[i];
        if (version->gone) continue;
        bool kept = version->flow == v->current || version->flow == v->previous;
        struct model_flow *f = model_flow_find(m, version->flow);
        f->more = kept;
        bool may_run = version->flow == wanted || (v->overlaps && version->flow == v->previous);
        if (!may_run) stop(m, version->flow);
        bool over = trace_is_terminal(f->jobs[0].state);
        if (!may_run && !over) clear = false;
        version->gone = f->forgotten = !kept && over;
        any |= !version->gone;
    }
    v->gone = !any;
    if (wanted != 0 && clear) let_go(m, wanted);
}

bool model_service_deploy(struct model *m) {
    if (m->deploy_count == 0) return false;
    struct model_made first = m->deploys[0];
    for (uint32_t i = 1; i < m->deploy_count; i++) m->deploys[i - 1] = m->deploys[i];
    m->deploy_count--;
    deploy(m, first);
    return true;
}

void model_service_go_on(struct model *m) {
    for (uint32_t i = 0; i < m->service_count; i++) {
        if (!m->services[i].gone) look_at(m, &m->services[i]);
    }
}

/* ---- comparison ---- */

static bool is_draining(const struct model *m, struct model_text worker) {
    for (uint32_t i = 0; i < m->drain_count; i++) {
        if (is_text(m->drains[i].worker, text_of(worker))) return true;
    }
    return false;
}

static bool same_versions(const struct model_service *v, const struct trace_service_now *now, char *text) {
    int len = (int)v->name.len;
    const char *name = (const char *)v->name.at;
    uint32_t kept = v->version_count < TRACE_VERSIONS_MAX ? v->version_count : TRACE_VERSIONS_MAX;
    if (now->version_count != kept)
        return model_object(text, "service %.*s remembers %u versions, must remember %u", len, name, now->version_count,
                            kept);
    for (uint32_t i = 0; i < kept; i++) {
        const struct trace_version_now *is = &now->versions[i];
        const struct model_version *must = &v->versions[v->version_count - kept + i];
        if (is->flow != must->flow || is->by_flow != must->by.flow || is->by_ordinal != must->by.ordinal)
            return model_object(text, "service %.*s remembers flow %llu by %llu/%u, must remember %llu by %llu/%u", len,
                                name, (unsigned long long)is->flow, (unsigned long long)is->by_flow, is->by_ordinal,
                                (unsigned long long)must->flow, (unsigned long long)must->by.flow, must->by.ordinal);
        if (is->state != must->state)
            return model_object(text, "service %.*s: the version of flow %llu is %d, must be %d", len, name,
                                (unsigned long long)is->flow, (int)is->state, (int)must->state);
    }
    return true;
}

static bool same(const struct model *m, const struct model_service *v, const struct trace_service_now *now,
                 char *text) {
    int len = (int)v->name.len;
    const char *name = (const char *)v->name.at;
    if (now->desired != v->desired)
        return model_object(text, "service %.*s is to be %d, must be %d", len, name, (int)now->desired,
                            (int)v->desired);
    if (now->current != v->current)
        return model_object(text, "service %.*s runs flow %llu, must run %llu", len, name,
                            (unsigned long long)now->current, (unsigned long long)v->current);
    if (now->deploying != v->deploying)
        return model_object(text, "service %.*s: deploying is %d, must be %d", len, name, now->deploying, v->deploying);
    if (now->healthy != v->healthy || now->since_ms != v->since_ms)
        return model_object(text, "service %.*s: healthy is %d since %lld, must be %d since %lld", len, name,
                            now->healthy, (long long)now->since_ms, v->healthy, (long long)v->since_ms);
    if (!same_versions(v, now, text)) return false;
    if (v->current == 0) return true;
    const struct model_job *j = runner_of(m, v->current);
    if (model_job_is_active(j) && j->stop == TX_NONE && is_draining(m, j->worker))
        return model_object(text, "service %.*s stays on a worker that drains", len, name);
    return true;
}

bool model_compare_services(const struct model *m, const struct trace_service_now *services, uint32_t count,
                            char text[MODEL_TEXT_BYTES]) {
    uint32_t alive = 0;
    for (uint32_t i = 0; i < m->service_count; i++) alive += !m->services[i].gone;
    if (alive != count) return model_object(text, "%u services, must be %u", count, alive);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_service *v = find(m, services[i].tenant, services[i].name);
        if (v == NULL) return model_object(text, "a service should not be there");
        if (!same(m, v, &services[i], text)) return false;
    }
    return true;
}
