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
    *service_at(s, index) = (struct service){.key = bytes_new(key), .tenant = tenant, .since = s->now};
    index_put(&s->service_by_name, key, index);
    return index;
}

static void service_free(struct state *s, uint32_t index) {
    struct service *v = service_at(s, index);
    REQUIRE(v->flow_count == 0);
    REQUIRE(v->current.flow == 0);
    REQUIRE(v->deployer == 0);
    index_del(&s->service_by_name, bytes_slice(v->key), index);
    bytes_free(v->key);
    bytes_free(v->note);
    service_versions_release(v);
    v->key = v->note = NULL;
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

/* A version that is not to come back. Only one that a worker still holds is waited for. */
static void retire(struct state *s, struct service *v, uint32_t flow) {
    REQUIRE(flow != 0);
    flow_at(s, flow)->more = false;
    stop(s, flow);
    if (!is_over(s, flow)) v->retiring = flow;
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

/* First everything else stops, then the wanted version runs: a service is one process at a time. */
static void go_on(struct state *s, struct service *v) {
    uint32_t wanted = v->desired == SERVICE_RUNNING ? v->current.flow : 0;
    const uint32_t versions[] = {v->current.flow, v->previous.flow, v->retiring};
    bool is_clear = true;
    for (uint32_t i = 0; i < 3; i++) {
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

static void health_changed(struct state *s, struct service *v, bool healthy) {
    v->healthy = healthy;
    v->since = s->now;
}

static void remark(struct service *v, uint32_t port, struct slice note) {
    bytes_free(v->note);
    v->note = note.len > 0 ? bytes_new(note) : NULL;
    v->port = port;
}

/* Another attempt, or none: whatever was said is no longer true. */
static void health_unknown(struct state *s, struct service *v) {
    health_changed(s, v, false);
    remark(v, 0, (struct slice){0});
}

static uint32_t make_version(struct state *s, uint32_t service, const struct job *j, const struct rec_job *rec) {
    const struct extra *x = extra_at(s, j->extra);
    REQUIRE(x->runner_profile != 0);
    REQUIRE(rec->service.len > 0);
    struct flow_head head;
    flow_head_get(flow_at(s, j->flow), &s->scratch, &head);
    head.name = rec->service;
    buf_clear(&s->head_bytes);
    tlv_encode(&flow_head_desc, &head, &s->head_bytes);
    ENSURE(!s->head_bytes.full);
    uint32_t flow = flow_make(s, s->flow_last + 1, flow_at(s, j->flow)->tenant, buf_slice(&s->head_bytes), 256);
    struct flow *f = flow_at(s, flow);
    f->more = true; /* the service says when it is over */
    service_link(s, service, flow);
    struct rec_job spec = {.name = rec->service,
                           .body = x->body.len ? x->body : rec->body,
                           .body_hash = x->body_hash.len ? x->body_hash : rec->body_hash};
    struct job *runner = job_at(s, flow_make_job(s, flow, x->runner_profile, &spec));
    if (x->constraints.len) job_extra(s, runner)->constraints = arena_slice(&f->arena, x->constraints);
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
    v->desired = SERVICE_RUNNING;
    v->deployer = job;
    v->current = (struct version){make_version(s, index, j, &rec), ++v->version_last};
    ENSURE(v->current.flow != v->previous.flow);
    service_versions_begin(s, v, job, &rec);
    health_unknown(s, v);
    go_on(s, v);
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
    health_unknown(s, v);
    service_versions_end(s, v, failed, VERSION_FAILED);
    retire(s, v, failed);
    go_on(s, v);
}

static void accept(struct state *s, struct service *v) {
    REQUIRE(v->healthy);
    REQUIRE(v->deployer != 0);
    uint32_t job = v->deployer;
    v->deployer = 0;
    service_versions_accept(s, v);
    if (v->previous.flow) service_versions_end(s, v, v->previous.flow, VERSION_RETIRED);
    if (v->previous.flow) retire(s, v, v->previous.flow);
    v->previous = (struct version){0};
    question_close(s, job_at(s, job));
    job_finish(s, job, JOB_SUCCEEDED, CAUSE_NONE);
}

/* ---- attempts ---- */

void service_health(struct state *s, uint32_t job, const struct rec_health *word) {
    bool healthy = word->healthy;
    const struct job *j = job_at(s, job);
    REQUIRE(job_state_is_active(j->state));
    struct service *v = service_at(s, service_of_flow(s, flow_at(s, j->flow)));
    if (v->current.flow != j->flow && !MUTANT(old_version_counts)) return;
    remark(v, word->port, word->note);
    if (v->healthy == healthy) return;
    health_changed(s, v, healthy);
    struct event event = {.kind = EVENT_SERVICE, .job = job_ref_of(s, j), .attempt = j->attempt, .healthy = healthy};
    emit_event(s, &event);
    if (healthy && v->deployer) accept(s, v);
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
    if (v == NULL || v->current.flow == 0 || v->healthy) return (struct slice){0};
    const struct job *runner = job_at(s, flow_at(s, v->current.flow)->jobs.at[SERVICE_RUNNER]);
    struct slice note = bytes_slice(v->note);
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
static bool was_fine(const struct state *s, const struct service *v, const struct job *j) {
    return v->current.flow == j->flow && v->healthy && s->now.ms - v->since.ms >= job_options(s, j)->restart_reset_ms;
}

void service_attempt_over(struct state *s, uint32_t job, enum stop_cause cause, enum outcome outcome) {
    struct job *j = job_at(s, job);
    REQUIRE(j->link == 0);
    struct service *v = service_at(s, service_of_flow(s, flow_at(s, j->flow)));
    if (was_fine(s, v, j)) job_forgive(s, j);
    if (v->current.flow == j->flow) health_unknown(s, v);
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
