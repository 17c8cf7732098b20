/* run.c: what is done about an attempt, from its assignment to the acknowledgement of its end.
 *
 *     assigned ──▶ running ──▶ finished ──▶ forgotten
 *
 * Guarantees: an attempt is started once; processes of exclusive attempts start and live only inside the worker's own
 * lease, whose end is also told to the keeper; a stop ends in DONE, a drop in silence. Must not: wait. */
#include <signal.h>
#include <stdio.h>

#include "agent_impl.h"
#include "blobs.h"
#include "joblimits.h"
#include "mutant.h"
#include "panic.h"
#include "service_health.h"

#define LEASE_MARGIN_MS 100 /* an exclusive process is dead this long before the lease ends: killing takes its time */
#define STARTED_MS 10       /* a job that is over sooner says only that: half the words, and no record of its start */
#define TIMEOUT_MARGIN_MS 2000 /* the server's own timeout comes first; this is for when it is away */

/* ---- the end ---- */

static void end_keep(struct attempt *t, const struct wire_end *end) {
    struct buf b;
    buf_init(&b, 2 * WIRE_BODY_MAX);
    tlv_encode(&wire_end_desc, end, &b);
    ENSURE(!b.full);
    bytes_free(t->end);
    t->end = bytes_new(buf_slice(&b));
    buf_fini(&b);
}

static void gpus_back(struct agent *a, const struct attempt *t) {
    if (gpus_give(&a->gpus, t->index)) a->has_gpus_back = true; /* the next pass looks who waits for them */
}

static void finish(struct agent *a, struct attempt *t, struct wire_end *end) {
    gpus_back(a, t);
    capture_over(&t->capture, agent_wall_ms(a));
    if (t->ended_at_ms == TIME_NEVER) t->ended_at_ms = agent_now_ms(a);
    end->attempt = t->id;
    end->started_ms = t->started_ms;
    end->ended_ms = agent_wall_ms(a) - (agent_now_ms(a) - t->ended_at_ms);
    end->log_bytes = t->capture.end;
    end->log_cut_bytes = t->capture.cut_bytes;
    end_keep(t, end);
    bytes_free(t->order);
    t->order = NULL;
    t->is_waiting = false;
    blobs_stop(a, t);
    service_health_end(a, t);
    t->phase = WIRE_HELD_FINISHED;
    t->process = (proc_id){0};
    t->sleep_until_ms = t->timeout_at_ms = t->kill_at_ms = t->tell_at_ms = TIME_NEVER;
    t->spool_at_ms =
        a->connection.state == CONNECTION_UP ? TIME_NEVER : agent_now_ms(a); /* else when it is not acknowledged */
    attempts_time(&a->attempts, t);
    titan_place_give(&a->titan_place, &t->titan_ticket);
    if (t->has_space) a->w.space->ops->remove(a->w.space, t->space);
    t->has_space = false;
    attempts_touch(&a->attempts, t);
}

static void end_log(const struct agent *a, const struct attempt *t, const struct wire_end *end) {
    static const char *const words[WIRE_OUTCOME_COUNT] = {"ok", "exit", "stopped", "refused"};
    agent_log(a, "%.*s#%u ended: %s, code %u, signal %u%s%.*s", SLICE_FMT(bytes_slice(t->job)), t->id.attempt,
              words[end->outcome], end->exit_code, end->signal, end->reason.len > 0 ? ": " : "",
              SLICE_FMT(end->reason));
}

static void refuse(struct agent *a, struct attempt *t, const char *reason) {
    struct wire_end end = {.outcome = WIRE_OUTCOME_REFUSED, .reason = slice_str(reason)};
    end_log(a, t, &end);
    finish(a, t, &end);
}

void run_forget(struct agent *a, struct attempt *t) {
    gpus_back(a, t);
    spool_forget(&a->spool, &t->id, &t->file);
    titan_place_give(&a->titan_place, &t->titan_ticket);
    if (t->has_space) a->w.space->ops->remove(a->w.space, t->space);
    blobs_stop(a, t);
    service_health_end(a, t);
    attempts_free(&a->attempts, t);
}

/* Ends that are only in memory go to disk, all with one sync: those that wait for an acknowledgement, or all. A server
 * that is slow once is slow for the others, too, so none of them waits for its own time. */
static void spool_ends(struct agent *a, bool all) {
    struct u32vec written = {0};
    struct why why;
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        struct attempt *t = attempts_at(&a->attempts, i);
        if (t == NULL || t->phase != WIRE_HELD_FINISHED || (!all && t->spool_at_ms == TIME_NEVER)) continue;
        t->spool_at_ms = TIME_NEVER;
        attempts_time(&a->attempts, t);
        if (t->is_spooled || t->is_dropped) continue;
        if (spool_end(&a->spool, &t->file, &t->capture, bytes_slice(t->end), &why) == ERR_OK)
            u32vec_push(&written, i);
        else
            agent_log(a, "%.*s#%u: its end stays in memory: %s", SLICE_FMT(bytes_slice(t->job)), t->id.attempt,
                      why.text);
    }
    enum err e = written.count > 0 ? spool_commit(&a->spool, &why) : ERR_OK;
    if (e != ERR_OK) agent_log(a, "%u ends stay in memory: %s", written.count, why.text);
    for (uint32_t i = 0; i < written.count; i++) {
        struct attempt *t = attempts_at(&a->attempts, written.at[i]);
        t->is_spooled = e == ERR_OK;
        if (e == ERR_OK)
            spool_settle(&t->file, &t->capture);
        else
            spool_undo(&a->spool, &t->file);
    }
    u32vec_fini(&written);
}

void run_spool_all(struct agent *a) {
    spool_ends(a, true);
}

void run_order(struct agent *a, const struct attempt *t, struct wire_assignment *ret, struct wire_run *ret_run) {
    struct why why;
    enum err e = tlv_decode(&wire_assignment_desc, bytes_slice(t->order), TLV_SKIP_UNKNOWN, &a->arena, ret, &why);
    if (e == ERR_OK) e = tlv_decode(&wire_run_desc, ret->body, TLV_SKIP_UNKNOWN, &a->arena, ret_run, &why);
    ENSURE(e == ERR_OK); /* it was read before */
}

/* ---- its output ---- */

/* With a server, output waits in memory until it is acknowledged; without one, on disk. When both are full the process
 * waits. */
void run_flow(struct agent *a, struct attempt *t) {
    struct why why;
    if (t->phase != WIRE_HELD_RUNNING || t->process.v == 0) return;
    bool is_full = capture_memory(&t->capture) >= CAPTURE_MEMORY_BYTES;
    if (is_full && a->connection.state != CONNECTION_UP && a->spool.bytes < a->o.spool_bytes_max)
        is_full = spool_pieces(&a->spool, &t->id, &t->file, &t->capture, &why) != ERR_OK;
    if (is_full == t->is_paused) return;
    t->is_paused = is_full;
    a->w.proc->ops->pause(a->w.proc, t->process, is_full);
}

static struct attempt *attempt_of(struct agent *a, proc_id p) {
    uint32_t index = map_get(&a->by_process, p.v);
    return index ? attempts_at(&a->attempts, index) : NULL;
}

static void on_output(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes) {
    struct agent *a = ctx;
    struct attempt *t = attempt_of(a, p);
    if (t == NULL || t->is_dropped) return;
    capture_put(&t->capture, stream == PROC_OUT ? WIRE_STREAM_OUT : WIRE_STREAM_ERR, bytes, agent_wall_ms(a));
    attempts_touch(&a->attempts, t);
    run_flow(a, t);
}

static void on_stdin_ready(void *ctx, proc_id p) {
    (void)ctx, (void)p; /* all of it was given at the start */
}

/* ---- what it leaves ---- */

/* Its result and its artifacts; a success that lacks one of them is none. */
static enum err leavings(struct agent *a, struct attempt *t, struct wire_end *end, struct why *why) {
    bool is_good = end->outcome == WIRE_OUTCOME_OK;
    enum err e = is_good ? job_setup_result(a, t, &end->result, why) : ERR_OK;
    if (e != ERR_OK || t->order == NULL) return e;
    struct wire_assignment order;
    struct wire_run run;
    run_order(a, t, &order, &run);
    struct why missing = {{0}};
    if (blobs_gather(a, t, &run, &missing) || !is_good) return ERR_OK;
    *why = missing;
    return ERR_NOT_FOUND;
}

static void fail_for(struct wire_end *end, const struct why *why) {
    end->outcome = WIRE_OUTCOME_EXIT;
    end->result = (struct slice){0};
    end->reason = slice_str(why->text);
}

void run_kept(struct agent *a, struct attempt *t, const char *why) {
    struct wire_end end;
    struct why text = {{0}};
    struct bytes *kept = t->end;
    t->end = NULL;
    enum err e = tlv_decode(&wire_end_desc, bytes_slice(kept), TLV_SKIP_UNKNOWN, &a->arena, &end, &text);
    ENSURE(e == ERR_OK);
    struct wire_kept *list = ARENA_ARRAY(&a->arena, struct wire_kept, t->transfer.items.count + 1);
    for (uint32_t i = 0; i < t->transfer.next; i++) {
        const struct transfer_item *item = vec_at(&t->transfer.items, i);
        struct slice hash = slice_of(item->hash, sizeof item->hash);
        if (item->is_result)
            end.result_hash = hash;
        else
            list[end.artifacts.count++] = (struct wire_kept){slice_str(item->name), hash, item->bytes};
    }
    end.artifacts.at = list;
    if (why != NULL && end.outcome == WIRE_OUTCOME_OK) {
        (void)why_set(&text, ERR_OK, "%s", why);
        end.result_hash = (struct slice){0};
        fail_for(&end, &text);
    }
    end_log(a, t, &end);
    finish(a, t, &end);
    bytes_free(kept);
}

static void unwell_text(const struct agent *a, const struct attempt *t, struct why *ret) {
    const struct service_health *v = service_health_of(a, t);
    (void)why_set(ret, ERR_OK, "stopped by the worker as unhealthy: %u probe%s in a row failed, the last: %s",
                  v->failures, v->failures == 1 ? "" : "s", v->text);
}

static void process_over(struct agent *a, struct attempt *t, struct wire_end *end) {
    struct why why = {{0}};
    bool by_itself = !t->is_stopping && !t->is_overdue && !t->is_unwell;
    t->process = (proc_id){0};
    t->timeout_at_ms = t->kill_at_ms = TIME_NEVER;
    t->ended_at_ms = agent_now_ms(a); /* what it leaves may have to wait for the server */
    attempts_time(&a->attempts, t);
    if (t->is_stopping) end->outcome = WIRE_OUTCOME_STOPPED;
    if (t->is_overdue) (void)why_set(&why, ERR_OK, "stopped by the worker after its run timeout");
    if (t->is_unwell) unwell_text(a, t, &why);
    if (t->is_overdue || t->is_unwell) fail_for(end, &why);
    if (by_itself && t->is_exclusive && end->signal == SIGKILL && agent_now_ms(a) >= a->lease_until_ms)
        end->reason = SLICE("killed because the lease of the worker ran out");
    if (by_itself && leavings(a, t, end, &why) != ERR_OK)
        fail_for(end, &why);
    else if (by_itself && t->transfer.items.count > 0) {
        end_keep(t, end);
        if (blobs_keep(a, t)) return;
    }
    end_log(a, t, end);
    finish(a, t, end);
}

static void on_ended(void *ctx, proc_id p, uint32_t exit_code, uint32_t number, const struct proc_usage *usage) {
    struct agent *a = ctx;
    struct attempt *t = attempt_of(a, p);
    (void)map_del(&a->by_process, p.v);
    if (t == NULL) return;
    if (t->is_dropped) {
        run_forget(a, t);
        return;
    }
    struct wire_end end = {
        .outcome = exit_code == 0 && number == 0 ? WIRE_OUTCOME_OK : WIRE_OUTCOME_EXIT,
        .exit_code = exit_code,
        .signal = number,
    };
    arena_reset(&a->arena);
    joblimits_tell(&t->limits, usage, &a->arena, &end);
    struct why why;
    if (exit_code == PROC_REFUSED && job_setup_refused(a, t, &why)) {
        end.outcome = WIRE_OUTCOME_REFUSED;
        end.reason = slice_str(why.text);
    }
    if (t->is_http && end.outcome == WIRE_OUTCOME_EXIT) end.retry_after_ms = job_setup_retry_ms(a, t);
    process_over(a, t, &end);
}

/* ---- the start ---- */

/* The end of what ran inside the worker. */
static void finish_inside(struct agent *a, struct attempt *t) {
    struct wire_end end = {0};
    if (t->fail_code != 0) {
        end.outcome = WIRE_OUTCOME_EXIT;
        end.exit_code = t->fail_code;
        end.reason = SLICE("it was asked to fail");
    }
    finish(a, t, &end);
}

static void run_inside(struct agent *a, struct attempt *t, uint8_t kind, const struct wire_run *run) {
    t->phase = WIRE_HELD_RUNNING;
    if (kind == JOB_FAIL) t->fail_code = run->exit_code != 0 ? run->exit_code : 1;
    if (kind == JOB_NOOP || run->sleep_ms <= 0) {
        finish_inside(a, t);
        return;
    }
    t->sleep_until_ms = agent_now_ms(a) + run->sleep_ms;
    attempts_time(&a->attempts, t);
    attempts_touch(&a->attempts, t);
}

static enum err run_process(struct agent *a, struct attempt *t, const struct wire_assignment *order,
                            struct job_setup *w, struct why *why) {
    struct proc_handler handler = {on_output, on_stdin_ready, on_ended, a};
    if (order->kind == JOB_SERVICE && !service_health_begin(a, t, &w->run))
        return why_set(why, ERR_BUSY, "no port of this machine is free");
    enum err e = job_setup_make(a, t, order, w, why);
    if (e != ERR_OK) return e;
    struct proc_spec spec = {.argv = w->argv,
                             .env = w->env,
                             .workdir = w->workdir,
                             .has_stdin = w->run.stdin_text.len > 0,
                             .stdin_path = w->stdin_path[0] != 0 ? w->stdin_path : NULL,
                             .limits = t->limits,
                             .sandbox = w->sandbox,
                             .source = a->o.elsewhere ? source_make(a, t, order, w) : NULL};
    e = a->w.proc->ops->start(a->w.proc, &spec, &handler, &t->process, why);
    if (e != ERR_OK) return e;
    map_put(&a->by_process, t->process.v, t->index);
    if (t->is_exclusive && !MUTANT(keeper_unset)) a->w.proc->ops->kill_at(a->w.proc, t->process, a->lease_until_ms);
    if (spec.has_stdin) {
        a->w.proc->ops->feed(a->w.proc, t->process, w->run.stdin_text);
        a->w.proc->ops->feed_end(a->w.proc, t->process);
    }
    return ERR_OK;
}

static void order_keep(struct agent *a, struct attempt *t, const struct wire_assignment *order) {
    struct buf b;
    if (t->order != NULL) return;
    buf_init(&b, (size_t)a->o.limits.frame_bytes_max);
    tlv_encode(&wire_assignment_desc, order, &b);
    ENSURE(!b.full);
    t->order = bytes_new(buf_slice(&b));
    buf_fini(&b);
}

/* A process that was dropped may not be dead yet, and the server has given its GPUs away already. */
static bool has_gpus(struct agent *a, const struct attempt *t, const struct wire_assignment *order) {
    return order->gpus == 0 || gpus_take(&a->gpus, t->index, order->gpus);
}

/* Everything it needs is here; an exclusive one also needs a lease. */
static void start(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct job_setup *w) {
    struct why why = {{0}};
    t->is_waiting = (t->is_exclusive && agent_now_ms(a) >= a->lease_until_ms) || !has_gpus(a, t, order);
    t->limits = joblimits_of(&a->o.ceilings, order, &w->run);
    bool again = w->run.artifacts.count > 0 || order->kind == JOB_SERVICE; /* it is read again later */
    if (t->is_waiting || again) order_keep(a, t, order);
    if (t->is_waiting) return;
    if (run_process(a, t, order, w, &why) != ERR_OK) {
        refuse(a, t, why.text);
        return;
    }
    t->phase = WIRE_HELD_RUNNING;
    t->tell_at_ms = agent_now_ms(a) + STARTED_MS;
    if (order->run_timeout_ms > 0) t->timeout_at_ms = agent_now_ms(a) + order->run_timeout_ms + TIMEOUT_MARGIN_MS;
    attempts_time(&a->attempts, t);
    if (t->tended != 0) service_health_started(a, t);
    attempts_touch(&a->attempts, t);
    agent_log(a, "%.*s#%u started", SLICE_FMT(bytes_slice(t->job)), t->id.attempt);
}

/* Makes its place and fetches its blobs; while it does that it counts as running. */
static void prepare(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct job_setup *w) {
    struct why why = {{0}};
    enum err e = job_setup_check(&w->run, &why);
    if (e == ERR_OK) e = blobs_check(order, &w->run, &why);
    if (e == ERR_OK && order->gpus > a->o.gpus)
        e = why_set(&why, ERR_INVALID, "it needs %u GPUs, but this worker has %u", order->gpus, a->o.gpus);
    attempts_name_space(t);
    if (e == ERR_OK) e = a->w.space->ops->make(a->w.space, t->space, &why);
    t->has_space = e == ERR_OK;
    if (e != ERR_OK) {
        refuse(a, t, why.text);
    } else if (blobs_fetch(a, t, order, &w->run)) {
        order_keep(a, t, order);
        t->phase = WIRE_HELD_RUNNING;
        attempts_touch(&a->attempts, t);
    } else {
        start(a, t, order, w);
    }
}

/* An order that was kept: now it is read again, and started. */
static void start_kept(struct agent *a, struct attempt *t) {
    struct job_setup *w = ARENA_NEW(&a->arena, struct job_setup);
    struct wire_assignment *order = ARENA_NEW(&a->arena, struct wire_assignment);
    run_order(a, t, order, &w->run);
    start(a, t, order, w);
}

void run_fetched(struct agent *a, struct attempt *t, const char *why) {
    if (why != NULL)
        refuse(a, t, why);
    else
        start_kept(a, t);
}

static void begin(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct job_setup *w) {
    struct why why = {{0}};
    t->started_ms = agent_wall_ms(a);
    t->grace_ms = w->run.kill_grace_ms != 0 ? w->run.kill_grace_ms : (uint32_t)a->o.limits.kill_grace_ms;
    switch ((enum job_runs)job_kind_of(order->kind)->runs) {
    case JOB_RUNS_INSIDE: run_inside(a, t, order->kind, &w->run); break;
    case JOB_RUNS_HELPER:
    case JOB_RUNS_PROGRAM: prepare(a, t, order, w); break;
    case JOB_RUNS_NOTHING:
        (void)why_set(&why, ERR_UNSUPPORTED, "this worker does not run jobs of kind `%s`", job_kind_words[order->kind]);
        refuse(a, t, why.text);
    }
}

void run_assign(struct agent *a, const struct wire_assignment *order) {
    struct job_setup *w = ARENA_NEW(&a->arena, struct job_setup);
    struct why why = {{0}};
    if (attempts_find(&a->attempts, &order->attempt) != NULL) return; /* it is under way, and said again anyway */
    if (attempts_is_buried(&a->attempts, &order->attempt)) return;
    enum err e = tlv_decode(&wire_run_desc, order->body, TLV_SKIP_UNKNOWN, &a->arena, &w->run, &why);
    uint64_t cap =
        e == ERR_OK && w->run.log_bytes_max != 0 ? w->run.log_bytes_max : (uint64_t)a->o.limits.log_bytes_max;
    /* Nobody waits for the end of a service to read the tail of its log: the server, with its own cap, gets it all. */
    if (order->kind == JOB_SERVICE) cap = 0;
    struct attempt *t = attempts_new(&a->attempts, &order->attempt, order->job, cap);
    if (t == NULL) return; /* far above our credit: the server will find that we do not hold it */
    t->is_exclusive = order->exclusive;
    t->is_http = order->kind == JOB_HTTP;
    if (e == ERR_OK && order->refusal.len > 0) e = why_set(&why, ERR_INVALID, "%.*s", SLICE_FMT(order->refusal));
    if (e == ERR_OK)
        begin(a, t, order, w);
    else
        refuse(a, t, why.text);
}

void run_lease(struct agent *a, int64_t until_ms) {
    until_ms -= LEASE_MARGIN_MS;
    if (until_ms <= a->lease_until_ms) return;
    a->lease_until_ms = until_ms;
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        struct attempt *t = attempts_at(&a->attempts, i);
        if (t == NULL || !t->is_exclusive) continue;
        if (t->process.v != 0 && !MUTANT(keeper_unset))
            a->w.proc->ops->kill_at(a->w.proc, t->process, until_ms);
        else if (t->is_waiting)
            start_kept(a, t);
    }
}

/* ---- stopping ---- */

static void terminate(struct agent *a, struct attempt *t, uint32_t grace_ms) {
    if (t->is_paused) { /* it may have last words */
        t->is_paused = false;
        a->w.proc->ops->pause(a->w.proc, t->process, false);
    }
    service_health_quiet(a, t);
    a->w.proc->ops->signal(a->w.proc, t->process, SIGTERM);
    t->timeout_at_ms = TIME_NEVER;
    t->kill_at_ms = agent_now_ms(a) + grace_ms;
    attempts_time(&a->attempts, t);
}

void run_end_unwell(struct agent *a, struct attempt *t) {
    agent_log(a, "%.*s#%u is unhealthy and is stopped: %s", SLICE_FMT(bytes_slice(t->job)), t->id.attempt,
              service_health_of(a, t)->text);
    t->is_unwell = true;
    terminate(a, t, t->grace_ms);
}

void run_end_services(struct agent *a) {
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        struct attempt *t = attempts_at(&a->attempts, i);
        if (t == NULL || t->tended == 0 || t->process.v == 0 || service_health_of(a, t)->is_quiet) continue;
        terminate(a, t, t->grace_ms);
    }
}

static void drop(struct agent *a, struct attempt *t) {
    agent_log(a, "%.*s#%u is no longer ours", SLICE_FMT(bytes_slice(t->job)), t->id.attempt);
    if (t->process.v == 0) {
        run_forget(a, t);
        return;
    }
    t->is_dropped = true;
    service_health_quiet(a, t);
    attempts_time(&a->attempts, t);
    a->w.proc->ops->pause(a->w.proc, t->process, false);
    a->w.proc->ops->signal(a->w.proc, t->process, SIGKILL);
}

void run_stop(struct agent *a, const struct wire_stopped *stop) {
    struct attempt *t = attempts_find(&a->attempts, &stop->attempt);
    if (stop->cause == WIRE_STOP_DROP) {
        if (t != NULL && !t->is_dropped) drop(a, t);
        return;
    }
    if (t == NULL) { /* it overtook its assignment, or nothing is left: confirm, and never start it */
        if (attempts_is_buried(&a->attempts, &stop->attempt)) return;
        t = attempts_new(&a->attempts, &stop->attempt, SLICE("?"), 0);
        if (t == NULL) return;
    }
    if (t->phase == WIRE_HELD_FINISHED || t->is_stopping || t->is_dropped) return;
    t->is_stopping = true;
    if (t->process.v != 0) {
        terminate(a, t, stop->grace_ms != 0 ? stop->grace_ms : t->grace_ms);
        return;
    }
    struct wire_end end = {.outcome = WIRE_OUTCOME_STOPPED};
    finish(a, t, &end);
}

/* ---- time ---- */

static void start_waiting(struct agent *a) {
    a->has_gpus_back = false;
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        struct attempt *t = attempts_at(&a->attempts, i);
        if (t != NULL && t->is_waiting) start_kept(a, t);
    }
}

void run_due(struct agent *a) {
    int64_t now = agent_now_ms(a);
    if (a->has_gpus_back) start_waiting(a);
    for (struct attempt *t = attempts_due(&a->attempts, now); t != NULL; t = attempts_due(&a->attempts, now)) {
        arena_reset(&a->arena);
        if (t->spool_at_ms <= now) {
            spool_ends(a, false);
        } else if (t->kill_at_ms <= now) {
            t->kill_at_ms = TIME_NEVER;
            a->w.proc->ops->signal(a->w.proc, t->process, SIGKILL);
        } else if (t->timeout_at_ms <= now) {
            t->is_overdue = true;
            terminate(a, t, t->grace_ms);
        } else if (t->tell_at_ms <= now) {
            t->tell_at_ms = TIME_NEVER;
            attempts_touch(&a->attempts, t);
        } else if (t->tend_at_ms <= now) {
            service_health_due(a, t);
        } else if (t->sleep_until_ms <= now) {
            finish_inside(a, t);
        }
        attempts_time(&a->attempts, t); /* none of these forgets it */
    }
}
