/* ossecure.c: see ossecure.h. */
#include "ossecure.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "ostls.h"
#include "panic.h"

#define SHAKE_MS_MAX 10000
#define READ_BYTES 65536u
#define OUT_BYTES_MAX ((size_t)256 << 20)

struct secure {
    int fd;
    struct ostls *tls;
    struct ostls_conn *conn;
    struct buf out;
};

static enum err flush(struct secure *s, struct why *why) {
    ostls_take(s->conn, &s->out);
    struct slice left = buf_slice(&s->out);
    while (left.len > 0) {
        ssize_t n = send(s->fd, left.ptr, left.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return why_set(why, ERR_UNKNOWN, "the connection is gone: %s", strerrordesc_np(errno));
        left = slice_of(left.ptr + n, left.len - (size_t)n);
    }
    buf_clear(&s->out);
    return ERR_OK;
}

/* One read from the network. *ret_some false: nothing in time, or a signal. */
static enum err feed(struct secure *s, int wait_ms, bool *ret_some, struct why *why) {
    uint8_t bytes[READ_BYTES];
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    *ret_some = false;
    int ready = poll(&p, 1, wait_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return ERR_OK;
    ssize_t n = recv(s->fd, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) return ERR_OK;
    if (n < 0) return why_set(why, ERR_UNKNOWN, "the connection is gone: %s", strerrordesc_np(errno));
    if (n == 0) return why_set(why, ERR_UNKNOWN, "the server closed the connection");
    ostls_feed(s->conn, slice_of(bytes, (size_t)n));
    *ret_some = true;
    return ERR_OK;
}

static void op_close(struct secure *s) {
    struct why ignored;
    ostls_bye(s->conn);
    (void)!flush(s, &ignored);
    ostls_close(s->conn);
    ostls_free(s->tls);
    buf_fini(&s->out);
    free(s);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static enum err shake(struct secure *s, struct why *why) {
    int64_t until = now_ms() + SHAKE_MS_MAX;
    for (;;) {
        bool some = false;
        struct why reason = {{0}};
        enum ostls_step step = ostls_shake(s->conn, &reason);
        enum err e = flush(s, why);
        if (step == OSTLS_DONE) return e;
        if (step != OSTLS_MORE) return why_set(why, ERR_UNAUTHENTICATED, "%s", reason.text);
        int64_t left = until - now_ms();
        if (e == ERR_OK && left <= 0) e = why_set(why, ERR_UNKNOWN, "no TLS handshake came in time");
        if (e == ERR_OK) e = feed(s, (int)left, &some, why);
        if (e != ERR_OK) return e;
    }
}

static enum err op_open(const struct secure_files *files, int fd, const char *host, struct secure **ret,
                        struct why *why) {
    struct ostls *tls = NULL;
    struct ostls_files of_client = {.cert = files->cert, .key = files->key, .ca = files->ca, .pin = files->pin};
    enum err e = ostls_client(&of_client, &tls, why);
    if (e != ERR_OK) return e;
    struct secure *s = calloc(1, sizeof *s);
    if (s == NULL) PANIC("no memory");
    *s = (struct secure){.fd = fd, .tls = tls, .conn = ostls_connect(tls, host)};
    buf_init(&s->out, OUT_BYTES_MAX);
    e = shake(s, why);
    if (e == ERR_OK)
        *ret = s;
    else
        op_close(s);
    return e;
}

static enum err op_send(struct secure *s, struct slice bytes, struct why *why) {
    ostls_write(s->conn, bytes);
    return flush(s, why);
}

static enum err op_receive(struct secure *s, void *to, size_t bytes, int wait_ms, size_t *ret, struct why *why) {
    for (;;) {
        bool some = false;
        struct why reason = {{0}};
        enum ostls_step step = ostls_read(s->conn, to, bytes, ret, &reason);
        if (step == OSTLS_DONE) return ERR_OK;
        if (step == OSTLS_OVER) return why_set(why, ERR_UNKNOWN, "the server closed the connection");
        if (step == OSTLS_FAILED) return why_set(why, ERR_UNAUTHENTICATED, "%s", reason.text);
        enum err e = flush(s, why);
        if (e == ERR_OK) e = feed(s, wait_ms, &some, why);
        if (e != ERR_OK || !some) return e;
    }
}

const struct secure_ops ossecure = {op_open, op_send, op_receive, op_close};
