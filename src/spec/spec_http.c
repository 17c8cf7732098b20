/* spec_http.c: a request of a flow file. What is refused here is refused for its place in the file; the worker that
 * makes the request checks again (src/child/child_http.c). */
#include "http_text.h"
#include "json.h"
#include "spec_impl.h"
#include "spec_value.h"

/* Exit codes of a request after which no retry helps; the others are in src/child/child_http.h. */
static const uint32_t final_exits[] = {22, 78};

static bool is_token(struct slice text) {
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
        if (!plain) return false;
    }
    return text.len > 0;
}

static enum err read_headers(struct spec *s, const struct json_node *node, struct tlv_list *ret) {
    if (node == NULL) return ERR_OK;
    if (node->kind != JSON_OBJECT)
        return spec_refuse(s, node->at, ERR_INVALID, "expected names with their values, found %s",
                           json_kind_word(node->kind));
    struct wire_pair *list = spec_alloc(s, sizeof *list * node->count);
    uint32_t count = 0;
    if (list == NULL) return spec_full(s);
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        struct slice value = {0};
        if (!is_token(n->key))
            return spec_refuse(s, n->key_at, ERR_INVALID, "`%.*s` is not the name of a header", SLICE_FMT(n->key));
        enum err e = spec_template(s, n, "the value of a header", INTO_HEADER, &value);
        if (e == ERR_OK && http_text_has_control(value))
            e = spec_refuse(s, n->at, ERR_INVALID, "the value of a header has no control characters");
        if (e != ERR_OK) return e;
        list[count++] = (struct wire_pair){n->key, value};
    }
    *ret = (struct tlv_list){list, count};
    return ERR_OK;
}

/* ---- a body that is JSON ---- */

/* Parameters are filled in as everywhere; what is left of templates must not be escaped with the text around it. */
static enum err put_text(struct spec *s, const struct json_node *node, struct buf *out) {
    struct slice text = {0};
    struct why inner = {{0}};
    enum err e = spec_template(s, node, "a text", INTO_BODY, &text);
    buf_put_u8(out, '"');
    for (size_t at = 0; e == ERR_OK;) {
        struct template_part part;
        bool over = false;
        e = template_next(text, &at, &part, &over, &inner);
        if (e != ERR_OK) return spec_refuse(s, node->at, e, "%s", inner.text);
        if (over) break;
        if (part.kind == PART_TEXT)
            e = http_text_put(HTTP_TEXT_JSON, false, part.whole, out, &inner);
        else
            buf_put_slice(out, part.whole);
    }
    buf_put_u8(out, '"');
    return e;
}

static enum err put_value(struct spec *s, const struct json_node *n, bool named, struct buf *out) {
    struct why inner = {{0}};
    if (named) {
        buf_put_u8(out, '"');
        enum err e = http_text_put(HTTP_TEXT_JSON, false, n->key, out, &inner);
        if (e != ERR_OK) return e;
        buf_put_slice(out, SLICE("\":"));
    }
    switch ((enum json_kind)n->kind) {
    case JSON_OBJECT: buf_put_u8(out, '{'); return ERR_OK;
    case JSON_ARRAY: buf_put_u8(out, '['); return ERR_OK;
    case JSON_TEXT: return put_text(s, n, out);
    case JSON_NUMBER: buf_put_slice(out, n->text); return ERR_OK;
    case JSON_BOOL: buf_put_slice(out, n->truth ? SLICE("true") : SLICE("false")); return ERR_OK;
    case JSON_NULL:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_OVER: break;
    }
    buf_put_slice(out, SLICE("null"));
    return ERR_OK;
}

/* The value and all in it, going down and up with a stack of its own. */
static enum err put_tree(struct spec *s, const struct json_node *top, struct buf *out) {
    const struct json_node *open[JSON_READ_DEPTH_MAX];
    uint32_t depth = 0;
    for (const struct json_node *n = top;;) {
        enum err e = put_value(s, n, n != top && n->is_member, out);
        if (e != ERR_OK || out->full) return e;
        bool is_open = n->kind == JSON_OBJECT || n->kind == JSON_ARRAY;
        if (is_open && depth == JSON_READ_DEPTH_MAX) return spec_refuse(s, n->at, ERR_LIMIT, "nested too deep");
        if (is_open) open[depth++] = n;
        const struct json_node *next = is_open ? n->first : n == top ? NULL : n->next;
        while (next == NULL && depth > 0) { /* a level is over */
            const struct json_node *closed = open[--depth];
            buf_put_u8(out, closed->kind == JSON_OBJECT ? '}' : ']');
            next = closed == top ? NULL : closed->next;
        }
        if (next == NULL) return ERR_OK;
        if (!is_open || next != n->first) buf_put_u8(out, ',');
        n = next;
    }
}

static enum err read_json(struct spec *s, const struct json_node *node, struct slice *ret) {
    struct buf out;
    buf_init(&out, WIRE_VALUE_MAX);
    enum err e = put_tree(s, node, &out);
    if (e == ERR_OK && out.full)
        e = spec_refuse(s, node->at, ERR_LIMIT, "a body of more than %u bytes", WIRE_VALUE_MAX);
    uint8_t *copy = e == ERR_OK ? spec_alloc(s, out.len) : NULL;
    if (e == ERR_OK && copy == NULL) e = spec_full(s);
    if (e == ERR_OK) {
        memcpy(copy, out.at, out.len);
        *ret = slice_of(copy, out.len);
    }
    buf_fini(&out);
    return e;
}

/* ---- answers ---- */

static enum err read_span(struct spec *s, const struct json_node *node, struct wire_span *ret) {
    struct spec_scalar v = {0};
    int64_t from = 0, to = 0;
    enum err e = spec_scalar(s, node, "a status like 200, or a range like 200-299", &v);
    if (e != ERR_OK) return e;
    const uint8_t *dash = v.text.len > 0 ? memchr(v.text.ptr, '-', v.text.len) : NULL;
    size_t len = dash != NULL ? (size_t)(dash - v.text.ptr) : v.text.len;
    bool good = spec_number(slice_of(v.text.ptr, len), &from);
    to = from;
    if (good && dash != NULL) good = spec_number(slice_of(dash + 1, v.text.len - len - 1), &to);
    if (!good || from < 100 || to > 599 || from > to)
        return spec_refuse(s, node->at, ERR_INVALID,
                           "expected a status between 100 and 599, or a range like 200-299, found `%.*s`",
                           SLICE_FMT(v.text));
    *ret = (struct wire_span){(uint32_t)from, (uint32_t)to};
    return ERR_OK;
}

static enum err read_expect(struct spec *s, const struct json_node *node, struct tlv_list *ret) {
    if (node == NULL) return ERR_OK;
    bool is_list = node->kind == JSON_ARRAY;
    uint32_t count = is_list ? node->count : 1;
    struct wire_span *list = spec_alloc(s, sizeof *list * count);
    if (list == NULL) return spec_full(s);
    const struct json_node *item = is_list ? node->first : node;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        enum err e = read_span(s, item, &list[i]);
        if (e != ERR_OK) return e;
    }
    *ret = (struct tlv_list){list, count};
    return ERR_OK;
}

/* ---- the request ---- */

static enum err check_method(struct spec *s, uint32_t at, struct slice method) {
    for (size_t i = 0; i < method.len; i++)
        if (method.ptr[i] < 'A' || method.ptr[i] > 'Z')
            return spec_refuse(s, at, ERR_INVALID, "expected a method in capital letters, like POST, found `%.*s`",
                               SLICE_FMT(method));
    return ERR_OK;
}

/* An address that is known already; one that is filled in later is the worker's to judge. */
static enum err check_url(struct spec *s, uint32_t at, struct slice url) {
    bool later = url.len > 0 && url.ptr[0] == '$';
    bool good =
        (url.len > 7 && memcmp(url.ptr, "http://", 7) == 0) || (url.len > 8 && memcmp(url.ptr, "https://", 8) == 0);
    if (later || good) return ERR_OK;
    return spec_refuse(s, at, ERR_INVALID, "expected a URL that begins with http:// or https://, found `%.*s`",
                       SLICE_FMT(url));
}

enum err spec_http_read(struct spec *s, const struct json_node *node, struct tlv_list *ret) {
    struct spec_http *x = spec_alloc(s, sizeof *x);
    if (x == NULL) return spec_full(s);
    *x = (struct spec_http){.url = node};
    enum err e = ERR_OK;
    if (node->kind == JSON_OBJECT) {
        x->url = NULL;
        e = spec_object_read(s, &spec_http_keys, node, 0, x);
        if (e == ERR_OK && x->url == NULL) e = spec_refuse(s, node->at, ERR_INVALID, "a request needs its `url`");
    }
    if (e == ERR_OK) e = spec_template(s, x->url, "a URL", INTO_URL, &x->h.url);
    if (e == ERR_OK) e = check_url(s, x->url->at, x->h.url);
    if (e == ERR_OK) e = check_method(s, node->at, x->h.method);
    if (e == ERR_OK && x->body != NULL && x->json != NULL)
        e = spec_refuse(s, x->json->at, ERR_INVALID, "`body` or `json`, not both");
    if (e == ERR_OK) e = read_headers(s, x->headers, &x->h.headers);
    if (e == ERR_OK) e = read_expect(s, x->expect, &x->h.expect);
    if (e == ERR_OK && x->body != NULL) e = spec_template(s, x->body, "a text", INTO_BODY, &x->h.body);
    if (e == ERR_OK && x->json != NULL) e = read_json(s, x->json, &x->h.body);
    if (e != ERR_OK) return e;
    x->h.is_json = x->json != NULL;
    *ret = (struct tlv_list){&x->h, 1};
    return ERR_OK;
}

/* A file that was asked for is kept, unless the job says itself what it keeps of it. */
static enum err keep_saved(struct spec *s, struct spec_job *job, struct slice path) {
    const struct wire_artifact *old = job->r.artifacts.at;
    uint32_t count = job->r.artifacts.count;
    for (uint32_t i = 0; i < count; i++)
        if (slice_eq(old[i].path, path)) return ERR_OK;
    struct wire_artifact *list = spec_alloc(s, sizeof *list * (count + 1));
    if (list == NULL) return spec_full(s);
    if (count > 0) memcpy(list, old, sizeof *list * count);
    list[count] = (struct wire_artifact){.name = path, .path = path};
    job->r.artifacts = (struct tlv_list){list, count + 1};
    return ERR_OK;
}

enum err spec_http_finish(struct spec *s, struct spec_job *job) {
    const struct wire_http *h = job->r.http.at;
    const struct wire_step *submit = job->r.submit.at, *poll = job->r.poll.at;
    bool asks = h != NULL || (submit != NULL && submit->http.count > 0) || (poll != NULL && poll->http.count > 0);
    if (!asks) return ERR_OK;
    if (!(job->given & GIVEN_FATAL)) job->o.fatal_exits = (struct tlv_u32s){final_exits, 2};
    return h != NULL && h->save.len > 0 ? keep_saved(s, job, h->save) : ERR_OK;
}
