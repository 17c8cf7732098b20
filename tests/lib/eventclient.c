/* eventclient.c: see eventclient.h. */
#include "eventclient.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#define BYTES_MAX ((size_t)64 << 20)

int eventclient_receive_bytes;

/* False: the peer closed, or nothing came in time. */
static bool read_more(struct eventclient *c, int wait_ms) {
    static char bytes[262144];
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    if (c->is_closed || poll(&p, 1, wait_ms) <= 0) return false;
    ssize_t got = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return false;
    c->is_closed = got <= 0;
    if (got > 0) buf_put(&c->in, bytes, (size_t)got);
    assert_false(c->in.full);
    return got > 0;
}

static void use(struct eventclient *c, size_t bytes) {
    c->used += bytes;
    if (c->used < 1u << 20 && c->used < c->in.len) return;
    memmove(c->in.at, c->in.at + c->used, c->in.len - c->used);
    buf_cut(&c->in, c->in.len - c->used);
    c->used = 0;
}

static void dial(struct eventclient *c, const char *address) {
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    inet.sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10));
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int room = eventclient_receive_bytes;
    if (room != 0) assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&inet, sizeof inet), 0);
}

static void handshake(struct eventclient *c) {
    char *end = NULL;
    while (end == NULL) {
        if (!read_more(c, EVENTCLIENT_WAIT_MS)) fail_msg("no answer to the request for events");
        end = memmem(c->in.at, c->in.len, "\r\n\r\n", 4);
    }
    const char *want = c->is_sse ? "HTTP/1.1 200 " : "HTTP/1.1 101 ";
    if (memcmp(c->in.at, want, 13) != 0) fail_msg("%.*s", (int)c->in.len, (const char *)c->in.at);
    use(c, (size_t)(end + 4 - (char *)c->in.at));
}

void eventclient_open(struct eventclient *c, const char *address, const char *token, const char *query, bool sse,
                      const char *header) {
    char text[1024];
    struct eventclient_message hello;
    *c = (struct eventclient){.fd = -1, .is_sse = sse};
    buf_init(&c->in, BYTES_MAX);
    vec_init(&c->heard, sizeof(struct position));
    dial(c, address);
    const char *more = sse ? "Accept: text/event-stream\r\n"
                           : "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    int len =
        snprintf(text, sizeof text, "GET /api/v1/events%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s%s\r\n",
                 query, address, token, more, header);
    assert_int_equal(send(c->fd, text, (size_t)len, MSG_NOSIGNAL), len);
    handshake(c);
    if (!eventclient_next(c, EVENTCLIENT_WAIT_MS, &hello)) fail_msg("no hello");
    assert_string_equal(hello.type, "hello");
    assert_true(hello.has_position);
    snprintf(c->hello, sizeof c->hello, "%s", hello.text);
    c->last = hello.at;
}

void eventclient_close(struct eventclient *c) {
    if (c->fd >= 0) close(c->fd);
    buf_fini(&c->in);
    vec_fini(&c->heard);
}

/* ---- messages ---- */

/* A frame off the front: its opcode, 0 = it is not whole. */
static uint8_t frame_take(struct eventclient *c, struct slice *ret) {
    const uint8_t *at = c->in.at + c->used;
    size_t left = c->in.len - c->used, head = 2;
    if (left < 2) return 0;
    uint64_t length = at[1];
    assert_true((at[0] & 0xf0) == 0x80 && length < 128); /* whole, and not masked */
    uint32_t wide = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (left < head + wide) return 0;
    for (uint32_t i = 0; i < wide; i++) length = (i == 0 ? 0 : length << 8) | at[2 + i];
    head += wide;
    if (left < head + length) return 0;
    *ret = slice_of(at + head, (size_t)length);
    return at[0] & 0x0f;
}

/* Text of the next message, if it is there; how many bytes of the input it takes. */
static size_t websocket_text(struct eventclient *c, struct slice *ret) {
    for (;;) {
        uint8_t op = frame_take(c, ret);
        size_t bytes = op != 0 ? (size_t)(ret->ptr + ret->len - (c->in.at + c->used)) : 0;
        if (op == 0 || op == 1) return bytes;
        if (op == 9) eventclient_send(c, "\x8a\x80\0\0\0\0", 6);
        if (op == 8) {
            c->code = ret->len >= 2 ? (uint16_t)((unsigned)ret->ptr[0] << 8 | ret->ptr[1]) : 1005;
            c->is_closed = true;
        }
        use(c, bytes);
    }
}

static size_t sse_text(struct eventclient *c, struct slice *ret) {
    for (;;) {
        const uint8_t *at = c->in.at + c->used;
        size_t left = c->in.len - c->used;
        const uint8_t *end = left > 0 ? memmem(at, left, "\n\n", 2) : NULL;
        if (end == NULL) return 0;
        size_t bytes = (size_t)(end - at) + 2;
        const uint8_t *data = memmem(at, bytes, "data: ", 6);
        if (data != NULL) {
            *ret = slice_of(data + 6, (size_t)(end - data) - 6);
            return bytes;
        }
        assert_int_equal(at[0], ':'); /* a comment */
        use(c, bytes);
    }
}

static bool member(struct slice text, const char *key, char *ret, size_t room) {
    char mark[40];
    int len = snprintf(mark, sizeof mark, "\"%s\":", key);
    const char *at = memmem(text.ptr, text.len, mark, (size_t)len);
    if (at == NULL) return false;
    at += len;
    if (*at == '"') at++;
    size_t count = strcspn(at, "\",}");
    snprintf(ret, room, "%.*s", (int)count, at);
    return true;
}

static void note(struct eventclient *c, const struct eventclient_message *m, struct slice text) {
    char number[32] = "0";
    bool first = c->hello[0] == 0 && c->heard.count == 0 && strcmp(m->type, "hello") == 0;
    if (strcmp(m->type, "metrics") == 0) c->ticks++;
    if (!m->has_position || first) return;
    if (!position_is_after(m->at, c->last))
        fail_msg("%llu.%u comes after %llu.%u", (unsigned long long)m->at.lsn, m->at.ordinal,
                 (unsigned long long)c->last.lsn, c->last.ordinal);
    c->last = m->at;
    if (strcmp(m->type, "gap") == 0) {
        c->gaps++;
        (void)member(text, "dropped", number, sizeof number);
        c->dropped += strtoull(number, NULL, 10);
        return;
    }
    *(struct position *)vec_push(&c->heard) = m->at;
}

static bool take(struct eventclient *c, struct eventclient_message *ret) {
    struct slice text;
    char at[64];
    size_t bytes = c->is_sse ? sse_text(c, &text) : websocket_text(c, &text);
    if (bytes == 0) return false;
    *ret = (struct eventclient_message){0};
    assert_true(member(text, "type", ret->type, sizeof ret->type));
    ret->has_position = member(text, "position", at, sizeof at) && position_read(slice_str(at), &ret->at);
    snprintf(ret->text, sizeof ret->text, "%.*s", SLICE_FMT(text));
    note(c, ret, text);
    use(c, bytes);
    return true;
}

bool eventclient_next(struct eventclient *c, int wait_ms, struct eventclient_message *ret) {
    int64_t until = test_mono_ms() + wait_ms;
    while (!take(c, ret)) {
        int64_t left = until - test_mono_ms();
        if (!read_more(c, left > 0 ? (int)left : 0)) return take(c, ret);
    }
    return true;
}

void eventclient_pump(struct eventclient *c) {
    struct eventclient_message m;
    do
        while (take(c, &m)) {
        }
    while (read_more(c, 0));
}

void eventclient_until(struct eventclient *c, struct position at) {
    struct eventclient_message m;
    while (position_is_after(at, c->last))
        if (!eventclient_next(c, EVENTCLIENT_WAIT_MS, &m))
            fail_msg("%llu.%u did not come; the last was %llu.%u", (unsigned long long)at.lsn, at.ordinal,
                     (unsigned long long)c->last.lsn, c->last.ordinal);
}

void eventclient_send(struct eventclient *c, const void *bytes, size_t len) {
    (void)!send(c->fd, bytes, len, MSG_NOSIGNAL);
}

uint32_t eventclient_count(const struct eventclient *c) {
    return c->heard.count;
}

static uint32_t first_behind(const struct eventclient *c, struct position from) {
    uint32_t i = 0;
    while (i < c->heard.count && !position_is_after(*(struct position *)vec_at(&c->heard, i), from)) i++;
    return i;
}

void eventclient_same(const struct eventclient *a, const struct eventclient *b, struct position from) {
    uint32_t i = first_behind(a, from), k = first_behind(b, from);
    for (; i < a->heard.count && k < b->heard.count; i++, k++) {
        struct position x = *(struct position *)vec_at(&a->heard, i), y = *(struct position *)vec_at(&b->heard, k);
        if (position_is_after(x, y) || position_is_after(y, x))
            fail_msg("one heard %llu.%u where the other heard %llu.%u", (unsigned long long)x.lsn, x.ordinal,
                     (unsigned long long)y.lsn, y.ordinal);
    }
    assert_int_equal(a->heard.count - i, b->heard.count - k);
}
