/* web_asset.c: the files of the console (asset.h), for anyone who asks for them by a name that we go by. */
#include "asset.h"
#include "session.h"
#include "web_impl.h"

bool web_answer_asset(struct server *s, struct session *n) {
    const struct http_request *r = &n->web->in.request;
    const struct asset *found = asset_find(s->options.assets, r->path);
    struct http_head h;
    if (found == NULL || (r->verb != HTTP_VERB_GET && r->verb != HTTP_VERB_HEAD)) return false;
    asset_head(found, r, &h);
    if (h.status == 406) {
        web_say_error(s, n, ERR_UNSUPPORTED, 406, "the console is kept compressed: say accept-encoding: gzip", NULL,
                      NULL);
        return true;
    }
    web_put_head(s, n, &h);
    session_send_raw(s, n, buf_slice(&s->webs.out));
    if (h.status == 200 && r->verb == HTTP_VERB_GET) session_send_raw(s, n, found->bytes);
    web_finished(s, n);
    return true;
}
