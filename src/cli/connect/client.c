/* client.c: see client.h. Plain sockets: the command line waits for one thing at a time and needs no loop. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "datadir.h"
#include "panic.h"
#include "server_address.h"

#define ARENA_BYTES_MAX ((size_t)4 << 30)
#define FRAME_BYTES_MAX ((size_t)128 << 20)
#define READ_BYTES 65536u
#define CONNECT_SECONDS 10 /* a host that is silent for so long is not there; the system would try for minutes */

static const volatile sig_atomic_t *interrupted;

void client_interrupt_by(const volatile sig_atomic_t *flag) {
    interrupted = flag;
}

/* ---- connecting ---- */

static int dial_unix(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* "host:port", "[::1]:port": the host; returns the port. NULL: it is no such thing. */
static const char *host_of(const char *address, char host[CLIENT_TEXT_MAX]) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || (size_t)(colon - address) >= CLIENT_TEXT_MAX) return NULL;
    snprintf(host, CLIENT_TEXT_MAX, "%.*s", (int)(colon - address), address);
    size_t len = strlen(host);
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        memmove(host, host + 1, len - 2);
        host[len - 2] = 0;
    }
    return colon + 1;
}

static int dial_tcp(const char *address) {
    char host[CLIENT_TEXT_MAX];
    const char *port = host_of(address, host);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    const struct timeval patience = {CONNECT_SECONDS, 0}, forever = {0, 0};
    int fd = -1;
    if (port == NULL || getaddrinfo(host, port, &hints, &list) != 0) return -1;
    for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0) break;
        if (fd >= 0) close(fd);
        fd = -1;
    }
    freeaddrinfo(list);
    if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &forever, sizeof forever);
    return fd;
}

static int dial(const char *address) {
    const char *tls = server_address_tls(address);
    if (tls != NULL) return dial_tcp(tls);
    return strncmp(address, "unix:", 5) == 0 ? dial_unix(address + 5) : dial_tcp(address);
}

/* A given address first; else the socket in the data directory, which needs no token; else what the directory says. */
static enum err connect_any(struct client *c, const struct client_place *w, char token[CLIENT_TOKEN_MAX],
                            struct why *why) {
    if (w->token != NULL && strlen(w->token) >= CLIENT_TOKEN_MAX)
        return why_set(why, ERR_LIMIT, "the token is longer than %u bytes", WIRE_TOKEN_MAX);
    if (w->token != NULL) snprintf(token, CLIENT_TOKEN_MAX, "%s", w->token);
    if (w->server != NULL) {
        enum err e = server_address_read(w->server, c->address, why);
        if (e != ERR_OK) return e;
        errno = 0;
        c->fd = dial(c->address);
        if (c->fd < 0)
            return why_set(why, ERR_UNKNOWN, "cannot connect to %s: %s; is the server running there?", c->address,
                           errno != 0 ? strerrordesc_np(errno) : "unknown host");
        if (w->token == NULL && w->data != NULL)
            datadir_token(w->data, "admin.token", c->address, token, CLIENT_TEXT_MAX);
        return ERR_OK;
    }
    snprintf(c->address, sizeof c->address, "unix:%s/reeve.sock", w->data);
    c->fd = dial(c->address);
    if (c->fd < 0 && datadir_line(w->data, "address", c->address, sizeof c->address)) c->fd = dial(c->address);
    if (w->token == NULL && !datadir_line(w->data, "admin.token", token, CLIENT_TEXT_MAX)) token[0] = 0;
    if (c->fd >= 0) return ERR_OK;
    return why_set(why, ERR_UNKNOWN,
                   "no server is running on %s: start one with `reeve up`, or name another with --data or --server",
                   w->data);
}

static enum err secure_it(struct client *c, const struct client_place *w, struct why *why) {
    char ca[CLIENT_TEXT_MAX + 16], host[CLIENT_TEXT_MAX];
    struct secure_files files = w->tls;
    const char *address = server_address_tls(c->address);
    if (address == NULL) return ERR_OK;
    if (w->secure == NULL) return why_set(why, ERR_UNSUPPORTED, "this program was built without TLS");
    if (files.ca == NULL) files.ca = files.cert; /* `reeve cert` puts all into one file */
    if (files.ca == NULL && files.pin == NULL && w->data != NULL) {
        snprintf(ca, sizeof ca, "%s/tls/ca.pem", w->data);
        if (access(ca, R_OK) == 0) files.ca = ca;
    }
    c->secure_ops = w->secure;
    if (host_of(address, host) == NULL) return why_set(why, ERR_INVALID, "%s is not tls://HOST:PORT", c->address);
    enum err e = w->secure->open(&files, c->fd, host, &c->secure, why);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "%s", c->address);
}

static enum err say_hello(struct client *c, const struct client_place *w, const char *token, struct why *why) {
    struct client_frame f;
    struct wire_hello m = {.version_min = FRAME_VERSION,
                           .version_max = FRAME_VERSION,
                           .peer = WIRE_PEER_CLIENT,
                           .build = slice_str(w->build),
                           .token = slice_str(token),
                           .agent = w->agent};
    if (strncmp(c->address, "unix:", 5) == 0 && w->token == NULL) m.token = (struct slice){0}; /* the kernel vouches */
    enum err e = client_ask(c, WIRE_HELLO, &m, &f, why);
    if (e != ERR_OK) return e;
    if (f.op != WIRE_WELCOME) return why_set(why, ERR_UNSUPPORTED, "%s is not a reeve server", c->address);
    const struct wire_welcome *welcome = f.message;
    c->frame_bytes_max = welcome->frame_bytes_max != 0 ? welcome->frame_bytes_max : 16u << 20;
    c->server_wire = welcome->version;
    snprintf(c->server_build, sizeof c->server_build, "%.*s", SLICE_FMT(welcome->build));
    snprintf(c->tenant, sizeof c->tenant, "%.*s", SLICE_FMT(welcome->tenant));
    snprintf(c->principal, sizeof c->principal, "%.*s", SLICE_FMT(welcome->principal));
    return ERR_OK;
}

enum err client_open(struct client *c, const struct client_place *where, struct why *why) {
    char token[CLIENT_TOKEN_MAX] = {0};
    *c = (struct client){.fd = -1, .frame_bytes_max = 16u << 20};
    enum err e = connect_any(c, where, token, why);
    if (e != ERR_OK) return e;
    buf_init(&c->in, FRAME_BYTES_MAX * 2);
    arena_init(&c->arena, 65536, ARENA_BYTES_MAX);
    e = secure_it(c, where, why);
    if (e == ERR_OK) e = say_hello(c, where, token, why);
    if (e != ERR_OK) client_close(c);
    return e;
}

void client_close(struct client *c) {
    if (c->fd < 0) return;
    if (c->secure != NULL) c->secure_ops->close(c->secure);
    c->secure = NULL;
    close(c->fd);
    c->fd = -1;
    buf_fini(&c->in);
    arena_fini(&c->arena);
}

bool client_is_alive(const struct client *c) {
    uint8_t byte;
    if (c->fd < 0) return false;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void client_forget(struct client *c) {
    arena_reset(&c->arena);
}

/* ---- frames ---- */

static enum err gone(const struct client *c, struct why *why) {
    return why_set(why, ERR_UNKNOWN, "connection to %s lost: the last request may or may not have been executed",
                   c->address);
}

static enum err send_all(struct client *c, struct slice bytes, struct why *why) {
    if (c->secure != NULL) return c->secure_ops->send(c->secure, bytes, why);
    while (bytes.len > 0) {
        ssize_t n = send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return gone(c, why);
        bytes = slice_of(bytes.ptr + n, bytes.len - (size_t)n);
    }
    return ERR_OK;
}

enum err client_send(struct client *c, enum wire_op op, const void *message, uint32_t *ret_request, struct why *why) {
    struct buf out;
    enum err e = tlv_check(wire_info((uint8_t)op)->desc, message, why);
    if (e != ERR_OK) return e;
    buf_init(&out, FRAME_BYTES_MAX);
    wire_put(&out, op, 0, ++c->request_last, message);
    if (out.full || out.len - FRAME_HEADER_BYTES > c->frame_bytes_max)
        e = why_set(why, ERR_LIMIT, "the request is larger than the server accepts (%u bytes)", c->frame_bytes_max);
    if (e == ERR_OK) e = send_all(c, buf_slice(&out), why);
    buf_fini(&out);
    c->is_lost |= e == ERR_UNKNOWN;
    if (e != ERR_OK) return e;
    *ret_request = c->request_last;
    c->open_requests++;
    return ERR_OK;
}

static enum err read_secure(struct client *c, int wait_ms, bool *ret_some, struct why *why) {
    size_t got = 0;
    uint8_t *at = buf_space(&c->in, READ_BYTES);
    if (at == NULL) return why_set(why, ERR_LIMIT, "the answer is too large");
    enum err e = c->secure_ops->receive(c->secure, at, READ_BYTES, wait_ms, &got, why);
    buf_cut(&c->in, c->in.len - READ_BYTES + got);
    *ret_some = got > 0;
    return e;
}

/* False: nothing came in time. */
static enum err read_more(struct client *c, int wait_ms, bool *ret_some, struct why *why) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    *ret_some = false;
    if (c->secure != NULL) return read_secure(c, wait_ms, ret_some, why);
    int n = poll(&p, 1, wait_ms);
    if (n == 0 || (n < 0 && errno == EINTR)) return ERR_OK;
    uint8_t *at = buf_space(&c->in, READ_BYTES);
    if (at == NULL) return why_set(why, ERR_LIMIT, "the answer is too large");
    ssize_t got = recv(c->fd, at, READ_BYTES, 0);
    buf_cut(&c->in, c->in.len - READ_BYTES + (got > 0 ? (size_t)got : 0));
    if (got < 0 && errno == EINTR) return ERR_OK;
    if (got <= 0) return gone(c, why);
    *ret_some = true;
    return ERR_OK;
}

static enum err take(struct client *c, struct client_frame *ret, struct why *why) {
    struct slice in = slice_of(c->in.at + c->used, c->in.len - c->used);
    struct frame f;
    size_t need = 0;
    *ret = (struct client_frame){0};
    enum err e = frame_take(&in, FRAME_BYTES_MAX, &f, &need, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s is not a reeve server", c->address);
    if (need > 0) return ERR_OK;
    c->used = c->in.len - in.len;
    if (wire_info(f.opcode) == NULL) return why_set(why, ERR_UNSUPPORTED, "the server is newer than this program");
    f.body = arena_slice(&c->arena, f.body);
    void *message = arena_alloc(&c->arena, wire_info(f.opcode)->desc->size);
    e = wire_take(&f, &c->arena, message, why);
    if (c->used == c->in.len) {
        buf_clear(&c->in);
        c->used = 0;
    }
    if ((f.flags & FRAME_ANSWER) && !(f.flags & FRAME_MORE)) c->open_requests--;
    *ret = (struct client_frame){f.opcode, f.flags, f.request, message};
    return e;
}

/* What was taken goes, before the buffer grows over it. */
static void compact(struct client *c) {
    if (c->used == 0) return;
    memmove(c->in.at, c->in.at + c->used, c->in.len - c->used);
    buf_cut(&c->in, c->in.len - c->used);
    c->used = 0;
}

enum err client_next(struct client *c, int wait_ms, struct client_frame *ret, struct why *why) {
    for (;;) {
        bool some = false;
        if (interrupted != NULL && *interrupted) return why_set(why, ERR_STATE, "interrupted");
        enum err e = take(c, ret, why);
        if (e != ERR_OK || ret->op != 0) return e;
        compact(c);
        e = read_more(c, wait_ms, &some, why);
        c->is_lost |= e == ERR_UNKNOWN;
        if (e != ERR_OK || (!some && wait_ms >= 0)) return e;
        if (!some) return ERR_OK; /* a signal: the caller may want to look at something */
    }
}

/* ---- asking ---- */

enum err client_err(struct slice code) {
    enum err e = err_find(code, ERR_INVALID);
    return e == ERR_OK ? ERR_INVALID : e; /* what is refused is not "ok" */
}

enum err client_refusal(const struct client_frame *f, struct why *why) {
    if (f->op == WIRE_ERROR) {
        const struct wire_error *m = f->message;
        return why_set(why, client_err(m->code), "%.*s", SLICE_FMT(m->message));
    }
    if (f->op == WIRE_BUSY) {
        const struct wire_busy *m = f->message;
        return why_set(why, ERR_BUSY, "%.*s", SLICE_FMT(m->reason));
    }
    return ERR_OK;
}

enum err client_answer(struct client *c, uint32_t request, struct client_frame *ret, struct why *why) {
    for (;;) {
        enum err e = client_next(c, -1, ret, why);
        if (e != ERR_OK) return e;
        if (ret->op != 0 && ret->request == request) return client_refusal(ret, why);
        if (ret->op == WIRE_ERROR && ret->request == 0) return client_refusal(ret, why);
    }
}

static void wait_ms(uint32_t ms) {
    (void)poll(NULL, 0, (int)ms);
}

enum err client_ask(struct client *c, enum wire_op op, const void *message, struct client_frame *ret, struct why *why) {
    uint32_t waited = 0, request = 0;
    for (;;) {
        enum err e = client_send(c, op, message, &request, why);
        if (e == ERR_OK) e = client_answer(c, request, ret, why);
        bool is_later = e == ERR_BUSY && ret->op == WIRE_BUSY; /* a refusal with that word has ended the connection */
        if (!is_later || waited >= CLIENT_PATIENCE_MS) return e;
        const struct wire_busy *m = ret->message;
        uint32_t pause = m->retry_after_ms > 0 ? m->retry_after_ms : 100;
        if (pause > 5000) pause = 5000;
        wait_ms(pause);
        waited += pause;
    }
}

/* ---- HTTP ---- */

/* The end of the head, and how long the body is; 0: not all of the head is there. */
static size_t head_end(struct slice in, size_t *ret_length) {
    const uint8_t *end = in.len > 0 ? memmem(in.ptr, in.len, "\r\n\r\n", 4) : NULL;
    if (end == NULL) return 0;
    size_t len = (size_t)(end - in.ptr) + 4;
    const char *name = "content-length:";
    *ret_length = 0;
    for (size_t i = 0; i + strlen(name) < len; i++)
        if (strncasecmp((const char *)in.ptr + i, name, strlen(name)) == 0)
            *ret_length = strtoul((const char *)in.ptr + i + strlen(name), NULL, 10);
    return len;
}

static enum err web_answer(struct client *c, uint32_t *ret_status, struct slice *ret_body, struct why *why) {
    for (;;) {
        size_t length = 0, head = head_end(buf_slice(&c->in), &length);
        bool some = false;
        if (head > 0 && c->in.len - head >= length) {
            *ret_status = (uint32_t)strtoul((const char *)c->in.at + strlen("HTTP/1.1 "), NULL, 10);
            *ret_body = arena_slice(&c->arena, slice_of(c->in.at + head, length));
            return ERR_OK;
        }
        enum err e = read_more(c, CONNECT_SECONDS * 1000, &some, why);
        if (e == ERR_OK && !some) e = why_set(why, ERR_UNKNOWN, "%s does not answer", c->address);
        if (e != ERR_OK) return e;
    }
}

enum err client_get(const struct client_place *where, const char *path, bool with_token, struct arena *arena,
                    uint32_t *ret_status, struct slice *ret_body, struct why *why) {
    char token[CLIENT_TOKEN_MAX] = {0};
    struct client c = {.fd = -1, .frame_bytes_max = 16u << 20};
    struct buf out;
    struct slice body = {0};
    enum err e = connect_any(&c, where, token, why);
    if (e != ERR_OK) return e;
    buf_init(&c.in, FRAME_BYTES_MAX);
    arena_init(&c.arena, 65536, ARENA_BYTES_MAX);
    buf_init(&out, CLIENT_TOKEN_MAX + 4096);
    e = secure_it(&c, where, why);
    const char *tls = server_address_tls(c.address);
    bool is_unix = strncmp(c.address, "unix:", 5) == 0;
    buf_printf(&out, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", path,
               is_unix       ? "localhost"
               : tls != NULL ? tls
                             : c.address);
    if (with_token && token[0] != 0 && !(is_unix && where->token == NULL))
        buf_printf(&out, "Authorization: Bearer %s\r\n", token);
    buf_put_slice(&out, SLICE("\r\n"));
    if (e == ERR_OK) e = send_all(&c, buf_slice(&out), why);
    if (e == ERR_OK) e = web_answer(&c, ret_status, &body, why);
    if (e == ERR_OK) *ret_body = arena_slice(arena, body);
    buf_fini(&out);
    client_close(&c);
    return e;
}
