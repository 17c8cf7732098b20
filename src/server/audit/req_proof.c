/* req_proof.c: the journal as evidence: a checkpoint on request, whether the journal is what was signed, and the audit
 * trail as lines that prove themselves. The journal is read aside (port/background.h). */
#include <stdio.h>

#include "audit_evidence.h"
#include "audit_export.h"
#include "audit_filter.h"
#include "background.h"
#include "checkpoints.h"
#include "hex.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

#define PROOFS_MAX 16u
#define BUSY_RETRY_MS 200u
#define PAGE_BYTES ((size_t)1 << 20)
#define PAGE_KB_MAX 8192u

struct proof_wait {
    conn_id conn; /* first: never 0 while in use */
    struct server *server;
    uint32_t request;
    bool is_export;
    struct journal *reader;
    struct arena arena; /* of what was asked for */
    atomic_bool stop;
    enum err err;
    struct why why;
    /* whether it is what was signed */
    struct proof_check check;
    struct proof_report report;
    struct checkpoint since;
    uint8_t key[SIGNER_KEY_BYTES];
    /* an export */
    struct audit_export x;
    struct buf lines;
    uint64_t lsn;
    bool more;
};

extern const uint8_t proofs_slot;

static struct pool *proofs_of(const struct server *s) {
    return shard_part(server_shard(s), proofs_slot);
}

static void init(struct shard *h, void *own) {
    (void)h;
    pool_init(own, sizeof(struct proof_wait), PROOFS_MAX);
}

static void fini(struct shard *h, void *own) {
    struct pool *all = own;
    struct background *b = h->server->world.background;
    for (uint32_t i = 1; i <= all->high; i++) {
        struct proof_wait *w = pool_at(all, i);
        if (w->conn.v != 0) atomic_store(&w->stop, true);
    }
    if (all->count > 0) b->ops->settle(b);
    pool_fini(all);
}

static bool is_idle(const struct shard *h, const void *own) {
    const struct pool *all = own;
    (void)h;
    return all->count == 0;
}

/* ---- aside, and back ---- */

static void work(void *ctx) {
    struct proof_wait *w = ctx;
    if (w->is_export)
        w->err = audit_export_page(&w->x, &w->lsn, &w->lines, &w->more, &w->why);
    else
        w->err = proof_check(&w->check, &w->report, &w->why);
}

static void answer_export(struct server *s, struct session *n, const struct proof_wait *w) {
    char cursor[24];
    struct wire_audit_exported m = {.lines = buf_slice(&w->lines)};
    if (w->more) snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)w->lsn), m.cursor = slice_str(cursor);
    session_answer(s, n, w->request, WIRE_AUDIT_EXPORTED, &m);
}

static void answer_check(struct server *s, struct session *n, const struct proof_wait *w) {
    const struct proof_report *p = &w->report;
    bool ok = w->err == ERR_OK;
    struct wire_audit_verified m = {.ok = ok, .text = slice_str(w->why.text)};
    char text[160];
    snprintf(text, sizeof text, "records %llu to %llu are as they were signed; %llu since are not signed yet",
             (unsigned long long)p->from_lsn, (unsigned long long)p->upto_lsn,
             (unsigned long long)(p->last_lsn - p->upto_lsn));
    if (ok && p->last.number == 0) snprintf(text, sizeof text, "the journal has no checkpoint yet");
    if (ok) {
        m.text = slice_str(text);
        m.from_lsn = p->from_lsn;
        m.upto_lsn = p->upto_lsn;
        m.last_lsn = p->last_lsn;
        m.checkpoints = p->checkpoints;
        m.keys = p->keys;
        m.whole = p->is_whole;
        checkpoint_message(s, &p->last, &m.checkpoint);
    }
    session_answer(s, n, w->request, WIRE_AUDIT_VERIFIED, &m);
}

static void wait_free(struct server *s, struct proof_wait *w) {
    if (w->reader != NULL) w->reader->ops->close(w->reader);
    arena_fini(&w->arena);
    buf_fini(&w->lines);
    for (uint32_t i = 1; i <= proofs_of(s)->high; i++)
        if (pool_at(proofs_of(s), i) == (void *)w) pool_free(proofs_of(s), i);
}

static void done(void *ctx) {
    struct proof_wait *w = ctx;
    struct server *s = w->server;
    struct session *n = atomic_load(&w->stop) ? NULL : session_of(s, w->conn);
    arena_reset(&s->frame_arena);
    bool found = !w->is_export && (w->err == ERR_CORRUPT || w->err == ERR_NOT_FOUND); /* that is the answer */
    if (n != NULL && w->err != ERR_OK && !found)
        session_error(s, n, w->request, w->err, w->why.text);
    else if (n != NULL && w->is_export)
        answer_export(s, n, w);
    else if (n != NULL)
        answer_check(s, n, w);
    wait_free(s, w);
}

/* ---- asking ---- */

/* NULL: it was answered so. */
static struct proof_wait *wait_new(struct server *s, struct request *r) {
    struct journal *journal = server_shard(s)->journal, *reader;
    struct why why = {{0}};
    enum err e = s->world.background == NULL || s->world.checker == NULL
                     ? why_set(&why, ERR_UNSUPPORTED, "this server cannot read its journal")
                     : journal->ops->reader(journal, &reader, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return NULL;
    }
    uint32_t index = pool_alloc(proofs_of(s));
    if (index == 0) {
        reader->ops->close(reader);
        session_busy(s, r->session, r->id, "the journal is being read for other requests", BUSY_RETRY_MS);
        return NULL;
    }
    struct proof_wait *w = pool_at(proofs_of(s), index);
    *w = (struct proof_wait){.conn = r->session->conn, .server = s, .request = r->id, .reader = reader};
    arena_init(&w->arena, 4096, (size_t)1 << 24);
    buf_init(&w->lines, WIRE_LINES_MAX);
    return w;
}

static void wait_start(struct server *s, struct request *r, struct proof_wait *w, enum err e, struct why *why) {
    if (e == ERR_OK && s->world.background->ops->start(s->world.background, work, done, w)) return;
    if (e != ERR_OK)
        call_fail(s, r, e, why->text);
    else
        session_busy(s, r->session, r->id, "the journal is being read for other requests", BUSY_RETRY_MS);
    wait_free(s, w);
}

HANDLER(req_audit_verify) {
    const struct wire_audit_verify *m = r->message;
    struct why why = {{0}};
    uint32_t shard = server_shard(s)->number;
    enum err e = ERR_OK;
    struct proof_wait *w = wait_new(s, r);
    if (w == NULL) return;
    if (m->key.len > 0 && !hex_read(m->key, sizeof w->key, w->key))
        e = why_set(&why, ERR_INVALID, "key: expected 64 hexadecimal digits, as `reeve audit key` prints them");
    if (e == ERR_OK && m->since.len > 0)
        e = evidence_checkpoint(m->since, s->limits, &w->arena, &shard, &w->since, &why);
    if (e == ERR_OK && shard != server_shard(s)->number)
        e = why_set(&why, ERR_INVALID, "since: this checkpoint is of shard %u", shard);
    w->check = (struct proof_check){.reader = w->reader,
                                    .hasher = s->world.hasher,
                                    .checker = s->world.checker,
                                    .stop = &w->stop,
                                    .key = m->key.len > 0 ? w->key : NULL,
                                    .since = m->since.len > 0 ? &w->since : NULL};
    wait_start(s, r, w, e, &why);
}

HANDLER(req_audit_export) {
    const struct wire_audit_export *m = r->message;
    struct why why = {{0}};
    struct proof_wait *w = wait_new(s, r);
    if (w == NULL) return;
    bool is_ocsf = slice_eq(m->format, SLICE("ocsf"));
    w->is_export = true;
    w->x = (struct audit_export){.reader = w->reader,
                                 .hasher = s->world.hasher,
                                 .stop = &w->stop,
                                 .program = s->options.build,
                                 .format = is_ocsf ? AUDIT_OCSF : AUDIT_JSONL,
                                 .upto_lsn = engine_durable_lsn(server_shard(s)->engine),
                                 .page_bytes = PAGE_BYTES};
    enum err e = audit_filter_of(s, &m->filter, &w->x.filter, &why);
    audit_filter_keep(&w->x.filter, &w->arena);
    if (e == ERR_OK && m->format.len > 0 && !is_ocsf && !slice_eq(m->format, SLICE("jsonl")))
        e = why_set(&why, ERR_INVALID, "format: expected jsonl or ocsf");
    if (e == ERR_OK && m->filter.cursor.len > 0 && !slice_decimal(m->filter.cursor, &w->lsn))
        e = why_set(&why, ERR_INVALID, "invalid cursor: it does not come from this server");
    uint32_t kilobytes = m->filter.most;
    if (kilobytes != 0) w->x.page_bytes = (size_t)(kilobytes < PAGE_KB_MAX ? kilobytes : PAGE_KB_MAX) << 10;
    wait_start(s, r, w, e, &why);
}

HANDLER(req_checkpoint) {
    struct checkpoints *p = checkpoints_of(s);
    if (s->world.signer == NULL || s->options.checkpoint_ms == 0) {
        call_fail(s, r, ERR_STATE, "this server makes no checkpoints: see the setting audit_checkpoint_s");
        return;
    }
    *(struct checkpoint_wait *)vec_push(&p->waiting) = (struct checkpoint_wait){
        .conn = r->session->conn, .request = r->id, .lsn = engine_durable_lsn(server_shard(s)->engine)};
    checkpoints_wake(s);
}

const struct server_part proofs_part = {.name = "proofs",
                                        .scope = PART_OF_SHARD,
                                        .bytes = sizeof(struct pool),
                                        .init = init,
                                        .fini = fini,
                                        .is_idle = is_idle};
