/* server.c: the life of a server and its passes. See server.h.
 *
 * A pass: what became durable meanwhile is let out; requests are served, the first lane before the second; the engine
 * finishes; the records are appended, here when little is going on, else by the journal's thread while the next pass
 * fills the next batch. Everything that leaves comes out of engine_effect, in its order. */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>

#include "assign.h"
#include "call.h"
#include "evaluator.h"
#include "fair_queue.h"
#include "flow_events.h"
#include "hash.h"
#include "history_request.h"
#include "job_token.h"
#include "panic.h"
#include "route.h"
#include "server_impl.h"
#include "session.h"
#include "titan_fleet.h"
#include "titan_gates.h"
#include "upload.h"
#include "utf8.h"
#include "web.h"

#define REQUEST_ARENA_MAX ((size_t)2 << 30)
#define SESSIONS_MAX 100000u
#define CALLS_MAX 1000001u
/* More than this in one pass, and the journal's thread does the append: what comes meanwhile is worth more than the
 * hand-over costs. */
#define HERE_REQUESTS_MAX 512u
#define HERE_BYTES_MAX 32768u
#define FULL_RETRY_MS 200
#define ROOM_MS 50
#define ROOM_LOW_BYTES (256ull << 20) /* below it every pass asks */
#define FILL_MS 3
#define VAULT_RETRY_MS 1000
#define CLOCK_LOOK_MS 30000 /* by then it is noticed that the wall clock jumped, if anything waits for a time */
/* While a lease runs there is a pass in each half of this part of it, so a gap as long as the part is no idleness: the
 * process was stopped, or its machine was. */
#define STILL_PART 2

void server_log(struct server *s, enum server_level level, const char *what, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    utf8_clean(text); /* names and reasons are of others */
    s->world.log(s->world.log_ctx, level, what, text);
}

void server_fail(struct server *s, enum err e, const struct why *why) {
    if (s->failed != ERR_OK) return;
    s->failed = e;
    s->failed_why = *why;
}

enum err server_failed(const struct server *s, struct why *why) {
    if (s->failed != ERR_OK) *why = s->failed_why;
    return s->failed;
}

/* Nothing that came from outside changes the state before it was checked. A read changes nothing: refusals are some. */
static void require_checked(const struct server *s, conn_id conn, const struct command *cmd) {
    ENSURE(conn.v == 0 || cmd->kind == CMD_READ || conn.v == s->checked.v);
}

enum err server_command(struct server *s, conn_id conn, uint32_t request, const struct command *cmd) {
    const struct observer *g = s->world.observer;
    require_checked(s, conn, cmd);
    if (g != NULL) g->asked(g->ctx, conn, request, cmd);
    enum err decided = engine_command(s->engine, cmd);
    s->command_count++;
    if (g != NULL) g->decided(g->ctx, conn, request, cmd);
    titan_gates_wrote(s, cmd);
    return decided;
}

void server_ask(struct server *s, conn_id conn, const struct command *cmd, struct reply *ret) {
    const struct observer *g = s->world.observer;
    require_checked(s, conn, cmd);
    if (g != NULL) g->asked(g->ctx, conn, 0, cmd);
    engine_ask(s->engine, cmd, ret);
    s->command_count++;
    if (g != NULL) g->decided(g->ctx, conn, 0, cmd);
    titan_gates_wrote(s, cmd);
}

/* Asking the file system costs a call; it is asked again after a while, or when a good part of the answer is used. */
static uint64_t journal_room(struct server *s) {
    struct why why;
    bool old = s->now_ms >= s->room_ms + ROOM_MS || s->room_ms == 0;
    if (old || s->room_bytes < ROOM_LOW_BYTES) {
        s->room_ms = s->now_ms;
        if (s->journal->ops->space(s->journal, &s->room_bytes, &why) != ERR_OK) s->room_bytes = 0;
    }
    return s->room_bytes;
}

const char *server_unready(struct server *s) {
    if (s->draining) return "stopping";
    if (s->append == APPEND_FULL) return "the journal has no room";
    bool takes = engine_takes_work(s->engine, journal_room(s));
    return takes ? NULL : "the disk has no room for new work beside what was accepted: free some space";
}

/* ---- the clock ---- */

int64_t server_clock_apart(struct server *s) {
    struct clock *c = s->world.clock;
    return batch_clock_apart(&s->batch_clock, c->wall(c), c->mono(c));
}

const char *server_note(struct server *s) {
    int64_t apart_ms = server_clock_apart(s), size_ms = apart_ms < 0 ? -apart_ms : apart_ms;
    if (size_ms <= BATCH_CLOCK_APART_MS) return NULL;
    snprintf(s->note, sizeof s->note,
             "this machine's clock is %lld s %s the journal's clock: when it has been so for a minute, the journal's "
             "clock is set to it; check the time of this machine",
             (long long)size_ms / 1000, apart_ms < 0 ? "behind" : "ahead of");
    return s->note;
}

/* Once for each time that it happens: a clock that jumps about does not fill the log. */
static void tell_apart(struct server *s) {
    bool apart = s->batch_clock.apart_since.ms != TIME_NEVER;
    const char *note = apart && !s->clock_is_apart ? server_note(s) : NULL;
    if (note != NULL) server_log(s, SERVER_WARN, "clock", "%s", note);
    s->clock_is_apart = apart;
}

static void tell_step(struct server *s, int64_t step_ms) {
    const char *which = step_ms < 0 ? "ahead of" : "behind";
    long long seconds = (long long)(step_ms < 0 ? -step_ms : step_ms) / 1000;
    server_log(s, SERVER_WARN, "clock",
               "the journal's clock was %lld s %s the machine's clock and is set right; flows noted meanwhile in the "
               "history keep their times",
               seconds, which);
    s->clock_steps++;
}

static void inputs(struct server *s, struct inputs *ret) {
    struct clock *c = s->world.clock;
    mono_time mono = c->mono(c);
    bool stood_still = s->now_ms != 0 && mono.ms - s->now_ms > s->limits->lease_ms / STILL_PART;
    if (stood_still)
        server_log(s, SERVER_WARN, "stood_still",
                   "this process did not run for %lld ms: every worker has a full lease again",
                   (long long)(mono.ms - s->now_ms));
    s->now_ms = mono.ms;
    s->stood_still = stood_still;
    s->seed = hash_mix(s->seed + 0x9e3779b97f4a7c15u); /* jitter and ties: good enough, and no system call */
    wall_time wall = c->wall(c);
    int64_t step_ms = s->clock_step_ms != 0 ? s->clock_step_ms : batch_clock_step(&s->batch_clock, wall, mono);
    s->clock_step_ms = 0;
    if (step_ms != 0) tell_step(s, step_ms);
    tell_apart(s);
    *ret = (struct inputs){.wall = batch_clock_now(&s->batch_clock, wall, mono),
                           .mono = mono,
                           .random = s->seed,
                           .journal_free_bytes = journal_room(s),
                           .stood_still = stood_still,
                           .step_ms = step_ms};
}

/* ---- effects ---- */

static void release(struct server *s) {
    const struct observer *g = s->world.observer;
    struct effect e;
    playground_mark(s);
    while (engine_effect(s->engine, &e)) {
        if (g != NULL) g->leaves(g->ctx, &e);
        switch (e.kind) {
        case EFFECT_ANSWER:
            if (observer_is_token(e.as.answer.token)) break; /* he was told */
            if (evaluator_is_token(e.as.answer.token))
                evaluator_answered(s, e.as.answer.token, e.as.answer.reply);
            else
                call_answered(s, e.as.answer.token, e.lsn, e.as.answer.reply);
            break;
        case EFFECT_EVENT:
            blob_gc_event(s, &e);
            event_ring_put(s, &e);
            playground_event(s, &e.as.event);
            orion_stream_event(s, &e);
            titan_gates_event(s, &e.as.event);
            job_token_event(s, &e.as.event);
            break;
        case EFFECT_ASSIGN:
        case EFFECT_STOP:
        case EFFECT_DROP: assign_effect(s, &e); break;
        case EFFECT_SLOTS_WANTED: schedule_slots_want(s, &e.as.slots); break;
        case EFFECT_QUESTION:
            evaluator_question(s, &e.as.question);
            titan_gates_question(s, &e.as.question);
            break;
        case EFFECT_CHANGED:
        case EFFECT_PUBLISHED: req_store_effect(s, &e); break;
        }
        if (g != NULL) g->left(g->ctx, &e);
    }
    job_token_step(s);
    assign_flush_all(s);
}

/* ---- appends ---- */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void append_ended(struct server *s, const struct writer_result *r) {
    switch (r->outcome) {
    case JOURNAL_DURABLE:
        s->sync_count++;
        if (r->seal) return;
        s->append = APPEND_NONE;
        sample_synced(s->sync, s->world.clock->us(s->world.clock) - s->given_us);
        s->appended_ms = s->now_ms;
        s->appended_bytes += s->batch.records.len + s->journal->limits.batch_overhead_bytes;
        s->room_bytes -= least(s->room_bytes, s->batch.records.len + s->journal->limits.batch_overhead_bytes);
        if (s->world.observer != NULL) s->world.observer->durable(s->world.observer->ctx, r->last_lsn);
        engine_durable(s->engine, r->last_lsn);
        return;
    case JOURNAL_FULL: /* nothing is harmed: everything waits, new work is refused */
        if (r->seal) return;
        s->append = APPEND_FULL;
        s->append_again_ms = s->now_ms + FULL_RETRY_MS;
        return;
    case JOURNAL_FENCED:
    case JOURNAL_UNKNOWN:
    case JOURNAL_FAILED: break;
    }
    struct why why = r->why;
    server_fail(s, why_wrap(&why, r->outcome == JOURNAL_FENCED ? ERR_FENCED : ERR_IO, "journal"), &why);
}

static void append_give(struct server *s) {
    struct writer_result r;
    bool here = s->served <= HERE_REQUESTS_MAX && s->batch.records.len <= HERE_BYTES_MAX && !s->options.appends_away;
    s->append = APPEND_AWAY;
    s->given_us = s->world.clock->us(s->world.clock);
    if (writer_append(s->writer, s->epoch, s->batch.first_lsn - 1, &s->batch, here, &r)) append_ended(s, &r);
}

/* Near the end of the disk a batch that fills no block waits a moment for company, so that padding is not what uses up
 * the room that accepted work was promised. */
static bool should_fill(struct server *s) {
    if (!engine_should_fill(s->engine, s->journal->limits.fill_bytes)) {
        s->fill_by_ms = 0;
        return false;
    }
    if (s->fill_by_ms == 0) s->fill_by_ms = s->now_ms + FILL_MS;
    if (s->now_ms < s->fill_by_ms) return true;
    s->fill_by_ms = 0;
    return false;
}

static void append_start(struct server *s) {
    if (s->append == APPEND_FULL && s->now_ms >= s->append_again_ms) {
        append_give(s);
        return;
    }
    if (s->append != APPEND_NONE || writer_is_busy(s->writer)) return;
    if (should_fill(s) || !engine_batch(s->engine, &s->batch)) return;
    if (s->world.observer != NULL) s->world.observer->appends(s->world.observer->ctx, &s->batch);
    append_give(s);
}

static void append_take(struct server *s) {
    struct writer_result r;
    struct writer_trim_result t;
    if (!s->woken && !writer_is_busy(s->writer) && !s->compacting && !s->trimming) return; /* nothing is under way */
    if (writer_take(s->writer, &r)) append_ended(s, &r);
    if (!writer_trim_take(s->writer, &t)) return;
    s->trimming = false;
    if (t.err != ERR_OK) server_log(s, SERVER_WARN, "trim", "%s: %s", err_word(t.err), t.why.text);
}

static void seal_when_idle(struct server *s) {
    if (s->appended_ms == 0 || s->append != APPEND_NONE || s->now_ms < s->appended_ms + WRITER_IDLE_MS) return;
    s->appended_ms = 0;
    (void)writer_idle(s->writer);
    if (s->options.at_rest != NULL) s->options.at_rest();
}

/* ---- passes ---- */

static void vault_turn(struct server *s) {
    struct why why = {{0}};
    bool flew = s->store.logs_fly || s->store.blobs_fly;
    if (!flew && !s->woken) return;
    enum err e = blob_log_store_take(&s->store, &why);
    if (e == ERR_NO_SPACE) {
        s->vault_again_ms = s->now_ms + VAULT_RETRY_MS;
        server_log(s, SERVER_WARN, "no_space", "%s", why.text);
        upload_no_space(s);
    } else if (e != ERR_OK) {
        why_wrap(&why, e, "blobs and logs");
        server_fail(s, e, &why);
        return;
    }
    bool flies = s->store.logs_fly || s->store.blobs_fly;
    if (flew && !flies && e == ERR_OK) {
        streams_flushed(s);
        web_unstick(s);
        req_done_again(s);
    }
}

static void vault_kick_turn(struct server *s) {
    if (s->vault_again_ms > s->now_ms || s->store.logs_fly || s->store.blobs_fly) return;
    s->vault_again_ms = 0;
    if (!blob_log_store_kick(&s->store)) return;
    s->streams.flying_bytes = s->streams.waiting_bytes;
    s->streams.waiting_bytes = 0;
}

void server_pass(struct server *s) {
    struct inputs in;
    if (s->failed != ERR_OK) return;
    append_take(s);
    if (s->failed != ERR_OK) return;
    release(s);
    inputs(s, &in);
    engine_begin(s->engine, &in);
    session_tell_gone(s);
    titan_fleet_step(s);
    vault_turn(s);
    if (s->failed != ERR_OK) return;
    titan_gates_step(s); /* before those who have seen what there is to do for it */
    fair_queue_serve(s);
    resp_serve(s);
    evaluator_step(s);
    history_writer_step(s);
    s->woken = false;
    flow_retention_step(s);
    schedule_slots_step(s);
    if (s->world.observer != NULL) s->world.observer->turn(s->world.observer->ctx);
    engine_finish(s->engine);
    vault_kick_turn(s);
    release(s); /* reads of a state that is durable already leave without waiting for the append */
    append_start(s);
    if (s->failed != ERR_OK) return;
    release(s);
    seal_when_idle(s);
    flow_retention_sweep(s);
    blob_gc_step(s);
    (void)event_ring_expire(s);
    (void)session_expire(s);
    event_ring_flush(s);
    subscribers_step(s);
    orion_stream_step(s);
    flow_events_step(s);
    demand_step(s);
    streams_pump(s);
    web_step(s);
    titan_step(s);
    resp_step(s);
    budget_step(s);
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

mono_time server_next(struct server *s) {
    int64_t now = s->world.clock->mono(s->world.clock).ms;
    int64_t next = earlier(event_ring_expire(s), session_expire(s));
    wall_time due = engine_next_due(s->engine);
    if (s->failed != ERR_OK) return (mono_time){now};
    bool waits = s->streams.behind || fair_queue_wait(s) || s->hung_up.count > 0 || s->webs.ready.count > 0 ||
                 s->titan.ready.count > 0 || resp_waits(s) || engine_has_work(s->engine) || schedule_slots_waits(s);
    if (due.ms != TIME_NEVER) {
        int64_t wait = due.ms - s->batch_clock.last.ms;
        waits |= wait <= 0;
        next = earlier(next, s->now_ms + (wait > 0 ? wait : 0));
        next = earlier(next, s->now_ms + CLOCK_LOOK_MS);
    }
    if (s->batch_clock.apart_since.ms != TIME_NEVER)
        next = earlier(next, s->batch_clock.apart_since.ms + BATCH_CLOCK_PATIENCE_MS);
    if (s->stood_still) next = s->now_ms; /* what was put off */
    mono_time lease = engine_next_lease(s->engine);
    if (lease.ms != TIME_NEVER)
        next = earlier(next, earlier(lease.ms, s->now_ms + s->limits->lease_ms / (2 * STILL_PART)));
    next = earlier(next, flow_retention_next(s));
    next = earlier(next, blob_gc_next(s));
    next = earlier(next, evaluator_next(s));
    next = earlier(next, titan_gates_next(s));
    next = earlier(next, history_writer_next(s));
    next = earlier(next, demand_next(s));
    next = earlier(next, subscribers_next(s));
    next = earlier(next, orion_stream_next(s));
    if (s->appended_ms != 0 && s->append == APPEND_NONE) next = earlier(next, s->appended_ms + WRITER_IDLE_MS);
    if (s->append == APPEND_FULL) next = earlier(next, s->append_again_ms);
    if (s->fill_by_ms != 0) next = earlier(next, s->fill_by_ms);
    if (s->vault_again_ms != 0) next = earlier(next, s->vault_again_ms);
    /* While an append or a seal is away the end of it wakes us; turning round and round meanwhile would only be in its
     * way. */
    bool away = s->append != APPEND_NONE || writer_is_busy(s->writer);
    bool is_cut =
        fair_queue_wait(s) && !engine_is_full(s->engine); /* the pass was long enough: what it did goes out first */
    if (waits || next <= now) next = away && !is_cut ? now + 1 : now;
    return (mono_time){next};
}

/* What ended may have been taken already, by a pass between the end and its word on the descriptor. */
void server_wake(struct server *s) {
    s->woken = true;
}

void server_fds(struct server *s, int *ret_journal, int *ret_vault) {
    *ret_journal = writer_fd(s->writer);
    *ret_vault = blob_log_store_fd(&s->store);
}

bool server_step(struct server *s) {
    REQUIRE(s->options.without_threads);
    bool wrote = writer_step(s->writer);
    return blob_log_store_work(&s->store) || wrote;
}

int server_history_fd(struct server *s) {
    return s->world.history != NULL ? s->world.history->ops->fd(s->world.history) : -1;
}

void server_reached_at(struct server *s, const char *url) {
    struct slice text = slice_str(url);
    while (text.len > 0 && text.ptr[text.len - 1] == '/') text.len--; /* paths are put behind it */
    bytes_free(s->reached_at);
    s->reached_at = bytes_new(text);
}

const struct net_handler *server_handler(struct server *s) {
    return &s->handler;
}

const struct net_handler *server_orion_handler(struct server *s) {
    return &s->orion.handler;
}

const struct net_handler *server_titan_handler(struct server *s) {
    return &s->titan.handler;
}

const struct net_handler *server_titan_web_handler(struct server *s) {
    return &s->titan.web_handler;
}

conn_id server_titan_pending(struct server *s) {
    return titan_fleet_pending(s);
}

const struct net_handler *server_resp_handler(struct server *s) {
    return &s->resps.handler;
}

/* ---- compaction ---- */

bool server_wants_compact(const struct server *s) {
    return !s->compacting && !s->draining && s->options.compact_bytes != 0 &&
           s->appended_bytes >= s->options.compact_bytes;
}

void server_compact(struct server *s, void (*start)(void *ctx), void *ctx) {
    REQUIRE(!s->compacting);
    s->compacting = true;
    s->appended_bytes = 0;
    writer_chore(s->writer, start, ctx);
}

bool server_compact_started(struct server *s) {
    return s->compacting && writer_chore_take(s->writer);
}

void server_compacted(struct server *s, bool well) {
    s->compacting = false;
    s->trimming |= well;
    if (well) writer_trim(s->writer, 0);
}

/* ---- stopping ---- */

bool server_wants_kill(const struct server *s) {
    return s->playground.kill_wanted;
}

void server_drain(struct server *s) {
    if (s->draining) return;
    s->draining = true;
    struct wire_goodbye m = {.reason = SLICE("the server is stopping"), .retry_after_ms = 1000};
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v != 0 && n->state == SESSION_OPEN) session_send(s, n, WIRE_GOODBYE, 0, 0, &m);
    }
}

bool server_is_drained(const struct server *s) {
    if (s->failed != ERR_OK) return true;
    return s->draining && s->calls.count == 0 && s->history_requests.count == 0 && s->audits.count == 0 &&
           s->launches == 0 && s->held_dones.count == 0 && resp_is_quiet(s) && s->append == APPEND_NONE &&
           !fair_queue_wait(s) && engine_lsn(s->engine) == engine_durable_lsn(s->engine);
}

/* ---- opening ---- */

struct loading {
    struct byte_sink sink; /* first: the journal passes its address back */
    struct server *server;
};

static void tell_recovery(const struct server *s, size_t bytes) {
    if (s->world.recovers != NULL) s->world.recovers(s->world.recovers_ctx, bytes);
}

static enum err load_piece(struct byte_sink *sink, const void *from, size_t len, struct why *why) {
    struct server *s = ((struct loading *)sink)->server;
    tell_recovery(s, len);
    return engine_load(s->engine, slice_of(from, len), why);
}

static enum err replay(void *ctx, const struct batch *batch, struct why *why) {
    struct server *s = ctx;
    s->appended_bytes += batch->records.len + s->journal->limits.batch_overhead_bytes; /* since the last snapshot */
    if (s->world.observer != NULL) s->world.observer->replayed(s->world.observer->ctx, batch);
    tell_recovery(s, batch->records.len);
    return engine_replay(s->engine, batch, why);
}

/* The journal is read before it is taken over: damage is refused before anything is written. */
static enum err recover(struct server *s, struct why *why) {
    struct clock *c = s->world.clock;
    mono_time begun = c->mono(c);
    struct snapshot_info snapshot = {0};
    struct loading loading = {{load_piece}, s};
    struct journal_head head = {0};
    enum err e = s->journal->ops->snapshot_get(s->journal, 0, &snapshot, &loading.sink, why);
    if (e != ERR_OK) return why_wrap(why, e, "snapshot");
    if (snapshot.lsn > 0) e = engine_load_end(s->engine, why);
    if (e != ERR_OK) return why_wrap(why, e, "snapshot");
    e = s->journal->ops->read(s->journal, snapshot.lsn + 1, UINT64_MAX, replay, s, why);
    if (e == ERR_OK) e = s->journal->ops->acquire(s->journal, s->options.shard, &head, why);
    if (e != ERR_OK) return why_wrap(why, e, "journal");
    if (head.lsn != engine_lsn(s->engine))
        return why_set(why, ERR_CORRUPT, "journal: its head is at record %llu, its batches end at %llu",
                       (unsigned long long)head.lsn, (unsigned long long)engine_lsn(s->engine));
    s->epoch = head.epoch;
    s->seed = c->random(c);
    s->clock_step_ms = batch_clock_init(&s->batch_clock, c->wall(c), c->mono(c), engine_now(s->engine));
    server_log(s, SERVER_INFO, "recovered",
               "read the snapshot of record %llu and %llu records after it (%llu KiB of the journal) in %lld ms",
               (unsigned long long)snapshot.lsn, (unsigned long long)(head.lsn - snapshot.lsn),
               (unsigned long long)(s->appended_bytes / 1024), (long long)(c->mono(c).ms - begun.ms));
    playground_init(s, head.lsn - snapshot.lsn, c->mono(c).ms - begun.ms);
    return ERR_OK;
}

static enum err stores_open(struct server *s, struct why *why) {
    bool first = false;
    bool threaded = !s->options.without_threads;
    enum err e = recover(s, why);
    if (e == ERR_OK) e = writer_open(s->journal, threaded, &s->writer, why);
    if (e == ERR_OK)
        e = blob_log_store_open(&s->store, s->world.disk, s->world.clock, s->world.hasher, s->limits, threaded, why);
    if (e == ERR_OK) e = auth_open(&s->auth, s->world.disk, s->world.clock, s->world.hasher, &first, why);
    if (e == ERR_OK && first)
        server_log(s, SERVER_INFO, "tokens", "first start: admin.token and worker.token are in the data directory");
    struct why damage;
    if (e == ERR_OK &&
        (blobs_damage(s->store.blobs, &damage) != ERR_OK || joblogs_damage(s->store.logs, &damage) != ERR_OK))
        server_log(s, SERVER_ERROR, "damage", "%s", damage.text);
    return e;
}

static struct server *server_new(const struct server_world *world, const struct server_options *o) {
    struct arena birth;
    arena_init(&birth, sizeof(struct server) + 64, (size_t)1 << 24);
    struct server *s = ARENA_NEW(&birth, struct server);
    s->birth = birth;
    s->world = *world;
    s->journal = world->journal;
    s->options = *o;
    s->limits = &s->options.limits;
    s->build = bytes_new(slice_str(o->build));
    session_handler(s, &s->handler);
    orion_init(s);
    titan_init(s);
    resp_init(s);
    pool_init(&s->sessions, sizeof(struct session), SESSIONS_MAX);
    pool_init(&s->calls, sizeof(struct call), CALLS_MAX);
    map_init(&s->session_by_conn);
    map_init(&s->session_by_worker);
    map_init(&s->sessions_by_job);
    vec_init(&s->jobs_ended, sizeof(conn_id));
    web_init(s);
    vec_init(&s->unauthenticated, sizeof(conn_id));
    vec_init(&s->hung_up, sizeof(struct closed_session));
    vec_init(&s->with_assigns, sizeof(conn_id));
    vec_init(&s->held_dones, sizeof(struct held_done));
    budget_init(s);
    fair_queue_init(s);
    arena_init(&s->arena, 65536, REQUEST_ARENA_MAX);
    arena_init(&s->frame_arena, 65536, REQUEST_ARENA_MAX);
    buf_init(&s->out, (size_t)1 << 28);
    s->engine = engine_new(o->shard, s->limits);
    return s;
}

static void server_free(struct server *s) {
    for (uint32_t i = 0; i < s->held_dones.count; i++)
        bytes_free(((struct held_done *)vec_at(&s->held_dones, i))->body);
    engine_free(s->engine);
    pool_fini(&s->sessions);
    pool_fini(&s->calls);
    map_fini(&s->session_by_conn);
    map_fini(&s->session_by_worker);
    map_fini(&s->sessions_by_job);
    vec_fini(&s->jobs_ended);
    web_fini(s);
    playground_fini(s);
    orion_fini(s);
    titan_fini(s);
    resp_fini(s);
    vec_fini(&s->unauthenticated);
    vec_fini(&s->hung_up);
    vec_fini(&s->with_assigns);
    vec_fini(&s->held_dones);
    fair_queue_fini(s);
    budget_fini(s);
    arena_fini(&s->arena);
    arena_fini(&s->frame_arena);
    buf_fini(&s->out);
    bytes_free(s->build);
    bytes_free(s->reached_at);
    struct arena birth = s->birth;
    arena_fini(&birth);
}

static void stores_close(struct server *s, bool clean) {
    struct why why = {{0}};
    if (s->writer != NULL) writer_close(s->writer);
    if (clean && s->journal->ops->seal(s->journal, &why) != ERR_OK) server_log(s, SERVER_WARN, "seal", "%s", why.text);
    s->journal->ops->close(s->journal);
    blob_log_store_close(&s->store);
    auth_close(&s->auth);
}

enum err server_open(const struct server_world *world, const struct server_options *o, struct server **ret,
                     struct why *why) {
    struct server *s = server_new(world, o);
    enum err e = stores_open(s, why);
    if (e == ERR_OK) e = history_writer_check(s, why);
    if (e != ERR_OK) {
        stores_close(s, false);
        if (world->history != NULL) world->history->ops->close(world->history);
        server_free(s);
        return e;
    }
    struct inputs in;
    audit_init(s);
    history_request_init(s);
    history_writer_init(s);
    event_ring_init(s);
    subscribers_init(s);
    flow_events_init(s);
    streams_init(s);
    items_init(&s->items);
    evaluator_init(s);
    flow_retention_init(s);
    schedule_slots_init(s);
    demand_init(s);
    blob_gc_init(s);
    inputs(s, &in);
    if (world->observer != NULL) world->observer->resumes(world->observer->ctx, s->engine, s->epoch);
    engine_resume(s->engine, s->epoch, bytes_slice(s->build), &in);
    engine_finish(s->engine);
    append_start(s); /* from here on the first pass goes on */
    *ret = s;
    return ERR_OK;
}

void server_close(struct server *s) {
    bool clean = s->failed == ERR_OK && s->append == APPEND_NONE && !writer_is_busy(s->writer);
    session_free_all(s);
    audit_fini(s);
    call_free_all(s);
    history_writer_fini(s);
    history_request_fini(s);
    flow_events_fini(s);
    subscribers_fini(s);
    event_ring_fini(s);
    streams_fini(s);
    schedule_slots_fini(s);
    demand_fini(s);
    blob_gc_fini(s);
    evaluator_fini(s);
    items_fini(&s->items);
    stores_close(s, clean);
    server_free(s);
}
