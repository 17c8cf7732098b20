/* metric.c: see metric.h. */
#include "metric.h"

#include "blob.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

const char *const metric_type_words[] = {"gauge", "counter", "histogram"};
const char *const metric_life_words[] = {"now", "for ever", "process"};

const uint32_t metric_sync_bounds_us[SYNC_BOUND_COUNT] = {50,    100,   200,   500,    1000,   2000,   5000,
                                                          10000, 20000, 50000, 100000, 500000, 1000000};

static const char *state_word(uint32_t i) {
    return job_state_word((enum job_state)i);
}

static const char *reason_word(uint32_t i) {
    return block_word((enum block)i);
}

static const char *flow_word(uint32_t i) {
    return flow_state_words[i];
}

static const char *class_word(uint32_t i) {
    static const char *const words[ANSWER_CLASS_COUNT] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
    return words[i];
}

static const char *decision_word(uint32_t i) {
    static const char *const words[] = {"approved", "rejected", "expired"};
    return words[i];
}

/* clang-format off */
#define AT(member) offsetof(struct sample, member)
#define GAUGE(name, stat, member, text_) {name, stat, METRIC_GAUGE, METRIC_NOW, AT(member), .text = text_}
#define COUNT(name, stat, member, text_) {name, stat, METRIC_COUNTER, METRIC_FOREVER, AT(member), .text = text_}
#define SINCE(name, stat, member, text_) {name, stat, METRIC_COUNTER, METRIC_PROCESS, AT(member), .text = text_}
#define MANY(kind, name, stat, member, label_, word_, first_, count_, text) \
    {name, stat, METRIC_##kind, METRIC_##kind == METRIC_GAUGE ? METRIC_NOW : METRIC_FOREVER, AT(member), text, \
     .label = label_, .word = word_, .first = first_, .count = count_}
#define TIMES(name, stat, member, text) \
    {name, stat, METRIC_HISTOGRAM, METRIC_FOREVER, AT(member), text, \
     .bounds = tally_bounds_ms, .bound_count = TALLY_BOUND_COUNT, .per_second = 1000}
/* A name that another system has for one of ours. */
#define ALSO(of_, kind, name, member) \
    {name, NULL, METRIC_##kind, METRIC_##kind == METRIC_GAUGE ? METRIC_NOW : METRIC_FOREVER, AT(member), \
     "the same as " of_, .of = of_}
#define ALSO_TIMES(of_, name, member) \
    {name, NULL, METRIC_HISTOGRAM, METRIC_FOREVER, AT(member), "the same as " of_, .of = of_, \
     .bounds = tally_bounds_ms, .bound_count = TALLY_BOUND_COUNT, .per_second = 1000}

static const struct metric metrics[] = {
    /*    name                                stats                member                 text */
    GAUGE("reeve_flows",                      "flows",             counts.flows,          "flows in memory: running or recently finished"),
    GAUGE("reeve_flows_running",              "flows_running",     counts.flows_running,  "flows that have not finished"),
    GAUGE("reeve_jobs_in_memory",             "jobs",              counts.jobs,           "jobs of the flows in memory"),
    MANY(GAUGE, "reeve_jobs",                 "jobs",              counts.by_state, "state", state_word, 0, JOB_STATE_COUNT, "jobs of the flows in memory, by state"),
    GAUGE("reeve_jobs_queued",                "jobs_queued",       queued,                "jobs that have not started: waiting, held or ready"),
    {"reeve_ready_jobs", "ready", METRIC_GAUGE, METRIC_NOW, AT(blocks), "ready jobs, by the reason why they wait", .label = "reason", .word = reason_word, .count = BLOCK_COUNT, .sparse = true},
    GAUGE("reeve_workers",                    "workers",           counts.workers,        "known workers"),
    GAUGE("reeve_workers_attached",           "workers_attached",  workers_attached,      "connected workers"),
    GAUGE("reeve_worker_slots",               "slots",             slots,                 "slots of connected workers"),
    GAUGE("reeve_worker_slots_used",          "slots_used",        slots_used,            "busy slots of connected workers"),
    GAUGE("reeve_questions_open",             "questions",         counts.questions,      "open questions to a person, a policy or another system"),
    GAUGE("reeve_services",                   "services",          counts.services,       "known services"),
    GAUGE("reeve_dead_letters",               "dead_letters",      counts.dead_letters,   "failed jobs that nobody has handled yet"),
    GAUGE("reeve_idempotency_keys",           "idempotency_keys",  counts.keys,           "idempotency keys in memory"),
    GAUGE("reeve_store_keys",                 "store_keys",        counts.store_keys,     "keys in the shared store"),
    GAUGE("reeve_limits",                     "limits",            counts.limits,         "known concurrency keys and rates"),
    GAUGE("reeve_sagas_open",                 "sagas_open",        sagas_open,            "flows that run compensations"),
    GAUGE("reeve_state_bytes",                "state_bytes",       counts.bytes,          "memory of the state"),
    GAUGE("reeve_journal_reserved_bytes",     "journal_reserved_bytes", counts.reserved_bytes, "journal bytes reserved for accepted work"),
    GAUGE("reeve_journal_room_bytes",         "journal_room_bytes", room_bytes,           "disk space that the journal may still use for new work"),
    GAUGE("reeve_journal_lsn",                NULL,                lsn,                   "number of the last record"),
    GAUGE("reeve_journal_epoch",              "epoch",             epoch,                 "number of times a server took over this journal"),
    GAUGE("reeve_clock_apart_seconds",        "clock_apart_seconds", clock_apart_s,       "difference between the machine's clock and the journal's clock; above 60 one of them is wrong"),
    GAUGE("reeve_accepting_work",             "accepting_work",    accepting_work,        "1 while the server accepts new work, 0 while it is stopping or its disk is full"),
    GAUGE("reeve_blob_bytes",                 "blob_bytes",        blob_bytes,            "size of the blob files"),
    GAUGE("reeve_log_bytes",                  "log_bytes",         log_bytes,             "size of the log files"),
    GAUGE("reeve_history_flows",              "history_flows",     history_flows,         "finished flows in the history"),
    GAUGE("reeve_history_bytes",              "history_bytes",     history_bytes,         "size of the history"),
    GAUGE("reeve_history_lsn",                "history_lsn",       history_lsn,           "last record of the journal that is in the history"),
    GAUGE("reeve_history_lag_flows",          "history_lag_flows", history_lag,           "finished flows not yet in the history"),
    GAUGE("reeve_audit_unsigned_records",     "audit_unsigned",    audit_unsigned,        "records that no signed checkpoint of the journal covers yet"),
    GAUGE("reeve_audit_forward_lag_records",  "audit_forward_lag", audit_forward_lag,     "records not yet handed on by audit_forward; 0 without it"),
    GAUGE("reeve_audit_forward_failing",      "audit_forward_failing", audit_forward_failing, "1 while the target of audit_forward does not take the audit trail"),
    GAUGE("reeve_history_rebuilding",         "history_rebuilding", history_rebuilding,   "1 while the history is rebuilt from the archive"),
    GAUGE("reeve_recovery_records",           "recovery_records",  recovery_records,      "records replayed at the start of this process"),
    GAUGE("reeve_recovery_adopted",           "recovery_adopted",  recovery_adopted,      "attempts that survived the last restart"),
    GAUGE("reeve_recovery_again",             "recovery_again",    recovery_again,        "attempts that were repeated after the last restart"),
    GAUGE("reeve_recovery_lost",              "recovery_lost",     recovery_lost,         "acknowledged jobs that were missing after the last restart"),
    GAUGE("reeve_connections",                "connections",       connections,           "open connections"),
    GAUGE("reeve_followers",                  "followers",         followers,             "clients that follow the event stream"),
    GAUGE("reeve_calls",                      "calls",             calls,                 "requests waiting for their answer"),

    COUNT("reeve_flows_submitted_total",      "flows_submitted",   tally[TALLY_FLOWS],    "accepted flows"),
    MANY(COUNTER, "reeve_flows_ended_total",  "flows_ended",       tally[TALLY_FLOWS], "state", flow_word, FLOW_SUCCEEDED, FLOW_STATE_COUNT - FLOW_SUCCEEDED, "finished flows, by outcome; a flow that is rerun can finish again"),
    COUNT("reeve_jobs_submitted_total",       "jobs_submitted",    tally[TALLY_JOBS],     "jobs of accepted flows, including items of foreach jobs and compensations"),
    MANY(COUNTER, "reeve_jobs_entered_total", "entered",           tally[TALLY_ENTERED], "state", state_word, 0, JOB_STATE_COUNT, "number of times a job entered a state"),
    COUNT("reeve_retries_total",              "retries",           tally[TALLY_RETRIES],  "failed attempts that are retried, including restarts of services"),
    COUNT("reeve_sagas_total",                "sagas",             tally[TALLY_SAGAS],    "flows that started their compensations"),
    COUNT("reeve_compensations_recorded_total", "compensations_recorded", tally[TALLY_UNDOS], "compensations armed because their job succeeded"),
    COUNT("reeve_compensations_total",        "compensations",     tally[TALLY_COMPENSATIONS], "started compensations"),
    COUNT("reeve_compensations_failed_total", "compensations_failed", tally[TALLY_COMPENSATIONS_FAILED], "failed compensations"),
    MANY(COUNTER, "reeve_approvals_total",    "approvals",         tally[TALLY_APPROVED], "decision", decision_word, 0, 3, "approvals, by decision; expired: not decided in time"),
    COUNT("reeve_policy_denied_total",        "policy_denied",     tally[TALLY_POLICY_DENIED], "jobs denied by a policy"),
    COUNT("reeve_outputs_judged_total",       "outputs_judged",    tally[TALLY_OUTPUTS],  "outputs checked by a policy"),
    TIMES("reeve_queue_wait_seconds",         "queue_wait",        tally[TALLY_WAIT],     "from ready until assigned to a worker"),
    TIMES("reeve_dispatch_seconds",           "dispatch",          tally[TALLY_DISPATCH], "from assigned until started by the worker"),
    TIMES("reeve_run_seconds",                "run",               tally[TALLY_RUN],      "from started until ended, per attempt"),
    TIMES("reeve_approval_wait_seconds",      "approval_wait",     tally[TALLY_APPROVAL], "from the request for approval until the decision"),
    TIMES("reeve_flow_seconds",               "flow",              tally[TALLY_FLOW],     "from accepting a flow until it finished"),

    SINCE("reeve_requests_total",             "requests",          requests,              "requests served, all protocols"),
    SINCE("reeve_requests_refused_busy_total", "busy",             busy,                  "requests rejected because of overload"),
    {"reeve_http_answers_total", "http_answers", METRIC_COUNTER, METRIC_PROCESS, AT(answers), "HTTP responses, by status class", .label = "class", .word = class_word, .first = 2, .count = 4},
    SINCE("reeve_logins_total",               "logins",            logins,                "browser logins, by token or link"),
    SINCE("reeve_logins_failed_total",        "logins_failed",     logins_failed,         "failed browser logins: invalid token or link"),
    SINCE("reeve_http_limited_total",         "http_limited",      http_limited,          "HTTP requests rejected by the rate limit"),
    SINCE("reeve_dropped_events_total",       "dropped_events",    dropped_events,        "events that clients missed because the archive no longer contains them"),
    SINCE("reeve_stale_refused_total",        "stale_refused",     counts.stale_refused,  "worker messages of an earlier attempt or server, ignored"),
    SINCE("reeve_blobs_swept_total",          "blobs_swept",       blobs_swept,           "unreferenced blobs removed"),
    SINCE("reeve_clock_steps_total",          "clock_steps",       clock_steps,           "number of times the journal's clock was corrected to the machine's"),
    SINCE("reeve_shard_reopens_total",        "shard_reopens",     reopens,               "number of times the shard was opened again because its journal had another owner or the outcome of an append was unknown"),
    SINCE("reeve_audit_forward_failures_total", "audit_forward_failures", audit_forward_failures, "number of times the target of audit_forward stopped taking the audit trail"),
    SINCE("reeve_journal_syncs_total",        "journal_syncs",     syncs,                 "batches and seals made durable"),
    {"reeve_journal_sync_seconds", "sync", METRIC_HISTOGRAM, METRIC_PROCESS, AT(sync), "duration of an append, until durable", .bounds = metric_sync_bounds_us, .bound_count = SYNC_BOUND_COUNT, .per_second = 1000000},

    /* as Orion calls them */
    ALSO("reeve_jobs_submitted_total", COUNTER, "total_tasks_ingested", tally[TALLY_JOBS]),
    ALSO("reeve_jobs_entered_total{state=succeeded}", COUNTER, "tasks_completed_total", tally[TALLY_ENTERED + JOB_SUCCEEDED]),
    ALSO("reeve_jobs_entered_total, all other ends", COUNTER, "tasks_failed_total", ended_badly),
    ALSO("reeve_retries_total", COUNTER, "tasks_retried_total", tally[TALLY_RETRIES]),
    ALSO("reeve_jobs{state=ready}", GAUGE, "current_queue_size", counts.by_state[JOB_READY]),
    ALSO("reeve_worker_slots_used", GAUGE, "active_workers", slots_used),
    ALSO_TIMES("reeve_run_seconds", "task_execution_latency_seconds", tally[TALLY_RUN]),

    /* as Cordum calls them */
    ALSO("reeve_jobs_submitted_total", COUNTER, "cordum_scheduler_jobs_received_total", tally[TALLY_JOBS]),
    ALSO("reeve_jobs_entered_total{state=dispatched}", COUNTER, "cordum_scheduler_jobs_dispatched_total", tally[TALLY_ENTERED + JOB_DISPATCHED]),
    {"cordum_scheduler_jobs_completed_total", NULL, METRIC_COUNTER, METRIC_FOREVER, AT(tally[TALLY_ENTERED]), "the same as reeve_jobs_entered_total of the ends", .of = "reeve_jobs_entered_total", .label = "status", .word = state_word, .first = JOB_SUCCEEDED, .count = JOB_STATE_COUNT - JOB_SUCCEEDED},
    ALSO("reeve_policy_denied_total", COUNTER, "cordum_scheduler_safety_denied_total", tally[TALLY_POLICY_DENIED]),
    ALSO("reeve_outputs_judged_total", COUNTER, "cordum_scheduler_output_policy_checked_total", tally[TALLY_OUTPUTS]),
    ALSO("reeve_jobs_entered_total{state=quarantined}", COUNTER, "cordum_scheduler_output_policy_quarantined_total", tally[TALLY_ENTERED + JOB_QUARANTINED]),
    ALSO_TIMES("reeve_queue_wait_seconds", "cordum_scheduler_scheduler_dispatch_latency_seconds", tally[TALLY_WAIT]),
    ALSO("reeve_compensations_recorded_total", COUNTER, "cordum_scheduler_saga_recorded_total", tally[TALLY_UNDOS]),
    ALSO("reeve_sagas_total", COUNTER, "cordum_scheduler_saga_rollbacks_total", tally[TALLY_SAGAS]),
    ALSO("reeve_compensations_total", COUNTER, "cordum_scheduler_saga_compensation_dispatched_total", tally[TALLY_COMPENSATIONS]),
    ALSO("reeve_compensations_failed_total", COUNTER, "cordum_scheduler_saga_compensation_failed_total", tally[TALLY_COMPENSATIONS_FAILED]),
    ALSO("reeve_sagas_open", GAUGE, "cordum_scheduler_saga_active", sagas_open),
    {"cordum_approval_decisions_total", NULL, METRIC_COUNTER, METRIC_FOREVER, AT(tally[TALLY_APPROVED]), "the same as reeve_approvals_total", .of = "reeve_approvals_total", .label = "decision", .word = decision_word, .count = 2},
    ALSO("reeve_approvals_total{decision=expired}", COUNTER, "cordum_approval_expired_total", tally[TALLY_EXPIRED]),
    ALSO_TIMES("reeve_approval_wait_seconds", "cordum_approval_latency_seconds", tally[TALLY_APPROVAL]),
};
/* clang-format on */

const struct metric *metric_table(uint32_t *ret_count) {
    *ret_count = sizeof metrics / sizeof metrics[0];
    return metrics;
}

static const uint64_t *values_of(const struct sample *s, const struct metric *m) {
    return (const uint64_t *)(const void *)((const uint8_t *)s + m->offset);
}

static uint64_t times_count(const struct metric *m, const uint64_t *v) {
    uint64_t n = 0;
    for (uint32_t i = 0; i <= m->bound_count; i++) n += v[1 + i];
    return n;
}

/* ---- the exposition ---- */

/* A number of units as seconds, exactly, without zeroes that say nothing. */
static void put_seconds(struct buf *out, uint64_t n, uint32_t per_second) {
    char text[40];
    int digits = per_second == 1000 ? 3 : 6;
    int len = snprintf(text, sizeof text, "%" PRIu64 ".%0*" PRIu64, n / per_second, digits, n % per_second);
    while (text[len - 1] == '0') len--;
    if (text[len - 1] == '.') len--;
    buf_put(out, text, (size_t)len);
}

static void put_times(const struct metric *m, const uint64_t *v, struct buf *out) {
    uint64_t below = 0;
    for (uint32_t i = 0; i < m->bound_count; i++) {
        below += v[1 + i];
        buf_printf(out, "%s_bucket{le=\"", m->name);
        put_seconds(out, m->bounds[i], m->per_second);
        buf_printf(out, "\"} %" PRIu64 "\n", below);
    }
    uint64_t count = times_count(m, v);
    buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum ", m->name, count, m->name);
    put_seconds(out, v[0], m->per_second);
    buf_printf(out, "\n%s_count %" PRIu64 "\n", m->name, count);
}

void metric_expose(const struct sample *s, struct buf *out) {
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        const struct metric *m = &metrics[i];
        const uint64_t *v = values_of(s, m);
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->text, m->name, metric_type_words[m->type]);
        if (m->type == METRIC_HISTOGRAM)
            put_times(m, v, out);
        else if (m->label == NULL)
            buf_printf(out, "%s %" PRIu64 "\n", m->name, v[0]);
        for (uint32_t k = 0; k < m->count; k++)
            buf_printf(out, "%s{%s=\"%s\"} %" PRIu64 "\n", m->name, m->label, m->word(m->first + k), v[m->first + k]);
    }
}

/* ---- the stats ---- */

static void stat_add(struct tlv_list *to, struct arena *arena, const char *name, const char *rest, uint64_t amount) {
    char *text = arena_alloc(arena, WIRE_NAME_MAX);
    snprintf(text, WIRE_NAME_MAX, "%s%s%s", name, rest[0] != 0 && rest[0] != '_' ? "_" : "", rest);
    ((struct wire_amount *)to->at)[to->count++] = (struct wire_amount){slice_str(text), amount};
}

struct tlv_list metric_stats(const struct sample *s, struct arena *arena) {
    size_t room = 0, n = sizeof metrics / sizeof metrics[0];
    for (size_t i = 0; i < n; i++) room += metrics[i].count > 2 ? metrics[i].count : 2;
    struct tlv_list all = {ARENA_ARRAY(arena, struct wire_amount, room), 0};
    for (size_t i = 0; i < n; i++) {
        const struct metric *m = &metrics[i];
        const uint64_t *v = values_of(s, m);
        if (m->stat == NULL) continue;
        if (m->type == METRIC_HISTOGRAM) {
            stat_add(&all, arena, m->stat, m->per_second == 1000 ? "_ms_sum" : "_us_sum", v[0]);
            stat_add(&all, arena, m->stat, "_count", times_count(m, v));
        } else if (m->label == NULL) {
            stat_add(&all, arena, m->stat, "", v[0]);
        }
        for (uint32_t k = m->first; k < m->first + m->count; k++)
            if (v[k] > 0 || !m->sparse) stat_add(&all, arena, m->stat, m->word(k), v[k]);
    }
    return all;
}
