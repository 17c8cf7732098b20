/* osloop_impl.h: the insides of the loop, shared by osloop.c (turns, descriptors, signals) and osnet.c
 * (connections). */
#ifndef REEVE_OSLOOP_IMPL_H
#define REEVE_OSLOOP_IMPL_H

#include <uv.h>

#include "buf.h"
#include "map.h"
#include "osloop.h"
#include "ostls.h"
#include "pool.h"
#include "vec.h"

#define OSLOOP_READ_BYTES (256u * 1024u)
/* Read in one turn of the loop from all connections; from then on each gives a little, so that nobody is kept out. */
#define OSLOOP_TURN_BYTES (1u << 20)
#define OSLOOP_LATE_BYTES (16u * 1024u)
#define OSLOOP_READS 4u /* of one connection in a turn, so large: then it is another's turn */
#define OSLOOP_UNSENT_MAX (1ull << 30) /* owners watch `unsent` and stay far below */
#define OSLOOP_GRACE_MS 5000
#define OSLOOP_LEAVING_BYTES_MAX (32ull << 20) /* unsent to all that are closed; with more, the next close is at once */
#define OSLOOP_MEET_MS 5000    /* for the first bytes of a connection, and as long again for a handshake */
#define OSLOOP_KEEPALIVE_S 60  /* a peer that vanished without a word is noticed some minutes later */
#define OSLOOP_MEETING_MAX 1024u /* connections in that state; with more, the oldest of them goes */
#define OSLOOP_MEETING_SHARE (OSLOOP_MEETING_MAX / 2u) /* of those from one address; then its own oldest goes */
#define OSLOOP_ORIGINS 256u /* addresses are counted by a hash: two that share one share their part */
#define OSLOOP_PLAIN_BYTES (64u * 1024u)
#define OSLOOP_LISTENERS_MAX 8u
#define OSLOOP_LOCAL_PARTS 32u /* one of so many parts of all connections is for Unix sockets alone */
#define OSLOOP_SIGNALS_MAX 8u

union osloop_stream {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

enum conn_state {
    CONN_DIALING,
    CONN_MEETING, /* connected; first bytes or a TLS handshake are under way */
    CONN_OPEN,
    CONN_FAILED,  /* its handler is yet to be told */
    CONN_LEAVING, /* closed by its owner; what was sent still goes out */
    CONN_CLOSED,  /* libuv has the last word */
};

struct conn {
    uint64_t id; /* first: never 0 while in use */
    struct osloop *loop;
    struct net_handler handler;
    enum conn_state state;
    bool is_pipe, reading, paused, writing, dirty;
    uint8_t reads;       /* in a row that filled all of the space */
    bool rests;          /* it is not read for the rest of the turn */
    bool is_known;       /* to its owner: dialed, or opened */
    int64_t by_ms;       /* meeting, leaving: when patience ends */
    uint8_t origin;      /* meeting: hash of the address it came from */
    union osloop_stream s;
    uv_connect_t connect;
    uv_getaddrinfo_t resolve;
    bool resolving, shut, handle_gone;
    bool watched; /* its owner saw bytes unsent, and waits for `drained` */
    uv_shutdown_t shutdown;
    uv_write_t write;
    struct buf out;    /* not yet given to the system */
    struct buf flying; /* given, with `write` */
    struct ostls_conn *tls; /* NULL: plain */
    struct buf plain;       /* TLS: to be sent, not sealed yet */
    bool wants_tls;         /* dialing */
    bool said_bye, unread;  /* unread: bytes of the peer may wait inside `tls` */
    char host[256];         /* that was dialed with TLS */
    char why[120];     /* failed */
};

struct osloop_listener {
    struct osloop *loop;
    struct net_handler handler;
    union osloop_stream s;
    bool is_pipe, open;
    char path[OSLOOP_ADDRESS_MAX]; /* of a Unix socket: removed at the end */
};

struct osloop_watch {
    uint64_t id; /* first */
    struct osloop *loop;
    uv_poll_t poll;
    void (*ready)(void *ctx, unsigned when);
    void *ctx;
};

struct signal_watch {
    struct osloop *loop;
    uv_signal_t handle;
    void (*fn)(void *ctx, int number);
    void *ctx;
};

struct osloop {
    struct net net; /* first: what osloop_net gives */
    uv_loop_t uv;
    uv_check_t check;
    uv_idle_t idle; /* runs while the next turn must not wait */
    uv_timer_t timer;
    struct osloop_owner owner;
    struct pool conns; /* struct conn */
    struct map conn_by_id;
    struct u32vec port_leases; /* a port, its descriptor, a port, ... */
    struct pool watches;       /* struct osloop_watch */
    struct map watch_by_id;
    uint64_t id_last;
    struct vec dirty;   /* uint64_t: connections with something to send or to tell */
    struct vec hurried; /* uint64_t: connections whose time is limited: meeting or leaving */
    uint32_t meeting_count; /* that came to us, when the turn began, and those since */
    uint32_t meeting_from[OSLOOP_ORIGINS];
    uint64_t leaving_bytes; /* unsent to those that are closed, as above */
    struct ostls *tls_server, *tls_client; /* owned; NULL = plain only */
    char *plain_space; /* OSLOOP_PLAIN_BYTES, with the first TLS connection */
    struct osloop_listener listeners[OSLOOP_LISTENERS_MAX];
    uint32_t listener_count;
    struct signal_watch signals[OSLOOP_SIGNALS_MAX];
    uint32_t signal_count;
    bool running, stopping, closing;
    bool ending, again; /* at the end of a turn; the next one must not wait */
    int64_t stop_by_ms;
    uint64_t turn_bytes; /* read in this turn */
    char *read_space; /* OSLOOP_READ_BYTES, shared: a read is used up before the next one */
};

int64_t osloop_mono_ms(void);
void osloop_again(struct osloop *l); /* the next turn does not wait */

extern const struct net_ops osnet_ops;
void osnet_flush(struct osloop *l);       /* sends what was sent, tells of what failed */
int64_t osnet_expire(struct osloop *l);   /* ends what has taken too long; when the next one is due */
bool osnet_has_unsent(struct osloop *l);
void osnet_close_all(struct osloop *l);

/* What osnet.c and osnet_tls.c ask of each other. */
void osnet_opened(struct conn *c);
void osnet_fail_now(struct conn *c, const char *text); /* from a callback of the loop */
void osnet_mark_dirty(struct conn *c);
void osnet_write(struct conn *c);
void osnet_read(struct conn *c);
void osnet_hurry(struct conn *c, int64_t ms);
void osnet_meeting_begins(struct conn *c); /* that came to us: another may have to go for it */
void osnet_leave(struct conn *c); /* what is gathered still goes out */

void osnet_meet(struct conn *c);                       /* connected: finds out what it speaks */
void osnet_met(struct conn *c, struct slice bytes);    /* and the bytes that it does so with */
void osnet_unseal(struct conn *c, struct slice bytes); /* tells its owner what they say */
void osnet_seal(struct conn *c);                       /* what is to be sent, as bytes for the network */

#endif
