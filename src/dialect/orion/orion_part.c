/* orion_part.c: Orion's interface as a part of the server: its event streams. While nobody listens to one it has
 * neither turns nor events; who begins to listen wakes it (orion_stream_begin). */
#include "orion_session.h"
#include "orion_stream.h"
#include "server_impl.h"

extern const uint8_t orion_slot;

struct orion *orion_of(const struct server *s) {
    return shard_part(server_shard(s), orion_slot);
}

const struct net_handler *orion_handler(struct server *s) {
    return &orion_of(s)->handler;
}

static void init(struct shard *h, void *own) {
    const struct orion *o = own;
    orion_init(h->server);
    if (o->options == NULL) part_retire(h, orion_slot);
    part_takes(h, orion_slot, EFFECT_EVENT, false);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    orion_fini(h->server);
}

static void flush(struct shard *h, void *own) {
    const struct orion *o = own;
    orion_stream_step(h->server);
    bool is_heard = o->stream.clients.count > 0;
    part_attend(h, orion_slot, is_heard);
    part_takes(h, orion_slot, EFFECT_EVENT, is_heard);
}

static int64_t next_due(const struct shard *h, const void *own) {
    (void)own;
    return orion_stream_next(h->server);
}

static void effect(struct shard *h, void *own, const struct effect *e) {
    (void)own;
    orion_stream_event(h->server, e);
}

static void conn_gone(struct shard *h, void *own, conn_id conn) {
    (void)own;
    orion_stream_forget(h->server, conn);
}

const struct server_part orion_part = {.name = "orion",
                                       .scope = PART_OF_SERVER,
                                       .bytes = sizeof(struct orion),
                                       .effects = EFFECT_BIT(EFFECT_EVENT),
                                       .init = init,
                                       .fini = fini,
                                       .flush = flush,
                                       .next_due = next_due,
                                       .effect = effect,
                                       .conn_gone = conn_gone};
