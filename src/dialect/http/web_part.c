/* web_part.c: HTTP as a part of the server: deadlines of connections, and those that have more to do. */
#include "web_impl.h"

extern const uint8_t web_slot;

struct web_part {
    int64_t next_ms;
};

static void init(struct shard *h, void *own) {
    (void)own;
    web_init(h->server);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    web_fini(h->server);
}

static void flush(struct shard *h, void *own) {
    struct web_part *x = own;
    web_step(h->server);
    part_attend(h, web_slot, webs_of(h->server)->all.count > 0);
    x->next_ms = h->server->webs.ready.count > 0 ? h->server->now_ms : web_expire(h->server);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct web_part *x = own;
    /* An answer that ends behind our turn lets the next request of its connection begin: in the next pass, not when
     * something else happens. */
    return h->server->webs.ready.count > 0 ? h->server->now_ms : x->next_ms;
}

static void stored(struct shard *h, void *own, enum err e) {
    (void)own;
    if (e == ERR_OK) web_unstick(h->server);
}

const struct server_part web_part = {.name = "web",
                                     .scope = PART_OF_SERVER,
                                     .bytes = sizeof(struct web_part),
                                     .init = init,
                                     .fini = fini,
                                     .flush = flush,
                                     .next_due = next_due,
                                     .stored = stored};
