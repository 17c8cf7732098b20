/* flow_source.c: see flow_source.h. A request whose files are on their way to the disk is kept as it came, and served
 * once more when they are there: then it finds them by their hash, like one that comes later. */
#include "flow_source.h"

#include "blob.h"
#include "items.h"
#include "json_tree.h"
#include "requests.h"
#include "session.h"
#include "upload.h"

#define BUSY_RETRY_MS 50u
#define PIECE_BYTES ((size_t)65536)
#define SOURCE_OVERHEAD 64u /* of the message around the text */

extern const uint8_t flow_source_slot;

struct held_submit {
    conn_id conn;
    uint32_t request;
    uint8_t op;
    struct bytes *body; /* as request_serve takes it; empty: its dialect holds it */
    struct vec puts;    /* of struct blob_put * */
};

struct flow_sources {
    struct vec held; /* of struct held_submit */
};

/* ---- keeping ---- */

static void puts_drop(struct vec *puts) {
    for (uint32_t i = 0; i < puts->count; i++) blob_put_drop(*(struct blob_put **)vec_at(puts, i));
    vec_fini(puts);
}

static enum err put(struct server *s, struct slice tenant, struct slice bytes, struct vec *puts, struct why *why) {
    struct blob_put *put = NULL;
    upload_share(s);
    enum err e = blobs_admit(s->store.blobs, tenant, bytes.len, why);
    if (e == ERR_OK) e = blob_put_begin(s->store.blobs, tenant, &put, why);
    if (e != ERR_OK) return e;
    for (size_t at = 0; e == ERR_OK && at < bytes.len; at += PIECE_BYTES) {
        size_t left = bytes.len - at;
        e = blob_put_part(put, slice_of(bytes.ptr + at, left < PIECE_BYTES ? left : PIECE_BYTES), why);
    }
    if (e == ERR_OK) e = blob_put_end(put, why);
    if (e == ERR_OK)
        *(struct blob_put **)vec_push(puts) = put;
    else
        blob_put_drop(put);
    return e;
}

/* Only that there is nothing to wait for is known of a hash that is returned. */
static enum err keep(struct server *s, struct arena *arena, struct slice tenant, struct slice bytes, struct slice *ret,
                     struct vec *puts, struct why *why) {
    blob_hash hash;
    s->world.hasher->whole(s->world.hasher, bytes, hash.at);
    bool is_there = blobs_touch(s->store.blobs, tenant, &hash);
    enum err e = is_there ? ERR_OK : put(s, tenant, bytes, puts, why);
    if (e == ERR_LIMIT || e == ERR_NO_SPACE) return ERR_OK; /* a flow does not wait for room for its file */
    if (e == ERR_OK) *ret = slice_of(arena_copy(arena, hash.at, sizeof hash.at), sizeof hash.at);
    return e;
}

static enum err params_check(struct server *s, struct arena *arena, struct slice params, struct why *why) {
    const struct json_node *root = NULL;
    if (params.len == 0) return ERR_OK;
    enum err e = json_tree_read(params, s->limits, arena, &root, why);
    if (e == ERR_OK && root->kind != JSON_OBJECT) e = why_set(why, ERR_INVALID, "expected an object of plain values");
    return e == ERR_OK ? e : why_wrap(why, e, "params");
}

enum err flow_source_take(struct server *s, const struct request *r, const struct wire_flow *flow, struct slice tenant,
                          struct flow_source *ret, struct vec *puts, struct why *why) {
    const struct wire_source *source = &flow->source;
    struct buf bytes;
    *ret = (struct flow_source){.name = flow->source_name, .bytes = source->text.len, .params = flow->params};
    enum err e = params_check(s, r->arena, flow->params, why);
    if (e != ERR_OK || source->text.len == 0 || flow->check) return e;
    size_t most = (size_t)s->limits->source_bytes_max;
    if (source->text.len > most) return ERR_OK;
    buf_init(&bytes, most + SOURCE_OVERHEAD);
    tlv_encode(&wire_source_desc, source, &bytes);
    if (!bytes.full) e = keep(s, r->arena, tenant, buf_slice(&bytes), &ret->hash, puts, why);
    buf_fini(&bytes);
    return e;
}

/* ---- waiting ---- */

static void hold(struct server *s, const struct request *r, const struct vec *puts) {
    struct flow_sources *x = shard_part(server_shard(s), flow_source_slot);
    *(struct held_submit *)vec_push(&x->held) =
        (struct held_submit){.conn = r->session->conn,
                             .request = r->id,
                             .op = r->op,
                             .body = bytes_new(r->body.ptr != NULL ? r->body : SLICE("")),
                             .puts = *puts};
}

bool flow_source_wait(struct server *s, const struct request *r, struct vec *puts, bool busy) {
    if (!busy && puts->count > 0) {
        hold(s, r, puts);
        return true;
    }
    puts_drop(puts);
    if (busy) session_busy(s, r->session, r->id, "too many files wait for the disk", BUSY_RETRY_MS);
    return busy;
}

static bool is_durable(struct held_submit *held) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < held->puts.count; i++) {
        struct blob_put *put = *(struct blob_put **)vec_at(&held->puts, i);
        blob_hash hash;
        uint64_t bytes = 0;
        if (!blob_put_done(put, &hash, &bytes)) *(struct blob_put **)vec_at(&held->puts, left++) = put;
    }
    held->puts.count = left;
    return left == 0;
}

static void refuse(struct server *s, const struct held_submit *held) {
    struct session *n = session_of(s, held->conn);
    if (n != NULL)
        session_error(s, n, held->request, ERR_NO_SPACE,
                      "the disk is full: the flow file was not stored and the flow not accepted; try again later");
}

static void held_free(struct held_submit *held) {
    puts_drop(&held->puts);
    bytes_free(held->body);
}

static void stored(struct shard *h, void *own, enum err e) {
    struct flow_sources *x = own;
    struct vec held = x->held;
    if (held.count == 0) return;
    vec_init(&x->held, sizeof(struct held_submit));
    for (uint32_t i = 0; i < held.count; i++) {
        struct held_submit *one = vec_at(&held, i);
        bool durable = is_durable(one);
        if (!durable && e == ERR_OK) {
            *(struct held_submit *)vec_push(&x->held) = *one;
            continue;
        }
        struct lane_entry entry = {one->conn, one->op, one->request, bytes_slice(one->body)};
        if (durable)
            request_serve(h->server, &entry);
        else
            refuse(h->server, one);
        held_free(one);
    }
    vec_fini(&held);
}

static void init(struct shard *h, void *own) {
    struct flow_sources *x = own;
    (void)h;
    vec_init(&x->held, sizeof(struct held_submit));
}

static void fini(struct shard *h, void *own) {
    struct flow_sources *x = own;
    (void)h;
    for (uint32_t i = 0; i < x->held.count; i++) held_free(vec_at(&x->held, i));
    vec_fini(&x->held);
}

static bool is_idle(const struct shard *h, const void *own) {
    const struct flow_sources *x = own;
    (void)h;
    return x->held.count == 0;
}

const struct server_part flow_source_part = {.name = "flow_source",
                                             .scope = PART_OF_SHARD,
                                             .bytes = sizeof(struct flow_sources),
                                             .init = init,
                                             .fini = fini,
                                             .stored = stored,
                                             .is_idle = is_idle};

/* ---- reading ---- */

/* Why there is none. */
static enum err missing(struct server *s, const struct flow_view *flow, struct why *why) {
    char id[FLOW_TEXT_BYTES];
    flow_text(s->options.shard, flow->id, id);
    if (flow->source.bytes > 0 || flow->source.name.len > 0)
        return why_set(why, ERR_NOT_FOUND,
                       "the file of flow %s (%.*s) is not kept: it was too large (source_bytes_max), or there was no "
                       "room for it",
                       id, SLICE_FMT(flow->source.name));
    if (flow->schedule.len > 0)
        return why_set(why, ERR_NOT_FOUND, "flow %s has no file: it was made by schedule %.*s", id,
                       SLICE_FMT(flow->schedule));
    return why_set(why, ERR_NOT_FOUND, "flow %s has no file: it was submitted without one", id);
}

enum err flow_source_read(struct server *s, const struct flow_view *flow, struct arena *arena, struct wire_source *ret,
                          struct why *why) {
    struct buf bytes;
    if (flow->source.hash.len == 0) return missing(s, flow, why);
    buf_init(&bytes, WIRE_SOURCE_MAX + SOURCE_OVERHEAD);
    enum err e = items_blob_read(s, flow->tenant, flow->source.hash, &bytes, why);
    if (e == ERR_OK)
        e = tlv_decode(&wire_source_desc, arena_slice(arena, buf_slice(&bytes)), TLV_SKIP_UNKNOWN, arena, ret, why);
    buf_fini(&bytes);
    return e == ERR_OK ? e : why_wrap(why, e, "the file of the flow");
}
