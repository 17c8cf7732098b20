/* blob_log_store.c: see blob_log_store.h. Logs first: the end of a job waits for them, while a blob is only about to
 * be used. */
#include "blob_log_store.h"

#include "limit.h"
#include "panic.h"

enum err blob_log_store_open(struct blob_log_store *v, struct disk *disk, struct clock *clock, struct hasher *digest,
                             const struct limits *limits, bool threaded, struct why *why) {
    struct blobs_options b = {
        .pack_bytes = (uint64_t)limits->pack_bytes,
        .pending_bytes_max = (uint64_t)limits->vault_pending_bytes_max,
        .reserve_bytes = (uint64_t)limits->vault_reserve_bytes,
        .blob_bytes_max = (uint64_t)limits->blob_bytes_max,
        .blobs_max = (uint32_t)limits->blobs_max,
        .tenant_bytes_max = (uint64_t)limits->blob_tenant_bytes_max,
        .tenant_share = (uint32_t)limits->blob_tenant_share,
        .grace_ms = limits->blob_grace_ms,
    };
    struct joblogs_options l = {b.pack_bytes, b.pending_bytes_max, b.reserve_bytes, (uint32_t)limits->logs_max};
    *v = (struct blob_log_store){0};
    enum err e = blobs_open(disk, clock, digest, &b, &v->blobs, why);
    if (e == ERR_OK) e = joblogs_open(disk, clock, &l, &v->logs, why);
    if (e == ERR_OK) e = flusher_open(threaded, &v->flusher, why);
    if (e != ERR_OK) blob_log_store_close(v);
    return e;
}

static enum err ended(struct blob_log_store *v, struct why *why) {
    struct why other;
    enum err e = v->logs_fly ? joblogs_flush_end(v->logs, why) : ERR_OK;
    enum err of_blobs = v->blobs_fly ? blobs_flush_end(v->blobs, &other) : ERR_OK;
    v->logs_fly = v->blobs_fly = false;
    if (of_blobs == ERR_OK || (e != ERR_OK && e != ERR_NO_SPACE)) return e;
    *why = other;
    return of_blobs;
}

void blob_log_store_close(struct blob_log_store *v) {
    struct why why;
    if (v->flusher != NULL) flusher_close(v->flusher);
    if (ended(v, &why) != ERR_OK) why.text[0] = 0; /* nobody was told that it is durable */
    if (v->logs != NULL) joblogs_close(v->logs);
    if (v->blobs != NULL) blobs_close(v->blobs);
    *v = (struct blob_log_store){0};
}

static void run(void *ctx) {
    struct blob_log_store *v = ctx;
    if (v->logs_fly) joblogs_flush_run(v->logs);
    if (v->blobs_fly) blobs_flush_run(v->blobs);
}

static bool begin(struct blob_log_store *v) {
    if (v->logs_fly || v->blobs_fly) return false;
    v->logs_fly = joblogs_flush_begin(v->logs);
    v->blobs_fly = blobs_flush_begin(v->blobs);
    return v->logs_fly || v->blobs_fly;
}

bool blob_log_store_waits(const struct blob_log_store *v) {
    return joblogs_wait(v->logs) || blobs_wait(v->blobs);
}

bool blob_log_store_kick(struct blob_log_store *v) {
    if (begin(v)) flusher_hand(v->flusher, run, v);
    return v->logs_fly || v->blobs_fly;
}

int blob_log_store_fd(const struct blob_log_store *v) {
    return flusher_fd(v->flusher);
}

enum err blob_log_store_take(struct blob_log_store *v, struct why *why) {
    return flusher_take(v->flusher) ? ended(v, why) : ERR_OK;
}

bool blob_log_store_work(struct blob_log_store *v) {
    return flusher_step(v->flusher);
}

enum err blob_log_store_step(struct blob_log_store *v, struct why *why) {
    enum err e = ERR_OK;
    while (e == ERR_OK && blob_log_store_kick(v)) {
        ENSURE(blob_log_store_work(v));
        e = blob_log_store_take(v, why);
    }
    return e;
}
