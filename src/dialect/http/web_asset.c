/* web_asset.c: the files of the console (asset.h), for anyone who asks for them by a name that we go by. */
#include "asset.h"
#include "server_impl.h"
#include "session.h"
#include "web_impl.h"

bool web_answer_asset(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    struct slice prefix = SLICE(API_PREFIX "/");
    struct http_head h;
    if (r->path.len > prefix.len && memcmp(r->path.ptr, prefix.ptr, prefix.len) == 0)
        return false; /* no need to look */
    const struct asset *found = asset_find(s->options.assets, r->path);
    if (found == NULL) return false;
    asset_head(found, r, &h);
    if (h.status == 406) {
        web_say_error(s, n, ERR_UNSUPPORTED, 406, "the console is compressed: send accept-encoding: gzip", NULL, NULL);
        return true;
    }
    web_put_head(s, n, &h);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    if (h.status == 200 && r->verb == HTTP_VERB_GET) session_send_raw(s, n, found->bytes);
    web_finished(s, n);
    return true;
}
