/* http_judge.c: see http_judge.h. */
#include "http_judge.h"

#include <llhttp.h>

#include "panic.h"

struct theirs {
    struct slice target;
    struct vec headers; /* struct http_header */
    struct buf body;
    uint32_t header_count; /* without trailers, which we forget */
    bool keep_alive, whole;
};

static int on_url(llhttp_t *core, const char *at, size_t len) {
    ((struct theirs *)core->data)->target = slice_of(at, len);
    return 0;
}

static int on_field(llhttp_t *core, const char *at, size_t len) {
    struct theirs *t = core->data;
    ((struct http_header *)vec_push(&t->headers))->name = slice_of(at, len);
    return 0;
}

static int on_value(llhttp_t *core, const char *at, size_t len) {
    struct theirs *t = core->data;
    struct http_header *h = vec_at(&t->headers, t->headers.count - 1);
    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t')) len--;
    h->value = slice_of(at, len);
    return 0;
}

static int on_head(llhttp_t *core) {
    core->upgrade = 0; /* we go on with HTTP/1.1, which is allowed */
    ((struct theirs *)core->data)->keep_alive = llhttp_should_keep_alive(core);
    ((struct theirs *)core->data)->header_count = ((struct theirs *)core->data)->headers.count;
    return 0;
}

static int on_body(llhttp_t *core, const char *at, size_t len) {
    buf_put(&((struct theirs *)core->data)->body, at, len);
    return 0;
}

static int on_whole(llhttp_t *core) {
    ((struct theirs *)core->data)->whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_whole,
};

/* True: one whole message, to the last byte. */
static bool read_theirs(struct slice message, llhttp_t *core, struct theirs *ret) {
    *ret = (struct theirs){0};
    vec_init(&ret->headers, sizeof(struct http_header));
    buf_init(&ret->body, message.len + 1);
    llhttp_init(core, HTTP_REQUEST, &settings);
    core->data = ret;
    llhttp_errno_t got = llhttp_execute(core, (const char *)message.ptr, message.len);
    return got == HPE_PAUSED && ret->whole && llhttp_get_error_pos(core) == (const char *)message.ptr + message.len;
}

static void theirs_fini(struct theirs *t) {
    vec_fini(&t->headers);
    buf_fini(&t->body);
}

bool http_judge_takes(struct slice message) {
    struct theirs theirs;
    llhttp_t core;
    bool takes = read_theirs(message, &core, &theirs);
    theirs_fini(&theirs);
    return takes;
}

static bool says_close(const struct http_request *r) {
    for (uint32_t i = 0; i < r->header_count; i++) {
        struct slice value = r->headers[i].value;
        bool is_one =
            http_text_is(r->headers[i].name, "connection") || http_text_is(r->headers[i].name, "proxy-connection");
        for (size_t at = 0; is_one && at + 5 <= value.len; at++)
            if (http_text_is(slice_of(value.ptr + at, 5), "close")) return true;
    }
    return false;
}

void http_judge(const struct http_in *ours, struct slice message) {
    const struct http_request *r = &ours->request;
    struct theirs theirs;
    llhttp_t core;
    ENSURE(ours->state == HTTP_IN_WHOLE);
    bool is_taken = read_theirs(message, &core, &theirs);
    if (!is_taken && ours->has_rare_ext) { /* RFC 9112 has them, llhttp does not */
        theirs_fini(&theirs);
        return;
    }
    ENSURE(is_taken);
    const char *method = llhttp_method_name((llhttp_method_t)core.method);
    ENSURE(r->verb == HTTP_VERB_COUNT ? strcmp(method, "TRACE") == 0 : strcmp(method, http_verb_word(r->verb)) == 0);
    ENSURE(slice_eq(r->target, theirs.target));
    ENSURE(core.http_major == 1 && r->minor == core.http_minor);
    ENSURE(r->header_count == theirs.header_count);
    for (uint32_t i = 0; i < r->header_count; i++) {
        const struct http_header *h = vec_at(&theirs.headers, i);
        ENSURE(slice_eq(r->headers[i].name, h->name) && slice_eq(r->headers[i].value, h->value));
    }
    ENSURE(slice_eq(r->body, buf_slice(&theirs.body)));
    /* Where they differ, it is we who end the connection, and because someone said `close`. */
    ENSURE(!r->keep_alive || theirs.keep_alive);
    ENSURE(r->keep_alive || !theirs.keep_alive || says_close(r));
    theirs_fini(&theirs);
}
