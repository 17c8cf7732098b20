/* orion_part.c: Orion's interface as parts of the server: its listener, what it knows of the state, its event streams.
 */
#include "orion_session.h"
#include "orion_stream.h"
#include "server_impl.h"

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
    if (h->server->options.orion == NULL) part_retire(h, orion_stream_slot);
}

static void stream_fini(struct shard *h, void *own) {
    (void)h;
    orion_stream_fini(own);
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

const struct server_part orion_part = {.name = "orion", .scope = PART_OF_SERVER, .init = init};
const struct server_part orion_dags_part = {.name = "orion_dags",
                                            .scope = PART_OF_SHARD,
                                            .bytes = sizeof(struct orion_dags),
                                            .init = dags_init,
                                            .fini = dags_fini};
const struct server_part orion_stream_part = {.name = "orion_stream",
                                              .scope = PART_OF_SHARD,
                                              .bytes = sizeof(struct orion_stream),
                                              .effects = EFFECT_BIT(EFFECT_EVENT),
                                              .wakes = PART_WAKES_WITH_PASS,
                                              .init = stream_init,
                                              .fini = stream_fini,
                                              .flush = flush,
                                              .next_due = next_due,
                                              .effect = effect,
                                              .conn_gone = conn_gone};

const struct net_handler *server_orion_handler(struct server *s) {
    return &s->orion.handler;
}
