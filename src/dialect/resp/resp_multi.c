/* resp_multi.c: transactions. Commands after MULTI are kept as they came; EXEC serves them one after the other in one
 * pass, with nothing between them, and into one batch of the journal: durable all or none. As in Redis a command that
 * is refused there does not keep the others from being done. */
#include "panic.h"
#include "resp_impl.h"

#define KEPT_HEAD_BYTES 4u
#define ARG_RECORD_BYTES 400u /* what a key or member may cost in the journal beside its bytes, its expiry included */
#define BATCH_SPARE_BYTES 65536u

static void put_kept(struct buf *to, const struct slice *args, uint32_t count) {
    buf_put_u32(to, count);
    for (uint32_t i = 0; i < count; i++) {
        buf_put_u32(to, (uint32_t)args[i].len);
        buf_put_slice(to, args[i]);
    }
}

static void take_kept(struct cursor *c, struct vec *args) {
    uint32_t count = cursor_u32(c);
    args->count = 0;
    for (uint32_t i = 0; i < count; i++) *(struct slice *)vec_push(args) = cursor_bytes(c, cursor_u32(c));
    ENSURE(!c->bad);
}

void resp_multi_queue(struct resp_ask *x) {
    struct resp *p = x->p;
    size_t before = p->queue.len;
    put_kept(&p->queue, x->args, x->count);
    if (p->queue.full) {
        buf_cut(&p->queue, before);
        p->aborted = true;
        resp_error(&x->out, "ERR the transaction is too long");
        return;
    }
    p->queued++;
    resp_simple(&x->out, "QUEUED");
}

static void unwatch(struct resp *p) {
    for (uint32_t i = 0; i < p->watched.count; i++) bytes_free(((struct resp_watched *)vec_at(&p->watched, i))->key);
    p->watched.count = 0;
}

static void discard(struct resp *p) {
    p->multi = p->aborted = false;
    p->queued = 0;
    size_t max = p->queue.max;
    buf_fini(&p->queue);
    buf_init(&p->queue, max);
}

void resp_multi_end(struct resp *p) {
    discard(p);
    unwatch(p);
}

void resp_do_multi(struct resp_ask *x) {
    if (x->p->multi) {
        resp_error(&x->out, "ERR MULTI calls can not be nested");
        return;
    }
    x->p->multi = true;
    resp_simple(&x->out, "OK");
}

void resp_do_discard(struct resp_ask *x) {
    if (!x->p->multi) {
        resp_error(&x->out, "ERR DISCARD without MULTI");
        return;
    }
    resp_multi_end(x->p);
    resp_simple(&x->out, "OK");
}

/* ---- watched keys ---- */

static struct resp_watched as_it_is(const struct resp_ask *x, struct slice key) {
    struct item_view v;
    bool there = resp_look(x, key, &v);
    return (struct resp_watched){.version = there ? v.version : 0, .expires_ms = there ? v.expires.ms : 0};
}

void resp_do_watch(struct resp_ask *x) {
    if (x->p->multi) {
        resp_error(&x->out, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    if (x->p->watched.count + x->count - 1 > (uint64_t)x->s->limits->session_watches_max) {
        resp_errorf(&x->out, "ERR more than %lld keys are watched (session_watches_max)",
                    (long long)x->s->limits->session_watches_max);
        return;
    }
    for (uint32_t i = 1; i < x->count; i++) {
        struct resp_watched w = as_it_is(x, x->args[i]);
        w.key = bytes_new(x->args[i]);
        *(struct resp_watched *)vec_push(&x->p->watched) = w;
    }
    resp_simple(&x->out, "OK");
}

void resp_do_unwatch(struct resp_ask *x) {
    unwatch(x->p);
    resp_simple(&x->out, "OK");
}

static bool has_changed(const struct resp_ask *x) {
    for (uint32_t i = 0; i < x->p->watched.count; i++) {
        const struct resp_watched *w = vec_at(&x->p->watched, i);
        struct resp_watched now = as_it_is(x, bytes_slice(w->key));
        if (now.version != w->version || now.expires_ms != w->expires_ms) return true;
    }
    return false;
}

/* ---- exec ---- */

struct cost { /* at most, in the journal */
    uint64_t bytes, records;
};

/* A value that grows is written whole: as long as it is, and all that the transaction could put behind it. */
static uint64_t grown(const struct resp_ask *x, struct slice key) {
    struct item_view v;
    bool there = resp_look(x, key, &v) && v.kind == ITEM_TEXT;
    return (there ? v.value.len : 0) + x->p->queue.len;
}

static struct cost cost_of(const struct resp_ask *x) {
    struct cursor c = cursor_of(buf_slice(&x->p->queue));
    struct cost sum = {.bytes = 2 * x->p->queue.len};
    struct vec args;
    vec_init(&args, sizeof(struct slice));
    for (uint32_t i = 0; i < x->p->queued; i++) {
        take_kept(&c, &args);
        const struct slice *at = (const struct slice *)(const void *)args.at;
        sum.bytes += (uint64_t)args.count * ARG_RECORD_BYTES;
        sum.records += 2u * args.count;
        if (resp_is(at[0], "append")) sum.bytes += grown(x, at[1]);
    }
    vec_fini(&args);
    return sum;
}

static bool can_ever_fit(const struct resp_ask *x, struct cost c) {
    const struct limits *l = x->s->limits;
    return c.bytes + (uint64_t)l->submit_bytes_max + BATCH_SPARE_BYTES <= (uint64_t)l->batch_bytes_max &&
           c.records <= (uint64_t)l->batch_records_max;
}

bool resp_multi_waits(struct resp_ask *x) {
    if (!x->p->multi || x->p->aborted || !resp_is(x->args[0], "exec")) return false;
    struct cost c = cost_of(x);
    return can_ever_fit(x, c) && !engine_has_room(server_shard(x->s)->engine, c.bytes, c.records);
}

static void serve_kept(struct resp_ask *x) {
    struct cursor c = cursor_of(buf_slice(&x->p->queue));
    struct vec args;
    vec_init(&args, sizeof(struct slice));
    resp_array(&x->out, x->p->queued);
    for (uint32_t i = 0; i < x->p->queued; i++) {
        take_kept(&c, &args);
        struct resp_ask one = *x;
        one.args = (const struct slice *)(const void *)args.at;
        one.count = args.count;
        one.command = resp_command_find(one.args[0]);
        one.command->serve(&one);
        x->work = one.work;
    }
    vec_fini(&args);
}

void resp_do_exec(struct resp_ask *x) {
    struct resp *p = x->p;
    if (!p->multi) {
        resp_error(&x->out, "ERR EXEC without MULTI");
        return;
    }
    if (p->aborted)
        resp_error(&x->out, "EXECABORT Transaction discarded because of previous errors.");
    else if (!can_ever_fit(x, cost_of(x)))
        resp_error(&x->out, "EXECABORT Transaction discarded because it is too large for one batch of the journal "
                            "(batch_bytes_max, batch_records_max)");
    else if (has_changed(x))
        resp_nil_array(&x->out);
    else
        serve_kept(x);
    resp_multi_end(p);
}
