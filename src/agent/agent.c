/* agent.c: see agent.h. The life of a worker: it opens its spool, dials, and ends when it is drained. */
#include "agent.h"

#include <stdarg.h>
#include <stdio.h>

#include "agent_impl.h"
#include "min.h"
#include "panic.h"
#include "service_health.h"

#define ATTEMPTS_MAX 200000u
#define ARENA_BYTES_MAX (256u << 20)
#define DETACH_MS 5000 /* a server that does not answer a goodbye is not waited for */
#define LINE_MAX 512

void agent_log(const struct agent *a, const char *format, ...) {
    char line[LINE_MAX];
    va_list args;
    if (a->o.log == NULL) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    a->o.log(a->o.ctx, line);
}

static void restore(void *ctx, const struct wire_attempt *id, const struct wire_end *end,
                    const struct spool_file *file) {
    struct agent *a = ctx;
    struct buf b;
    if (attempts_find(&a->attempts, id) != NULL) { /* a copy whose removal failed */
        struct spool_file copy = *file;
        spool_forget(&a->spool, id, &copy);
        return;
    }
    struct attempt *t = attempts_new(&a->attempts, id, SLICE("?"), 0);
    if (t == NULL) return;
    buf_init(&b, 2 * WIRE_BODY_MAX);
    tlv_encode(&wire_end_desc, end, &b);
    t->end = bytes_new(buf_slice(&b));
    buf_fini(&b);
    t->file = *file;
    t->capture.end = t->capture.file_end = end->log_bytes;
    t->phase = WIRE_HELD_FINISHED;
    t->is_spooled = true;
    int64_t ago_ms = agent_wall_ms(a) - end->ended_ms; /* the clock may have been set since: then it is not known */
    t->ended_at_ms = agent_now_ms(a) - (end->ended_ms > 0 && ago_ms > 0 ? ago_ms : 0);
}

enum err agent_open(const struct agent_world *w, const struct agent_options *o, struct agent **ret, struct why *why) {
    struct arena birth;
    arena_init(&birth, sizeof(struct agent) + 64, sizeof(struct agent) + 4096);
    struct agent *a = ARENA_NEW(&birth, struct agent);
    a->birth = birth;
    a->w = *w;
    a->o = *o;
    enum err e = spool_open(&a->spool, w->disk, w->clock, o->name, why);
    if (e != ERR_OK) {
        spool_fini(&a->spool);
        arena_fini(&birth);
        return e;
    }
    attempts_init(&a->attempts, ATTEMPTS_MAX);
    map_init(&a->by_process);
    map_init(&a->by_request);
    pool_init(&a->tended, sizeof(struct service_health), ATTEMPTS_MAX);
    map_init(&a->by_conn);
    arena_init(&a->arena, 65536, ARENA_BYTES_MAX);
    connection_init(a);
    a->lease_until_ms = INT64_MIN;
    titan_place_init(&a->titan_place, w->space);
    a->gpus = (struct gpus){.names = o->gpu_names, .count = o->gpus};
    e = spool_read(&a->spool, restore, a, why);
    if (e != ERR_OK)
        agent_close(a);
    else
        *ret = a;
    return e;
}

void agent_close(struct agent *a) {
    connection_fini(a);
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        struct attempt *t = attempts_at(&a->attempts, i);
        if (t != NULL) spool_close(&a->spool, &t->file);
    }
    spool_fini(&a->spool);
    attempts_fini(&a->attempts);
    map_fini(&a->by_process);
    map_fini(&a->by_request);
    pool_fini(&a->tended);
    map_fini(&a->by_conn);
    arena_fini(&a->arena);
    gpus_fini(&a->gpus);
    titan_place_fini(&a->titan_place);
    struct arena birth = a->birth; /* `a` lies in it */
    arena_fini(&birth);
}

static struct slice handler_capability(struct arena *arena, const char *type) {
    size_t len = sizeof WIRE_HANDLER_CAPABILITY - 1 + strlen(type);
    char *text = arena_alloc(arena, len + 1);
    snprintf(text, len + 1, WIRE_HANDLER_CAPABILITY "%s", type);
    return slice_of(text, len);
}

void agent_info(const struct agent_options *o, struct arena *arena, struct wire_worker_info *ret) {
    uint32_t count = o->capability_count + o->handler_count;
    struct wire_name *capabilities = ARENA_ARRAY(arena, struct wire_name, count + 1);
    struct wire_pair *labels = ARENA_ARRAY(arena, struct wire_pair, o->label_count + 1);
    for (uint32_t i = 0; i < o->capability_count; i++) capabilities[i].name = slice_str(o->capabilities[i]);
    for (uint32_t i = 0; i < o->handler_count; i++)
        capabilities[o->capability_count + i].name = handler_capability(arena, o->handlers[i].type);
    for (uint32_t i = 0; i < o->label_count; i++)
        labels[i] = (struct wire_pair){slice_str(o->labels[i].key), slice_str(o->labels[i].value)};
    struct wire_amount *resources = ARENA_ARRAY(arena, struct wire_amount, o->resource_count + 1);
    for (uint32_t i = 0; i < o->resource_count; i++)
        resources[i] = (struct wire_amount){slice_str(o->resources[i].name), o->resources[i].amount};
    *ret = (struct wire_worker_info){
        .pool = slice_str(o->pool != NULL ? o->pool : ""),
        .capabilities = {capabilities, count},
        .labels = {labels, o->label_count},
        .slots = o->slots,
        .cpu_milli = o->cpu_milli,
        .memory_bytes = o->memory_bytes,
        .gpus = o->gpus,
        .resources = {resources, o->resource_count},
        .permanent = o->permanent,
        .build = slice_str(o->build),
    };
}

/* Whatever is left is finished and on disk: the next incarnation may deliver it. */
static bool is_idle(const struct agent *a) {
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        const struct attempt *t = attempts_at(&a->attempts, i);
        if (t != NULL && !(t->is_spooled && a->connection.state != CONNECTION_UP)) return false;
    }
    return true;
}

static void drain_pass(struct agent *a) {
    bool is_up = a->connection.state == CONNECTION_UP;
    if (a->is_detaching && (!is_up || agent_now_ms(a) >= a->detach_until_ms)) a->is_over = true;
    if (!is_up) run_end_services(a); /* nobody is there to have them moved */
    if (a->is_detaching || !is_idle(a)) return;
    a->is_detaching = true;
    a->detach_until_ms = agent_now_ms(a) + DETACH_MS;
    if (is_up)
        connection_detach(a);
    else
        a->is_over = true;
}

void agent_pass(struct agent *a) {
    run_due(a);
    if (a->is_draining && !a->is_over) drain_pass(a);
    connection_pass(a);
}

mono_time agent_next(struct agent *a) {
    const struct heap_item *top = heap_top(&a->attempts.due);
    int64_t next = min_i64(a->connection.due_ms, top != NULL ? top->key : TIME_NEVER);
    if (a->connection.state == CONNECTION_UP) next = min_i64(next, a->connection.again_at_ms);
    if (a->is_detaching) next = min_i64(next, a->detach_until_ms);
    if (a->is_over) next = 0;
    return (mono_time){next};
}

void agent_drain(struct agent *a) {
    if (a->is_draining) return;
    a->is_draining = true;
    agent_log(a, "draining: no new jobs, %u running", agent_held(a));
    connection_drain(a);
}

bool agent_is_over(const struct agent *a) {
    return a->is_over;
}

const char *agent_id(const struct agent *a) {
    return a->spool.self.id;
}

uint64_t agent_incarnation(const struct agent *a) {
    return a->spool.self.incarnation;
}

uint32_t agent_held(const struct agent *a) {
    return a->attempts.pool.count;
}
