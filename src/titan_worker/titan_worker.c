/* titan_worker.c: see titan_worker.h. The life of a worker of a Titan master: it registers again and again, and ends
 * when it is drained or its master says so. */
#include "titan_worker.h"

#include <stdarg.h>
#include <stdio.h>

#include "min.h"
#include "panic.h"
#include "titan_worker_impl.h"

#define REGISTER_MS 30000 /* as Titan's workers do: a master that was started again knows nobody */
#define REGISTER_AGAIN_MS 2000
#define REGISTER_CALL_MS 10000
#define LINE_MAX 512

void titan_worker_log(const struct titan_worker *h, const char *format, ...) {
    char line[LINE_MAX];
    va_list args;
    if (h->o.log == NULL) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    h->o.log(h->o.ctx, line);
}

enum err titan_worker_open(const struct titan_worker_world *w, const struct titan_worker_options *o,
                           struct titan_worker **ret, struct why *why) {
    struct arena birth;
    struct titan_place place;
    char shared[SPACE_PATH_MAX];
    titan_place_init(&place, w->space);
    enum err e = titan_place_shared(&place, "", shared, why);
    if (e != ERR_OK) return e;
    arena_init(&birth, sizeof(struct titan_worker) + 64, sizeof(struct titan_worker) + 4096);
    struct titan_worker *h = ARENA_NEW(&birth, struct titan_worker);
    *h = (struct titan_worker){.birth = birth, .w = *w, .o = *o, .place = place, .over_at_ms = TIME_NEVER};
    titan_worker_port_init(h);
    exchanges_init(&h->exchanges, w->clock, w->net);
    pool_init(&h->tasks, sizeof(struct titan_worker_task), TITAN_WORKER_JOBS_MAX);
    map_init(&h->task_by_process);
    vec_init(&h->files, sizeof(struct titan_worker_file));
    arena_init(&h->frame, 4096, TITAN_BODY_BYTES_MAX);
    arena_init(&h->arena, 4096, 64u << 20);
    buf_init(&h->out, TITAN_BODY_BYTES_MAX);
    *ret = h;
    return ERR_OK;
}

void titan_worker_close(struct titan_worker *h) {
    titan_worker_port_fini(h);
    exchanges_fini(&h->exchanges);
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number != 0) titan_worker_run_forget(h, t);
    }
    pool_fini(&h->tasks);
    map_fini(&h->task_by_process);
    vec_fini(&h->files);
    titan_place_fini(&h->place);
    arena_fini(&h->frame);
    arena_fini(&h->arena);
    buf_fini(&h->out);
    struct arena birth = h->birth; /* `h` lies in it */
    arena_fini(&birth);
}

const struct net_handler *titan_worker_handler(struct titan_worker *h) {
    return &h->handler;
}

void titan_worker_listens(struct titan_worker *h, uint32_t port) {
    h->port = port;
}

static void registered(void *ctx, uint64_t token, const struct exchange_end *end) {
    struct titan_worker *h = ctx;
    (void)token;
    bool is_good = end->answer != NULL && slice_eq(end->answer->body, SLICE("REGISTERED"));
    if (is_good && !h->is_registered) titan_worker_log(h, "registered with %s", h->o.master);
    h->is_registered = is_good;
    if (!is_good && !h->was_refused)
        titan_worker_log(h, "%s does not take us: %.*s; we go on trying", h->o.master,
                         SLICE_FMT(end->answer != NULL ? end->answer->body : slice_str(end->failure)));
    h->was_refused = !is_good;
    h->is_registering = false;
    h->register_at_ms = titan_worker_now(h) + (is_good ? REGISTER_MS : REGISTER_AGAIN_MS);
}

static void register_due(struct titan_worker *h) {
    if (h->is_registering || h->is_draining || titan_worker_now(h) < h->register_at_ms) return;
    buf_clear(&h->out);
    buf_printf(&h->out, "%u||%s||%s", h->port, h->o.capability, h->o.permanent ? "true" : "false");
    h->is_registering = true;
    exchange_begin(&h->exchanges, h->o.master, TITAN_REGISTER, buf_slice(&h->out), REGISTER_CALL_MS, registered, h, 0);
}

void titan_worker_pass(struct titan_worker *h) {
    exchanges_pass(&h->exchanges);
    titan_worker_run_due(h);
    titan_worker_port_pass(h);
    register_due(h);
    titan_worker_tell_pass(h);
}

mono_time titan_worker_next(struct titan_worker *h) {
    int64_t next = min_i64(exchanges_next(&h->exchanges), titan_worker_run_next(h));
    next = min_i64(next, titan_worker_tell_next(h));
    next = min_i64(next, h->over_at_ms);
    if (!h->is_registering && !h->is_draining) next = min_i64(next, h->register_at_ms);
    if (titan_worker_is_over(h)) next = 0;
    return (mono_time){next};
}

void titan_worker_drain(struct titan_worker *h) {
    if (h->is_draining) return;
    h->is_draining = true;
    titan_worker_log(h, "draining: nothing new is taken");
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number != 0 && t->is_service) titan_worker_run_stop(h, t);
    }
}

bool titan_worker_is_over(const struct titan_worker *h) {
    return titan_worker_now(h) >= h->over_at_ms || (h->is_draining && h->tasks.count == 0 && !h->is_telling);
}
