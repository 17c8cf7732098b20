/* req_launch.c: a worker is started on the server's machine. Starting a process takes long for a loop, so it is done
 * aside; who may ask is an operator, and only where the server was told that it may. */
#include <stdio.h>

#include "background.h"
#include "call.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

#define SLOTS_STANDARD 4u
#define BUSY_RETRY_MS 200u

struct launch_wait {
    struct arena birth; /* holds this object */
    struct server *server;
    conn_id conn;
    uint32_t request;
    struct server_launch what;
    struct server_launched got;
    enum err err;
    struct why why;
};

extern const uint8_t launch_slot;

struct launching {
    uint32_t count; /* workers that are being started */
};

static struct launching *launching_of(const struct server *s) {
    return shard_part(server_shard(s), launch_slot);
}

static void work(void *ctx) {
    struct launch_wait *w = ctx;
    const struct server_world *world = &w->server->world;
    w->err = world->launch(world->launch_ctx, &w->what, &w->got, &w->why);
}

static void done(void *ctx) {
    struct launch_wait *w = ctx;
    struct server *s = w->server;
    struct session *n = session_of(s, w->conn);
    if (w->err == ERR_OK) server_log(s, SERVER_INFO, "worker", "%s was started, process %u", w->got.worker, w->got.pid);
    if (n != NULL && w->err != ERR_OK) session_error(s, n, w->request, w->err, w->why.text);
    struct wire_worker_started m = {.worker = slice_str(w->got.worker), .pid = w->got.pid};
    if (n != NULL && w->err == ERR_OK) session_answer(s, n, w->request, WIRE_WORKER_STARTED, &m);
    launching_of(s)->count--;
    struct arena birth = w->birth;
    arena_fini(&birth);
}

static enum err what_of(const struct server *s, const struct wire_worker_start *m, struct server_launch *ret,
                        struct why *why) {
    const struct wire_pair *labels = m->labels.at;
    *ret = (struct server_launch){.slots = m->slots == 0 ? SLOTS_STANDARD : m->slots, .label_count = m->labels.count};
    if (s->world.launch == NULL || s->world.background == NULL)
        return why_set(
            why, ERR_FORBIDDEN,
            "this server is not allowed to start workers: start it with --may-start-workers yes, or by `reeve up`");
    if (ret->slots > (uint64_t)s->limits->worker_slots_max)
        return why_set(why, ERR_LIMIT, "a worker has at most %lld slots (worker_slots_max)",
                       (long long)s->limits->worker_slots_max);
    if (m->name.len >= sizeof ret->name) return why_set(why, ERR_LIMIT, "the name is too long");
    if (m->labels.count > SERVER_LAUNCH_LABELS_MAX)
        return why_set(why, ERR_LIMIT, "at most %u labels", SERVER_LAUNCH_LABELS_MAX);
    snprintf(ret->name, sizeof ret->name, "%.*s", SLICE_FMT(m->name));
    for (uint32_t i = 0; i < m->labels.count; i++) {
        if (labels[i].key.len == 0 || labels[i].key.len + labels[i].value.len + 2 > SERVER_LAUNCH_LABEL_BYTES)
            return why_set(why, ERR_LIMIT, "a label is empty or too long");
        snprintf(ret->labels[i], sizeof ret->labels[i], "%.*s=%.*s", SLICE_FMT(labels[i].key),
                 SLICE_FMT(labels[i].value));
    }
    return ERR_OK;
}

HANDLER(req_launch) {
    struct server_launch what;
    struct why why = {{0}};
    enum err e = what_of(s, r->message, &what, &why);
    if (e != ERR_OK) {
        session_error(s, r->session, r->id, e, why.text);
        return;
    }
    struct arena birth;
    arena_init(&birth, sizeof(struct launch_wait) + 64, sizeof(struct launch_wait) + 4096);
    struct launch_wait *w = ARENA_NEW(&birth, struct launch_wait);
    *w = (struct launch_wait){.birth = birth, .server = s, .conn = r->session->conn, .request = r->id, .what = what};
    if (s->world.background->ops->start(s->world.background, work, done, w)) {
        launching_of(s)->count++;
        return;
    }
    arena_fini(&birth);
    session_busy(s, r->session, r->id, "another worker is being started: try again", BUSY_RETRY_MS);
}

static void fini(struct shard *h, void *own) {
    const struct launching *x = own;
    struct background *b = h->server->world.background;
    if (x->count > 0) b->ops->settle(b);
}

static bool is_idle(const struct shard *h, const void *own) {
    const struct launching *x = own;
    (void)h;
    return x->count == 0;
}

const struct server_part launch_part = {
    .name = "launch", .scope = PART_OF_SERVER, .bytes = sizeof(struct launching), .fini = fini, .is_idle = is_idle};
