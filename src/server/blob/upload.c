/* upload.c: see upload.h. An upload belongs to its connection and ends with it. */
#include "upload.h"

#include "blob.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "transfers.h"
#include "view_directory.h"
#include "view_store.h"

#define UPLOADS_MAX 4000u
#define BUSY_RETRY_MS 50u
#define PIECE_BYTES ((size_t)65536)

struct upload {
    uint64_t number; /* first */
    conn_id conn;
    struct blob_put *put;
    uint64_t bytes;
    uint32_t request; /* of the end: answered when it is durable */
    bool at_once;     /* answered as a blob that came in one request */
    bool has_hash;
    blob_hash hash; /* expected */
};

void upload_init(struct server *s) {
    struct transfers *x = transfers_of(s);
    pool_init(&x->uploads, sizeof(struct upload), UPLOADS_MAX);
    map_init(&x->upload_by_number);
    vec_init(&x->ending, sizeof(uint32_t));
}

static void upload_free(struct server *s, uint32_t index) {
    struct transfers *x = transfers_of(s);
    struct upload *u = pool_at(&x->uploads, index);
    if (u->put != NULL) blob_put_drop(u->put);
    map_del(&x->upload_by_number, u->number);
    pool_free(&x->uploads, index);
}

void upload_fini(struct server *s) {
    struct transfers *x = transfers_of(s);
    for (uint32_t i = 1; i <= x->uploads.high; i++)
        if (((struct upload *)pool_at(&x->uploads, i))->number != 0) upload_free(s, i);
    pool_fini(&x->uploads);
    map_fini(&x->upload_by_number);
    vec_fini(&x->ending);
}

void upload_forget(struct server *s, conn_id conn) {
    struct transfers *x = transfers_of(s);
    if (x->uploads.count == 0) return;
    for (uint32_t i = 1; i <= x->uploads.high; i++) {
        const struct upload *u = pool_at(&x->uploads, i);
        if (u->number != 0 && u->conn.v == conn.v) upload_free(s, i);
    }
}

/* ---- what there is to do, whoever asks ---- */

static uint32_t place_of(const struct server *s, uint64_t number) {
    return number == 0 ? 0 : map_get(&transfers_of(s)->upload_by_number, number);
}

/* Where there are tokens of tenants, or flows of several, none of them may have the whole disk. */
static bool has_tenants(const struct server *s) {
    if (view_tenant_count(server_state(s)) > 1) return true;
    return view_has_tenant_tokens(server_state(s));
}

void upload_share(struct server *s) {
    blobs_share(s->store.blobs, has_tenants(s));
}

enum err upload_begin(struct server *s, const struct session *n, uint64_t bytes, const blob_hash *expected,
                      uint64_t *ret, struct why *why) {
    struct transfers *x = transfers_of(s);
    enum err e = request_check(s, n, WIRE_BLOB_PUT, NULL, why); /* whatever it came by */
    if (e != ERR_OK) return e;
    if (bytes > (uint64_t)s->limits->blob_bytes_max)
        return why_set(why, ERR_LIMIT, "the blob is %llu bytes long; the limit is %lld (blob_bytes_max)",
                       (unsigned long long)bytes, (long long)s->limits->blob_bytes_max);
    upload_share(s);
    e = blobs_admit(s->store.blobs, session_tenant(n), bytes, why);
    if (e != ERR_OK) return e;
    uint32_t index = pool_alloc(&x->uploads);
    if (index == 0) return why_set(why, ERR_BUSY, "too many uploads in progress");
    struct upload *u = pool_at(&x->uploads, index);
    e = blob_put_begin(s->store.blobs, session_tenant(n), &u->put, why);
    if (e != ERR_OK) {
        pool_free(&x->uploads, index);
        return e;
    }
    u->number = ++x->upload_last;
    u->conn = n->conn;
    u->has_hash = expected != NULL;
    if (expected != NULL) u->hash = *expected;
    map_put(&x->upload_by_number, u->number, index);
    *ret = u->number;
    return ERR_OK;
}

enum err upload_part(struct server *s, uint64_t number, struct slice data, struct why *why) {
    uint32_t index = place_of(s, number);
    REQUIRE(index != 0);
    struct upload *u = pool_at(&transfers_of(s)->uploads, index);
    if (u->bytes + data.len > (uint64_t)s->limits->blob_bytes_max)
        return why_set(why, ERR_LIMIT, "the blob is longer than %lld bytes (blob_bytes_max)",
                       (long long)s->limits->blob_bytes_max);
    enum err e = blob_put_part(u->put, data, why);
    if (e == ERR_OK) u->bytes += data.len;
    return e;
}

enum err upload_end(struct server *s, uint64_t number, uint32_t request, bool at_once, struct why *why) {
    uint32_t index = place_of(s, number);
    REQUIRE(index != 0);
    struct upload *u = pool_at(&transfers_of(s)->uploads, index);
    enum err e = blob_put_end(u->put, why);
    if (e != ERR_OK) return e;
    u->request = request;
    u->at_once = at_once;
    *(uint32_t *)vec_push(&transfers_of(s)->ending) = index;
    upload_flushed(s); /* it may have been there already */
    return ERR_OK;
}

void upload_drop(struct server *s, uint64_t number) {
    uint32_t index = place_of(s, number);
    if (index != 0) upload_free(s, index);
}

/* ---- as messages ---- */

static void answer_state(struct server *s, struct session *n, uint32_t request, const struct upload *u) {
    struct wire_blob_state m = {.upload = u->number, .offset = u->bytes};
    session_answer(s, n, request, WIRE_BLOB_STATE, &m);
}

/* Busy is not an error: nothing was taken, the same again in a moment. */
static void refuse(struct server *s, struct request *r, enum err e, const char *text) {
    if (e == ERR_BUSY)
        session_busy(s, r->session, r->id, text, BUSY_RETRY_MS);
    else
        session_error(s, r->session, r->id, e, text);
}

HANDLER(req_blob_begin) {
    const struct wire_blob_begin *m = r->message;
    struct why why = {{0}};
    blob_hash hash = {{0}};
    uint64_t bytes = 0;
    if (m->hash.len == DIGEST_BYTES) {
        memcpy(hash.at, m->hash.ptr, DIGEST_BYTES);
        if (blobs_touch(s->store.blobs, session_tenant(r->session), &hash) &&
            blobs_stat(s->store.blobs, session_tenant(r->session), &hash, &bytes, &why) == ERR_OK) {
            struct wire_blob_state got = {.offset = bytes, .stored = true, .hash = m->hash};
            session_answer(s, r->session, r->id, WIRE_BLOB_STATE, &got);
            return;
        }
    }
    uint64_t number = 0;
    enum err e = upload_begin(s, r->session, m->bytes, m->hash.len == DIGEST_BYTES ? &hash : NULL, &number, &why);
    if (e != ERR_OK)
        refuse(s, r, e, why.text);
    else
        answer_state(s, r->session, r->id,
                     pool_at(&transfers_of(s)->uploads, map_get(&transfers_of(s)->upload_by_number, number)));
}

static struct upload *upload_of(struct server *s, struct request *r, uint64_t number, uint32_t *ret_index) {
    uint32_t index = number == 0 ? 0 : map_get(&transfers_of(s)->upload_by_number, number);
    struct upload *u = index == 0 ? NULL : pool_at(&transfers_of(s)->uploads, index);
    if (u == NULL || u->conn.v != r->session->conn.v || u->request != 0) {
        refuse(s, r, ERR_NOT_FOUND, "there is no such upload on this connection: start one");
        return NULL;
    }
    *ret_index = index;
    return u;
}

HANDLER(req_blob_part) {
    const struct wire_blob_part *m = r->message;
    struct why why = {{0}};
    uint32_t index = 0;
    struct upload *u = upload_of(s, r, m->upload, &index);
    if (u == NULL) return;
    enum err e = ERR_OK;
    if (m->offset != u->bytes)
        e = why_set(&why, ERR_CONFLICT, "the next part begins at byte %llu, not %llu", (unsigned long long)u->bytes,
                    (unsigned long long)m->offset);
    if (e == ERR_OK) e = upload_part(s, m->upload, m->data, &why);
    if (e != ERR_OK) {
        refuse(s, r, e, why.text);
        return;
    }
    answer_state(s, r->session, r->id, u);
}

HANDLER(req_blob_end) {
    const struct wire_blob_end *m = r->message;
    struct why why = {{0}};
    uint32_t index = 0;
    struct upload *u = upload_of(s, r, m->upload, &index);
    if (u == NULL) return;
    if (m->hash.len == DIGEST_BYTES) {
        memcpy(u->hash.at, m->hash.ptr, DIGEST_BYTES);
        u->has_hash = true;
    }
    enum err e = upload_end(s, m->upload, r->id, false, &why);
    if (e == ERR_OK) return;
    refuse(s, r, e, why.text);
    if (e != ERR_BUSY) upload_free(s, index);
}

/* One that fits a frame. */
HANDLER(req_blob_put) {
    const struct wire_blob_put *m = r->message;
    struct why why = {{0}};
    uint64_t number = 0;
    enum err e = upload_begin(s, r->session, m->data.len, NULL, &number, &why);
    for (size_t at = 0; e == ERR_OK && at < m->data.len; at += PIECE_BYTES) {
        size_t left = m->data.len - at;
        e = upload_part(s, number, slice_of(m->data.ptr + at, left < PIECE_BYTES ? left : PIECE_BYTES), &why);
    }
    if (e == ERR_OK) e = upload_end(s, number, r->id, true, &why);
    if (e == ERR_OK) return;
    upload_drop(s, number);
    refuse(s, r, e, why.text);
}

static void answer_end(struct server *s, const struct upload *u, const blob_hash *hash) {
    struct session *n = session_of(s, u->conn);
    if (n == NULL) return;
    if (u->has_hash && memcmp(u->hash.at, hash->at, DIGEST_BYTES) != 0) {
        session_error(s, n, u->request, ERR_INVALID,
                      "the hash of the received bytes differs: the data was changed in transit");
        return;
    }
    if (u->at_once) {
        struct wire_blob_kept kept = {.hash = slice_of(hash->at, DIGEST_BYTES), .bytes = u->bytes};
        session_answer(s, n, u->request, WIRE_BLOB_KEPT, &kept);
        return;
    }
    struct wire_blob_state m = {
        .upload = u->number, .offset = u->bytes, .stored = true, .hash = slice_of(hash->at, DIGEST_BYTES)};
    session_answer(s, n, u->request, WIRE_BLOB_STATE, &m);
}

/* Who waits for the end of an upload is told at once: nobody knows when there will be room. */
void upload_no_space(struct server *s) {
    struct transfers *x = transfers_of(s);
    upload_flushed(s); /* what is durable is not refused */
    for (uint32_t i = 0; i < x->ending.count; i++) {
        uint32_t index = *(uint32_t *)vec_at(&x->ending, i);
        const struct upload u = *(const struct upload *)pool_at(&x->uploads, index);
        if (u.number == 0 || u.request == 0) continue;
        upload_free(s, index);
        struct session *n = session_of(s, u.conn);
        if (n != NULL)
            session_error(s, n, u.request, ERR_NO_SPACE, "the disk is full and nothing was stored: try again later");
    }
    x->ending.count = 0;
}

void upload_flushed(struct server *s) {
    struct transfers *x = transfers_of(s);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->ending.count; i++) {
        uint32_t index = *(uint32_t *)vec_at(&x->ending, i);
        struct upload *u = pool_at(&x->uploads, index);
        blob_hash hash;
        uint64_t bytes = 0;
        if (u->number == 0 || u->request == 0) continue; /* its connection ended, its place may be another's */
        if (!blob_put_done(u->put, &hash, &bytes)) {
            *(uint32_t *)vec_at(&x->ending, kept++) = index;
            continue;
        }
        u->put = NULL;
        answer_end(s, u, &hash);
        upload_free(s, index);
    }
    x->ending.count = kept;
}
