/* titan_peers.c: see titan_peers.h. */
#include "titan_peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "agent.h"
#include "arena.h"
#include "bytes.h"
#include "exchange.h"
#include "min.h"
#include "panic.h"
#include "remote.h"
#include "vec.h"

#define TITAN_PEERS_MAX 1000u
#define HOST_MAX 64u
#define CAPABILITY_MAX 512u
#define NAME_BYTES 48u /* how the id of a worker begins; the rest of it is a dash and six digits */
#define CALLS_SILENT 2 /* so many probes without an answer, and it is silent */
#define GOODBYE_MS 5000
#define LEFT_MS 30000
#define LINE_MAX 256
#define PENDING_MS 20 /* while something is on its way that others wait for */

struct titan_peer {
    uint32_t port; /* first: never 0 while in use */
    char host[HOST_MAX], address[HOST_MAX + 8], port_text[8], name[NAME_BYTES];
    char capability[CAPABILITY_MAX];
    bool is_permanent;
    uint32_t slots; /* as it says; 0 = it has not answered yet */
    struct exchanges exchanges;
    struct disk *disk; /* NULL = it is not attached */
    struct space *space;
    struct remote remote;
    struct agent *agent;
    bool is_probing, is_silent, is_ending;
    int64_t probe_ms, asked_ms, heard_ms; /* the next probe; the last one; the last answer */
    struct titan_peers *all;
};

struct peer_word { /* of a worker, about a job */
    conn_id conn;
    uint8_t opcode;
    struct bytes *body;
};

struct titan_peers {
    struct arena birth; /* holds this struct */
    struct titan_peers_options o;
    struct pool pool;
    struct vec words; /* in the order of their coming */
};

static int64_t now_of(const struct titan_peers *m) {
    return m->o.clock->mono(m->o.clock).ms;
}

static void say(const struct titan_peer *x, const char *what) {
    char line[LINE_MAX];
    snprintf(line, sizeof line, "Titan's worker %s: %s", x->address, what);
    x->all->o.log(x->all->o.ctx, line);
}

/* ---- coming and going ---- */

struct titan_peers *titan_peers_new(const struct titan_peers_options *o) {
    struct arena birth;
    arena_init(&birth, sizeof(struct titan_peers) + 64, sizeof(struct titan_peers) + 4096);
    struct titan_peers *m = ARENA_NEW(&birth, struct titan_peers);
    m->birth = birth;
    m->o = *o;
    pool_init(&m->pool, sizeof(struct titan_peer), TITAN_PEERS_MAX);
    vec_init(&m->words, sizeof(struct peer_word));
    return m;
}

static void detach(struct titan_peer *x) {
    if (x->disk == NULL) return;
    agent_close(x->agent);
    remote_fini(&x->remote);
    x->all->o.unplace(x->all->o.ctx, x->disk, x->space);
    x->agent = NULL;
    x->disk = NULL;
    x->space = NULL;
}

static void forget(struct titan_peers *m, uint32_t index) {
    struct titan_peer *x = pool_at(&m->pool, index);
    detach(x);
    exchanges_fini(&x->exchanges);
    pool_free(&m->pool, index);
}

void titan_peers_free(struct titan_peers *m) {
    for (uint32_t i = 1; i <= m->pool.high; i++)
        if (((struct titan_peer *)pool_at(&m->pool, i))->port != 0) forget(m, i);
    for (uint32_t i = 0; i < m->words.count; i++) bytes_free(((struct peer_word *)vec_at(&m->words, i))->body);
    vec_fini(&m->words);
    pool_fini(&m->pool);
    struct arena birth = m->birth; /* `m` lies in it */
    arena_fini(&birth);
}

static void agent_line(void *ctx, const char *line) {
    say(ctx, line);
}

static void ended_before(void *ctx, uint64_t token, const struct exchange_end *end) {
    (void)ctx, (void)token, (void)end; /* it is not there any more, or as good as anybody can do */
}

/* What it still runs for a server of before was given up with that server, and may be run again anywhere. */
static void end_left(void *arg, const char *space) {
    struct titan_peer *x = arg;
    char id[128];
    snprintf(id, sizeof id, REMOTE_ID_PREFIX "%s", space);
    exchange_begin(&x->exchanges, x->address, TITAN_CANCEL_JOB, slice_str(id), LEFT_MS, ended_before, x, 0);
    exchange_begin(&x->exchanges, x->address, TITAN_STOP, slice_str(id), LEFT_MS, ended_before, x, 0);
}

/* A worker of the cluster, from now on. */
static enum err attach(struct titan_peer *x, struct why *why) {
    const struct titan_peers_options *o = &x->all->o;
    struct agent_options options = {.server = o->server,
                                    .tenant = o->tenant,
                                    .name = x->name,
                                    .build = o->build,
                                    .pool = TITAN_PEERS_POOL,
                                    .slots = x->slots,
                                    .permanent = x->is_permanent,
                                    .elsewhere = true,
                                    .service_host = x->host,
                                    .sandbox = {.cannot = "it runs on a worker of Titan's"},
                                    .spool_bytes_max = 64u << 20,
                                    .limits = o->limits,
                                    .log = agent_line,
                                    .ctx = x};
    options.labels[0] = (struct agent_pair){"capability", x->capability};
    options.labels[1] = (struct agent_pair){"titan.port", x->port_text};
    options.label_count = 2;
    enum err e = o->place(o->ctx, x->name, end_left, x, &x->disk, &x->space, why);
    if (e != ERR_OK) return e;
    remote_init(&x->remote, o->clock, x->space, &x->exchanges, x->address);
    struct agent_world world = {o->clock, x->disk, x->space, o->net, &x->remote.proc};
    e = agent_open(&world, &options, &x->agent, why);
    if (e == ERR_OK) return ERR_OK;
    remote_fini(&x->remote);
    o->unplace(o->ctx, x->disk, x->space);
    x->disk = NULL;
    x->space = NULL;
    return e;
}

/* ---- how it is ---- */

static int64_t interval_ms(const struct titan_peer *x) {
    return x->all->o.limits.heartbeat_ms;
}

static void alive(struct titan_peer *x) {
    x->heard_ms = now_of(x->all);
    if (x->is_silent) say(x, "it answers again");
    x->is_silent = false;
}

/* "PONG|<jobs>|<slots>" */
static void pong(struct titan_peer *x, struct slice text) {
    char copy[64];
    unsigned active = 0, slots = 0;
    struct why why = {{0}};
    snprintf(copy, sizeof copy, "%.*s", SLICE_FMT(text));
    if (sscanf(copy, "PONG|%u|%u", &active, &slots) != 2 || slots == 0) return;
    alive(x);
    x->slots = slots <= (unsigned)x->all->o.limits.worker_slots_max ? slots : 1;
    if (x->disk == NULL && !x->is_ending && attach(x, &why) != ERR_OK) say(x, why.text);
    if (x->disk != NULL) remote_counted(&x->remote, active, x->asked_ms);
}

static void probed(void *ctx, uint64_t token, const struct exchange_end *end) {
    struct titan_peer *x = ctx;
    (void)token;
    x->is_probing = false;
    x->probe_ms = now_of(x->all) + interval_ms(x);
    if (end->answer != NULL) pong(x, end->answer->body);
}

static void probe(struct titan_peer *x) {
    x->is_probing = true;
    x->asked_ms = now_of(x->all);
    exchange_begin(&x->exchanges, x->address, TITAN_HEARTBEAT, SLICE(""), CALLS_SILENT * interval_ms(x), probed, x, 0);
}

/* ---- what they say ---- */

static struct slice cut(struct slice *in, const char *at) {
    size_t len = strlen(at);
    for (size_t i = 0; i + len <= in->len; i++) {
        if (memcmp(in->ptr + i, at, len) != 0) continue;
        struct slice part = slice_of(in->ptr, i);
        *in = slice_of(in->ptr + i + len, in->len - i - len);
        return part;
    }
    struct slice part = *in;
    *in = (struct slice){0};
    return part;
}

static bool port_read(struct slice text, uint32_t *ret) {
    uint32_t port = 0;
    if (text.len == 0 || text.len > 5) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        port = port * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    *ret = port;
    return port > 0 && port <= 65535;
}

static struct titan_peer *find(const struct titan_peers *m, struct slice host, uint32_t port) {
    for (uint32_t i = 1; i <= m->pool.high; i++) {
        struct titan_peer *x = pool_at(&m->pool, i);
        if (x->port == port && slice_eq(slice_str(x->host), host)) return x;
    }
    return NULL;
}

static void member_make(struct titan_peers *m, struct titan_peer *x, struct slice host, uint32_t port) {
    *x = (struct titan_peer){.port = port, .all = m, .heard_ms = now_of(m)};
    snprintf(x->host, sizeof x->host, "%.*s", SLICE_FMT(host));
    snprintf(x->address, sizeof x->address, "%s:%u", x->host, port);
    snprintf(x->port_text, sizeof x->port_text, "%u", port);
    snprintf(x->name, sizeof x->name, "titan-%.*s-%u", 32, x->host, port);
    for (char *c = x->name; *c != 0; c++)
        if (*c == ':' || *c == '[' || *c == ']' || *c == '%') *c = '.';
    exchanges_init(&x->exchanges, m->o.clock, m->o.net);
}

/* "port||capability||isPermanent" */
static void enrol(struct titan_peers *m, const char *address, struct slice body, struct buf *ret) {
    struct slice number = cut(&body, "||"), capability = cut(&body, "||");
    const char *colon = strrchr(address, ':');
    struct slice host = slice_of(address, colon != NULL ? (size_t)(colon - address) : 0);
    uint32_t port = 0;
    if (!port_read(number, &port) || host.len == 0 || host.len >= HOST_MAX || capability.len >= CAPABILITY_MAX) {
        buf_printf(ret, "SERVER_ERROR: For input string: \"%.*s\"", (int)(number.len < 64 ? number.len : 64),
                   (const char *)(number.len > 0 ? number.ptr : (const uint8_t *)""));
        return;
    }
    struct titan_peer *x = find(m, host, port);
    uint32_t index = x == NULL ? pool_alloc(&m->pool) : 0;
    if (x == NULL && index == 0) {
        buf_printf(ret, "SERVER_ERROR: there are %u workers already", TITAN_PEERS_MAX);
        return;
    }
    if (x == NULL) { /* else it says so every 30 s, and keeps what it has */
        x = pool_at(&m->pool, index);
        member_make(m, x, host, port);
        snprintf(x->capability, sizeof x->capability, "%.*s",
                 SLICE_FMT(capability.len > 0 ? capability : SLICE("GENERAL")));
        x->is_permanent = body.len == 4 && strncasecmp((const char *)body.ptr, "true", 4) == 0;
        say(x, "it registered");
    }
    buf_put_slice(ret, SLICE("REGISTERED"));
}

/* What is said of jobs waits for the pass: lines come on many connections, one after the other, and those that were
 * made in one order may be read in another. */
void titan_peers_hear(struct titan_peers *m, conn_id conn, const char *address, uint8_t opcode, struct slice body,
                      struct buf *ret) {
    static const struct {
        uint8_t opcode;
        const char *answer;
    } answers[] = {{TITAN_JOB_COMPLETE, "ACK_CALLBACK"},
                   {TITAN_LOG_STREAM, "ACK_LOG"},
                   {TITAN_LOG_BATCH, "ACK_BATCH"},
                   {TITAN_UNREGISTER_SERVICE, "ACK_UNREGISTERED"}};
    if (opcode == TITAN_REGISTER) {
        enrol(m, address, body, ret);
        return;
    }
    *(struct peer_word *)vec_push(&m->words) = (struct peer_word){conn, opcode, bytes_new(body)};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (answers[i].opcode == opcode) buf_put_slice(ret, slice_str(answers[i].answer));
}

static bool hear_one(struct titan_peer *x, uint8_t opcode, struct slice body) {
    struct slice job = cut(&body, "|");
    if (opcode == TITAN_JOB_COMPLETE) return remote_complete(&x->remote, job, body);
    if (opcode == TITAN_UNREGISTER_SERVICE) return remote_gone(&x->remote, job);
    while (opcode == TITAN_LOG_BATCH && body.len > 0 && body.ptr[body.len - 1] == '\n') body.len--;
    return remote_output(&x->remote, job, body);
}

static int by_conn(const void *a, const void *b) {
    uint64_t x = ((const struct peer_word *)a)->conn.v, y = ((const struct peer_word *)b)->conn.v;
    return x < y ? -1 : x > y;
}

static void hear_words(struct titan_peers *m) {
    uint32_t w = 0;
    if (m->words.count == 0) return;
    qsort(m->words.at, m->words.count, sizeof(struct peer_word), by_conn);
    conn_id pending = m->o.pending(m->o.ctx);
    for (; w < m->words.count; w++) {
        struct peer_word *said = vec_at(&m->words, w);
        if (said->conn.v > pending.v) break;
        for (uint32_t i = 1; i <= m->pool.high; i++) {
            struct titan_peer *x = pool_at(&m->pool, i);
            if (x->port == 0 || x->disk == NULL || !hear_one(x, said->opcode, bytes_slice(said->body))) continue;
            alive(x);
            break;
        }
        bytes_free(said->body);
    }
    m->words.count -= w;
    if (w > 0) memmove(m->words.at, vec_at(&m->words, w), m->words.count * sizeof(struct peer_word));
}

/* ---- time ---- */

static void ended(void *ctx, uint64_t token, const struct exchange_end *end) {
    (void)token, (void)end;
    ((struct titan_peer *)ctx)->heard_ms = INT64_MIN / 2; /* the next pass forgets it */
}

/* Its agent was drained: it is to end. */
static void end(struct titan_peer *x) {
    say(x, "it is told to end");
    x->is_ending = true;
    detach(x);
    exchange_begin(&x->exchanges, x->address, TITAN_KILL_WORKER, SLICE("x"), GOODBYE_MS, ended, x, 0);
}

/* Silent for so long that its lease is over twice. */
static bool is_lost(const struct titan_peer *x) {
    return now_of(x->all) - x->heard_ms > 2 * x->all->o.limits.lease_ms + 2 * interval_ms(x);
}

static void member_pass(struct titan_peer *x) {
    int64_t now = now_of(x->all);
    exchanges_pass(&x->exchanges);
    if (!x->is_probing && !x->is_ending && now >= x->probe_ms) probe(x);
    bool is_silent = now - x->heard_ms > CALLS_SILENT * interval_ms(x);
    if (is_silent && !x->is_silent && x->disk != NULL) say(x, "it does not answer");
    x->is_silent = is_silent;
    if (x->disk == NULL) return;
    remote_pass(&x->remote);
    if (!x->is_silent) agent_pass(x->agent);
    if (agent_is_over(x->agent)) end(x);
}

void titan_peers_pass(struct titan_peers *m) {
    hear_words(m);
    for (uint32_t i = 1; i <= m->pool.high; i++) {
        struct titan_peer *x = pool_at(&m->pool, i);
        if (x->port == 0) continue;
        member_pass(x);
        if (is_lost(x)) {
            say(x, x->is_ending ? "it is gone" : "it is given up");
            forget(m, i);
        }
    }
}

mono_time titan_peers_next(struct titan_peers *m) {
    int64_t next = m->words.count > 0 ? now_of(m) + PENDING_MS : TIME_NEVER;
    for (uint32_t i = 1; i <= m->pool.high; i++) {
        struct titan_peer *x = pool_at(&m->pool, i);
        if (x->port == 0) continue;
        next = min_i64(next, exchanges_next(&x->exchanges));
        if (!x->is_probing && !x->is_ending) next = min_i64(next, x->probe_ms);
        if (x->disk != NULL) next = min_i64(next, remote_next(&x->remote));
        if (x->disk != NULL && !x->is_silent) next = min_i64(next, agent_next(x->agent).ms);
        if (!x->is_silent) next = min_i64(next, x->heard_ms + CALLS_SILENT * interval_ms(x) + 1);
    }
    return (mono_time){next};
}
