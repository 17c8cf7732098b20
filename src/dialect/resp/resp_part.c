/* resp_part.c: RESP as a part of the server: its commands are served in the pass, its replies leave when durable. */
#include "resp_session.h"
#include "server_impl.h"

extern const uint8_t resp_slot;

struct resps *resps_of(const struct server *s) {
    return shard_part(server_shard(s), resp_slot);
}

const struct net_handler *resp_handler(struct server *s) {
    return &resps_of(s)->handler;
}

static void init(struct shard *h, void *own) {
    (void)own;
    resp_init(h->server);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    resp_fini(h->server);
}

static void step(struct shard *h, void *own) {
    (void)own;
    resp_serve(h->server);
}

static void flush(struct shard *h, void *own) {
    (void)own;
    resp_step(h->server);
    part_attend(h, resp_slot, resp_has_connections(h->server));
}

static int64_t next_due(const struct shard *h, const void *own) {
    (void)own;
    return resp_waits(h->server) ? h->server->now_ms : TIME_NEVER;
}

static bool is_idle(const struct shard *h, const void *own) {
    (void)own;
    return resp_is_quiet(h->server);
}

const struct server_part resp_part = {.name = "resp",
                                      .scope = PART_OF_SERVER,
                                      .bytes = sizeof(struct resps),
                                      .init = init,
                                      .fini = fini,
                                      .step = step,
                                      .flush = flush,
                                      .next_due = next_due,
                                      .is_idle = is_idle};
