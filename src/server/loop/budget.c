/* budget.c: see budget.h. */
#include "budget.h"

#include "hash.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"

#define ACCOUNTS_MAX 200000u /* one for each session, and those that still have requests */
#define UNAUTHENTICATED_KEY 1u
#define SWEEP_MS 1000
#define CONNECTIONS_PARTS 2u /* of all connections, one principal may have one of so many parts */

static void init(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    pool_init(&s->budget.accounts, sizeof(struct account), ACCOUNTS_MAX);
    map_init(&s->budget.by_key);
}

static struct account *account_at(const struct server *s, uint32_t index) {
    return pool_at(&s->budget.accounts, index);
}

static void account_free(struct server *s, uint32_t index) {
    struct account *a = account_at(s, index);
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) fifo_fini(&a->ready[i]);
    map_del(&s->budget.by_key, a->key);
    pool_free(&s->budget.accounts, index);
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 1; i <= s->budget.accounts.high; i++)
        if (account_at(s, i)->key != 0) account_free(s, i);
    pool_fini(&s->budget.accounts);
    map_fini(&s->budget.by_key);
}

struct account *budget_account(const struct server *s, const struct session *n) {
    return account_at(s, n->account);
}

void budget_release(struct server *s, uint32_t index) {
    const struct account *a = account_at(s, index);
    if (a->connections > 0) return;
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++)
        if (a->is_listed[i] || !fifo_is_empty(&a->ready[i])) return;
    ENSURE(a->bytes == 0);
    account_free(s, index);
}

/* ---- who ---- */

static uint64_t key_of(const struct session *n) {
    if (n->who.name[0] == 0) return UNAUTHENTICATED_KEY;
    uint64_t tenant = hash64(n->who.tenant, strlen(n->who.tenant), 0);
    uint64_t key = hash64(n->who.name, strlen(n->who.name), tenant);
    return key > UNAUTHENTICATED_KEY ? key : UNAUTHENTICATED_KEY + 1;
}

static uint32_t account_of(struct server *s, uint64_t key) {
    uint32_t index = map_get(&s->budget.by_key, key);
    if (index != 0) return index;
    index = pool_alloc(&s->budget.accounts);
    ENSURE(index != 0);
    struct account *a = account_at(s, index);
    a->key = key;
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) fifo_init(&a->ready[i]);
    map_put(&s->budget.by_key, key, index);
    return index;
}

/* Workers are many and mostly have one token; unauthenticated have a bound of their own (strangers_max). */
static bool has_share(const struct server *s, const struct session *n) {
    return s->options.connections_max != 0 && n->who.name[0] != 0 && !(n->who.roles & ROLE_BIT(ROLE_WORKER));
}

void budget_leave(struct server *s, struct session *n) {
    struct account *a = n->account != 0 ? account_at(s, n->account) : NULL;
    if (a == NULL) return;
    a->bytes -= n->charged;
    s->budget.bytes -= n->charged;
    n->charged = 0;
    a->connections--;
    budget_release(s, n->account);
    n->account = 0;
}

enum err budget_join(struct server *s, struct session *n, struct why *why) {
    uint64_t key = key_of(n);
    if (n->account != 0 && budget_account(s, n)->key == key) return ERR_OK;
    uint32_t index = account_of(s, key);
    uint32_t most = s->options.connections_max / CONNECTIONS_PARTS;
    if (has_share(s, n) && account_at(s, index)->connections >= (most > 0 ? most : 1))
        return why_set(why, ERR_BUSY, "%s already has %u connections, half of connections_max: close some of them",
                       n->who.name, account_at(s, index)->connections);
    budget_leave(s, n);
    account_at(s, index)->connections++;
    n->account = index;
    budget_charge(s, n);
    return ERR_OK;
}

void budget_welcome(struct server *s, struct session *n) {
    struct why why;
    if (budget_account(s, n)->key == UNAUTHENTICATED_KEY) (void)!budget_join(s, n, &why);
}

/* ---- how much ---- */

static uint64_t weight(const struct session *n) {
    uint64_t bytes = n->in.slots + n->early.slots + n->owed + n->unsent;
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) bytes += n->lanes[i].bytes.slots;
    if (n->dialect != NULL && n->dialect->memory_bytes != NULL) bytes += n->dialect->memory_bytes(n);
    return bytes;
}

void budget_charge(struct server *s, struct session *n) {
    struct account *a = budget_account(s, n);
    uint64_t bytes = weight(n);
    a->bytes += bytes - n->charged;
    s->budget.bytes += bytes - n->charged;
    n->charged = bytes;
}

bool budget_is_over(const struct server *s, const struct session *n) {
    return budget_account(s, n)->bytes > (uint64_t)s->limits->principal_memory_bytes_max;
}

/* ---- who has to go ---- */

static uint32_t largest_account(const struct server *s) {
    uint32_t found = 0;
    for (uint32_t i = 1; i <= s->budget.accounts.high; i++)
        if (account_at(s, i)->key != 0 && (found == 0 || account_at(s, i)->bytes > account_at(s, found)->bytes))
            found = i;
    return found;
}

static struct session *largest_session(const struct server *s, uint32_t account) {
    struct session *found = NULL;
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v != 0 && n->account == account && (found == NULL || n->charged > found->charged)) found = n;
    }
    return found;
}

static void let_go(struct server *s, struct session *n, const char *why) {
    s->budget.closed_count++;
    server_log(s, SERVER_WARN, "memory", "%s (%s) made the server hold %llu bytes: %s", n->address, n->who.name,
               (unsigned long long)n->charged, why);
    session_end(s, n);
}

/* Connections of principals above their share that have taken nothing of their answers for long. */
static void sweep(struct server *s) {
    if (s->now_ms < s->budget.swept_ms + SWEEP_MS) return;
    s->budget.swept_ms = s->now_ms;
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v == 0 || !budget_is_over(s, n)) continue;
        uint64_t before = n->unsent;
        session_look(s, n);
        if (n->unsent == 0 || n->unsent < before || n->stalled_ms == 0) n->stalled_ms = s->now_ms;
        if (n->unsent > 0 && s->now_ms >= n->stalled_ms + s->limits->http_idle_ms)
            let_go(s, n, "it does not read what it is sent");
    }
}

static void flush(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    struct budget *b = &s->budget;
    while (b->bytes > (uint64_t)s->limits->connection_memory_bytes_max) {
        struct session *n = largest_session(s, largest_account(s));
        if (n == NULL || n->charged == 0) return;
        session_look(s, n);
        if (b->bytes > (uint64_t)s->limits->connection_memory_bytes_max)
            let_go(s, n, "all connections together exceed connection_memory_bytes_max, and this one holds the most");
    }
    sweep(s);
}

const struct server_part budget_part = {.name = "budget",
                                        .scope = PART_OF_SERVER,
                                        .wakes = PART_WAKES_WITH_PASS,
                                        .init = init,
                                        .fini = fini,
                                        .flush = flush};
