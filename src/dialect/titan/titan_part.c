/* titan_part.c: Titan's protocol as parts of the server: its workers, its gates, its connections. What it knows of the
 * state is of the shard (titan_book.h, titan_gates.h, whether the topic was looked for), the connections are not. */
#include "server_impl.h"
#include "titan_files.h"
#include "titan_fleet.h"
#include "titan_gates.h"
#include "titan_session.h"
#include "titan_web_dag.h"

extern const uint8_t titan_slot, titan_fleet_slot, titan_gates_slot;

struct titan *titan_of(const struct server *s) {
    return shard_part(server_shard(s), titan_slot);
}

const struct net_handler *titan_handler(struct server *s) {
    return &titan_of(s)->handler;
}

const struct net_handler *titan_web_handler(struct server *s) {
    return &titan_of(s)->web_handler;
}

static void fleet_init(struct shard *h, void *own) {
    (void)own;
    if (titan_of(h->server)->options == NULL) part_retire(h, titan_fleet_slot);
}

/* Its only turn. */
static void fleet_step(struct shard *h, void *own) {
    (void)own;
    titan_fleet_topic(h->server);
}

static void gates_init(struct shard *h, void *own) {
    titan_gates_init(own);
    if (titan_of(h->server)->options == NULL) part_retire(h, titan_gates_slot);
}

static void gates_fini(struct shard *h, void *own) {
    (void)h;
    titan_gates_fini(own);
}

/* Before those who have seen what there is to do for it. */
static void gates_step(struct shard *h, void *own) {
    (void)own;
    titan_gates_step(h->server);
}

static int64_t gates_due(const struct shard *h, const void *own) {
    (void)own;
    return titan_gates_next(h->server);
}

static void gates_effect(struct shard *h, void *own, const struct effect *e) {
    (void)own;
    if (e->kind == EFFECT_EVENT)
        titan_gates_event(h->server, &e->as.event);
    else
        titan_gates_question(h->server, &e->as.question);
}

static void gates_decided(struct shard *h, void *own, const struct command *cmd) {
    (void)own;
    titan_gates_wrote(h->server, cmd);
}

static void init(struct shard *h, void *own) {
    const struct titan *t = own;
    titan_init(h->server);
    if (t->options == NULL) part_retire(h, titan_slot);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    titan_fini(h->server);
}

static void flush(struct shard *h, void *own) {
    struct titan *t = own;
    titan_step(h->server);
    t->next_ms = t->ready.count > 0 ? h->server->now_ms : titan_expire(h->server);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct titan *t = own;
    (void)h;
    return t->next_ms;
}

static const char *const blob_keys[] = {TITAN_FILE_PREFIX, TITAN_PAYLOAD_PREFIX, NULL};

const struct server_part titan_fleet_part = {
    .name = "titan_fleet", .scope = PART_OF_SHARD, .init = fleet_init, .step = fleet_step};
const struct server_part titan_gates_part = {.name = "titan_gates",
                                             .scope = PART_OF_SHARD,
                                             .bytes = sizeof(struct titan_gates),
                                             .effects = EFFECT_BIT(EFFECT_EVENT) | EFFECT_BIT(EFFECT_QUESTION),
                                             .wakes = PART_WAKES_WITH_PASS,
                                             .init = gates_init,
                                             .fini = gates_fini,
                                             .step = gates_step,
                                             .next_due = gates_due,
                                             .effect = gates_effect,
                                             .decided = gates_decided};
const struct server_part titan_part = {.name = "titan",
                                       .scope = PART_OF_SERVER,
                                       .bytes = sizeof(struct titan),
                                       .wakes = PART_WAKES_WITH_PASS,
                                       .init = init,
                                       .fini = fini,
                                       .flush = flush,
                                       .next_due = next_due,
                                       .blob_keys = blob_keys};
