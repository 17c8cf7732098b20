/* decide_worker.c: what workers say. Everything they say about an attempt is fenced by (job, attempt, assigning
 * incarnation): what is of an earlier time is refused and counted, and the worker drops it. */
#include "attempt.h"
#include "decide.h"
#include "decide_options.h"
#include "expand.h"
#include "external.h"
#include "flow.h"
#include "hash.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "utf8.h"

void decide_has_started(struct decision *d, struct job_ref job, uint32_t attempt) {
    REQUIRE(attempt != 0);
    struct rec_attempt *rec = &decide_record(d, REC_STARTED, NULL)->body.as_REC_STARTED;
    rec->flow = job.flow.v;
    rec->ordinal = job.ordinal;
    rec->attempt = attempt;
}

/* ---- attach ---- */

static uint64_t held_key(struct job_ref ref, uint32_t attempt) {
    return hash_mix(ref.flow.v ^ hash_mix((uint64_t)ref.ordinal << 32 | attempt));
}

/* The open run that a line of the worker's list is about, or 0. */
static uint32_t run_of(const struct state *s, uint32_t worker, const struct held_attempt *held) {
    uint32_t job = job_find(s, held->job);
    if (job == 0 || !job_state_is_active(job_at(s, job)->state)) return 0;
    uint32_t index = job_at(s, job)->link;
    ENSURE(index != 0);
    const struct run *run = run_at(s, index);
    return run->worker == worker && run->attempt == held->attempt ? index : 0;
}

/* Adopts what the worker holds and we know; has it drop what we do not. */
static void adopt(struct decision *d, const struct command *cmd, uint32_t worker, struct map *held_runs) {
    const struct state *s = d->state;
    const struct cmd_attach *c = &cmd->as.attach;
    for (uint32_t i = 0; i < c->held_count; i++) {
        const struct held_attempt *held = &c->held[i];
        uint32_t run = worker ? run_of(s, worker, held) : 0;
        /* processes die with their worker: a new incarnation can only hold results */
        if (run && run_at(s, run)->incarnation != c->incarnation && held->phase != HELD_FINISHED) run = 0;
        if (run == 0) {
            struct attempt_effect drop = {.worker = worker ? worker_at(s, worker)->number : s->worker_last + 1,
                                          .incarnation = c->incarnation,
                                          .job = held->job,
                                          .attempt = held->attempt};
            if (held->phase != HELD_FINISHED) decide_effect(d, EFFECT_DROP, &drop);
            continue;
        }
        uint64_t key = held_key(held->job, held->attempt);
        if (map_get(held_runs, key) == run) continue; /* listed twice: once is enough */
        map_put(held_runs, key, run);
        const struct job *j = job_at(s, run_at(s, run)->job);
        if (held->phase == HELD_RUNNING && j->state == JOB_DISPATCHED) decide_has_started(d, held->job, held->attempt);
        if (run_at(s, run)->stop != STOP_NONE && held->phase != HELD_FINISHED) {
            struct attempt_effect stop = attempt_effect_of(s, j);
            decide_effect(d, EFFECT_STOP, &stop);
        }
    }
}

/* What we recorded and the worker does not have: sent again under the same number, or lost with its incarnation. */
static void settle_missing(struct decision *d, const struct command *cmd, uint32_t worker,
                           const struct map *held_runs) {
    REQUIRE(worker != 0);
    const struct state *s = d->state;
    for (uint32_t r = worker_at(s, worker)->first; r; r = run_at(s, r)->next) {
        const struct run *run = run_at(s, r);
        ENSURE(run->worker == worker);
        const struct job *j = job_at(s, run->job);
        if (map_get(held_runs, held_key(job_ref_of(s, j), run->attempt)) == r) continue;
        if (run->incarnation != cmd->as.attach.incarnation) {
            decide_lost(d, r, SLICE("its worker was restarted"));
            continue;
        }
        if (MUTANT(forget_dispatch)) continue;
        struct attempt_effect again = attempt_effect_of(s, j);
        if (run->stop != STOP_NONE)
            decide_effect(d, EFFECT_STOP, &again);
        else
            decide_effect(d, EFFECT_ASSIGN, &again);
    }
}

enum err decide_attach(struct decision *d, const struct command *cmd) {
    const struct cmd_attach *c = &cmd->as.attach;
    const struct state *s = d->state;
    struct worker_info info;
    uint32_t worker = worker_find(s, c->worker);
    enum err e = decide_name(d, c->worker, "a worker");
    /* What it was given for one tenant is sent again to whoever bears its name. That somebody else bears it is not
     * told: an id that is none gets the same answer. */
    bool foreign =
        worker && worker_at(s, worker)->info.tenant.len && !slice_eq(worker_at(s, worker)->info.tenant, c->info.tenant);
    if (e != ERR_OK || foreign)
        return refuse(d, ERR_INVALID,
                      "a worker cannot have the id %.*s: start it with a --name of its own (at most %lld bytes, no "
                      "control characters) and a new --data",
                      SLICE_FMT(c->worker), (long long)d->limits->name_bytes_max);
    e = decide_worker_info(d, &c->info, &info);
    if (e != ERR_OK) return e;
    if (c->held_count > d->limits->worker_slots_max * 2)
        return refuse(d, ERR_LIMIT, "the worker holds too many attempts");
    if (!worker && s->workers.count >= d->limits->workers_max)
        return refuse(d, ERR_BUSY, "there are %u workers already (workers_max)", s->workers.count);
    if (worker && worker_at(s, worker)->incarnation > c->incarnation)
        return refuse(d, ERR_STALE, "a later incarnation of this worker has attached");
    struct rec_worker *rec = &decide_record(d, REC_WORKER, cmd)->body.as_REC_WORKER;
    rec->worker = c->worker;
    rec->incarnation = c->incarnation;
    rec->info = info;
    struct map held_runs;
    map_init(&held_runs);
    adopt(d, cmd, worker, &held_runs);
    if (worker) settle_missing(d, cmd, worker, &held_runs);
    map_fini(&held_runs);
    d->reply->lease_ms = d->limits->lease_ms;
    d->reply->epoch = s->epoch;
    return ERR_OK;
}

/* ---- sessions ---- */

static enum err present_worker(struct decision *d, struct slice id, uint64_t incarnation, uint32_t *ret) {
    uint32_t worker = worker_find(d->state, id);
    if (worker == 0) return refuse(d, ERR_NOT_FOUND, "there is no worker %.*s: attach first", SLICE_FMT(id));
    if (worker_at(d->state, worker)->incarnation != incarnation)
        return refuse(d, ERR_STALE, "another incarnation of this worker has attached");
    *ret = worker;
    return ERR_OK;
}

enum err decide_heartbeat(struct decision *d, const struct command *cmd) {
    const struct cmd_worker *c = &cmd->as.worker;
    uint32_t worker = 0;
    enum err e = present_worker(d, c->worker, c->incarnation, &worker);
    if (e != ERR_OK) return e;
    if (!live_worker_get(d->live, d->state, worker).attached) return refuse(d, ERR_STATE, "attach first");
    d->reply->lease_ms = d->limits->lease_ms;
    d->reply->epoch = d->state->epoch;
    return ERR_OK;
}

enum err decide_detach(struct decision *d, const struct command *cmd) {
    uint32_t worker = 0;
    enum err e = present_worker(d, cmd->as.worker.worker, cmd->as.worker.incarnation, &worker);
    if (e != ERR_OK) return e;
    if (MUTANT(exclusive_ignored))
        for (uint32_t r = worker_at(d->state, worker)->first; r; r = run_at(d->state, r)->next)
            decide_lost(d, r, SLICE("its worker disconnected"));
    return ERR_OK;
}

enum err decide_drain(struct decision *d, const struct command *cmd) {
    const struct cmd_worker *c = &cmd->as.worker;
    uint32_t worker = worker_find(d->state, c->worker);
    if (worker == 0) return refuse(d, ERR_NOT_FOUND, "there is no worker %.*s", SLICE_FMT(c->worker));
    const struct worker *w = worker_at(d->state, worker);
    bool taken_over = c->on && w->drains_itself && !c->own; /* an operator's drain outlives the worker's own */
    if (w->draining == c->on && !taken_over) return ERR_OK;
    struct rec_worker_drain *rec = &decide_record(d, REC_WORKER_DRAIN, cmd)->body.as_REC_WORKER_DRAIN;
    rec->worker = c->worker;
    rec->on = c->on;
    rec->own = c->on && c->own;
    if (c->on) decide_move_services(d, worker);
    return ERR_OK;
}

/* ---- attempts ---- */

enum err decide_fenced_job(struct decision *d, const struct cmd_attempt *c, bool is_result, uint32_t *ret) {
    const struct state *s = d->state;
    uint32_t job = job_find(s, c->job);
    const struct job *j = job ? job_at(s, job) : NULL;
    const struct run *run = j && job_state_is_active(j->state) ? run_at(s, j->link) : NULL;
    bool own = run && run->attempt == c->attempt && slice_eq(bytes_slice(worker_at(s, run->worker)->id), c->worker);
    bool in_time = run && (run->incarnation == c->incarnation || (is_result && run->incarnation < c->incarnation));
    if (MUTANT(stale_attempt) && run && is_result && c->attempt <= run->attempt) own = in_time = true;
    /* The same words for all of them: how the jobs of others are is not for a worker to find out. */
    if (!own || !in_time) return refuse(d, ERR_STALE, "attempt %u is not open, or not this worker's", c->attempt);
    *ret = job;
    return ERR_OK;
}

enum err decide_started(struct decision *d, const struct command *cmd) {
    const struct cmd_attempt *c = &cmd->as.attempt;
    uint32_t job = 0;
    enum err e = decide_fenced_job(d, c, false, &job);
    if (e != ERR_OK) return e;
    if (job_at(d->state, job)->state == JOB_RUNNING) {
        d->reply->repeated = true;
        return ERR_OK;
    }
    decide_has_started(d, c->job, c->attempt);
    return ERR_OK;
}

enum err decide_progress(struct decision *d, const struct command *cmd) {
    uint32_t job = 0;
    if (cmd->as.attempt.percent > 100) return refuse(d, ERR_INVALID, "progress is between 0 and 100");
    return decide_fenced_job(d, &cmd->as.attempt, false, &job);
}

/* Returns how many bytes they take in the record, about. */
static enum err check_artifacts(struct decision *d, const struct tlv_list *list, size_t *ret_bytes) {
    const struct rec_artifact *files = list->at;
    if (list->count > ARTIFACTS_MAX)
        return refuse(d, ERR_LIMIT, "an attempt leaves at most %u artifacts", ARTIFACTS_MAX);
    for (uint32_t i = 0; i < list->count; i++) {
        if (files[i].name.len == 0 || files[i].name.len > 255)
            return refuse(d, ERR_INVALID, "the name of an artifact has 1 to 255 bytes");
        if (files[i].hash.len != 32) return refuse(d, ERR_INVALID, "an artifact is named by the hash of a blob");
        *ret_bytes += files[i].name.len + 48;
    }
    return ERR_OK;
}

static enum err check_result(struct decision *d, const struct cmd_attempt *c) {
    if (c->outcome >= OUTCOME_COUNT || c->outcome == OUTCOME_LOST)
        return refuse(d, ERR_INVALID, "an attempt does not end that way");
    if (c->usage.hit >= HIT_COUNT) return refuse(d, ERR_INVALID, "there is no such limit");
    if (c->result.len > (size_t)d->limits->result_bytes_max)
        return refuse(d, ERR_LIMIT, "a result above %lld bytes must be a blob (result_bytes_max)",
                      (long long)d->limits->result_bytes_max);
    if (c->result_hash.len != 0 && c->result_hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if (c->reason.len > (size_t)d->limits->reason_bytes_max)
        return refuse(d, ERR_LIMIT, "the reason is longer than %lld bytes (reason_bytes_max)",
                      (long long)d->limits->reason_bytes_max);
    size_t bytes = c->result.len;
    enum err e = check_artifacts(d, &c->artifacts, &bytes);
    if (e != ERR_OK) return e;
    /* admission reserved room for the attempt, not for what it may have to say */
    if (d->in->journal_free_bytes != UINT64_MAX && bytes > ATTEMPT_RECORD_BYTES / 2 &&
        d->state->reserved_bytes + bytes > d->in->journal_free_bytes)
        return refuse(d, ERR_NO_SPACE, "the journal has no room for the result now");
    return ERR_OK;
}

/* What somebody else's server says is obeyed up to a limit of our own: it does not hold a job for ever. */
static uint32_t retry_after_ms(const struct decision *d, const struct cmd_attempt *c) {
    if (c->outcome != OUTCOME_EXIT) return 0;
    return c->retry_after_ms < d->limits->retry_after_ms_max ? c->retry_after_ms
                                                             : (uint32_t)d->limits->retry_after_ms_max;
}

/* A worker's clock may be wrong, and a worker may lie: the end lies between the start that we know of and now. */
static uint64_t ended_ago_ms(const struct decision *d, const struct job *j, const struct cmd_attempt *c) {
    uint64_t most_ms = attempt_age_ms(j, d->in->wall);
    return c->ended_ago_ms < most_ms ? c->ended_ago_ms : most_ms;
}

/* The same word twice gets the same answer: the first acknowledgement may have been lost on its way. */
static bool acknowledged_before(const struct state *s, const struct cmd_attempt *c) {
    uint32_t job = job_find(s, c->job), flow = job ? 0 : flow_find(s, c->job.flow);
    const struct expansion *x = flow ? expand_find(s, flow_at(s, flow), c->job.ordinal) : NULL;
    /* a child leaves without a trace only when its first attempt was its last word */
    if (x && expand_bare_state(x, c->job.ordinal) == JOB_SUCCEEDED) return c->attempt == 1;
    return job != 0 && job_at(s, job)->done_attempt == c->attempt && c->attempt != 0;
}

enum err decide_done(struct decision *d, const struct command *cmd) {
    const struct cmd_attempt *c = &cmd->as.attempt;
    uint32_t job = 0;
    enum err e = check_result(d, c);
    if (e != ERR_OK) return e;
    if (acknowledged_before(d->state, c)) {
        d->reply->repeated = true;
        return ERR_OK;
    }
    e = decide_fenced_job(d, c, true, &job);
    if (e != ERR_OK) return e;
    const struct job *j = job_at(d->state, job);
    if (c->again && (c->outcome != OUTCOME_OK || !job_options(d->state, j)->calls))
        return refuse(d, ERR_INVALID, "only a good attempt of an external job is not the end of it");
    struct rec_ended *rec = &decide_record(d, REC_ENDED, NULL)->body.as_REC_ENDED;
    rec->flow = c->job.flow.v;
    rec->ordinal = c->job.ordinal;
    rec->attempt = c->attempt;
    rec->outcome = (uint8_t)c->outcome;
    rec->exit_code = c->exit_code;
    rec->signal = c->signal;
    rec->fatal = c->fatal && c->outcome != OUTCOME_OK;
    rec->result = c->result;
    rec->result_hash = c->result_hash;
    rec->log_bytes = c->log_bytes;
    rec->log_cut_bytes = c->log_cut_bytes;
    rec->reason = c->reason;
    rec->artifacts.files = c->artifacts;
    rec->usage = c->usage;
    rec->usage.unkept = utf8_cut(c->usage.unkept, UNKEPT_BYTES_MAX);
    rec->retry_after_ms = retry_after_ms(d, c);
    rec->ended_ago_ms = ended_ago_ms(d, j, c);
    rec->again_ms = c->again ? external_again_ms(d->state, j, d->in->wall) : 0;
    return ERR_OK;
}
