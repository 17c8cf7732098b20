/* resp_channel.c: messages on channels. A subscription is a watch of the engine (core/model/watch.h), one of a pattern
 * a watch of what all its matches begin with. Who does not take its messages is let go, alone. */
#include "pattern.h"
#include "resp_impl.h"
#include "resp_session.h"
#include "server_impl.h"
#include "session.h"

#define UNSENT_MAX (8u << 20) /* messages that a subscriber may leave lying */

/* Numbers go up, so the list is sorted by them. */
static struct resp_sub *sub_of(const struct resp *p, uint64_t watch) {
    uint32_t low = 0, high = p->subs.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct resp_sub *sub = vec_at(&p->subs, middle);
        if (sub->watch == watch) return sub;
        if (sub->watch < watch)
            low = middle + 1;
        else
            high = middle;
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

static bool sub_wants(const struct resp_sub *sub, struct slice channel, uint64_t *work) {
    return !sub->is_pattern || pattern_matches(bytes_slice(sub->text), channel, work);
}

/* ---- patterns have a bound ----
 *
 * A message is matched with every pattern that begins like its channel, all in one go, and nobody may be left out. So
 * the patterns themselves are bounded, by the bytes of those that are not cheap: for a connection, and for the tenant
 * whose messages they are matched with. */

#define SESSION_PATTERN_BYTES_MAX 8192u
#define TENANT_PATTERN_BYTES_MAX 16384u

static uint64_t tenant_pattern_bytes(const struct resp_ask *x) {
    const struct pool *all = &resps_of(x->s)->all;
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= all->high; i++) {
        const struct resp *p = pool_at(all, i);
        if (p->conn.v == 0 || p->pattern_bytes == 0) continue;
        const struct session *n = session_of(x->s, p->conn);
        const char *tenant = n != NULL && n->who.tenant[0] != 0 ? n->who.tenant : TENANT_STANDARD;
        if (slice_eq(slice_str(tenant), x->place.tenant)) sum += p->pattern_bytes;
    }
    return sum;
}

static uint32_t dear_bytes(struct slice text, bool is_pattern) {
    return is_pattern && !pattern_is_cheap(text) ? (uint32_t)text.len : 0;
}

/* *tenant_bytes: of the tenant so far, UINT64_MAX when it has not been asked for. */
static bool has_room(struct resp_ask *x, struct slice text, uint32_t dear, uint64_t *tenant_bytes) {
    if (text.len > PATTERN_BYTES_MAX) {
        resp_errorf(&x->out, "ERR a pattern has at most %u bytes", PATTERN_BYTES_MAX);
        return false;
    }
    if (dear == 0) return true;
    if (*tenant_bytes == UINT64_MAX) *tenant_bytes = tenant_pattern_bytes(x);
    if (x->p->pattern_bytes + dear > SESSION_PATTERN_BYTES_MAX) {
        resp_errorf(&x->out,
                    "ERR the patterns of this connection are longer than %u bytes together; those with a "
                    "star only at the end do not count",
                    SESSION_PATTERN_BYTES_MAX);
        return false;
    }
    if (*tenant_bytes + dear <= TENANT_PATTERN_BYTES_MAX) return true;
    resp_errorf(&x->out,
                "ERR the patterns of this tenant's connections are longer than %u bytes together; those with "
                "a star only at the end do not count",
                TENANT_PATTERN_BYTES_MAX);
    return false;
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
    uint64_t tenant_bytes = UINT64_MAX;
    for (uint32_t i = 1; i < x->count; i++) {
        struct slice text = x->args[i];
        uint32_t dear = dear_bytes(text, is_pattern);
        struct cmd_store change = {.op = STORE_WATCH,
                                   .key = is_pattern ? pattern_prefix(text) : text,
                                   .session = x->n->conn.v,
                                   .watch = x->p->watch_last + 1,
                                   .prefix = is_pattern,
                                   .of_channel = true};
        struct reply r;
        if (sub_find(x->p, text, is_pattern) == NULL) {
            if (is_pattern && !has_room(x, text, dear, &tenant_bytes)) continue;
            if (!resp_change(x, &change, &r)) continue;
            x->p->pattern_bytes += dear;
            if (dear > 0) tenant_bytes += dear;
            x->n->watches = true;
            *(struct resp_sub *)vec_push(&x->p->subs) =
                (struct resp_sub){bytes_new(text), is_pattern, ++x->p->watch_last};
        }
        put_change(x, text);
    }
}

/* ---- the end of subscriptions ---- */

static void stop(struct resp_ask *x, struct resp_sub *sub) {
    struct command cmd = {.kind = CMD_STORE};
    cmd.as.store = (struct cmd_store){.op = STORE_UNWATCH, .session = x->n->conn.v, .watch = sub->watch};
    server_command(x->s, (conn_id){0}, 0, &cmd); /* no right is needed to hear less */
    x->p->pattern_bytes -= dear_bytes(bytes_slice(sub->text), sub->is_pattern);
    bytes_free(sub->text);
    struct resp_sub *end = vec_at(&x->p->subs, --x->p->subs.count);
    memmove(sub, sub + 1, (size_t)(end - sub) * sizeof *sub);
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
    while (x->p->subs.count > 0) stop(x, vec_at(&x->p->subs, x->p->subs.count - 1));
}

void resp_channels_end(struct resp *p) {
    for (uint32_t i = 0; i < p->subs.count; i++) bytes_free(((struct resp_sub *)vec_at(&p->subs, i))->text);
    p->subs.count = p->pattern_bytes = 0;
}

/* ---- messages ---- */

struct receivers {
    struct server *s;
    struct slice channel;
    int64_t count;
    uint64_t work;
};

static void count_receiver(void *ctx, uint64_t session, uint64_t watch) {
    struct receivers *r = ctx;
    const struct session *n = session_of(r->s, (conn_id){session});
    const struct resp_sub *sub = n != NULL && resp_of(n) != NULL ? sub_of(resp_of(n), watch) : NULL;
    r->work += RESP_LOOK_WORK;
    r->count += sub == NULL || sub_wants(sub, r->channel, &r->work);
}

void resp_do_publish(struct resp_ask *x) {
    struct cmd_store change = {.op = STORE_PUBLISH, .key = x->args[1], .value = x->args[2]};
    struct effect message = {.kind = EFFECT_PUBLISHED, .as.store = {.tenant = x->place.tenant, .key = x->args[1]}};
    struct receivers to = {x->s, x->args[1], 0, 0};
    struct reply r;
    if (!resp_change(x, &change, &r)) return;
    (void)engine_watchers(server_shard(x->s)->engine, &message, count_receiver, &to);
    x->work += 2 * to.work; /* it will be told, too */
    resp_number(&x->out, to.count);
}

void resp_tell(struct server *s, struct session *n, uint64_t watch, const struct store_effect *e) {
    const struct resp_sub *sub = sub_of(resp_of(n), watch);
    uint64_t ignored = 0; /* charged to who published it, or bounded by the rate of requests */
    if (sub == NULL || resp_of(n)->ending || !sub_wants(sub, e->key, &ignored)) return;
    if (!session_may_be_told(s, n, UNSENT_MAX)) {
        server_log(s, SERVER_WARN, "slow", "%s does not take the messages it has subscribed to: let go", n->address);
        session_end(s, n);
        return;
    }
    resp_flush(s, n); /* that it has subscribed is said before */
    struct resp_out o = {&s->out, resp_of(n)->version};
    buf_clear(&s->out);
    resp_push(&o, sub->is_pattern ? 4 : 3);
    resp_text(&o, sub->is_pattern ? "pmessage" : "message");
    if (sub->is_pattern) resp_bulk(&o, bytes_slice(sub->text));
    resp_bulk(&o, e->key);
    resp_bulk(&o, e->body);
    session_send_raw(s, n, buf_slice(&s->out));
}
