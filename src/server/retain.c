/* retain.c: see retain.h. */
#include "retain.h"

#include "server_impl.h"

#define FORGET_PER_PASS 64u
#define SWEEP_PER_PASS 1024u
#define REST_MS 1000
#define LOOK_AGAIN_MS 3600000

static void note(void *ctx, flow_id id) {
    struct server *s = ctx;
    struct flow_view v;
    if (view_flow(server_state(s), id, &v) && v.state != FLOW_RUNNING)
        heap_push(&s->retain.finished, v.finished.ms, id.v);
}

void retain_init(struct server *s) {
    heap_init(&s->retain.finished, NULL, NULL);
    view_each_flow(server_state(s), note, s);
    s->retain.sweeping = true; /* logs let go before may be back */
}

void retain_fini(struct server *s) {
    heap_fini(&s->retain.finished);
}

void retain_event(struct server *s, const struct effect *e) {
    const struct event *v = &e->as.event;
    if (v->kind == EVENT_FLOW && v->flow_state != FLOW_RUNNING)
        heap_push(&s->retain.finished, v->time.ms, v->job.flow.v);
}

static int64_t due_ms(const struct server *s, const struct heap_item *first) {
    if (s->retain.finished.count > (uint64_t)s->limits->finished_keep_max) return s->retain.rest_until_ms;
    return first->key + s->limits->finished_keep_ms;
}

static void count_dead(void *ctx, const struct job_view *job) {
    *(uint32_t *)ctx += job->dead_letter;
}

static bool has_dead_letters(struct server *s, const struct flow_view *v) {
    uint32_t count = 0;
    if (v->state == FLOW_FAILED) view_each_job(server_state(s), v->id, count_dead, &count);
    return count > 0;
}

/* Comes up again that much later. */
static void put_off(struct server *s, flow_id id, int64_t ms) {
    heap_push(&s->retain.finished, engine_now(s->engine).ms - s->limits->finished_keep_ms + ms, id.v);
    s->retain.rest_until_ms = engine_now(s->engine).ms + REST_MS;
}

void retain_turn(struct server *s) {
    struct retain *x = &s->retain;
    for (uint32_t i = 0; i < FORGET_PER_PASS && !engine_is_full(s->engine); i++) {
        const struct heap_item *first = heap_top(&x->finished);
        if (first == NULL || due_ms(s, first) > engine_now(s->engine).ms) return;
        struct heap_item item = heap_pop(&x->finished);
        struct flow_view v;
        /* It may run again since, or have ended once more: then it is in the heap once more, too. */
        if (!view_flow(server_state(s), (flow_id){item.ref}, &v) || v.state == FLOW_RUNNING || v.finished.ms > item.key)
            continue;
        if (has_dead_letters(s, &v)) {
            put_off(s, v.id, LOOK_AGAIN_MS);
            return;
        }
        struct command cmd = {.kind = CMD_FORGET};
        cmd.as.flow = v.id;
        engine_command(s->engine, &cmd);
        if (!view_flow(server_state(s), v.id, &v)) {
            x->forgotten_lsn = engine_lsn(s->engine);
            continue;
        }
        put_off(s, v.id, 1000); /* an earlier change is still being worked through */
        return;
    }
}

static bool keeps(void *ctx, const struct log_key *key) {
    struct server *s = ctx;
    struct flow_view v;
    return key->shard == s->options.shard && view_flow(server_state(s), (flow_id){key->flow}, &v);
}

/* Only what is durably forgotten loses its logs: after a crash the flow might be back, and they would not. */
void retain_sweep(struct server *s) {
    struct retain *x = &s->retain;
    uint64_t durable = engine_durable_lsn(s->engine);
    if (!x->sweeping && x->forgotten_lsn > x->swept_lsn && durable >= x->forgotten_lsn) {
        x->sweeping = true;
        x->swept_lsn = x->forgotten_lsn;
        x->sweep_at = 0;
    }
    if (!x->sweeping || durable < engine_lsn(s->engine)) return;
    if (joblogs_sweep(s->vault.logs, &x->sweep_at, SWEEP_PER_PASS, keeps, s)) x->sweeping = false;
}

int64_t retain_next(struct server *s) {
    const struct heap_item *first = heap_top(&s->retain.finished);
    if (s->retain.sweeping) return s->now_ms;
    if (first == NULL) return TIME_NEVER;
    int64_t due = due_ms(s, first);
    int64_t now = s->batch_clock.last.ms;
    return due <= now ? s->now_ms : s->now_ms + (due - now);
}
