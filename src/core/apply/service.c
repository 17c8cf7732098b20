/* service.c: see service.h. */
#include "service.h"

#include "attempt.h"
#include "attempt_notes.h"
#include "class.h"
#include "effects.h"
#include "flow.h"
#include "flow_lists.h"
#include "job_transition.h"
#include "mutant.h"
#include "objects.h"
#include "panic.h"
#include "propagate.h"
#include "question.h"
#include "replica.h"
#include "rules.h"
#include "service_versions.h"
#include "store.h"
#include "utf8.h"

#define NAME_BYTES_MAX 255u
#define RESTARTS_COUNTED 1000u /* far behind the cap of any backoff */

/* ---- names ---- */

static struct slice service_key(const void *ctx, uint32_t value) {
    return bytes_slice(service_at(ctx, value)->key);
}

static struct slice make_key(uint8_t at[4 + NAME_BYTES_MAX], uint32_t tenant, struct slice name) {
    REQUIRE(name.len <= NAME_BYTES_MAX);
    memcpy(at, &tenant, 4); /* never leaves the process: byte order does not matter */
    memcpy(at + 4, name.ptr, name.len);
    return slice_of(at, 4 + name.len);
}

uint32_t service_find(const struct state *s, uint32_t tenant, struct slice name) {
    uint8_t at[4 + NAME_BYTES_MAX];
    if (tenant == 0 || name.len == 0 || name.len > NAME_BYTES_MAX) return 0;
    return index_get(&s->service_by_name, make_key(at, tenant, name), service_key, s);
}

struct slice service_name(const struct service *v) {
    struct slice key = bytes_slice(v->key);
    ENSURE(key.len > 4);
    return slice_of(key.ptr + 4, key.len - 4);
}

uint32_t service_of_flow(const struct state *s, const struct flow *f) {
    if (!f->of_service) return 0;
    uint32_t service = map_get(&s->service_by_flow, f->id);
    ENSURE(service != 0);
    return service;
}

uint32_t service_make(struct state *s, uint32_t tenant, struct slice name) {
    uint8_t at[4 + NAME_BYTES_MAX];
    REQUIRE(tenant != 0);
    REQUIRE(name.len > 0);
    struct slice key = make_key(at, tenant, name);
    uint32_t index = pool_alloc(&s->services);
    ENSURE(index != 0);
    *service_at(s, index) = (struct service){.key = bytes_new(key), .tenant = tenant, .health.since = s->now};
    index_put(&s->service_by_name, key, index);
    return index;
}

static void service_free(struct state *s, uint32_t index) {
    struct service *v = service_at(s, index);
    REQUIRE(v->flow_count == 0);
    REQUIRE(v->current.flow == 0);
    REQUIRE(v->deployer == 0);
    REQUIRE(v->beside == 0);
    index_del(&s->service_by_name, bytes_slice(v->key), index);
    bytes_free(v->key);
    bytes_free(v->health.note);
    service_versions_release(v);
    v->key = v->health.note = NULL;
    pool_free(&s->services, index);
}

void service_link(struct state *s, uint32_t service, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(!f->of_service);
    f->of_service = true;
    map_put(&s->service_by_flow, f->id, service);
    service_at(s, service)->flow_count++;
}

static void unlink_flow(struct state *s, uint32_t service, uint32_t flow) {
    REQUIRE(service_at(s, service)->flow_count > 0);
    map_del(&s->service_by_flow, flow_at(s, flow)->id);
    service_at(s, service)->flow_count--;
}

/* ---- which version runs ---- */

static uint32_t runner_of(const struct state *s, uint32_t flow) {
    const struct flow *f = flow_at(s, flow);
    REQUIRE(f->of_service);
    REQUIRE(f->jobs.count == 1); /* a version is a flow of one job */
    return f->jobs.at[SERVICE_RUNNER];
}

static bool is_over(const struct state *s, uint32_t flow) {
    return job_state_is_terminal(job_at(s, runner_of(s, flow))->state);
}

static void stop(struct state *s, uint32_t flow) {
    uint32_t runner = runner_of(s, flow);
    const struct job *j = job_at(s, runner);
    if (job_state_is_active(j->state) && run_at(s, j->link)->stop == STOP_CANCEL) return;
    job_cancel(s, runner, job_options(s, j)->stop_within_ms);
}

/* ---- two versions at once ---- */

static uint32_t index_of(const struct state *s, const struct service *v) {
    uint32_t index = index_get(&s->service_by_name, bytes_slice(v->key), service_key, s);
    ENSURE(index != 0);
    return index;
}

static struct two_versions *beside_make(struct state *s, struct service *v) {
    if (v->beside == 0) {
        v->beside = pool_alloc(&s->besides);
        ENSURE(v->beside != 0);
        *beside_at(s, v->beside) = (struct two_versions){.service = index_of(s, v)};
    }
    return beside_at(s, v->beside);
}

static void beside_drop_done(struct state *s, struct service *v) {
    if (v->beside == 0) return;
    const struct two_versions *o = beside_at(s, v->beside);
    if (o->is_open || o->retiring) return;
    ENSURE(o->health.note == NULL);
    beside_at(s, v->beside)->service = 0;
    pool_free(&s->besides, v->beside);
    v->beside = 0;
}

bool service_overlaps(const struct state *s, const struct service *v) {
    return v->beside && beside_at(s, v->beside)->is_open;
}

/* The version before goes on beside the one that is deployed; what is known of its health goes on with it. */
static void beside_open(struct state *s, struct service *v) {
    struct two_versions *o = beside_make(s, v);
    REQUIRE(!o->is_open);
    o->is_open = true;
    o->health = v->health;
    v->health.note = NULL; /* moved */
}

/* The deployment is decided. `ret`, unless NULL, gets what is known of the version before. */
static void beside_close(struct state *s, struct service *v, struct health *ret) {
    REQUIRE(service_overlaps(s, v));
    struct two_versions *o = beside_at(s, v->beside);
    if (ret)
        *ret = o->health;
    else
        bytes_free(o->health.note);
    o->health = (struct health){0};
    o->is_open = false;
    beside_drop_done(s, v);
}

/* A service whose new version starts first keeps the old one, unless that does not run, is on its way out, or was
 * promised to be alone. */
static bool may_overlap(const struct state *s, uint32_t from, const struct options *to) {
    if (from == 0 || to->update != UPDATE_START_FIRST || is_over(s, from)) return false;
    const struct job *j = job_at(s, runner_of(s, from));
    if (job_options(s, j)->exclusive) return false;
    return !job_state_is_active(j->state) || run_at(s, j->link)->stop != STOP_CANCEL;
}

/* Where a version is noted until its worker has let it go. Two at most are held at once: one that starts first waits
 * until all others but the one it replaces are gone. */
static uint32_t *place_to_retire(struct state *s, struct service *v) {
    if (v->retiring == 0 || is_over(s, v->retiring)) return &v->retiring;
    struct two_versions *o = beside_make(s, v);
    ENSURE(o->retiring == 0 || is_over(s, o->retiring));
    return &o->retiring;
}

/* A version that is not to come back. Only one that a worker still holds is waited for. */
static void retire(struct state *s, struct service *v, uint32_t flow) {
    REQUIRE(flow != 0);
    flow_at(s, flow)->more = false;
    stop(s, flow);
    if (!is_over(s, flow)) *place_to_retire(s, v) = flow;
    propagate_touch(s, flow);
}

/* `parents_open` of a new runner says that it waits behind another version. */
static void let_go(struct state *s, uint32_t runner) {
    struct job *j = job_at(s, runner);
    if (job_state_is_terminal(j->state))
        job_reset(s, runner);
    else if (j->state != JOB_WAITING || j->parents_open == 0)
        return; /* it has been */
    j->parents_open = 0;
    job_advance(s, runner);
}

/* First everything else stops, then the wanted version runs: a service is one process at a time, but for the version
 * before one that starts first. */
static void go_on(struct state *s, struct service *v) {
    uint32_t wanted = v->desired == SERVICE_RUNNING ? v->current.flow : 0;
    bool overlaps = service_overlaps(s, v);
    const uint32_t versions[] = {v->current.flow, overlaps && !MUTANT(old_stopped_first) ? 0 : v->previous.flow,
                                 v->retiring, v->beside ? beside_at(s, v->beside)->retiring : 0};
    bool is_clear = true;
    ENSURE(!overlaps || (wanted && v->deployer));
    for (uint32_t i = 0; i < 4; i++) {
        if (versions[i] == 0 || versions[i] == wanted) continue;
        stop(s, versions[i]);
        is_clear &= is_over(s, versions[i]);
    }
    if (wanted && is_clear) let_go(s, runner_of(s, wanted));
}

/* A version is a flow of one job: it leaves at once. */
static void forget(struct state *s, uint32_t flow) {
    REQUIRE(!flow_at(s, flow)->is_working);
    flow_hide(s, flow);
    flow_at(s, flow)->sweep = SWEEP_FORGET;
    flow_shed_job(s, flow);
    flow_free(s, flow);
}

void service_settled(struct state *s, uint32_t flow) {
    uint32_t index = service_of_flow(s, flow_at(s, flow));
    struct service *v = service_at(s, index);
    bool is_kept = flow == v->current.flow || flow == v->previous.flow;
    if (!is_kept && is_over(s, flow)) {
        if (v->retiring == flow) v->retiring = 0;
        if (v->beside && beside_at(s, v->beside)->retiring == flow) beside_at(s, v->beside)->retiring = 0;
        beside_drop_done(s, v);
        unlink_flow(s, index, flow);
        store_drop_flow(s, flow_at(s, flow)->id);
        forget(s, flow);
    }
    if (v->flow_count)
        go_on(s, v);
    else
        service_free(s, index);
}

/* ---- deploying ---- */

void service_name_runner(struct state *s, struct job *j, uint32_t profile) {
    REQUIRE(profile != 0);
    struct extra *x = job_extra(s, j);
    REQUIRE(x->runner_profile == 0);
    x->runner_profile = profile;
    profile_ref(s, profile);
}

bool service_is_deployed_by(const struct state *s, const struct job *j) {
    return j->extra && extra_at(s, j->extra)->runner_profile;
}

static void health_changed(struct state *s, struct health *h, bool healthy) {
    h->healthy = healthy;
    h->since = s->now;
}

static void remark(struct health *h, uint32_t port, struct slice note) {
    bytes_free(h->note);
    h->note = note.len > 0 ? bytes_new(note) : NULL;
    h->port = port;
}

/* Another attempt, or none: whatever was said is no longer true. */
static void health_unknown(struct state *s, struct health *h) {
    health_changed(s, h, false);
    remark(h, 0, (struct slice){0});
}

static struct health *health_of(const struct state *s, struct service *v, uint32_t flow) {
    if (v->current.flow == flow) return &v->health;
    if (service_overlaps(s, v) && v->previous.flow == flow) return &beside_at(s, v->beside)->health;
    return NULL;
}

const struct health *service_version_health(const struct state *s, const struct service *v, uint32_t flow) {
    REQUIRE(flow != 0);
    return health_of(s, (struct service *)(uintptr_t)v, flow);
}

/* What a version is made of. */
struct version_making {
    uint32_t head_of; /* flow whose head it gets, but for the name */
    uint32_t profile;
    struct slice body, body_hash, constraints;
};

static uint32_t make_version(struct state *s, uint32_t service, const struct version_making *of) {
    REQUIRE(of->profile != 0);
    REQUIRE(of->head_of != 0);
    struct flow_head head;
    flow_head_get(flow_at(s, of->head_of), &s->scratch, &head);
    head.name = service_name(service_at(s, service));
    buf_clear(&s->head_bytes);
    tlv_encode(&flow_head_desc, &head, &s->head_bytes);
    ENSURE(!s->head_bytes.full);
    uint32_t flow = flow_make(s, s->flow_last + 1, flow_at(s, of->head_of)->tenant, buf_slice(&s->head_bytes), 256);
    struct flow *f = flow_at(s, flow);
    f->more = true; /* the service says when it is over */
    service_link(s, service, flow);
    struct rec_job spec = {.name = head.name, .body = of->body, .body_hash = of->body_hash};
    struct job *runner = job_at(s, flow_make_job(s, flow, of->profile, &spec));
    if (of->constraints.len) job_extra(s, runner)->constraints = arena_slice(&f->arena, of->constraints);
    runner->parents_open = 1;
    struct event event = {.kind = EVENT_FLOW, .job = {{f->id}, NO_ORDINAL}, .flow_state = FLOW_RUNNING};
    emit_event(s, &event);
    return flow;
}

/* The newest wins. */
static void replace(struct state *s, struct service *v) {
    REQUIRE(v->deployer != 0);
    REQUIRE(v->current.flow != 0);
    uint32_t job = v->deployer, flow = v->current.flow;
    v->deployer = 0;
    v->current = (struct version){0};
    service_versions_end(s, v, flow, VERSION_FAILED);
    retire(s, v, flow);
    question_close(s, job_at(s, job));
    job_finish(s, job, JOB_FAILED, CAUSE_REPLACED);
}

void service_deploy(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    if (j->state == JOB_WAITING) job_move(s, job, JOB_HELD, CAUSE_NONE);
    question_open(s, job, GATE_SERVICE);
    if (flow_at(s, j->flow)->rules >= DEPLOY_RULES)
        u32vec_push(&s->deploying, job);
    else
        service_begin(s, job);
}

void service_begin(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    if (j->state != JOB_HELD) return; /* called off by the record that would have begun it */
    ENSURE(question_at(s, j->link)->gate == GATE_SERVICE);
    struct rec_job rec;
    job_record(j, &s->scratch, &rec);
    uint32_t tenant = flow_at(s, j->flow)->tenant;
    uint32_t index = service_find(s, tenant, rec.service);
    if (index == 0) index = service_make(s, tenant, rec.service);
    struct service *v = service_at(s, index);
    if (v->deployer)
        replace(s, v);
    else
        v->previous = v->current;
    const struct extra *x = extra_at(s, j->extra);
    bool overlaps = may_overlap(s, v->previous.flow, &profile_at(s, x->runner_profile)->options);
    if (!overlaps && service_overlaps(s, v)) beside_close(s, v, NULL);
    if (overlaps && !service_overlaps(s, v)) beside_open(s, v);
    const struct version_making of = {.head_of = j->flow,
                                      .profile = x->runner_profile,
                                      .body = x->body.len ? x->body : rec.body,
                                      .body_hash = x->body_hash.len ? x->body_hash : rec.body_hash,
                                      .constraints = x->constraints};
    v->desired = SERVICE_RUNNING;
    v->deployer = job;
    v->current = (struct version){make_version(s, index, &of), ++v->version_last};
    ENSURE(v->current.flow != v->previous.flow);
    service_versions_begin(s, v, job, &rec);
    health_unknown(s, &v->health);
    go_on(s, v);
}

void service_copy(struct state *s, uint32_t service, uint32_t from) {
    struct service *v = service_at(s, service);
    REQUIRE(v->current.flow == 0);
    REQUIRE(v->deployer == 0);
    uint32_t flow = service_at(s, from)->current.flow;
    const struct job *runner = job_at(s, runner_of(s, flow));
    struct rec_job rec;
    job_record(runner, &s->scratch, &rec);
    const struct version_making of = {.head_of = flow,
                                      .profile = runner->profile,
                                      .body = rec.body,
                                      .body_hash = rec.body_hash,
                                      .constraints =
                                          runner->extra ? extra_at(s, runner->extra)->constraints : (struct slice){0}};
    v->desired = SERVICE_RUNNING;
    v->current = (struct version){make_version(s, service, &of), ++v->version_last};
    service_versions_copied(s, v);
    health_unknown(s, &v->health);
    go_on(s, v);
}

const struct options *service_options(const struct state *s, const struct service *v) {
    REQUIRE(v->current.flow != 0);
    return job_options(s, job_at(s, runner_of(s, v->current.flow)));
}

/* The service whose deployment the job is, or NULL when that is decided. */
static struct service *deployed_by(const struct state *s, uint32_t job, struct arena *arena) {
    struct rec_job rec;
    job_record(job_at(s, job), arena, &rec);
    uint32_t index = service_find(s, flow_at(s, job_at(s, job)->flow)->tenant, rec.service);
    return index && service_at(s, index)->deployer == job ? service_at(s, index) : NULL;
}

void service_give_up(struct state *s, uint32_t job) {
    struct service *v = deployed_by(s, job, &s->scratch);
    if (v == NULL) return;
    REQUIRE(v->current.flow != 0);
    uint32_t failed = v->current.flow;
    v->deployer = 0;
    v->current = v->previous;
    v->previous = (struct version){0};
    if (MUTANT(service_not_rolled_back) && v->current.flow) {
        uint32_t other = v->current.flow;
        v->current.flow = failed;
        failed = other;
    }
    if (service_overlaps(s, v)) {
        bytes_free(v->health.note);
        beside_close(s, v, &v->health);
    } else {
        health_unknown(s, &v->health);
    }
    service_versions_end(s, v, failed, VERSION_FAILED);
    retire(s, v, failed);
    go_on(s, v);
}

static void accept(struct state *s, struct service *v) {
    REQUIRE(v->health.healthy);
    REQUIRE(v->deployer != 0);
    uint32_t job = v->deployer;
    v->deployer = 0;
    bool both = MUTANT(old_version_kept) && service_overlaps(s, v);
    if (service_overlaps(s, v)) beside_close(s, v, NULL);
    service_versions_accept(s, v);
    if (v->previous.flow) service_versions_end(s, v, v->previous.flow, VERSION_RETIRED);
    if (v->previous.flow && !both) retire(s, v, v->previous.flow);
    v->previous = (struct version){0};
    question_close(s, job_at(s, job));
    job_finish(s, job, JOB_SUCCEEDED, CAUSE_NONE);
    replica_accepted(s, v);
}

/* ---- attempts ---- */

void service_health(struct state *s, uint32_t job, const struct rec_health *word) {
    bool healthy = word->healthy;
    const struct job *j = job_at(s, job);
    REQUIRE(job_state_is_active(j->state));
    struct service *v = service_at(s, service_of_flow(s, flow_at(s, j->flow)));
    struct health *h = health_of(s, v, j->flow);
    if (h == NULL && MUTANT(old_version_counts)) h = &v->health;
    if (h == NULL) return;
    remark(h, word->port, word->note);
    if (h->healthy == healthy) return;
    health_changed(s, h, healthy);
    struct event event = {.kind = EVENT_SERVICE, .job = job_ref_of(s, j), .attempt = j->attempt, .healthy = healthy};
    emit_event(s, &event);
    if (healthy && v->deployer && h == &v->health) accept(s, v);
}

#define TROUBLE_BYTES_MAX 8192u /* before it is cut; what others say is shorter (reason_bytes_max) */

/* How an attempt of it ended; it should not have. */
static void put_end(const struct snap_attempt *a, struct buf *ret) {
    if (a->reason.len > 0)
        buf_printf(ret, "last attempt: %.*s", SLICE_FMT(a->reason));
    else if (a->signal != 0)
        buf_printf(ret, "last attempt: it was killed by signal %u", a->signal);
    else
        buf_printf(ret, "last attempt: it ended with exit code %u", a->exit_code);
}

struct slice service_trouble(const struct state *s, uint32_t job, struct arena *arena) {
    const struct service *v = deployed_by(s, job, arena);
    if (v == NULL || v->current.flow == 0 || v->health.healthy) return (struct slice){0};
    const struct job *runner = job_at(s, flow_at(s, v->current.flow)->jobs.at[SERVICE_RUNNER]);
    struct slice note = bytes_slice(v->health.note);
    struct snap_attempt *ended;
    struct buf b;
    buf_init(&b, TROUBLE_BYTES_MAX);
    if (note.len > 0) {
        buf_printf(&b, "last probe: %.*s", SLICE_FMT(note));
    } else {
        uint32_t count = note_facts(s, runner, arena, &ended);
        if (count > 0) put_end(&ended[count - 1], &b);
    }
    struct slice text = arena_slice(arena, utf8_cut(buf_slice(&b), NOTE_REASON_BYTES));
    buf_fini(&b);
    return text;
}

/* True when the attempt had been healthy for so long that what failed before no longer counts. */
static bool was_fine(const struct state *s, const struct health *h, const struct job *j) {
    return h->healthy && s->now.ms - h->since.ms >= job_options(s, j)->restart_reset_ms;
}

void service_attempt_over(struct state *s, uint32_t job, enum stop_cause cause, enum outcome outcome) {
    struct job *j = job_at(s, job);
    REQUIRE(j->link == 0);
    struct service *v = service_at(s, service_of_flow(s, flow_at(s, j->flow)));
    struct health *h = health_of(s, v, j->flow);
    if (h && was_fine(s, h, j)) job_forgive(s, j);
    if (h) health_unknown(s, h);
    if (cause == STOP_CANCEL && !MUTANT(service_restarted)) {
        job_finish(s, job, JOB_CANCELLED, CAUSE_REQUEST);
        return;
    }
    /* neither a lost worker nor a move is the fault of the service */
    bool at_once = cause == STOP_MOVE || outcome == OUTCOME_LOST;
    if (!at_once && j->used < RESTARTS_COUNTED) job_spend(s, j);
    j->due.ms = s->now.ms;
    if (!at_once) j->due.ms += restart_ms(job_options(s, j), j->used, s->seed, job_ref_of(s, j));
    j->flags |= JOBF_TIMED;
    j->flags &= (uint8_t)~JOBF_PREFER_OVER;
    job_move(s, job, JOB_WAITING, outcome == OUTCOME_OK ? CAUSE_EXIT : attempt_cause(cause, outcome));
    if (at_once) job_advance(s, job);
}

void service_set(struct state *s, uint32_t index, enum service_desired desired) {
    REQUIRE((unsigned)desired < SERVICE_DESIRED_COUNT);
    struct service *v = service_at(s, index);
    v->desired = (uint8_t)desired;
    if (desired != SERVICE_RUNNING && v->deployer) {
        uint32_t job = v->deployer;
        question_close(s, job_at(s, job)); /* gives the new version up */
        job_finish(s, job, JOB_FAILED, CAUSE_REQUEST);
    }
    if (desired == SERVICE_REMOVED && v->current.flow) {
        uint32_t flow = v->current.flow;
        v->current = (struct version){0};
        service_versions_end(s, v, flow, VERSION_RETIRED);
        retire(s, v, flow);
    }
    go_on(s, v);
}
