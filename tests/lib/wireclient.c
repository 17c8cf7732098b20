/* wireclient.c: see wireclient.h. */
#include "wireclient.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

#define BYTES_MAX ((size_t)256 << 20)

bool wireclient_dial(struct wireclient *c, const char *address) {
    *c = (struct wireclient){.fd = -1};
    buf_init(&c->in, BYTES_MAX);
    arena_init(&c->arena, 65536, BYTES_MAX * 4);
    if (strncmp(address, "unix:", 5) == 0) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(a.sun_path, sizeof a.sun_path, "%s", address + 5);
        c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(c->fd, (struct sockaddr *)&a, sizeof a) == 0) return true;
    } else {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        a.sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10));
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(c->fd, (struct sockaddr *)&a, sizeof a) == 0) return true;
    }
    wireclient_close(c);
    return false;
}

void wireclient_close(struct wireclient *c) {
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    buf_fini(&c->in);
    arena_fini(&c->arena);
}

void wireclient_forget(struct wireclient *c) {
    arena_reset(&c->arena);
}

void wireclient_open(struct wireclient *c, const char *address, const char *token, enum wire_peer peer) {
    assert_true(wireclient_dial(c, address));
    struct wire_hello m = {.version_min = 2, .version_max = 2, .peer = (uint8_t)peer, .build = SLICE("0.1.0")};
    if (token != NULL) m.token = slice_str(token);
    const struct wire_welcome *w = wireclient_ask(c, WIRE_HELLO, &m, WIRE_WELCOME);
    assert_int_equal(w->version, 2);
}

bool wireclient_send_raw(struct wireclient *c, const void *bytes, size_t len) {
    const uint8_t *at = bytes;
    while (len > 0) {
        ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

static bool put(struct wireclient *c, enum wire_op op, uint32_t request, const void *message) {
    struct buf out;
    buf_init(&out, BYTES_MAX);
    wire_put(&out, op, 0, request, message);
    bool sent = wireclient_send_raw(c, out.at, out.len);
    buf_fini(&out);
    return sent;
}

uint32_t wireclient_send(struct wireclient *c, enum wire_op op, const void *message) {
    uint32_t request = ++c->request_last;
    return put(c, op, request, message) ? request : 0;
}

bool wireclient_tell(struct wireclient *c, enum wire_op op, const void *message) {
    return put(c, op, 0, message);
}

static bool read_more(struct wireclient *c, int wait_ms) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    int n = poll(&p, 1, wait_ms);
    if (n <= 0) return false;
    char bytes[65536];
    ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buf_put(&c->in, bytes, (size_t)got);
    return true;
}

bool wireclient_next(struct wireclient *c, int wait_ms, struct wiregot *ret) {
    for (;;) {
        struct slice in = slice_of(c->in.at + c->used, c->in.len - c->used);
        struct frame f;
        struct why why = {{0}};
        size_t need = 0;
        assert_int_equal(frame_take(&in, BYTES_MAX / 2, &f, &need, &why), ERR_OK);
        if (need == 0) {
            /* The buffer may move; the message's slices must not. */
            f.body = arena_slice(&c->arena, f.body);
            void *message = arena_alloc(&c->arena, wire_info(f.opcode)->desc->size);
            if (wire_take(&f, &c->arena, message, &why) != ERR_OK) fail_msg("%s", why.text);
            c->used = c->in.len - in.len;
            if (c->used == c->in.len) {
                buf_clear(&c->in);
                c->used = 0;
            }
            *ret = (struct wiregot){f.opcode, f.flags, f.request, message};
            return true;
        }
        if (!read_more(c, wait_ms)) return false;
    }
}

bool wireclient_try(struct wireclient *c, enum wire_op op, const void *message, struct wiregot *ret) {
    uint32_t request = wireclient_send(c, op, message);
    if (request == 0) return false;
    while (wireclient_next(c, WIRECLIENT_WAIT_MS, ret))
        if (ret->request == request) return true;
    return false;
}

const void *wireclient_ask(struct wireclient *c, enum wire_op op, const void *message, enum wire_op answer) {
    struct wiregot got;
    if (!wireclient_try(c, op, message, &got)) fail_msg("%s was not answered", wire_word((uint8_t)op));
    if (got.op == WIRE_ERROR && answer != WIRE_ERROR) {
        const struct wire_error *e = got.message;
        fail_msg("%s: %.*s: %.*s", wire_word((uint8_t)op), SLICE_FMT(e->code), SLICE_FMT(e->message));
    }
    assert_string_equal(wire_word(got.op), wire_word((uint8_t)answer));
    return got.message;
}

const char *wireclient_refused(struct wireclient *c, enum wire_op op, const void *message, enum err code) {
    const struct wire_error *e = wireclient_ask(c, op, message, WIRE_ERROR);
    char *text = arena_alloc(&c->arena, e->message.len + 1);
    memcpy(text, e->message.ptr, e->message.len);
    if (!slice_eq(e->code, slice_str(err_word(code))))
        fail_msg("%s: refused with %.*s (%s), not %s", wire_word((uint8_t)op), SLICE_FMT(e->code), text,
                 err_word(code));
    assert_true(e->message.len > 8);
    return text;
}
