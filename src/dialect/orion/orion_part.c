/* orion_part.c: Orion's interface as a part of the server: its event streams. */
#include "orion_session.h"
#include "orion_stream.h"
#include "server_impl.h"

extern const uint8_t orion_slot;

static void init(struct shard *h, void *own) {
    (void)own;
    orion_init(h->server);
    if (h->server->options.orion == NULL) part_retire(h, orion_slot);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    orion_fini(h->server);
}

static void flush(struct shard *h, void *own) {
    (void)own;
    orion_stream_step(h->server);
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
                                       .effects = EFFECT_BIT(EFFECT_EVENT),
                                       .wakes = PART_WAKES_WITH_PASS,
                                       .init = init,
                                       .fini = fini,
                                       .flush = flush,
                                       .next_due = next_due,
                                       .effect = effect,
                                       .conn_gone = conn_gone};

const struct net_handler *server_orion_handler(struct server *s) {
    return &s->orion.handler;
}
