/* transfers.c: blobs and logs that are read, and logs of workers. See transfers.h; uploads are in upload.c.
 *
 * Reading is done on the loop, a piece at a time, and only while the peer keeps up: what is sent and not taken is
 * bounded per connection. */
#include "transfers.h"

#include <stdio.h>

#include "blob.h"
#include "blob_gc.h"
#include "call.h"
#include "deploy_log.h"
#include "hex.h"
#include "history_request.h"
#include "mutant.h"
#include "panic.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "target.h"
#include "upload.h"
#include "utf8.h"
#include "view_store.h"

#define DOWNLOADS_MAX 10000u
#define UNSENT_MAX (1u << 20)
#define PASS_BYTES (1u << 20) /* read in one pass, of all downloads: a millisecond or two */
#define PIECE_BYTES 262144u
#define PIECES_MAX 4096u

enum download_kind { DOWNLOAD_BLOB, DOWNLOAD_LOG };

struct download {
    conn_id conn;
    uint32_t request;
    enum download_kind kind;
    uint64_t at;
    uint64_t left; /* bytes; UINT64_MAX = to the end */
    struct bytes *tenant;
    blob_hash hash;
    uint64_t blob_bytes;
    struct log_key key;
    struct job_ref job;
    bool follow;
    struct bytes *service; /* whose attempts are followed, one after the other; NULL = one attempt */
    bool fresh;            /* an attempt of which nothing was told yet */
    uint64_t log_bytes;    /* of a log that is read as it was when it was asked for; 0 = as it grows */
};

static void init(struct shard *h, void *own) {
    struct transfers *x = own;
    struct server *s = h->server;
    upload_init(s);
    deploy_log_init(s);
    vec_init(&x->downloads, sizeof(struct download));
    blobs_reader_init(s->store.blobs, &x->blob_reader);
    joblogs_reader_init(s->store.logs, &x->log_reader);
}

static void download_free(struct transfers *x, uint32_t i) {
    struct download *t = vec_at(&x->downloads, i);
    bytes_free(t->tenant);
    bytes_free(t->service);
    *t = *(struct download *)vec_at(&x->downloads, x->downloads.count - 1);
    x->downloads.count--;
}

static void fini(struct shard *h, void *own) {
    struct transfers *x = own;
    struct server *s = h->server;
    while (x->downloads.count > 0) download_free(x, x->downloads.count - 1);
    vec_fini(&x->downloads);
    pack_reader_fini(&x->blob_reader);
    pack_reader_fini(&x->log_reader);
    deploy_log_fini(s);
    upload_fini(s);
}

static void conn_gone(struct shard *h, void *own, conn_id conn) {
    struct transfers *x = own;
    for (uint32_t i = 0; i < x->downloads.count;)
        if (((struct download *)vec_at(&x->downloads, i))->conn.v == conn.v)
            download_free(x, i);
        else
            i++;
    upload_forget(h->server, conn);
}

static bool stop(struct shard *h, void *own, conn_id conn, uint32_t request) {
    struct transfers *x = own;
    struct server *s = h->server;
    for (uint32_t i = 0; i < x->downloads.count; i++) {
        const struct download *t = vec_at(&x->downloads, i);
        if (t->conn.v != conn.v || t->request != request) continue;
        struct wire_log_data log = {.attempt = t->key.attempt};
        struct wire_blob_data blob = {.offset = t->at, .bytes = t->blob_bytes};
        struct session *n = session_of(s, conn);
        if (t->kind == DOWNLOAD_LOG)
            session_answer(s, n, request, WIRE_LOG_DATA, &log);
        else
            session_answer(s, n, request, WIRE_BLOB_DATA, &blob);
        download_free(x, i);
        return true;
    }
    return false;
}

static struct download *download_new(struct server *s, struct request *r, enum download_kind kind) {
    struct transfers *x = transfers_of(s);
    if (x->downloads.count >= DOWNLOADS_MAX) {
        session_busy(s, r->session, r->id, "too many streams at once", 1000);
        return NULL;
    }
    part_wake(server_shard(s), transfers_slot);
    struct download *t = vec_push(&x->downloads);
    t->conn = r->session->conn;
    t->request = r->id;
    t->kind = kind;
    return t;
}

/* ---- blobs ---- */

HANDLER(req_blob_get) {
    const struct wire_blob_get *m = r->message;
    struct why why = {{0}};
    blob_hash hash;
    uint64_t bytes = 0;
    if (m->hash.len != DIGEST_BYTES) {
        session_error(s, r->session, r->id, ERR_INVALID, "expected the SHA-256 of a blob: 32 bytes");
        return;
    }
    memcpy(hash.at, m->hash.ptr, DIGEST_BYTES);
    enum err e = blobs_stat(s->store.blobs, session_tenant(r->session), &hash, &bytes, &why);
    if (e == ERR_OK && m->offset > bytes)
        e = why_set(&why, ERR_INVALID, "the blob is only %llu bytes long", (unsigned long long)bytes);
    if (e != ERR_OK) {
        session_error(s, r->session, r->id, e, why.text);
        return;
    }
    struct download *t = download_new(s, r, DOWNLOAD_BLOB);
    if (t == NULL) return;
    t->tenant = bytes_new(session_tenant(r->session));
    t->hash = hash;
    t->blob_bytes = bytes;
    t->at = m->offset;
    t->left = bytes - m->offset;
    if (m->most != 0 && m->most < t->left) t->left = m->most;
}

/* True: it is over. */
static bool pump_blob(struct server *s, struct download *t, struct session *n) {
    struct slice piece = {0};
    struct why why = {{0}};
    enum err e = ERR_OK;
    if (t->left > 0)
        e = blobs_read(s->store.blobs, &transfers_of(s)->blob_reader, bytes_slice(t->tenant), &t->hash, t->at, &piece,
                       &why);
    if (e != ERR_OK) {
        session_error(s, n, t->request, e, why.text);
        return true;
    }
    if (piece.len > t->left) piece.len = (size_t)t->left;
    t->left = piece.len == 0 ? 0 : t->left - piece.len;
    struct wire_blob_data m = {.offset = t->at, .bytes = t->blob_bytes, .data = piece};
    session_send(s, n, WIRE_BLOB_DATA, FRAME_ANSWER | (t->left > 0 ? FRAME_MORE : 0), t->request, &m);
    t->at += piece.len;
    return t->left == 0;
}

struct blob_page {
    struct wire_blob_view *list;
    struct server *s;
    struct slice tenant;
    uint32_t count;
};

/* What a key of the tenant's store says, by which people keep blobs. */
static struct slice kept_as(const struct blob_page *p, struct slice hash) {
    char key[sizeof BLOB_GC_KEEP + 2 * DIGEST_BYTES] = BLOB_GC_KEEP;
    struct item_view item;
    struct store_place place = {.tenant = p->tenant};
    hex_write(hash, key + sizeof BLOB_GC_KEEP - 1);
    bool is_kept =
        view_item(server_state(p->s), engine_now(server_shard(p->s)->engine), place, slice_str(key), &item) &&
        item.kind == ITEM_TEXT;
    if (!is_kept) return (struct slice){0};
    return item.value.len > 0 ? utf8_cut(item.value, WIRE_TEXT_MAX) : SLICE("kept");
}

static void page_blob(void *ctx, const blob_hash *hash, uint64_t bytes) {
    struct blob_page *p = ctx;
    struct slice copy = slice_of(arena_copy(&p->s->frame_arena, hash->at, DIGEST_BYTES), DIGEST_BYTES);
    p->list[p->count++] = (struct wire_blob_view){.hash = copy, .bytes = bytes, .kept_as = kept_as(p, copy)};
}

/* A cursor is the hash of the last one on the page; in digits, because some peers put it into a query. */
static struct slice cursor_write(struct slice hash, char text[2 * DIGEST_BYTES + 1]) {
    hex_write(hash, text);
    return slice_of(text, 2 * hash.len);
}

HANDLER(req_blob_ls) {
    const struct wire_blob_ls *m = r->message;
    uint32_t most = m->most == 0 || m->most > 1000 ? 1000 : m->most;
    blob_hash after;
    bool has_after = m->cursor.len > 0;
    if (has_after && !hex_read(m->cursor, DIGEST_BYTES, after.at)) {
        session_error(s, r->session, r->id, ERR_INVALID, "invalid cursor: it does not come from this server");
        return;
    }
    arena_reset(&s->frame_arena);
    struct blob_page p = {.list = ARENA_ARRAY(&s->frame_arena, struct wire_blob_view, most),
                          .s = s,
                          .tenant = session_tenant(r->session)};
    (void)blobs_list(s->store.blobs, session_tenant(r->session), has_after ? &after : NULL, most, page_blob, &p);
    struct wire_blob_list got = {.blobs = {p.list, p.count}};
    char cursor[2 * DIGEST_BYTES + 1];
    if (p.count == most) got.cursor = cursor_write(p.list[most - 1].hash, cursor);
    session_answer(s, r->session, r->id, WIRE_BLOB_LIST, &got);
}

/* ---- logs, read ---- */

HANDLER(req_logs) {
    const struct wire_logs *m = r->message;
    struct why why = {{0}};
    struct job_view job;
    enum err e = target_job(s, r->session, m->job, &job, &why);
    uint32_t judges = ROLE_BIT(ROLE_INSPECT) | ROLE_BIT(ROLE_ADMIN);
    if (e == ERR_OK && job.state == JOB_CHECKING && !(r->session->who.roles & judges))
        e = why_set(&why, ERR_FORBIDDEN, "the output is being checked: only the role inspect can read it");
    if (e == ERR_NOT_FOUND && history_request_look(s, r, m->job)) return;
    if (e == ERR_OK && m->attempt > job.attempt)
        e = why_set(&why, ERR_NOT_FOUND, "the job has only %u attempts", job.attempt);
    if (e != ERR_OK)
        call_fail(s, r, e, why.text);
    else
        transfer_log_of(s, r, job.ref, m->attempt != 0 ? m->attempt : job.attempt);
}

void transfer_log_of(struct server *s, struct request *r, struct job_ref job, uint32_t attempt) {
    const struct wire_logs *m = r->message;
    struct download *t = download_new(s, r, DOWNLOAD_LOG);
    if (t == NULL) return;
    t->job = job;
    t->key =
        (struct log_key){.flow = job.flow.v, .shard = s->options.shard, .ordinal = job.ordinal, .attempt = attempt};
    t->follow = m->follow;
    t->at = m->offset;
    t->left = m->most == 0 ? UINT64_MAX : m->most;
    struct log_state log;
    joblogs_state(s->store.logs, &t->key, &log);
    if (m->tail_bytes != 0) t->at = log.end > m->tail_bytes ? log.end - m->tail_bytes : 0;
    if (m->now) {
        uint64_t there = log.end > t->at ? log.end - t->at : 0;
        t->left = there < t->left ? there : t->left;
        t->log_bytes = log.end;
        t->follow = false;
        return;
    }
    struct flow_view flow;
    if (!m->follow || m->attempt != 0 || !view_flow(server_state(s), job.flow, &flow) || !flow.of_service) return;
    t->service = bytes_new(flow.name);
    t->tenant = bytes_new(flow.tenant);
}

struct log_page {
    struct server *s;
    struct wire_log_piece *list;
    uint32_t count;
    uint64_t bytes;
    uint64_t left;
};

static void page_piece(void *ctx, uint64_t offset, const struct log_piece *piece) {
    struct log_page *p = ctx;
    if (p->count >= PIECES_MAX || p->left == 0) return;
    struct slice data = arena_slice(&p->s->frame_arena, piece->bytes);
    if (data.len > p->left) data.len = (size_t)p->left;
    p->list[p->count++] = (struct wire_log_piece){
        .offset = offset, .stream = (uint8_t)piece->stream, .time_ms = piece->time.ms, .data = data};
    p->left -= data.len;
    p->bytes += data.len;
}

static bool attempt_is_over(struct server *s, const struct download *t) {
    struct job_view job;
    if (!view_job(server_state(s), t->job, &job)) return true;
    if (job.attempt != t->key.attempt) return job.attempt > t->key.attempt;
    if (job_state_is_terminal(job.state)) return true;
    return !job_state_is_active(job.state) && job.state != JOB_READY && job.attempt != 0;
}

/* The attempt that follows, also when that is one of another version. False: the service is gone. */
static bool service_goes_on(struct server *s, struct download *t) {
    struct service_view v;
    struct job_view job;
    if (t->service == NULL || !view_service(server_state(s), bytes_slice(t->tenant), bytes_slice(t->service), &v))
        return false;
    if (v.runner.flow.v == 0 || !view_job(server_state(s), v.runner, &job)) return true;
    bool is_same = v.runner.flow.v == t->job.flow.v, is_newer = v.runner.flow.v > t->job.flow.v;
    uint32_t attempt = is_same ? t->key.attempt + 1 : is_newer ? 1 : job.attempt;
    if (attempt > job.attempt) return true; /* it will be */
    t->job = v.runner;
    t->key.flow = v.runner.flow.v;
    t->key.ordinal = v.runner.ordinal;
    t->key.attempt = attempt;
    t->at = 0;
    t->fresh = true;
    return true;
}

static struct slice followed_job(struct server *s, const struct download *t) {
    struct job_view job;
    bool known = t->service != NULL && view_job(server_state(s), t->job, &job);
    return known ? server_view_job_name(s, &job) : (struct slice){0};
}

/* True: it is over. */
static bool pump_log(struct server *s, struct download *t, struct session *n, bool *ret_more) {
    struct why why = {{0}};
    struct log_state log;
    uint64_t next = t->at;
    arena_reset(&s->frame_arena);
    struct log_page p = {
        .s = s, .list = ARENA_ARRAY(&s->frame_arena, struct wire_log_piece, PIECES_MAX), .left = t->left};
    enum err e = joblogs_read(s->store.logs, &transfers_of(s)->log_reader, &t->key, t->at, PIECE_BYTES, page_piece, &p,
                              &next, &why);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        session_error(s, n, t->request, e, why.text);
        return true;
    }
    joblogs_state(s->store.logs, &t->key, &log);
    if (p.count >= PIECES_MAX) next = p.list[p.count - 1].offset + p.list[p.count - 1].data.len;
    if (t->left != UINT64_MAX) t->left = p.left;
    bool at_end = next == t->at || next >= log.end;
    bool ended = at_end && (!t->follow || attempt_is_over(s, t));
    struct wire_log_data m = {.attempt = t->key.attempt,
                              .pieces = {p.list, p.count},
                              .cut_bytes = log.cut_end - log.cut_begin,
                              .bytes = t->log_bytes,
                              .job = followed_job(s, t)};
    bool is_fresh = t->fresh;
    t->fresh = false;
    t->at = next;
    bool over = t->left == 0 || (ended && !service_goes_on(s, t));
    m.over = over && at_end;
    *ret_more = !at_end || t->fresh;
    if (p.count == 0 && !over && !is_fresh) return false;
    session_send(s, n, WIRE_LOG_DATA, FRAME_ANSWER | (over ? 0 : FRAME_MORE), t->request, &m);
    return over;
}

/* As much of one stream as its peer and the pass have room for; true: it is over. */
static bool pump(struct server *s, struct download *t, uint64_t *budget) {
    struct session *n = session_of(s, t->conn);
    bool over = n == NULL, more = true;
    while (!over && more && *budget > 0 && s->world.net->ops->unsent(s->world.net, t->conn) < UNSENT_MAX) {
        uint64_t before = t->at;
        over = t->kind == DOWNLOAD_BLOB ? pump_blob(s, t, n) : pump_log(s, t, n, &more);
        uint64_t bytes = t->at - before + 1;
        *budget -= bytes < *budget ? bytes : *budget;
    }
    return over;
}

/* Reading and unpacking are done here, on the loop: what one pass does of it is bounded, and the next one begins where
 * this one had to stop. */
static void flush(struct shard *h, void *own) {
    struct transfers *x = own;
    uint64_t budget = PASS_BYTES;
    if (x->pump_at >= x->downloads.count) x->pump_at = 0;
    for (uint32_t left = x->downloads.count; left > 0 && budget > 0; left--) {
        if (pump(h->server, vec_at(&x->downloads, x->pump_at), &budget))
            download_free(x, x->pump_at);
        else
            x->pump_at++;
        if (x->pump_at >= x->downloads.count) x->pump_at = 0;
    }
    x->behind = budget == 0;
    part_attend(h, transfers_slot, x->downloads.count > 0);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct transfers *x = own;
    return x->behind ? h->server->now_ms : TIME_NEVER;
}

/* ---- logs, written ---- */

/* Workers whose output waits for the disk are not read until it has caught up: they feel it and so do their jobs. */
static void pause_workers(struct server *s, bool on) {
    transfers_of(s)->paused = on;
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v == 0 || n->attach == ATTACH_NONE || n->paused == on) continue;
        if (on && n->marks.count == 0) continue;
        session_pause(s, n, on);
    }
}

/* Half of what the store takes: nobody has to be told to send again. */
static bool is_crowded(const struct server *s) {
    const struct transfers *x = transfers_of(s);
    return x->waiting_bytes + x->flying_bytes > (uint64_t)s->limits->vault_pending_bytes_max / 2;
}

static bool log_key_eq(const struct log_key *a, const struct log_key *b) {
    return a->flow == b->flow && a->shard == b->shard && a->ordinal == b->ordinal && a->attempt == b->attempt;
}

static void mark_add(struct session *n, const struct log_key *key, const struct log_state *log) {
    for (uint32_t i = 0; i < n->marks.count; i++) {
        struct log_mark *k = vec_at(&n->marks, i);
        if (!log_key_eq(&k->key, key)) continue;
        k->offset = log->end;
        k->ticket = log->ticket;
        return;
    }
    *(struct log_mark *)vec_push(&n->marks) = (struct log_mark){*key, log->end, log->ticket};
}

/* What others run, or nobody any more, is not this worker's to write about. */
static bool is_own(struct server *s, const struct session *n, const struct wire_attempt *a, struct job_view *ret) {
    return a->shard == s->options.shard && view_job(server_state(s), (struct job_ref){{a->flow}, a->ordinal}, ret) &&
           ret->attempt == a->attempt && ret->worker == n->worker_number;
}

bool transfer_log_is_own(struct server *s, const struct session *n, const struct wire_attempt *a) {
    struct job_view job;
    return is_own(s, n, a, &job);
}

/* How much of its log is kept: what the job says, else the standard. */
static uint64_t log_limit(const struct server *s, struct arena *arena, const struct job_view *job) {
    struct wire_run run;
    struct why ignored;
    uint64_t standard = (uint64_t)s->limits->log_bytes_max;
    if (job->body.len == 0 || tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, arena, &run, &ignored) != ERR_OK)
        return standard;
    return run.log_bytes_max != 0 ? run.log_bytes_max : standard;
}

/* What is new of the pieces, for the job that deploys the service which wrote them. Comes before the service's own log:
 * after a crash in between the copy has a piece twice, and never lacks one. */
static enum err copy_to_deployer(struct server *s, const struct log_key *from, uint64_t offset,
                                 const struct log_piece *pieces, uint32_t count, uint64_t bytes_max, struct why *why) {
    struct log_key key;
    struct log_state own, copy;
    enum err e = ERR_OK;
    if (!deploy_log_key(s, (flow_id){from->flow}, &key)) return ERR_OK;
    joblogs_state(s->store.logs, from, &own);
    for (uint32_t i = 0; i < count && own.end >= offset && e == ERR_OK; i++) {
        struct log_piece piece = pieces[i];
        uint64_t known = own.end - offset < piece.bytes.len ? own.end - offset : piece.bytes.len;
        offset += known;
        if (known == piece.bytes.len) continue;
        piece.bytes = slice_of(piece.bytes.ptr + known, piece.bytes.len - known);
        offset += piece.bytes.len;
        own.end = offset;
        transfers_of(s)->waiting_bytes += piece.bytes.len;
        joblogs_state(s->store.logs, &key, &copy);
        e = joblogs_append(s->store.logs, &key, copy.end, &piece, 1, bytes_max, &copy, why);
    }
    return e;
}

static enum err append(struct server *s, struct request *r, const struct wire_log_batch *b, struct why *why) {
    struct log_key key = {.flow = b->attempt.flow,
                          .shard = b->attempt.shard,
                          .ordinal = b->attempt.ordinal,
                          .attempt = b->attempt.attempt};
    const struct wire_log_piece *from = b->pieces.at;
    struct log_piece *pieces = ARENA_ARRAY(r->arena, struct log_piece, b->pieces.count + 1);
    struct log_state log;
    if (b->pieces.count == 0) return ERR_OK;
    uint64_t offset = from[0].offset;
    for (uint32_t i = 0; i < b->pieces.count; i++) {
        if (from[i].offset != offset) return why_set(why, ERR_INVALID, "pieces of a log are not one after the other");
        offset += from[i].data.len;
        transfers_of(s)->waiting_bytes += from[i].data.len;
        pieces[i] = (struct log_piece){.stream = from[i].stream == WIRE_STREAM_OUT ? LOG_STDOUT : LOG_STDERR,
                                       .time = {from[i].time_ms},
                                       .bytes = from[i].data};
    }
    struct job_view job;
    if (!is_own(s, r->session, &b->attempt, &job)) { /* it may forget what it wrote */
        mark_add(r->session, &key, &(struct log_state){.end = offset});
        return ERR_OK;
    }
    uint64_t most = log_limit(s, r->arena, &job);
    enum err e = copy_to_deployer(s, &key, from[0].offset, pieces, b->pieces.count, most, why);
    if (e != ERR_OK) return e;
    e = joblogs_append(s->store.logs, &key, from[0].offset, pieces, b->pieces.count, most, &log, why);
    if (e == ERR_OK || e == ERR_CONFLICT) mark_add(r->session, &key, &log); /* tells the worker where we are */
    return e == ERR_CONFLICT ? ERR_OK : e;
}

void transfer_log_mark(struct session *n, const struct log_key *key, const struct log_state *log) {
    mark_add(n, key, log);
}

void transfer_log_ack(struct server *s, struct session *n) {
    if (n->marks.count == 0) return;
    uint64_t durable = joblogs_durable(s->store.logs);
    struct wire_log_mark *list = ARENA_ARRAY(&s->frame_arena, struct wire_log_mark, n->marks.count);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < n->marks.count; i++) {
        struct log_mark k = *(struct log_mark *)vec_at(&n->marks, i);
        if (k.ticket > durable && !MUTANT(log_acked_early)) {
            *(struct log_mark *)vec_at(&n->marks, kept++) = k;
            continue;
        }
        list[count++] = (struct wire_log_mark){.attempt = {k.key.shard, k.key.flow, k.key.ordinal, k.key.attempt},
                                               .offset = k.offset};
    }
    n->marks.count = kept;
    struct wire_log_ack m = {{list, count}};
    if (count > 0) session_send(s, n, WIRE_LOG_ACK, 0, 0, &m);
}

HANDLER(req_log) {
    const struct wire_log *m = r->message;
    const struct wire_log_batch *batches = m->batches.at;
    struct why why = {{0}};
    for (uint32_t i = 0; i < m->batches.count; i++) {
        enum err e = append(s, r, &batches[i], &why);
        if (e == ERR_OK) continue;
        /* What was not taken must come again, and the worker sends it again when it comes back. */
        session_refuse(s, r->session, r->id, e, why.text);
        return;
    }
    arena_reset(&s->frame_arena);
    transfer_log_ack(s, r->session); /* what came twice is durable already */
    if (is_crowded(s)) pause_workers(s, true);
}

static void flushed(struct server *s) {
    arena_reset(&s->frame_arena);
    transfers_of(s)->flying_bytes = 0;
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v != 0 && n->marks.count > 0) transfer_log_ack(s, n);
    }
    if (transfers_of(s)->paused && !is_crowded(s)) pause_workers(s, false);
    upload_flushed(s);
}

static void stored(struct shard *h, void *own, enum err e) {
    (void)own;
    if (e == ERR_OK)
        flushed(h->server);
    else
        upload_no_space(h->server);
}

void transfers_handed_over(struct server *s) {
    struct transfers *x = transfers_of(s);
    x->flying_bytes = x->waiting_bytes;
    x->waiting_bytes = 0;
}

const struct server_part transfers_part = {.name = "transfers",
                                           .scope = PART_OF_SHARD,
                                           .bytes = sizeof(struct transfers),
                                           .init = init,
                                           .fini = fini,
                                           .flush = flush,
                                           .next_due = next_due,
                                           .stored = stored,
                                           .conn_gone = conn_gone,
                                           .stop = stop};
