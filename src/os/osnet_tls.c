/* osnet_tls.c: how a connection begins, and TLS between the socket and the owner of a connection. See osnet.c.
 *
 * Whoever connects to us has a short time to say something; the first byte tells TLS (16) from everything else, which
 * the owner looks at itself. The owner hears of a connection when that is settled. What it sends is gathered as plain
 * bytes and sealed when it is written, so that many answers are one record. */
#include <stdlib.h>

#include "osloop_impl.h"
#include "panic.h"

#define TLS_FIRST_BYTE 0x16

static void shake(struct conn *c) {
    struct why why = {{0}};
    enum ostls_step step = ostls_shake(c->tls, &why);
    if (step == OSTLS_DONE) {
        osnet_opened(c);
        if (c->state == CONN_OPEN) osnet_unseal(c, (struct slice){0});
    } else if (step != OSTLS_MORE && c->is_known) {
        osnet_write(c); /* our alert, if the socket takes it now */
        osnet_fail_now(c, why.text);
        return;
    } else if (step != OSTLS_MORE) {
        osnet_leave(c); /* the peer learns why from the alert */
    }
    if (c->state == CONN_MEETING) osnet_write(c);
    if (c->state == CONN_OPEN) osnet_mark_dirty(c);
}

void osnet_meet(struct conn *c) {
    struct osloop *l = c->loop;
    bool may_be_tls = !c->is_pipe && (c->is_known ? c->wants_tls : l->tls_server != NULL);
    if (!c->is_pipe) uv_tcp_nodelay(&c->s.tcp, 1);
    if (!c->is_pipe) uv_tcp_keepalive(&c->s.tcp, 1, OSLOOP_KEEPALIVE_S);
    if (!may_be_tls) {
        osnet_opened(c);
        return;
    }
    c->state = CONN_MEETING;
    c->by_ms = 0;
    if (!c->is_known) osnet_meeting_begins(c);
    osnet_hurry(c, OSLOOP_MEET_MS);
    osnet_read(c);
    if (!c->is_known || c->state != CONN_MEETING) return;
    c->tls = ostls_connect(l->tls_client, c->host);
    shake(c);
}

void osnet_met(struct conn *c, struct slice bytes) {
    REQUIRE(bytes.len > 0);
    if (c->tls == NULL && bytes.ptr[0] != TLS_FIRST_BYTE) {
        osnet_opened(c);
        if (c->state == CONN_OPEN) c->handler.received(c->handler.ctx, (conn_id){c->id}, bytes);
        return;
    }
    if (c->tls == NULL) {
        c->tls = ostls_accept(c->loop->tls_server);
        osnet_hurry(c, OSLOOP_MEET_MS);
    }
    ostls_feed(c->tls, bytes);
    shake(c);
}

/* While the owner wants nothing to be read, bytes wait inside `tls`. */
void osnet_unseal(struct conn *c, struct slice bytes) {
    struct osloop *l = c->loop;
    struct why why = {{0}};
    if (l->plain_space == NULL) l->plain_space = malloc(OSLOOP_PLAIN_BYTES);
    if (l->plain_space == NULL) PANIC("no memory");
    ostls_feed(c->tls, bytes);
    c->unread = false;
    while (c->state == CONN_OPEN && !c->paused) {
        size_t count = 0;
        enum ostls_step step = ostls_read(c->tls, l->plain_space, OSLOOP_PLAIN_BYTES, &count, &why);
        if (count > 0)
            c->handler.received(c->handler.ctx, (conn_id){c->id}, slice_of(l->plain_space, count));
        else if (step == OSTLS_MORE)
            break;
        else
            osnet_fail_now(c, step == OSTLS_OVER ? "the peer closed the connection" : why.text);
    }
    if (c->state == CONN_OPEN) osnet_mark_dirty(c); /* reading may leave something to be sent: a change of keys */
}

void osnet_seal(struct conn *c) {
    if (c->plain.len > 0) {
        ostls_write(c->tls, buf_slice(&c->plain));
        if (c->plain.slots > OSLOOP_READ_BYTES) { /* a burst is over: give its memory back */
            buf_fini(&c->plain);
            buf_init(&c->plain, OSLOOP_UNSENT_MAX);
        }
        buf_clear(&c->plain);
    }
    if (c->state == CONN_LEAVING && !c->said_bye) {
        c->said_bye = true;
        ostls_bye(c->tls);
    }
    ostls_take(c->tls, &c->out);
}
