/* load.c: see load.h. */
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench_impl.h"
#include "panic.h"

#define READ_BYTES (64u << 10)
#define FRAME_BYTES_MAX (64u << 20)
#define PATIENCE_MS 30000

static enum err gone(struct why *why) {
    return why_set(why, ERR_UNKNOWN, "the server hung up");
}

/* ---- one connection ---- */

static enum err send_frame(struct load_conn *c, struct buf *frame, bool http, struct why *why) {
    uint32_t request = htonl(++c->sent);
    if (!http) memcpy(frame->at + 4, &request, sizeof request);
    for (size_t at = 0; at < frame->len;) {
        ssize_t n = send(c->fd, frame->at + at, frame->len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return gone(why);
        at += (size_t)n;
    }
    return ERR_OK;
}

/* Takes what is there; waits when there is nothing. */
static enum err receive(struct load_conn *c, struct why *why) {
    if (c->used > 0) {
        memmove(c->in.at, c->in.at + c->used, c->in.len - c->used);
        buf_cut(&c->in, c->in.len - c->used);
        c->used = 0;
    }
    uint8_t *at = buf_space(&c->in, READ_BYTES);
    ENSURE(at != NULL);
    ssize_t n;
    do n = recv(c->fd, at, READ_BYTES, 0);
    while (n < 0 && errno == EINTR);
    buf_cut(&c->in, c->in.len - READ_BYTES + (n > 0 ? (size_t)n : 0));
    return n > 0 ? ERR_OK : gone(why);
}

static enum err refusal(const struct frame *f, struct why *why) {
    struct arena arena;
    arena_init(&arena, 4096, 1u << 20);
    struct wire_error error = {0};
    struct wire_busy busy = {0};
    if (f->opcode == WIRE_ERROR && wire_take(f, &arena, &error, why) == ERR_OK)
        (void)why_set(why, ERR_UNKNOWN, "refused: %.*s", SLICE_FMT(error.message));
    else if (f->opcode == WIRE_BUSY && wire_take(f, &arena, &busy, why) == ERR_OK)
        (void)why_set(why, ERR_UNKNOWN, "refused: %.*s", SLICE_FMT(busy.reason));
    else
        (void)why_set(why, ERR_UNKNOWN, "an answer of another kind: %s", wire_word(f->opcode));
    arena_fini(&arena);
    return ERR_UNKNOWN;
}

/* Counts the answers that are there. */
static enum err take_answers(struct load_conn *c, uint8_t expected, struct why *why) {
    for (;;) {
        struct slice in = slice_of(c->in.at + c->used, c->in.len - c->used);
        struct frame f;
        size_t need = 0;
        enum err e = frame_take(&in, FRAME_BYTES_MAX, &f, &need, why);
        if (e != ERR_OK || need != 0) return e;
        c->used = c->in.len - in.len;
        if (f.opcode != expected) return refusal(&f, why);
        c->answered++;
    }
}

/* Answers of HTTP, each with its length. */
static enum err take_http(struct load_conn *c, struct why *why) {
    for (;;) {
        struct slice in = slice_of(c->in.at + c->used, c->in.len - c->used);
        const uint8_t *end = memmem(in.ptr, in.len, "\r\n\r\n", 4);
        if (end == NULL) return ERR_OK;
        size_t head = (size_t)(end - in.ptr) + 4;
        const uint8_t *length = memmem(in.ptr, head, "Content-Length: ", 16);
        if (head < 12 || in.ptr[9] != '2' || length == NULL)
            return why_set(why, ERR_UNKNOWN, "refused: %.*s", (int)(in.len < 300 ? in.len : 300), (const char *)in.ptr);
        size_t body = strtoul((const char *)length + 16, NULL, 10);
        if (in.len < head + body) return ERR_OK;
        c->used += head + body;
        c->answered++;
    }
}

static enum err dial(struct load_conn *c, const char *address, struct why *why) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *colon = strrchr(address, ':');
    int one = 1;
    REQUIRE(colon != NULL);
    a.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        return why_set(why, ERR_UNKNOWN, "%s: %s", address, strerrordesc_np(errno));
    buf_init(&c->in, FRAME_BYTES_MAX);
    return ERR_OK;
}

static enum err hello(struct load_conn *c, const char *token, const char *build, struct why *why) {
    struct wire_hello m = {.version_min = FRAME_VERSION,
                           .version_max = FRAME_VERSION,
                           .peer = WIRE_PEER_CLIENT,
                           .build = slice_str(build),
                           .token = slice_str(token)};
    struct buf frame;
    buf_init(&frame, 4096);
    wire_put(&frame, WIRE_HELLO, 0, 1, &m);
    enum err e = send_frame(c, &frame, false, why);
    buf_fini(&frame);
    while (e == ERR_OK && c->answered == 0) {
        e = receive(c, why);
        if (e == ERR_OK) e = take_answers(c, WIRE_WELCOME, why);
    }
    c->sent = c->answered = 0;
    return e;
}

/* ---- all of them ---- */

enum err load_open(struct load_conns *l, const char *address, uint32_t count, const char *token, const char *build,
                   struct why *why) {
    REQUIRE(count > 0 && count <= LOAD_CONNECTIONS_MAX);
    *l = (struct load_conns){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    ENSURE(l->epoll >= 0);
    for (; l->count < count; l->count++) {
        struct load_conn *c = &l->conns[l->count];
        struct epoll_event ev = {.events = EPOLLIN, .data.u32 = l->count};
        enum err e = dial(c, address, why);
        if (e == ERR_OK && token != NULL) e = hello(c, token, build, why);
        if (e != ERR_OK) {
            if (c->fd >= 0) close(c->fd);
            buf_fini(&c->in);
            load_close(l);
            return e;
        }
        ENSURE(epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &ev) == 0);
    }
    return ERR_OK;
}

void load_close(struct load_conns *l) {
    for (uint32_t i = 0; i < l->count; i++) {
        close(l->conns[i].fd);
        buf_fini(&l->conns[i].in);
    }
    close(l->epoll);
    l->count = 0;
}

struct running {
    const struct load_plan *p;
    double start;
    uint64_t sent, answered;
};

static bool may_send(const struct running *r) {
    if (r->p->answers_max > 0) return r->sent < r->p->answers_max;
    return bench_now() - r->start < r->p->seconds;
}

/* As many as may be under way. */
static enum err send_some(struct running *r, struct load_conn *c, struct why *why) {
    while (c->sent - c->answered < r->p->flight && may_send(r)) {
        enum err e = send_frame(c, r->p->request, r->p->http, why);
        if (e != ERR_OK) return e;
        r->sent++;
    }
    return ERR_OK;
}

static enum err turn(struct running *r, struct load_conn *c, struct why *why) {
    uint32_t before = c->answered;
    enum err e = receive(c, why);
    if (e == ERR_OK) e = r->p->http ? take_http(c, why) : take_answers(c, r->p->answer, why);
    r->answered += c->answered - before;
    return e == ERR_OK ? send_some(r, c, why) : e;
}

static enum err turn_all(struct running *r, struct load_conns *l, struct why *why) {
    struct epoll_event events[LOAD_CONNECTIONS_MAX];
    int count = epoll_wait(l->epoll, events, LOAD_CONNECTIONS_MAX, PATIENCE_MS);
    if (count == 0) return why_set(why, ERR_UNKNOWN, "no answer for %d s", PATIENCE_MS / 1000);
    for (int i = 0; i < count; i++) {
        enum err e = turn(r, &l->conns[events[i].data.u32], why);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

enum err load_run(struct load_conns *l, const struct load_plan *p, uint64_t *ret_answers, double *ret_seconds,
                  struct why *why) {
    struct running r = {.p = p, .start = bench_now()};
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < l->count && e == ERR_OK; i++) e = send_some(&r, &l->conns[i], why);
    while (e == ERR_OK && r.answered < r.sent) {
        /* with one connection there is nothing to choose from: waiting in recv saves a call */
        e = l->count == 1 ? turn(&r, &l->conns[0], why) : turn_all(&r, l, why);
        if (p->progress != NULL) bench_progress(p->progress, p->what, r.answered, p->answers_max);
    }
    *ret_seconds = bench_now() - r.start;
    *ret_answers = r.answered;
    return e;
}
