/* store_flush.c: see store_flush.h. */
#include "store_flush.h"

#include "blob.h"
#include "server_impl.h"
#include "transfers.h"

#define NO_SPACE_RETRY_MS 1000

extern const uint8_t store_flush_slot;

struct store_flush {
    int64_t again_ms; /* no space: when it is tried again; 0 = there is */
};

static bool is_under_way(const struct server *s) {
    return s->store.logs_fly || s->store.blobs_fly;
}

static void step(struct shard *h, void *own) {
    struct store_flush *f = own;
    struct server *s = h->server;
    struct why why = {{0}};
    bool was_under_way = is_under_way(s);
    if (f->again_ms <= s->now_ms) f->again_ms = 0;
    enum err e = blob_log_store_take(&s->store, &why);
    part_attend(h, store_flush_slot, is_under_way(s));
    if (e == ERR_NO_SPACE) {
        f->again_ms = s->now_ms + NO_SPACE_RETRY_MS;
        server_log(s, SERVER_WARN, "no_space", "%s", why.text);
        shard_stored(h, e);
    } else if (e != ERR_OK) {
        why_wrap(&why, e, "blobs and logs");
        server_fail(s, e, &why);
    } else if (was_under_way && !is_under_way(s)) {
        shard_stored(h, ERR_OK);
    }
}

void store_flush_kick(struct server *s) {
    struct shard *h = server_shard(s);
    struct store_flush *f = shard_part(h, store_flush_slot);
    if (f->again_ms > s->now_ms || is_under_way(s)) return;
    if (!blob_log_store_kick(&s->store)) return;
    transfers_handed_over(s);
    part_attend(h, store_flush_slot, true);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct store_flush *f = own;
    (void)h;
    return f->again_ms != 0 ? f->again_ms : TIME_NEVER;
}

const struct server_part store_flush_part = {.name = "store_flush",
                                             .scope = PART_OF_SERVER,
                                             .bytes = sizeof(struct store_flush),
                                             .wakes = PART_WAKES_WITH_FDS,
                                             .step = step,
                                             .next_due = next_due};
