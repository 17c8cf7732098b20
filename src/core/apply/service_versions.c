/* service_versions.c: see service_versions.h. */
#include "service_versions.h"

#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "rules.h"
#include "service.h"

#define SPEC_BYTES_MAX ((size_t)4 << 20) /* limits of decide keep a job and its options far below */

static struct service_version *find(const struct service *v, uint64_t flow) {
    for (uint32_t i = 0; i < v->versions.count; i++) {
        struct service_version *one = vec_at(&v->versions, i);
        if (one->flow == flow) return one;
    }
    return NULL;
}

static struct service_version *push(struct service *v) {
    if (v->versions.at == NULL) vec_init(&v->versions, sizeof(struct service_version));
    if (v->versions.count == SERVICE_VERSIONS) {
        struct service_version *oldest = vec_at(&v->versions, 0);
        bytes_free(oldest->spec);
        memmove(oldest, vec_at(&v->versions, 1), (SERVICE_VERSIONS - 1) * sizeof *oldest);
        v->versions.count--;
    }
    ENSURE(v->versions.count < SERVICE_VERSIONS);
    return vec_push(&v->versions);
}

/* A job of a flow as a job by itself: its body is rendered, and what decided when it starts is over. */
static struct options options_alone(const struct options *from) {
    struct options o = *from;
    o.gates &= (uint8_t) ~(GATE_BIT(GATE_CONDITION) | GATE_BIT(GATE_RENDER) | GATE_BIT(GATE_EXPANSION));
    o.on_upstream = UPSTREAM_FAIL;
    o.trigger = TRIGGER_ALL_SUCCEEDED;
    o.delay_from_submit = false;
    o.delay_ms = o.not_before_ms = o.deadline_ms = 0;
    o.raw = (struct slice){0}; /* these bytes say something else */
    return o;
}

/* What would be submitted to deploy it once more. */
static struct bytes *spec_of(struct state *s, const struct job *j, const struct rec_job *rec) {
    const struct extra *x = extra_at(s, j->extra);
    if (x->constraints.len > 0) return NULL;
    struct flow_head head;
    struct options options = options_alone(job_options(s, j));
    flow_head_get(flow_at(s, j->flow), &s->scratch, &head);
    struct rec_job job = {.name = rec->name,
                          .service = rec->service,
                          .body = x->body.len ? x->body : rec->body,
                          .body_hash = x->body_hash.len ? x->body_hash : rec->body_hash};
    struct rec_submitted spec = {
        .head = {.principal = head.principal}, .name = rec->service, .profiles = {&options, 1}, .jobs = {&job, 1}};
    struct buf bytes;
    buf_init(&bytes, SPEC_BYTES_MAX);
    tlv_encode(record_desc(REC_SUBMITTED), &spec, &bytes);
    struct bytes *ret = bytes.full ? NULL : bytes_new(buf_slice(&bytes));
    buf_fini(&bytes);
    return ret;
}

void service_versions_begin(struct state *s, struct service *v, uint32_t job, const struct rec_job *rec) {
    const struct job *j = job_at(s, job);
    if (flow_at(s, j->flow)->rules < VERSION_RULES) return;
    REQUIRE(v->current.flow != 0);
    REQUIRE(find(v, flow_at(s, v->current.flow)->id) == NULL);
    *push(v) = (struct service_version){.number = v->current.number,
                                        .state = VERSION_DEPLOYING,
                                        .flow = flow_at(s, v->current.flow)->id,
                                        .deployer = job_ref_of(s, j),
                                        .begun_ms = s->now.ms,
                                        .spec = spec_of(s, j, rec)};
}

void service_versions_accept(struct state *s, struct service *v) {
    struct service_version *one = find(v, flow_at(s, v->current.flow)->id);
    if (one == NULL) return; /* of older rules */
    REQUIRE(one->state == VERSION_DEPLOYING);
    if (MUTANT(version_never_accepted)) return;
    one->state = VERSION_CURRENT;
    one->healthy_ms = s->now.ms;
}

void service_versions_end(struct state *s, struct service *v, uint32_t flow, enum version_state how) {
    struct service_version *one = find(v, flow_at(s, flow)->id);
    if (one == NULL || one->ended_ms != 0 || MUTANT(version_end_lost)) return;
    REQUIRE(how == VERSION_RETIRED || how == VERSION_FAILED);
    const struct job *runner = job_at(s, flow_at(s, flow)->jobs.at[SERVICE_RUNNER]);
    one->state = (uint8_t)how;
    one->restarts = runner->attempt > 0 ? runner->attempt - 1 : 0;
    one->ended_ms = s->now.ms;
}

void service_versions_release(struct service *v) {
    for (uint32_t i = 0; i < v->versions.count; i++)
        bytes_free(((struct service_version *)vec_at(&v->versions, i))->spec);
    vec_fini(&v->versions);
}

/* ---- snapshots ---- */

struct tlv_list service_versions_object(const struct service *v, struct arena *arena) {
    struct snap_version *list = ARENA_ARRAY(arena, struct snap_version, v->versions.count + 1);
    for (uint32_t i = 0; i < v->versions.count; i++) {
        const struct service_version *one = vec_at(&v->versions, i);
        list[i] = (struct snap_version){.number = one->number,
                                        .state = one->state,
                                        .restarts = one->restarts,
                                        .flow = one->flow,
                                        .deployer = one->deployer.flow.v,
                                        .deployer_ordinal = one->deployer.ordinal,
                                        .begun_ms = one->begun_ms,
                                        .healthy_ms = one->healthy_ms,
                                        .ended_ms = one->ended_ms,
                                        .spec = bytes_slice(one->spec)};
    }
    return (struct tlv_list){list, v->versions.count};
}

#define FITS(fact, what) \
    if (!(fact)) return why_set(why, ERR_CORRUPT, "a snapshot does not fit together: %s", what)

static enum err check_spec(struct slice bytes, struct slice service, struct arena *arena, struct why *why) {
    struct rec_submitted spec;
    if (bytes.len == 0) return ERR_OK;
    enum err e = tlv_decode(record_desc(REC_SUBMITTED), bytes, TLV_STRICT, arena, &spec, why);
    if (e != ERR_OK) return e;
    FITS(spec.jobs.count == 1 && spec.profiles.count == 1, "a version of several jobs");
    const struct rec_job *job = spec.jobs.at;
    const struct options *options = spec.profiles.at;
    FITS(job->profile == 0 && slice_eq(job->service, service), "a version of another service");
    FITS(options->kind == JOB_SERVICE, "a version that deploys nothing");
    return ERR_OK;
}

enum err service_versions_load(struct service *v, const struct snap_service *o, struct arena *arena, struct why *why) {
    const struct snap_version *list = o->versions.at;
    uint32_t before = 0;
    FITS(o->versions.count <= SERVICE_VERSIONS, "too many versions");
    for (uint32_t i = 0; i < o->versions.count; before = list[i++].number) {
        FITS(list[i].number > before && list[i].number <= o->version_last, "versions out of order");
        FITS(list[i].flow != 0 && find(v, list[i].flow) == NULL, "a version of no flow, or of two");
        FITS((list[i].ended_ms != 0) == (list[i].state >= VERSION_RETIRED), "a version that ended and goes on");
        enum err e = check_spec(list[i].spec, o->name, arena, why);
        if (e != ERR_OK) return e;
        *push(v) = (struct service_version){.number = list[i].number,
                                            .state = list[i].state,
                                            .restarts = list[i].restarts,
                                            .flow = list[i].flow,
                                            .deployer = {{list[i].deployer}, list[i].deployer_ordinal},
                                            .begun_ms = list[i].begun_ms,
                                            .healthy_ms = list[i].healthy_ms,
                                            .ended_ms = list[i].ended_ms,
                                            .spec = list[i].spec.len > 0 ? bytes_new(list[i].spec) : NULL};
    }
    return ERR_OK;
}
