/* orion_part.c: Orion's interface as parts of the server: its listener, what it knows of the state, its event streams.
 * While nobody listens to a stream that part has neither turns nor events; a client that begins to listen wakes it
 * (orion_stream_begin). */
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
    (void)own;
    orion_init(h->server);
}

static void dags_init(struct shard *h, void *own) {
    struct orion_dags *x = own;
    (void)h;
    vec_init(&x->flows, sizeof(struct orion_dag));
}

static void dags_fini(struct shard *h, void *own) {
    struct orion_dags *x = own;
    (void)h;
    vec_fini(&x->flows);
}

static void stream_init(struct shard *h, void *own) {
    orion_stream_init(own);
    if (orion_of(h->server)->options == NULL) part_retire(h, orion_stream_slot);
    part_takes(h, orion_stream_slot, EFFECT_EVENT, false);
}

static void stream_fini(struct shard *h, void *own) {
    (void)h;
    orion_stream_fini(own);
}

static void flush(struct shard *h, void *own) {
    const struct orion_stream *o = own;
    orion_stream_step(h->server);
    bool is_heard = o->clients.count > 0;
    part_attend(h, orion_stream_slot, is_heard);
    part_takes(h, orion_stream_slot, EFFECT_EVENT, is_heard);
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

const struct server_part orion_part = {
    .name = "orion", .scope = PART_OF_SERVER, .bytes = sizeof(struct orion), .init = init};
const struct server_part orion_dags_part = {.name = "orion_dags",
                                            .scope = PART_OF_SHARD,
                                            .bytes = sizeof(struct orion_dags),
                                            .init = dags_init,
                                            .fini = dags_fini};
const struct server_part orion_stream_part = {.name = "orion_stream",
                                              .scope = PART_OF_SHARD,
                                              .bytes = sizeof(struct orion_stream),
                                              .effects = EFFECT_BIT(EFFECT_EVENT),
                                              .init = stream_init,
                                              .fini = stream_fini,
                                              .flush = flush,
                                              .next_due = next_due,
                                              .effect = effect,
                                              .conn_gone = conn_gone};
