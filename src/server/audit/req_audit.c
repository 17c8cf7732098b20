/* req_audit.c: the journal as an audit trail, a page at a time. It is read from files, aside; told is what was durable
 * when it was asked for. Jobs of flows that have left memory are named by their number. */
#include <stdio.h>

#include "audit.h"
#include "audit_filter.h"
#include "audit_verb.h"
#include "background.h"
#include "call.h"
#include "history_request.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"

#define AUDITS_MAX 16u
#define MOST_STANDARD 100u
#define MOST_MAX 1000u
#define BUSY_RETRY_MS 200u

struct audit_wait {
    conn_id conn; /* first: never 0 while in use */
    struct server *server;
    uint32_t request;
    struct audit_query query;
    struct journal *reader;
    struct arena arena; /* of the query and of the page */
    atomic_bool stop;
    enum err err;
    struct why why;
    struct audit_page page;
};

extern const uint8_t audit_slot;

static struct pool *audits_of(const struct server *s) {
    return shard_part(server_shard(s), audit_slot);
}

static void init(struct shard *h, void *own) {
    (void)h;
    pool_init(own, sizeof(struct audit_wait), AUDITS_MAX);
}

/* Those that are being read are waited for. */
static void fini(struct shard *h, void *own) {
    struct pool *all = own;
    struct background *b = h->server->world.background;
    for (uint32_t i = 1; i <= all->high; i++) {
        struct audit_wait *w = pool_at(all, i);
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

/* ---- aside ---- */

static void work(void *ctx) {
    struct audit_wait *w = ctx;
    w->err = audit_read(w->reader, &w->query, &w->stop, &w->arena, &w->page, &w->why);
}

/* ---- and back ---- */

static void wait_end(struct audit_wait *w) {
    w->reader->ops->close(w->reader);
    arena_fini(&w->arena);
}

static struct slice target_of(struct server *s, const struct audit_record *r) {
    struct job_view job;
    if (r->flow == 0) return r->name;
    struct slice flow = server_view_flow_name(s, (flow_id){r->flow});
    if (r->ordinal == UINT32_MAX) return flow;
    if (view_job(server_state(s), (struct job_ref){{r->flow}, r->ordinal}, &job)) return server_view_job_name(s, &job);
    char *text = arena_alloc(&s->frame_arena, flow.len + 16);
    snprintf(text, flow.len + 16, "%.*s/#%u", SLICE_FMT(flow), r->ordinal);
    return slice_str(text);
}

static void answer(struct server *s, struct session *n, const struct audit_wait *w) {
    struct wire_audit_record *list = ARENA_ARRAY(&s->frame_arena, struct wire_audit_record, w->page.count + 1);
    char cursor[24];
    for (uint32_t i = 0; i < w->page.count; i++) {
        const struct audit_record *r = &w->page.at[i];
        list[i] = (struct wire_audit_record){.lsn = r->lsn,
                                             .time_ms = r->time_ms,
                                             .principal = r->principal,
                                             .kind = slice_str(record_word(r->kind)),
                                             .target = target_of(s, r),
                                             .text = r->text,
                                             .verb = slice_str(audit_verb_of(r->kind)->verb),
                                             .tenant = r->tenant};
    }
    struct wire_audited got = {.records = {list, w->page.count}};
    if (w->page.next != 0) {
        snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)w->page.next);
        got.cursor = slice_str(cursor);
    }
    session_answer(s, n, w->request, WIRE_AUDITED, &got);
}

static void done(void *ctx) {
    struct audit_wait *w = ctx;
    struct server *s = w->server;
    struct session *n = atomic_load(&w->stop) ? NULL : session_of(s, w->conn);
    arena_reset(&s->frame_arena);
    if (n != NULL && w->err != ERR_OK)
        session_error(s, n, w->request, w->err, w->why.text);
    else if (n != NULL)
        answer(s, n, w);
    wait_end(w);
    for (uint32_t i = 1; i <= audits_of(s)->high; i++)
        if (pool_at(audits_of(s), i) == (void *)w) pool_free(audits_of(s), i);
}

/* ---- asking ---- */

static enum err query_of(struct server *s, struct request *r, struct audit_query *ret, struct why *why) {
    const struct wire_audit *m = r->message;
    *ret = (struct audit_query){.upto_lsn = engine_durable_lsn(server_shard(s)->engine),
                                .most = m->most == 0         ? MOST_STANDARD
                                        : m->most < MOST_MAX ? m->most
                                                             : MOST_MAX};
    uint64_t upto = 0;
    if (m->cursor.len > 0 && !slice_decimal(m->cursor, &upto))
        return why_set(why, ERR_INVALID, "invalid cursor: it does not come from this server");
    if (m->cursor.len > 0 && upto < ret->upto_lsn) ret->upto_lsn = upto;
    return audit_filter_of(s, m, &ret->filter, why);
}

HANDLER(req_audit) {
    struct journal *journal = server_shard(s)->journal;
    struct why why = {{0}};
    struct audit_query q;
    struct journal *reader;
    enum err e = query_of(s, r, &q, &why);
    if (e == ERR_OK && s->world.background == NULL)
        e = why_set(&why, ERR_UNSUPPORTED, "this server cannot read its journal");
    if (e == ERR_OK) e = journal->ops->reader(journal, &reader, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    uint32_t index = pool_alloc(audits_of(s));
    struct audit_wait *w = index != 0 ? pool_at(audits_of(s), index) : NULL;
    if (w != NULL) {
        *w = (struct audit_wait){.conn = r->session->conn, .server = s, .request = r->id, .query = q, .reader = reader};
        arena_init(&w->arena, 65536, (size_t)1 << 28);
        audit_filter_keep(&w->query.filter, &w->arena);
    }
    if (w != NULL && s->world.background->ops->start(s->world.background, work, done, w)) return;
    if (w != NULL) {
        wait_end(w);
        pool_free(audits_of(s), index);
    } else {
        reader->ops->close(reader);
    }
    session_busy(s, r->session, r->id, "the journal is being read for other requests", BUSY_RETRY_MS);
}

const struct server_part audit_part = {.name = "audit",
                                       .scope = PART_OF_SHARD,
                                       .bytes = sizeof(struct pool),
                                       .init = init,
                                       .fini = fini,
                                       .is_idle = is_idle};
