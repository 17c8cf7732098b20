/* server.c: the life of a server and its passes. See server.h; what happens inside a shard is in shard.h. */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>

#include "blob.h"
#include "call.h"
#include "fair_queue.h"
#include "history_writer.h"
#include "mutant.h"
#include "oidc.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"
#include "store_flush.h"
#include "utf8.h"

#define REQUEST_ARENA_MAX ((size_t)2 << 30)
#define SERVER_BYTES_MAX ((size_t)1 << 24)

struct shard *server_shard(const struct server *s) {
    return s->shard;
}

const struct state *server_state(const struct server *s) {
    return engine_state(server_shard(s)->engine);
}

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
    server_shard(s)->state = SHARD_FAILED;
}

enum err server_failed(const struct server *s, struct why *why) {
    if (s->failed != ERR_OK) *why = s->failed_why;
    return s->failed;
}

/* Nothing that came from outside changes the state before it was checked, and nothing does after the append. A read
 * changes nothing: refusals are some. */
static void require_checked(const struct shard *h, conn_id conn, const struct command *cmd) {
    ENSURE(!h->is_flushing || cmd->kind == CMD_READ);
    ENSURE(conn.v == 0 || cmd->kind == CMD_READ || conn.v == h->server->checked.v);
}

static void tell_asked(const struct shard *h, conn_id conn, uint32_t request, const struct command *cmd) {
    const struct observer *g = h->server->world.observer;
    require_checked(h, conn, cmd);
    if (g != NULL) g->asked(g->ctx, conn, request, cmd);
}

static void tell_decided(struct shard *h, conn_id conn, uint32_t request, const struct command *cmd) {
    const struct observer *g = h->server->world.observer;
    h->command_count++;
    if (g != NULL) g->decided(g->ctx, conn, request, cmd);
    for (uint64_t left = h->with_decided; left != 0; left &= left - 1) {
        uint8_t slot = (uint8_t)__builtin_ctzll(left);
        server_parts[slot]->decided(h, h->parts[slot], cmd);
    }
}

enum err server_command(struct server *s, conn_id conn, uint32_t request, const struct command *cmd) {
    struct shard *h = server_shard(s);
    tell_asked(h, conn, request, cmd);
    enum err decided = engine_command(h->engine, cmd);
    tell_decided(h, conn, request, cmd);
    return decided;
}

void server_ask(struct server *s, conn_id conn, const struct command *cmd, struct reply *ret) {
    struct shard *h = server_shard(s);
    tell_asked(h, conn, 0, cmd);
    engine_ask(h->engine, cmd, ret);
    tell_decided(h, conn, 0, cmd);
}

const char *server_unready(struct server *s) {
    struct shard *h = server_shard(s);
    if (s->draining) return "stopping";
    if (h->append.state == APPEND_FULL) return "the journal has no room";
    bool takes = engine_takes_work(h->engine, shard_room(h));
    return takes ? NULL : "the disk is too full to accept new work: free some space";
}

/* ---- passes ---- */

/* A shard that was lost is opened again, as at a start. A connection that has spoken may have a request, an attachment
 * or a stream in what is thrown away: it is closed, and its peer comes again. False: there is no pass now. */
static bool reopen(struct server *s) {
    struct shard *h = server_shard(s);
    const struct observer *g = s->world.observer;
    struct why why = {{0}};
    if (h->state != SHARD_LOST || s->world.clock->mono(s->world.clock).ms < h->reopen_ms) return false;
    if (g != NULL) g->lost(g->ctx);
    if (MUTANT(effects_over_reopen)) {
        engine_durable(h->engine, h->append.batch.last_lsn);
        shard_release(h);
    }
    if (MUTANT(call_over_reopen)) call_free_all(h); /* which answers them */
    session_end_spoken(s);
    auth_unbind(&s->auth);
    shard_close(h);
    s->now_ms = 0; /* to read a journal takes long, and is no standing still */
    enum err e = shard_open(h, &why);
    if (e == ERR_OK) e = auth_reopen(&s->auth, engine_state(h->engine), &why);
    if (e == ERR_OK) e = history_writer_check(s, &why);
    if (e != ERR_OK) {
        server_fail(s, why_wrap(&why, e, "the shard was lost and cannot be opened again"), &why);
        return false;
    }
    shard_parts_init(h, PART_OF_SHARD);
    shard_start(h);
    return h->state == SHARD_OWNED;
}

void server_pass(struct server *s) {
    struct shard *h = server_shard(s);
    if (h->state != SHARD_OWNED && !reopen(s)) return;
    s->served = 0;
    shard_take(h);
    if (h->state != SHARD_OWNED) return;
    shard_release(h);
    shard_begin(h);
    shard_step(h);
    if (h->state != SHARD_OWNED) return;
    s->woken = false;
    if (s->world.observer != NULL) s->world.observer->turn(s->world.observer->ctx);
    if (blob_log_store_waits(&s->store)) store_flush_kick(s);
    shard_finish(h);
    if (h->state != SHARD_OWNED) return;
    shard_flush(h);
}

mono_time server_next(struct server *s) {
    struct shard *h = server_shard(s);
    int64_t now = s->world.clock->mono(s->world.clock).ms;
    int64_t next = shard_next(h, now);
    if (next > now || h->state != SHARD_OWNED) return (mono_time){next > now ? next : now};
    /* While an append or a seal is away the end of it wakes us; turning round and round meanwhile would only be in its
     * way. But if the pass was cut because it was long enough, what it did goes out first. */
    bool away = h->append.state != APPEND_NONE || writer_is_busy(h->writer);
    bool is_cut = fair_queue_wait(s) && !engine_is_full(h->engine);
    return (mono_time){away && !is_cut ? now + 1 : now};
}

/* What ended may have been taken already, by a pass between the end and its word on the descriptor. */
void server_wake(struct server *s) {
    s->woken = true;
}

void server_fds(struct server *s, int *ret_journal, int *ret_vault) {
    *ret_journal = writer_fd(server_shard(s)->writer);
    *ret_vault = blob_log_store_fd(&s->store);
}

bool server_step(struct server *s) {
    REQUIRE(s->options.without_threads);
    bool wrote = writer_step(server_shard(s)->writer);
    return blob_log_store_work(&s->store) || wrote;
}

int server_history_fd(struct server *s) {
    return s->world.history != NULL ? s->world.history->ops->fd(s->world.history) : -1;
}

void server_issuers(struct server *s, struct issuers *issuers) {
    oidc_issuers(s, issuers);
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

/* ---- compaction ---- */

bool server_wants_compact(const struct server *s) {
    const struct shard_append *a = &server_shard(s)->append;
    return !a->is_compacting && !s->draining && s->options.compact_bytes != 0 && a->bytes >= s->options.compact_bytes;
}

void server_compact(struct server *s, void (*start)(void *ctx), void *ctx) {
    struct shard *h = server_shard(s);
    REQUIRE(!h->append.is_compacting);
    h->append.is_compacting = true;
    h->append.bytes = 0;
    writer_chore(h->writer, start, ctx);
}

bool server_compact_started(struct server *s) {
    struct shard *h = server_shard(s);
    return h->append.is_compacting && writer_chore_take(h->writer);
}

void server_compacted(struct server *s, bool well) {
    struct shard *h = server_shard(s);
    h->append.is_compacting = false;
    h->append.is_trimming |= well;
    if (well) writer_trim(h->writer, 0);
}

/* ---- the audit trail, elsewhere ---- */

uint64_t server_durable_lsn(const struct server *s) {
    const struct shard *h = server_shard(s);
    return h->state == SHARD_OWNED ? engine_durable_lsn(h->engine) : 0;
}

void server_forwarded(struct server *s, uint64_t lsn) {
    s->forward_lsn = lsn;
    s->is_forwarding = true;
    s->is_forward_bad = false;
}

void server_forward_failed(struct server *s) {
    s->forward_failures += !s->is_forward_bad;
    s->is_forwarding = s->is_forward_bad = true;
}

/* ---- stopping ---- */

void server_drain(struct server *s) {
    if (s->draining) return;
    s->draining = true;
    for (uint8_t slot = 0; slot < server_part_count; slot++) part_wake(server_shard(s), slot); /* to finish */
    struct wire_goodbye m = {.reason = SLICE("the server is stopping"), .retry_after_ms = 1000};
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v != 0 && n->state == SESSION_OPEN) session_send(s, n, WIRE_GOODBYE, 0, 0, &m);
    }
}

bool server_is_drained(const struct server *s) {
    if (s->failed != ERR_OK) return true;
    return s->draining && shard_is_idle(server_shard(s));
}

/* ---- opening ---- */

static enum err stores_open(struct server *s, struct why *why) {
    struct shard *h = server_shard(s);
    bool threaded = !s->options.without_threads;
    enum err e = shard_open(h, why);
    if (e == ERR_OK)
        e = blob_log_store_open(&s->store, s->world.disk, s->world.clock, s->world.hasher, s->limits, threaded, why);
    if (e == ERR_OK)
        e = auth_open(&s->auth, s->world.disk, s->world.clock, s->world.hasher, h->number, engine_state(h->engine),
                      why);
    struct why damage;
    if (e == ERR_OK &&
        (blobs_damage(s->store.blobs, &damage) != ERR_OK || joblogs_damage(s->store.logs, &damage) != ERR_OK))
        server_log(s, SERVER_ERROR, "damage", "%s", damage.text);
    return e;
}

static struct server *server_new(const struct server_world *world, const struct server_options *o) {
    struct arena birth;
    arena_init(&birth, sizeof(struct server) + sizeof(struct shard) + 65536, SERVER_BYTES_MAX);
    struct server *s = ARENA_NEW(&birth, struct server);
    s->shard = ARENA_NEW(&birth, struct shard);
    s->birth = birth;
    s->world = *world;
    s->options = *o;
    s->limits = &s->options.limits;
    s->build = bytes_new(slice_str(o->build));
    s->shard->server = s;
    s->shard->number = o->shard;
    s->shard->journal = world->journal;
    session_handler(s, &s->handler); /* dialects begin with a copy of it */
    arena_init(&s->arena, 65536, REQUEST_ARENA_MAX);
    arena_init(&s->frame_arena, 65536, REQUEST_ARENA_MAX);
    buf_init(&s->out, (size_t)1 << 28);
    zone_book_init(&s->zones, world->zones);
    return s;
}

static void server_free(struct server *s) {
    struct why why = {{0}};
    struct shard *h = server_shard(s);
    if (s->world.history != NULL) s->world.history->ops->close(s->world.history);
    if (s->clean && h->journal->ops->seal(h->journal, &why) != ERR_OK)
        server_log(s, SERVER_WARN, "seal", "%s", why.text);
    h->journal->ops->close(h->journal);
    blob_log_store_close(&s->store);
    auth_close(&s->auth);
    arena_fini(&s->arena);
    arena_fini(&s->frame_arena);
    buf_fini(&s->out);
    zone_book_fini(&s->zones);
    bytes_free(s->build);
    bytes_free(s->reached_at);
    struct arena birth = s->birth;
    arena_fini(&birth);
}

enum err server_open(const struct server_world *world, const struct server_options *o, struct server **ret,
                     struct why *why) {
    struct server *s = server_new(world, o);
    struct shard *h = server_shard(s);
    enum err e = stores_open(s, why);
    if (e == ERR_OK) e = history_writer_check(s, why);
    if (e != ERR_OK) {
        if (h->writer != NULL) writer_close(h->writer);
        h->writer = NULL;
        shard_close(h);
        server_free(s);
        return e;
    }
    shard_parts_init(h, PART_OF_SERVER);
    shard_parts_init(h, PART_OF_SHARD);
    shard_start(h);
    *ret = s;
    return ERR_OK;
}

void server_close(struct server *s) {
    struct shard *h = server_shard(s);
    s->clean = h->state == SHARD_OWNED && h->append.state == APPEND_NONE && !writer_is_busy(h->writer);
    session_free_all(s);
    writer_close(h->writer); /* before the engine goes: what is on its way is the engine's */
    h->writer = NULL;
    shard_close(h);
    shard_parts_fini(h, PART_OF_SERVER);
    server_free(s);
}
