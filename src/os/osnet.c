/* osnet.c: port/net.h on libuv: TCP and Unix sockets. See osloop.h.
 *
 * Sends are gathered and leave at the end of the turn, so that many answers to one connection are one write. Failures
 * met inside a call are told at the end of the turn too: a handler is never called from inside a call. How connections
 * begin, and TLS, is in osnet_tls.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hash.h"
#include "oslease.h"
#include "oslisteners.h"
#include "osloop_impl.h"
#include "osprocs.h"
#include "panic.h"

#define BACKLOG 1024
#define UNIX_PREFIX "unix:"
#define TLS_PREFIX "tls:"

static struct conn *conn_of(struct osloop *l, conn_id c) {
    uint32_t index = map_get(&l->conn_by_id, c.v);
    return index == 0 ? NULL : pool_at(&l->conns, index);
}

static bool is_unix(const char *address) {
    return strncmp(address, UNIX_PREFIX, sizeof UNIX_PREFIX - 1) == 0;
}

/* ---- addresses ---- */

/* "host:port", "[host]:port": false when it is no such thing. */
static bool address_split(const char *address, char host[256], char port[8]) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || colon[1] == 0 || strlen(colon + 1) > 5) return false;
    size_t len = (size_t)(colon - address);
    if (address[0] == '[' && address[len - 1] == ']') address++, len -= 2;
    if (len == 0 || len > 255) return false;
    memcpy(host, address, len);
    host[len] = 0;
    snprintf(port, 8, "%s", colon + 1);
    return strspn(port, "0123456789") == strlen(port) && strtol(port, NULL, 10) <= 65535;
}

static bool address_parse(const char *address, struct sockaddr_storage *ret) {
    char host[256], port[8];
    if (!address_split(address, host, port)) return false;
    if (strcmp(host, "localhost") == 0) snprintf(host, sizeof host, "127.0.0.1");
    int number = (int)strtol(port, NULL, 10);
    memset(ret, 0, sizeof *ret);
    return uv_ip4_addr(host, number, (struct sockaddr_in *)ret) == 0 ||
           uv_ip6_addr(host, number, (struct sockaddr_in6 *)ret) == 0;
}

static void address_text(const struct sockaddr_storage *a, char out[OSLOOP_ADDRESS_MAX]) {
    char host[64] = "?";
    if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
        uv_ip6_name(v6, host, sizeof host);
        snprintf(out, OSLOOP_ADDRESS_MAX, "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
        uv_ip4_name(v4, host, sizeof host);
        snprintf(out, OSLOOP_ADDRESS_MAX, "%s:%u", host, ntohs(v4->sin_port));
    }
}

bool osloop_is_public(const char *address) {
    struct sockaddr_storage a;
    if (is_unix(address) || !address_parse(address, &a)) return false;
    if (a.ss_family == AF_INET) return (ntohl(((struct sockaddr_in *)&a)->sin_addr.s_addr) >> 24) != 127;
    return !IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&a)->sin6_addr);
}

/* ---- the life of a connection ---- */

static struct conn *conn_new(struct osloop *l, const struct net_handler *handler, bool is_pipe) {
    uint32_t index = pool_alloc(&l->conns);
    if (index == 0) return NULL;
    struct conn *c = pool_at(&l->conns, index);
    c->id = ++l->id_last;
    c->loop = l;
    c->handler = *handler;
    c->is_pipe = is_pipe;
    buf_init(&c->out, OSLOOP_UNSENT_MAX);
    buf_init(&c->flying, OSLOOP_UNSENT_MAX);
    buf_init(&c->plain, OSLOOP_UNSENT_MAX);
    ENSURE((is_pipe ? uv_pipe_init(&l->uv, &c->s.pipe, 0) : uv_tcp_init(&l->uv, &c->s.tcp)) == 0);
    c->s.handle.data = c->connect.data = c->write.data = c->resolve.data = c;
    map_put(&l->conn_by_id, c->id, index);
    return c;
}

static void conn_free(struct conn *c) {
    struct osloop *l = c->loop;
    if (c->resolving || !c->handle_gone) return; /* whoever ends last frees it */
    buf_fini(&c->out);
    buf_fini(&c->flying);
    buf_fini(&c->plain);
    ostls_close(c->tls);
    pool_free(&l->conns, map_del(&l->conn_by_id, c->id));
}

static void conn_gone(uv_handle_t *h) {
    struct conn *c = h->data;
    c->handle_gone = true;
    conn_free(c);
}

static void conn_end(struct conn *c) {
    c->state = CONN_CLOSED;
    if (c->resolving) uv_cancel((uv_req_t *)&c->resolve);
    if (!uv_is_closing(&c->s.handle)) uv_close(&c->s.handle, conn_gone);
}

void osnet_mark_dirty(struct conn *c) {
    if (c->dirty) return;
    c->dirty = true;
    *(uint64_t *)vec_push(&c->loop->dirty) = c->id;
    osloop_again(c->loop);
}

/* From inside a call: the handler hears of it at the end of the turn. */
static void fail_later(struct conn *c, const char *text) {
    if (c->state == CONN_FAILED || c->state == CONN_CLOSED) return;
    if (c->state == CONN_LEAVING || !c->is_known) {
        conn_end(c);
        return;
    }
    snprintf(c->why, sizeof c->why, "%s", text);
    c->state = CONN_FAILED;
    if (c->reading) uv_read_stop(&c->s.stream);
    c->reading = false;
    osnet_mark_dirty(c);
}

/* From a callback of the loop: now. */
void osnet_fail_now(struct conn *c, const char *text) {
    if (c->state == CONN_LEAVING || (c->state == CONN_MEETING && !c->is_known)) {
        conn_end(c);
    } else if (c->state != CONN_CLOSED && c->state != CONN_FAILED) {
        struct net_handler h = c->handler;
        conn_id id = {c->id};
        conn_end(c);
        h.closed(h.ctx, id, text);
    }
}

/* ---- time ---- */

/* The network of a home or a machine with IPv6 has all addresses with the same first half. */
static uint8_t origin_of(struct conn *c) {
    struct sockaddr_storage a = {0};
    int len = sizeof a;
    uint64_t bits = 0;
    if (uv_tcp_getpeername(&c->s.tcp, (struct sockaddr *)&a, &len) != 0) return 0;
    if (a.ss_family == AF_INET6)
        memcpy(&bits, &((struct sockaddr_in6 *)&a)->sin6_addr, sizeof bits);
    else
        bits = ((struct sockaddr_in *)&a)->sin_addr.s_addr;
    return (uint8_t)(hash_mix(bits) % OSLOOP_ORIGINS);
}

void osnet_hurry(struct conn *c, int64_t ms) {
    bool listed = c->state == CONN_MEETING && c->by_ms != 0;
    c->by_ms = osloop_mono_ms() + ms;
    if (!listed) *(uint64_t *)vec_push(&c->loop->hurried) = c->id;
    osloop_again(c->loop); /* the loop may be waiting for a later time */
}

/* The oldest of those that have come and not finished their handshake; from one address, if they are too many from
 * there. Whoever means it is done within a few round trips, so the oldest is the one that does not. */
static void meeting_end_oldest(struct osloop *l, bool from_all, uint8_t origin) {
    for (uint32_t i = 0; i < l->hurried.count; i++) {
        struct conn *c = conn_of(l, (conn_id){*(uint64_t *)vec_at(&l->hurried, i)});
        if (c == NULL || c->state != CONN_MEETING || c->is_known || !(from_all || c->origin == origin)) continue;
        l->meeting_count--;
        l->meeting_from[c->origin]--;
        conn_end(c);
        return;
    }
}

void osnet_meeting_begins(struct conn *c) {
    struct osloop *l = c->loop;
    c->origin = origin_of(c);
    if (l->meeting_from[c->origin] >= OSLOOP_MEETING_SHARE)
        meeting_end_oldest(l, false, c->origin);
    else if (l->meeting_count >= OSLOOP_MEETING_MAX)
        meeting_end_oldest(l, true, 0);
    l->meeting_count++;
    l->meeting_from[c->origin]++;
}

static uint64_t held_bytes(const struct conn *c) {
    return c->plain.len + c->out.len + c->flying.len;
}

void osnet_leave(struct conn *c) {
    uint64_t bytes = held_bytes(c);
    if (c->loop->leaving_bytes > 0 && c->loop->leaving_bytes + bytes > OSLOOP_LEAVING_BYTES_MAX) {
        conn_end(c);
        return;
    }
    c->loop->leaving_bytes += bytes;
    c->state = CONN_LEAVING;
    osnet_hurry(c, OSLOOP_GRACE_MS);
    osnet_mark_dirty(c);
    osnet_read(c);
}

/* ---- reading ---- */

static void give_space(uv_handle_t *h, size_t suggested, uv_buf_t *ret) {
    (void)suggested;
    struct conn *c = h->data;
    bool is_late = c->loop->turn_bytes >= OSLOOP_TURN_BYTES;
    *ret = uv_buf_init(c->loop->read_space, is_late ? OSLOOP_LATE_BYTES : OSLOOP_READ_BYTES);
}

/* libuv goes on reading as long as there is something, up to 32 times. */
static void rest(struct conn *c, ssize_t count, size_t space) {
    bool is_full = count == (ssize_t)space, is_late = space < OSLOOP_READ_BYTES;
    c->reads = is_full ? (uint8_t)(c->reads + 1) : 0;
    if (c->reads < OSLOOP_READS && !(is_full && is_late)) return;
    if (!c->reading) return;
    uv_read_stop(&c->s.stream);
    c->reads = 0;
    c->reading = false;
    c->rests = true;
    osnet_mark_dirty(c);
}

static void have_read(uv_stream_t *s, ssize_t count, const uv_buf_t *space) {
    struct conn *c = s->data;
    rest(c, count, space->len);
    if (count > 0) c->loop->turn_bytes += (uint64_t)count;
    if (count > 0 && c->state == CONN_MEETING)
        osnet_met(c, slice_of(space->base, (size_t)count));
    else if (count > 0 && c->state == CONN_OPEN && c->tls != NULL)
        osnet_unseal(c, slice_of(space->base, (size_t)count));
    else if (count > 0 && c->state == CONN_OPEN)
        c->handler.received(c->handler.ctx, (conn_id){c->id}, slice_of(space->base, (size_t)count));
    else if (count == UV_EOF)
        osnet_fail_now(c, "the peer closed the connection");
    else if (count < 0)
        osnet_fail_now(c, uv_strerror((int)count));
}

void osnet_read(struct conn *c) {
    if (c->reading || c->rests || (c->paused && c->state != CONN_LEAVING)) return;
    if (c->state != CONN_OPEN && c->state != CONN_LEAVING && c->state != CONN_MEETING) return;
    int e = uv_read_start(&c->s.stream, give_space, have_read);
    if (e != 0) fail_later(c, uv_strerror(e));
    c->reading = e == 0;
}

static void peer_of(struct conn *c, struct net_peer *ret, char address[OSLOOP_ADDRESS_MAX]) {
    *ret = (struct net_peer){.address = address, .is_local = c->is_pipe, .uid = UINT32_MAX, .is_tls = c->tls != NULL};
    if (c->is_pipe) {
        int fd = -1;
        struct ucred cred;
        socklen_t len = sizeof cred;
        if (uv_fileno(&c->s.handle, &fd) == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0) {
            ret->uid = cred.uid;
            ret->is_of_job = osprocs_peer_is_of_job(fd, cred.pid);
        }
        snprintf(address, OSLOOP_ADDRESS_MAX, UNIX_PREFIX "%u", ret->uid);
        return;
    }
    struct sockaddr_storage a = {0};
    int len = sizeof a;
    uv_tcp_getpeername(&c->s.tcp, (struct sockaddr *)&a, &len);
    address_text(&a, address);
}

void osnet_opened(struct conn *c) {
    struct net_peer peer;
    struct ostls_peer certified = {0};
    char address[OSLOOP_ADDRESS_MAX];
    c->state = CONN_OPEN;
    c->is_known = true;
    peer_of(c, &peer, address);
    if (c->tls != NULL) ostls_peer(c->tls, &certified);
    peer.certified = slice_str(certified.name);
    peer.certified_role = slice_str(certified.role);
    peer.certified_tenant = slice_str(certified.tenant);
    c->handler.opened(c->handler.ctx, (conn_id){c->id}, &peer);
    osnet_read(c);
}

/* ---- writing ---- */

static void have_written(uv_write_t *w, int status) {
    struct conn *c = w->data;
    c->writing = false;
    buf_clear(&c->flying);
    if (status < 0 && c->state != CONN_CLOSED) osnet_fail_now(c, uv_strerror(status));
    if (c->state == CONN_OPEN || c->state == CONN_LEAVING || c->state == CONN_MEETING) osnet_write(c);
}

static void have_shut(uv_shutdown_t *r, int status) {
    struct conn *c = r->data;
    if (status < 0 && c->state == CONN_LEAVING) conn_end(c);
}

/* A close with bytes of the peer still unread would reset the connection, and the peer might never see our last words.
 * So only our direction is closed; the peer's is read and thrown away until it closes too, or patience ends. */
static void shut(struct conn *c) {
    if (c->shut) return;
    c->shut = true;
    c->shutdown.data = c;
    if (uv_shutdown(&c->shutdown, &c->s.stream, have_shut) != 0) conn_end(c);
}

static void all_written(struct conn *c) {
    if (c->state == CONN_LEAVING) {
        shut(c);
        return;
    }
    if (c->out.slots > OSLOOP_READ_BYTES) { /* a burst is over: give its memory back */
        buf_fini(&c->out);
        buf_init(&c->out, OSLOOP_UNSENT_MAX);
    }
    if (!c->watched) return; /* nobody saw that there was something left */
    c->watched = false;
    osloop_again(c->loop); /* the owner's pass of this turn is over already */
    c->handler.drained(c->handler.ctx, (conn_id){c->id});
}

/* What does not fit into the socket now is handed to libuv as a whole; meanwhile more gathers in `out`. */
void osnet_write(struct conn *c) {
    if (c->writing) return;
    if (c->tls != NULL) osnet_seal(c);
    if (c->out.len > 0) {
        uv_buf_t b = uv_buf_init((char *)c->out.at, (unsigned)c->out.len);
        int n = uv_try_write(&c->s.stream, &b, 1);
        if (n < 0 && n != UV_EAGAIN) {
            fail_later(c, uv_strerror(n));
            return;
        }
        size_t taken = n > 0 ? (size_t)n : 0;
        if (taken < c->out.len) {
            struct buf empty = c->flying;
            c->flying = c->out;
            c->out = empty;
            b = uv_buf_init((char *)c->flying.at + taken, (unsigned)(c->flying.len - taken));
            c->writing = true;
            ENSURE(uv_write(&c->write, &c->s.stream, &b, 1, have_written) == 0);
            return;
        }
        buf_clear(&c->out);
    }
    all_written(c);
}

/* Who was written to last goes first. What a request leads to comes behind its answer (an order for a worker behind
 * "accepted", the news of an end behind the acknowledgement to the worker), and it is the consequence that somebody
 * waits for. All of them go within this turn. */
void osnet_flush(struct osloop *l) {
    uint32_t count = l->dirty.count; /* what its callbacks make dirty is of the next turn */
    for (uint32_t i = count; i-- > 0;) {
        struct conn *c = conn_of(l, (conn_id){*(uint64_t *)vec_at(&l->dirty, i)});
        if (c == NULL) continue;
        c->dirty = false;
        if (c->rests) {
            c->rests = false;
            osnet_read(c);
        }
        if (c->state == CONN_OPEN && c->unread) {
            osloop_again(l);
            osnet_unseal(c, (struct slice){0});
        }
        if (c->state == CONN_OPEN || c->state == CONN_LEAVING) {
            osnet_write(c);
        } else if (c->state == CONN_FAILED) {
            struct net_handler h = c->handler;
            conn_id id = {c->id};
            char why[sizeof c->why];
            memcpy(why, c->why, sizeof why);
            conn_end(c);
            osloop_again(l);
            h.closed(h.ctx, id, why);
        }
    }
    uint32_t rest = l->dirty.count - count;
    if (rest > 0) memmove(l->dirty.at, vec_at(&l->dirty, count), rest * sizeof(uint64_t));
    l->dirty.count = rest;
}

int64_t osnet_expire(struct osloop *l) {
    int64_t now = osloop_mono_ms(), next = TIME_NEVER;
    uint32_t kept = 0;
    l->meeting_count = 0;
    l->leaving_bytes = 0;
    memset(l->meeting_from, 0, sizeof l->meeting_from);
    for (uint32_t i = 0; i < l->hurried.count; i++) {
        uint64_t id = *(uint64_t *)vec_at(&l->hurried, i);
        struct conn *c = conn_of(l, (conn_id){id});
        if (c == NULL || (c->state != CONN_LEAVING && c->state != CONN_MEETING)) continue;
        if (c->by_ms <= now) {
            osloop_again(l);
            osnet_fail_now(c, "the handshake took too long");
            continue;
        }
        if (c->state == CONN_LEAVING) l->leaving_bytes += held_bytes(c);
        if (c->state == CONN_MEETING && !c->is_known) {
            l->meeting_count++;
            l->meeting_from[c->origin]++;
        }
        if (c->by_ms < next) next = c->by_ms;
        *(uint64_t *)vec_at(&l->hurried, kept++) = id;
    }
    l->hurried.count = kept;
    return next;
}

bool osnet_has_unsent(struct osloop *l) {
    for (uint32_t i = 1; i <= l->conns.high; i++) {
        const struct conn *c = pool_at(&l->conns, i);
        if (c->id != 0 && (c->state == CONN_OPEN || c->state == CONN_LEAVING) &&
            (c->writing || c->out.len > 0 || c->plain.len > 0))
            return true;
    }
    return false;
}

/* ---- accepting ---- */

/* Some places are left for those who are on this machine: an administrator gets in though the network has taken all. */
static bool has_room(const struct osloop_listener *n) {
    const struct pool *all = &n->loop->conns;
    uint32_t kept = all->max / OSLOOP_LOCAL_PARTS;
    return n->is_pipe || all->count < all->max - kept;
}

static void have_peer(uv_stream_t *s, int status) {
    struct osloop_listener *n = s->data;
    if (status < 0) return; /* no descriptors left, mostly: the peer will try again */
    struct conn *c = has_room(n) ? conn_new(n->loop, &n->handler, n->is_pipe) : NULL;
    if (c == NULL) { /* too many: take it, so that it hears something, and hang up */
        union osloop_stream *extra = malloc(sizeof *extra);
        if (extra == NULL) PANIC("no memory");
        int made = n->is_pipe ? uv_pipe_init(&n->loop->uv, &extra->pipe, 0) : uv_tcp_init(&n->loop->uv, &extra->tcp);
        ENSURE(made == 0);
        (void)!uv_accept(s, &extra->stream);
        uv_close(&extra->handle, (uv_close_cb)(void (*)(void))free);
        return;
    }
    if (uv_accept(s, &c->s.stream) != 0) {
        conn_end(c);
        return;
    }
    osnet_meet(c);
}

/* A socket file that nobody listens on is left over from a killed process. */
static bool unix_is_dead(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    bool dead = connect(fd, (struct sockaddr *)&a, sizeof a) != 0 && errno == ECONNREFUSED;
    close(fd);
    return dead;
}

static int listen_unix(struct osloop *l, struct osloop_listener *n, const char *path) {
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path) return UV_ENAMETOOLONG;
    int e = uv_pipe_init(&l->uv, &n->s.pipe, 0);
    if (e != 0) return e;
    n->open = n->is_pipe = true;
    if (unix_is_dead(path)) unlink(path);
    e = uv_pipe_bind(&n->s.pipe, path);
    if (e == 0) snprintf(n->path, sizeof n->path, "%s", path);
    return e;
}

static int listen_tcp(struct osloop *l, struct osloop_listener *n, const char *address) {
    struct sockaddr_storage a;
    if (!address_parse(address, &a)) return UV_EINVAL;
    int e = uv_tcp_init(&l->uv, &n->s.tcp);
    if (e != 0) return e;
    n->open = true;
    return uv_tcp_bind(&n->s.tcp, (struct sockaddr *)&a, 0);
}

/* A socket that someone else bound, and keeps when we are gone. */
static int listen_inherited(struct osloop *l, struct osloop_listener *n, int fd) {
    int e = uv_tcp_init(&l->uv, &n->s.tcp);
    if (e != 0) return e;
    n->open = true;
    return uv_tcp_open(&n->s.tcp, fd);
}

static void listener_end(struct osloop_listener *n) {
    if (!n->open || uv_is_closing(&n->s.handle)) return;
    uv_close(&n->s.handle, NULL); /* libuv removes the path it bound */
}

static struct osloop_listener *listener_new(struct osloop *l, const struct net_handler *handler) {
    REQUIRE(l->listener_count < OSLOOP_LISTENERS_MAX);
    struct osloop_listener *n = &l->listeners[l->listener_count++];
    *n = (struct osloop_listener){.loop = l, .handler = *handler};
    return n;
}

/* `e`: how its making went. */
static enum err listener_start(struct osloop_listener *n, int e, const char *address, char ret[OSLOOP_ADDRESS_MAX],
                               struct why *why) {
    n->s.handle.data = n;
    if (e == 0) e = uv_listen(&n->s.stream, BACKLOG, have_peer);
    if (e != 0) {
        listener_end(n);
        enum err kind = e == UV_EINVAL ? ERR_INVALID : e == UV_EADDRINUSE ? ERR_CONFLICT : ERR_IO;
        return why_set(why, kind, "cannot listen on %s: %s%s", address, uv_strerror(e),
                       e == UV_EADDRINUSE ? "; choose another address" : "");
    }
    struct sockaddr_storage a = {0};
    int len = sizeof a;
    if (n->is_pipe)
        snprintf(ret, OSLOOP_ADDRESS_MAX, "%s", address);
    else if (uv_tcp_getsockname(&n->s.tcp, (struct sockaddr *)&a, &len) == 0)
        address_text(&a, ret);
    return ERR_OK;
}

enum err osloop_listen(struct osloop *l, const char *address, const struct net_handler *handler,
                       char ret[OSLOOP_ADDRESS_MAX], struct why *why) {
    struct osloop_listener *n = listener_new(l, handler);
    const char *path = address + sizeof UNIX_PREFIX - 1;
    int e = is_unix(address) ? listen_unix(l, n, path) : listen_tcp(l, n, address);
    return listener_start(n, e, address, ret, why);
}

enum err osloop_listen_at(struct osloop *l, int fd, const struct net_handler *handler, char ret[OSLOOP_ADDRESS_MAX],
                          struct why *why) {
    struct osloop_listener *n = listener_new(l, handler);
    return listener_start(n, listen_inherited(l, n, fd), "a socket that was handed over", ret, why);
}

void osloop_listen_end(struct osloop *l) {
    for (uint32_t i = 0; i < l->listener_count; i++) listener_end(&l->listeners[i]);
}

void osnet_close_all(struct osloop *l) {
    osloop_listen_end(l);
    for (uint32_t i = 1; i <= l->conns.high; i++) {
        struct conn *c = pool_at(&l->conns, i);
        if (c->id != 0) conn_end(c);
    }
}

/* ---- the calls ---- */

static void have_dialed(uv_connect_t *r, int status) {
    struct conn *c = r->data;
    if (c->state != CONN_DIALING) return;
    if (status < 0)
        osnet_fail_now(c, uv_strerror(status));
    else
        osnet_meet(c);
}

static void have_resolved(uv_getaddrinfo_t *r, int status, struct addrinfo *list) {
    struct conn *c = r->data;
    c->resolving = false;
    int e = status;
    if (c->state == CONN_DIALING && e == 0) e = uv_tcp_connect(&c->connect, &c->s.tcp, list->ai_addr, have_dialed);
    uv_freeaddrinfo(list);
    if (c->state == CONN_DIALING && e != 0) osnet_fail_now(c, uv_strerror(e));
    conn_free(c);
}

static conn_id op_dial(struct net *n, const char *address, const struct net_handler *handler) {
    struct osloop *l = (struct osloop *)n;
    struct conn *c = conn_new(l, handler, is_unix(address));
    if (c == NULL) return (conn_id){0};
    char host[256], port[8];
    struct sockaddr_storage a;
    int e = 0;
    c->is_known = true;
    if (strncmp(address, TLS_PREFIX, sizeof TLS_PREFIX - 1) == 0) {
        c->wants_tls = true;
        address += sizeof TLS_PREFIX - 1;
        address += strspn(address, "/"); /* tls://host:port */
        if (address_split(address, host, port)) memcpy(c->host, host, sizeof host);
    }
    if (c->wants_tls && l->tls_client == NULL) {
        e = UV_EPROTONOSUPPORT;
    } else if (c->is_pipe) {
        uv_pipe_connect(&c->connect, &c->s.pipe, address + sizeof UNIX_PREFIX - 1, have_dialed);
    } else if (address_parse(address, &a)) {
        e = uv_tcp_connect(&c->connect, &c->s.tcp, (struct sockaddr *)&a, have_dialed);
    } else if (address_split(address, host, port)) {
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        e = uv_getaddrinfo(&l->uv, &c->resolve, have_resolved, host, port, &hints);
        c->resolving = e == 0;
    } else {
        e = UV_EINVAL;
    }
    if (e != 0) fail_later(c, uv_strerror(e));
    return (conn_id){c->id};
}

static void op_send(struct net *n, conn_id id, struct slice bytes) {
    struct conn *c = conn_of((struct osloop *)n, id);
    if (c == NULL || c->state != CONN_OPEN || bytes.len == 0) return;
    struct buf *to = c->tls != NULL ? &c->plain : &c->out;
    buf_put_slice(to, bytes);
    if (to->full)
        fail_later(c, "the peer does not take what is sent");
    else
        osnet_mark_dirty(c);
}

static uint64_t op_unsent(struct net *n, conn_id id) {
    struct conn *c = conn_of((struct osloop *)n, id);
    size_t flying = c != NULL && c->writing ? uv_stream_get_write_queue_size(&c->s.stream) : 0;
    uint64_t bytes = c == NULL ? 0 : c->plain.len + c->out.len + flying;
    if (bytes > 0) c->watched = true;
    return bytes;
}

static void op_pause(struct net *n, conn_id id, bool on) {
    struct conn *c = conn_of((struct osloop *)n, id);
    if (c == NULL || c->paused == on) return;
    c->paused = on;
    if (!on)
        osnet_read(c);
    else if (c->reading)
        uv_read_stop(&c->s.stream);
    if (on) c->reading = false;
    if (on || c->tls == NULL) return;
    c->unread = true; /* what was held back is told at the end of the turn */
    osnet_mark_dirty(c);
}

static void op_close(struct net *n, conn_id id) {
    struct osloop *l = (struct osloop *)n;
    struct conn *c = conn_of(l, id);
    if (c == NULL || c->state == CONN_LEAVING || c->state == CONN_CLOSED) return;
    if (c->state != CONN_OPEN) {
        conn_end(c);
        return;
    }
    osnet_leave(c);
}

/* ---- ports for services ---- */

static uint32_t op_take_port(struct net *n) {
    struct u32vec *leases = &((struct osloop *)n)->port_leases;
    int fd = -1;
    uint32_t port = oslease_port(&fd);
    if (port == 0) return 0;
    u32vec_push(leases, port);
    u32vec_push(leases, (uint32_t)fd);
    return port;
}

static void op_give_port(struct net *n, uint32_t port) {
    struct u32vec *leases = &((struct osloop *)n)->port_leases;
    for (uint32_t i = 0; i < leases->count; i += 2) {
        if (leases->at[i] != port) continue;
        (void)close((int)leases->at[i + 1]);
        leases->count -= 2;
        leases->at[i] = leases->at[leases->count];
        leases->at[i + 1] = leases->at[leases->count + 1];
        return;
    }
}

static uint64_t op_listeners(struct net *n, uint32_t port) {
    (void)n;
    return oslisteners_at(port);
}

const struct net_ops osnet_ops = {op_dial,  op_send,      op_unsent,    op_pause,
                                  op_close, op_take_port, op_give_port, op_listeners};
