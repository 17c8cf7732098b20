/* web_upload.c: a blob as the body of a request. It goes to the blobs as it comes, so that its length costs no memory;
 * when they cannot take more the connection is not read until the disk has caught up. */
#include "panic.h"
#include "server_impl.h"
#include "session.h"
#include "upload.h"
#include "web_impl.h"

static void give_up(struct server *s, struct session *n, enum err e, const struct why *why) {
    upload_drop(s, web_of(n)->upload);
    web_of(n)->upload = 0;
    web_say_error(s, n, e, 0, why->text, NULL, NULL);
}

bool web_upload_begin(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    struct why why = {{0}};
    enum err e = ERR_OK;
    if (w->in.request.query.len > 0) e = why_set(&why, ERR_INVALID, "unexpected query string");
    if (e == ERR_OK) e = upload_begin(s, n, 0, NULL, &w->upload, &why);
    if (e != ERR_OK) give_up(s, n, e, &why);
    return e == ERR_OK;
}

void web_upload_more(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    struct why why = {{0}};
    struct buf *body = &w->in.body;
    enum err e = body->len > 0 ? upload_part(s, w->upload, buf_slice(body), &why) : ERR_OK;
    if (e == ERR_OK) {
        buf_clear(body);
        w->in.request.body = (struct slice){0};
    }
    if (e == ERR_OK && w->in.state == HTTP_IN_WHOLE) {
        (void)web_request_next(w);
        w->busy = true; /* the answer may come at once */
        uint64_t number = w->upload;
        e = upload_end(s, number, w->request, true, &why);
        if (e == ERR_BUSY) w->busy = false;
    }
    w->stuck = e == ERR_BUSY;
    if (w->stuck) w->since_ms = web_now(s); /* the peer is not slow, we are */
    if (e != ERR_OK && e != ERR_BUSY) give_up(s, n, e, &why);
}

void web_unstick(struct server *s) {
    for (uint32_t i = 1; i <= webs_of(s)->all.high; i++) {
        const struct web *w = pool_at(&webs_of(s)->all, i);
        if (w->conn.v != 0 && w->stuck) *(conn_id *)vec_push(&webs_of(s)->ready) = w->conn;
    }
}
