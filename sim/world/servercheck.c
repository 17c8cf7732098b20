/* servercheck.c: the live state of the server against its full replay and its snapshot; and the output that it keeps
 * against what it acknowledged. Part of serverhost.h, and the only part that looks into the server's own structs. */
#include "buf.h"
#include "flow_retention.h"
#include "joblog.h"
#include "osdigest.h"
#include "panic.h"
#include "server_impl.h"
#include "simwire.h"
#include "world.h"

#define SNAPSHOT_BYTES_MAX ((size_t)256 << 20)

static void must_equal(struct serverhost *h, struct engine *other, const char *what) {
    struct digest a = engine_digest(h->engine), b = engine_digest(other);
    if (a.lo != b.lo || a.hi != b.hi || engine_lsn(other) != engine_lsn(h->engine))
        world_red(h->w, "digest", "the live state differs from %s at LSN %lu", what,
                  (unsigned long)engine_lsn(h->engine));
    engine_free(other);
}

static void compare_replay(struct serverhost *h) {
    struct why why = {{0}};
    struct engine *other = engine_new(1, &h->w->plan.limits);
    if (!simlog_replay(&h->log, other, 0, &why)) world_red(h->w, "replay", "refused: %s", why.text);
    must_equal(h, other, "its full replay");
}

static enum err save_piece(void *ctx, struct slice piece, struct why *why) {
    struct buf *bytes = ctx;
    buf_put_slice(bytes, piece);
    return bytes->full ? why_set(why, ERR_LIMIT, "snapshot too large") : ERR_OK;
}

static void compare_snapshot(struct serverhost *h) {
    struct why why = {{0}};
    struct buf bytes;
    buf_init(&bytes, SNAPSHOT_BYTES_MAX);
    if (engine_snapshot(h->engine, save_piece, &bytes, &why) != ERR_OK) world_red(h->w, "snapshot", "%s", why.text);
    struct engine *other = engine_new(1, &h->w->plan.limits);
    size_t given = 0;
    while (given < bytes.len) {
        size_t piece = 1 + rng_below(&h->rng, 4096);
        if (piece > bytes.len - given) piece = bytes.len - given;
        if (engine_load(other, slice_of(bytes.at + given, piece), &why) != ERR_OK)
            world_red(h->w, "snapshot", "refused: %s", why.text);
        given += piece;
    }
    if (engine_load_end(other, &why) != ERR_OK) world_red(h->w, "snapshot", "refused at its end: %s", why.text);
    buf_fini(&bytes);
    must_equal(h, other, "its snapshot");
}

static void check_source(void *ctx, flow_id id) {
    struct serverhost *h = ctx;
    struct flow_view flow;
    struct arena arena;
    struct buf bytes;
    struct why why = {{0}};
    blob_hash wanted, named;
    uint64_t length;
    if (!view_flow(engine_state(h->engine), id, &flow) || flow.source.hash.len == 0) return;
    arena_init(&arena, 1024, 1 << 20);
    buf_init(&bytes, 4096);
    struct wire_source source = simwire_source(flow.source.name, &arena);
    tlv_encode(&wire_source_desc, &source, &bytes);
    osdigest()->whole(osdigest(), buf_slice(&bytes), wanted.at);
    ENSURE(flow.source.hash.len == sizeof named.at);
    memcpy(named.at, flow.source.hash.ptr, sizeof named.at);
    if (memcmp(named.at, wanted.at, sizeof wanted.at) != 0)
        world_red(h->w, "source", "flow %lu names a file that is not %.*s", (unsigned long)id.v,
                  SLICE_FMT(flow.source.name));
    if (blobs_stat(h->server->store.blobs, flow.tenant, &named, &length, &why) != ERR_OK)
        world_red(h->w, "source", "the file of flow %lu is lost: %s", (unsigned long)id.v, why.text);
    buf_fini(&bytes);
    arena_fini(&arena);
}

void serverhost_check_sources(struct serverhost *h) {
    if (h->w->plan.sources > 0) view_each_flow(engine_state(h->engine), check_source, h);
}

void serverhost_compare(struct serverhost *h) {
    if (!serverhost_is_still(h) || h->durable_lsn == 0) return;
    serverhost_check_sources(h);
    compare_replay(h);
    compare_snapshot(h);
    adapter_compare(&h->w->adapter, h->engine);
}

/* A service starts for ever, so its oldest attempts lose their logs while its flow stays. */
static bool is_let_go(struct serverhost *h, const struct flow_view *flow, const struct log_owed *o) {
    struct job_view job;
    return flow->of_service && view_job(engine_state(h->engine), o->job, &job) &&
           o->attempt + FLOW_RETENTION_SERVICE_LOGS <= job.attempt;
}

/* An end is acknowledged when the log that it names is durable: it must be there after every crash, as long as the
 * flow is. */
void serverhost_check_logs(struct serverhost *h) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < h->logs.count; i++) {
        struct log_owed o = *(struct log_owed *)vec_at(&h->logs, i);
        struct log_key key = {.flow = o.job.flow.v, .shard = 1, .ordinal = o.job.ordinal, .attempt = o.attempt};
        struct flow_view flow;
        struct log_state log;
        if (!view_flow(engine_state(h->engine), o.job.flow, &flow) || is_let_go(h, &flow, &o)) continue;
        *(struct log_owed *)vec_at(&h->logs, kept++) = o;
        joblogs_state(h->server->store.logs, &key, &log);
        if (log.end < o.bytes)
            world_red(h->w, "log", "the end of %lu/%u#%u was acknowledged with %lu bytes of output, %lu are there",
                      (unsigned long)o.job.flow.v, o.job.ordinal, o.attempt, (unsigned long)o.bytes,
                      (unsigned long)log.end);
    }
    h->logs.count = kept;
}
