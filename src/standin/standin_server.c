/* standin_server.c: the connections. See standin_server.h. */
#include "standin_server.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "limit.h"
#include "sniff.h"

#define PATIENCE_MS 5000         /* for a request to come, and for its answer to be taken */
#define WAIT_MS 60000            /* for the server to be there */
#define OUT_BYTES_MAX (8u << 20) /* the largest asset fits */

void standin_init(struct standin *u, const char *data, int listen, int orion) {
    *u = (struct standin){.data = data, .listen = listen, .orion = orion};
    limits_default(&u->limits);
    for (uint32_t i = 0; i < STANDIN_SEATS; i++) u->seats[i].fd = -1;
}

/* ---- seats ---- */

static void seat_take(struct standin *u, struct seat *t, int fd, bool is_orion, int64_t now_ms) {
    *t = (struct seat){.fd = fd, .is_orion = is_orion, .until_ms = now_ms + PATIENCE_MS};
    http_in_init(&t->in, &u->limits);
    buf_init(&t->out, OUT_BYTES_MAX);
}

static void seat_leave(struct seat *t) {
    close(t->fd);
    http_in_fini(&t->in);
    buf_fini(&t->out);
    t->fd = -1;
}

static struct seat *seat_free(struct standin *u) {
    for (uint32_t i = 0; i < STANDIN_SEATS; i++)
        if (u->seats[i].fd < 0) return &u->seats[i];
    return NULL;
}

static struct seat *seat_of(struct standin *u, int fd) {
    for (uint32_t i = 0; i < STANDIN_SEATS; i++)
        if (u->seats[i].fd == fd) return &u->seats[i];
    return NULL;
}

static void accept_all(struct standin *u, int listener, bool is_orion, int64_t now_ms) {
    struct seat *t;
    while ((t = seat_free(u)) != NULL) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return; /* none is left, or the server was quicker */
        seat_take(u, t, fd, is_orion, now_ms);
    }
}

/* ---- bytes ---- */

static void answer(struct standin *u, struct seat *t) {
    const struct http_in *in = &t->in;
    if (in->state == HTTP_IN_BAD)
        standin_refuse(u, in->status, in->err, in->why.text, &t->out);
    else if (!standin_answer(u, &in->request, t->is_orion, &t->out)) {
        t->waits = true;
        t->until_ms += WAIT_MS;
        return;
    }
    t->waits = false;
    t->answered = true;
}

static void send_some(struct seat *t) {
    while (t->sent < t->out.len) {
        ssize_t n = send(t->fd, t->out.at + t->sent, t->out.len - t->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) break;
        t->sent += (size_t)n;
    }
    if (t->answered) (void)shutdown(t->fd, SHUT_WR);
    if (t->answered) t->sent = t->out.len;
}

/* Whoever speaks something else hears at once that nobody is there, and comes again. */
static bool is_http(struct slice first) {
    enum sniff what = sniff(first);
    return what == SNIFF_HTTP || what == SNIFF_MORE;
}

static void receive(struct standin *u, struct seat *t) {
    uint8_t bytes[16384];
    ssize_t n = recv(t->fd, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EAGAIN) return;
    bool begins = http_in_is_idle(&t->in);
    if (n <= 0 || (begins && !is_http(slice_of(bytes, (size_t)n)))) {
        seat_leave(t);
        return;
    }
    struct slice left = slice_of(bytes, (size_t)n);
    while (left.len > 0 && !t->answered && !t->waits) {
        size_t used = http_in_feed(&t->in, left);
        left = slice_of(left.ptr + used, left.len - used);
        if (t->in.state == HTTP_IN_WHOLE || t->in.state == HTTP_IN_BAD) answer(u, t);
        if (used == 0 && t->in.state != HTTP_IN_WHOLE) break;
    }
    if (t->answered) send_some(t);
}

/* ---- turns ---- */

uint32_t standin_poll(struct standin *u, bool on_stage, struct pollfd fds[STANDIN_FDS]) {
    uint32_t n = 0;
    bool room = on_stage && seat_free(u) != NULL;
    if (room && u->listen >= 0) fds[n++] = (struct pollfd){.fd = u->listen, .events = POLLIN};
    if (room && u->orion >= 0) fds[n++] = (struct pollfd){.fd = u->orion, .events = POLLIN};
    for (uint32_t i = 0; i < STANDIN_SEATS; i++) {
        const struct seat *t = &u->seats[i];
        if (t->fd < 0) continue;
        bool sends = t->answered && t->sent < t->out.len;
        fds[n++] = (struct pollfd){.fd = t->fd, .events = (short)(sends ? POLLOUT : POLLIN)};
    }
    return n;
}

void standin_step(struct standin *u, const struct pollfd *fds, uint32_t count, int64_t now_ms) {
    for (uint32_t i = 0; i < count; i++) {
        if (fds[i].revents == 0) continue;
        if (fds[i].fd == u->listen || fds[i].fd == u->orion) {
            accept_all(u, fds[i].fd, fds[i].fd == u->orion, now_ms);
            continue;
        }
        struct seat *t = seat_of(u, fds[i].fd);
        if (t == NULL) continue;
        if (fds[i].revents & POLLOUT)
            send_some(t);
        else
            receive(u, t); /* after the answer: its end */
    }
    for (uint32_t i = 0; i < STANDIN_SEATS; i++)
        if (u->seats[i].fd >= 0 && now_ms >= u->seats[i].until_ms) seat_leave(&u->seats[i]);
}

void standin_relieved(struct standin *u) {
    for (uint32_t i = 0; i < STANDIN_SEATS; i++) {
        struct seat *t = &u->seats[i];
        if (t->fd < 0 || !t->waits) continue;
        answer(u, t);
        if (t->answered) send_some(t);
    }
}

bool standin_is_waiting(const struct standin *u) {
    for (uint32_t i = 0; i < STANDIN_SEATS; i++)
        if (u->seats[i].fd >= 0) return true;
    return false;
}
