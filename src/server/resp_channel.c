/* resp_channel.c: messages on channels. A subscription is a watch of the engine (core/watch.h), one of a pattern a
 * watch of what all its matches begin with. Who does not take its messages is let go, alone. */
#include "pattern.h"
#include "resp_impl.h"
#include "resp_session.h"
#include "session.h"

#define UNSENT_MAX (8u << 20) /* messages that a subscriber may leave lying */

static struct resp_sub *sub_of(const struct resp *p, uint64_t watch) {
    for (uint32_t i = 0; i < p->subs.count; i++) {
        struct resp_sub *sub = vec_at(&p->subs, i);
        if (sub->watch == watch) return sub;
    }
    return NULL;
}

static struct resp_sub *sub_find(const struct resp *p, struct slice text, bool is_pattern) {
    for (uint32_t i = 0; i < p->subs.count; i++) {
        struct resp_sub *sub = vec_at(&p->subs, i);
        if (sub->is_pattern == is_pattern && slice_eq(bytes_slice(sub->text), text)) return sub;
    }
    return NULL;
}

static bool sub_wants(const struct resp_sub *sub, struct slice channel) {
    return !sub->is_pattern || pattern_matches(bytes_slice(sub->text), channel);
}

static void put_change(struct resp_ask *x, struct slice text) {
    resp_push(&x->out, 3);
    resp_text(&x->out, x->command->name);
    if (text.ptr != NULL)
        resp_bulk(&x->out, text);
    else
        resp_nil(&x->out);
    resp_number(&x->out, x->p->subs.count);
}

void resp_do_subscribe(struct resp_ask *x) {
    bool is_pattern = x->command->name[0] == 'p';
    for (uint32_t i = 1; i < x->count; i++) {
        struct slice text = x->args[i];
        struct cmd_store change = {.op = STORE_WATCH,
                                   .key = is_pattern ? pattern_prefix(text) : text,
                                   .session = x->n->conn.v,
                                   .watch = x->p->watch_last + 1,
                                   .prefix = is_pattern,
                                   .of_channel = true};
        struct reply r;
        if (sub_find(x->p, text, is_pattern) == NULL) {
            if (!resp_change(x, &change, &r)) continue;
            x->n->watches = true;
            *(struct resp_sub *)vec_push(&x->p->subs) =
                (struct resp_sub){bytes_new(text), is_pattern, ++x->p->watch_last};
        }
        put_change(x, text);
    }
}

/* ---- the end of subscriptions ---- */

static void stop(struct resp_ask *x, struct resp_sub *sub) {
    struct cmd_store change = {.op = STORE_UNWATCH, .session = x->n->conn.v, .watch = sub->watch};
    struct reply r;
    (void)resp_try(x, &change, &r);
    bytes_free(sub->text);
    *sub = *(struct resp_sub *)vec_at(&x->p->subs, --x->p->subs.count);
}

static bool stop_any(struct resp_ask *x, bool is_pattern) {
    for (uint32_t i = x->p->subs.count; i > 0; i--) {
        struct resp_sub *sub = vec_at(&x->p->subs, i - 1);
        if (sub->is_pattern != is_pattern) continue;
        struct bytes *text = bytes_new(bytes_slice(sub->text));
        stop(x, sub);
        put_change(x, bytes_slice(text));
        bytes_free(text);
        return true;
    }
    return false;
}

void resp_do_unsubscribe(struct resp_ask *x) {
    bool is_pattern = x->command->name[0] == 'p';
    for (uint32_t i = 1; i < x->count; i++) {
        struct resp_sub *sub = sub_find(x->p, x->args[i], is_pattern);
        if (sub != NULL) stop(x, sub);
        put_change(x, x->args[i]);
    }
    if (x->count > 1) return;
    bool any = false;
    while (stop_any(x, is_pattern)) any = true;
    if (!any) put_change(x, (struct slice){0});
}

void resp_channels_stop(struct resp_ask *x) {
    while (x->p->subs.count > 0) stop(x, vec_at(&x->p->subs, 0));
}

void resp_channels_end(struct resp *p) {
    for (uint32_t i = 0; i < p->subs.count; i++) bytes_free(((struct resp_sub *)vec_at(&p->subs, i))->text);
    p->subs.count = 0;
}

/* ---- messages ---- */

struct receivers {
    struct server *s;
    struct slice channel;
    int64_t count;
};

static void count_receiver(void *ctx, uint64_t session, uint64_t watch) {
    struct receivers *r = ctx;
    const struct session *n = session_of(r->s, (conn_id){session});
    const struct resp_sub *sub = n != NULL && n->resp != NULL ? sub_of(n->resp, watch) : NULL;
    r->count += sub == NULL || sub_wants(sub, r->channel);
}

void resp_do_publish(struct resp_ask *x) {
    struct cmd_store change = {.op = STORE_PUBLISH, .key = x->args[1], .value = x->args[2]};
    struct effect message = {.kind = EFFECT_PUBLISHED, .as.store = {.tenant = x->place.tenant, .key = x->args[1]}};
    struct receivers to = {x->s, x->args[1], 0};
    struct reply r;
    if (!resp_change(x, &change, &r)) return;
    (void)engine_watchers(x->s->engine, &message, count_receiver, &to);
    resp_number(&x->out, to.count);
}

void resp_tell(struct server *s, struct session *n, uint64_t watch, const struct store_effect *e) {
    const struct resp_sub *sub = sub_of(n->resp, watch);
    if (sub == NULL || !sub_wants(sub, e->key) || n->resp->ending) return;
    if (!session_may_be_told(s, n, UNSENT_MAX)) {
        server_log(s, SERVER_WARN, "slow", "%s does not take the messages it has subscribed to: let go", n->address);
        session_end(s, n);
        return;
    }
    resp_flush(s, n); /* that it has subscribed is said before */
    struct resp_out o = {&s->out, n->resp->version};
    buf_clear(&s->out);
    resp_push(&o, sub->is_pattern ? 4 : 3);
    resp_text(&o, sub->is_pattern ? "pmessage" : "message");
    if (sub->is_pattern) resp_bulk(&o, bytes_slice(sub->text));
    resp_bulk(&o, e->key);
    resp_bulk(&o, e->body);
    session_send_raw(s, n, buf_slice(&s->out));
}
