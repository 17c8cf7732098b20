/* http_fuzz.c: a stream of requests from anyone. In whatever pieces it arrives, the same requests are read from it and
 * the same one is refused; what a route makes of a request is a message that can be sent. No path leads to a file but
 * those that are there, and no cookie is believed that was not made here. */
#include "api.h"
#include "asset.h"
#include "cookie.h"
#include "limit.h"
#include "osdigest.h"
#include "panic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUESTS_MAX 64u

struct seen {
    uint32_t count;
    uint16_t status; /* of the refusal; 0 = none */
    size_t bodies, headers;
};

static void check_message(const struct http_request *r, const struct limits *limits) {
    struct arena arena;
    struct api_match m;
    struct why why;
    void *message = NULL;
    arena_init(&arena, 65536, (size_t)1 << 26);
    struct wire_json_in x = {.arena = &arena, .why = &why};
    if (api_find(r, &arena, &m, &why) == ERR_OK && m.route != NULL &&
        api_message(&m, r, limits, &x, &message) == ERR_OK) {
        const struct tlv_desc *d = wire_info(m.route->op)->desc;
        struct buf out;
        struct json j;
        buf_init(&out, (size_t)1 << 26);
        tlv_encode(d, message, &out);
        void *again = arena_alloc(&arena, d->size);
        ENSURE(tlv_decode(d, buf_slice(&out), TLV_STRICT, &arena, again, &why) == ERR_OK);
        buf_clear(&out);
        json_init(&j, &out);
        struct wire_json_out to = {.json = &j, .arena = &arena, .limits = limits};
        const void *part = message;
        json_object(&j);
        wire_json_put(&to, d, &part, 1, NULL);
        json_object_end(&j);
        buf_fini(&out);
    }
    arena_fini(&arena);
}

/* What browsers say. */
static void check_browser(const struct http_request *r) {
    static const struct asset all[] = {{"/assets/a.js", "text/javascript", "\"e\"", {(const uint8_t *)"x", 1}},
                                       {"/index.html", "text/html", "\"f\"", {(const uint8_t *)"y", 1}}};
    static const struct assets assets = {all, 2};
    const struct auth auth = {.hasher = osdigest(), .secret = {7}};
    const struct asset *found = asset_find(&assets, r->path);
    struct http_head h;
    struct slice text;
    struct cookie c;
    struct why why;
    if (found != NULL) {
        asset_head(found, r, &h);
        ENSURE(h.status == 200 || h.status == 304 || h.status == 406);
    }
    if (cookie_find(r, &text)) ENSURE(cookie_read(&auth, text, (wall_time){1}, &c, &why) == ERR_UNAUTHENTICATED);
}

static struct seen read_all(const uint8_t *data, size_t size, size_t step, const struct limits *limits, bool check) {
    struct http_in in;
    struct seen seen = {0};
    http_in_init(&in, limits);
    for (size_t at = 0; at < size && in.state != HTTP_IN_BAD && seen.count < REQUESTS_MAX;) {
        size_t most = step < size - at ? step : size - at;
        size_t used = http_in_feed(&in, slice_of(data + at, most));
        ENSURE(used <= most);
        ENSURE(used > 0 || in.state != HTTP_IN_HEAD);
        at += used;
        if (in.state != HTTP_IN_WHOLE) continue;
        seen.count++;
        seen.bodies += in.request.body.len;
        seen.headers += in.request.header_count;
        if (check) check_message(&in.request, limits);
        if (check) check_browser(&in.request);
        http_in_next(&in);
    }
    if (in.state == HTTP_IN_BAD) {
        seen.status = in.status;
        ENSURE(in.status >= 400 && in.why.text[0] != 0);
    }
    http_in_fini(&in);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct limits limits;
    limits_default(&limits);
    limits.http_head_bytes_max = 2048;
    limits.http_target_bytes_max = 512;
    limits.http_body_bytes_max = 4096;
    struct seen whole = read_all(data, size, SIZE_MAX, &limits, true);
    for (size_t step = 1; step <= 3; step += 2) {
        struct seen pieces = read_all(data, size, step, &limits, false);
        ENSURE(pieces.count == whole.count);
        ENSURE(pieces.bodies == whole.bodies);
        ENSURE(pieces.headers == whole.headers);
        ENSURE((pieces.status != 0) == (whole.status != 0));
    }
    return 0;
}
