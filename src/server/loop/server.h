/* server.h: the server: connections in, commands to the engine, records to the journal, effects out.
 *
 * Written against the ports only (disk, clock, net, hasher): os/ and the simulator drive it the same way. One thread.
 *
 *     server_open(…)                    reads the journal, takes it over, derives what is outstanding
 *     server_handler(s)                 give it to the listeners; it only gathers requests
 *     server_pass(s)                    once per turn of the loop: serves them
 *     server_next(s)                    when a pass is due though nothing happens
 *     server_fds(s, …)                  readable: server_wake, then a pass (what was written elsewhere is done)
 *     server_step(s)                    without threads: does what they would have done
 *
 * Nothing leaves before the record it was computed from is durable. When a write or a sync fails, server_failed says so
 * and the process has to stop: what was acknowledged is in the journal, what was not is not answered. */
#ifndef REEVE_SERVER_H
#define REEVE_SERVER_H

#include "clock.h"
#include "digest.h"
#include "disk.h"
#include "err.h"
#include "history.h"
#include "limit.h"
#include "net.h"
#include "wtime.h"
#include "zones.h"

struct assets;
struct buf;
struct background;
struct journal;
struct observer;
struct dialect_setting;
struct kill_switch;
struct replayer;
struct sign_checker;
struct signer;
struct fetcher;
struct issuers;
struct verifier;
struct server;

enum server_level { SERVER_DEBUG, SERVER_INFO, SERVER_WARN, SERVER_ERROR };

/* A worker that is to be started on this machine, and who it will be. */
#define SERVER_LAUNCH_NAME_BYTES 41u
#define SERVER_LAUNCH_LABELS_MAX 16u
#define SERVER_LAUNCH_LABEL_BYTES 256u
struct server_launch {
    uint32_t slots;
    char name[SERVER_LAUNCH_NAME_BYTES];                              /* empty = any */
    char labels[SERVER_LAUNCH_LABELS_MAX][SERVER_LAUNCH_LABEL_BYTES]; /* "key=value" */
    uint32_t label_count;
};
struct server_launched {
    char worker[64]; /* its id */
    uint32_t pid;
};

struct server_world {
    struct journal *journal; /* journal.h; opened, not acquired. Closed by server_close, and when server_open fails */
    struct disk *disk;       /* of blobs, logs and credentials */
    struct clock *clock;
    struct hasher *hasher;
    struct signer *signer;              /* of checkpoints of the journal; NULL = none are made */
    const struct sign_checker *checker; /* of their signatures; NULL = nobody can check them */
    struct net *net;
    struct zones *zones; /* NULL = UTC is the only one */
    /* One line per event that matters: `what` is a word that stays the same, `text` is for people. */
    void (*log)(void *ctx, enum server_level level, const char *what, const char *text);
    void *log_ctx;
    const struct observer *observer; /* observer.h; NULL in the program */
    /* So many bytes of snapshot or journal are about to be applied by server_open. NULL = nobody wants to know. */
    void (*recovers)(void *ctx, size_t bytes);
    void *recovers_ctx;
    struct background *background; /* port/background.h; NULL = what would keep the loop waiting is refused */
    /* Called on another thread. NULL = this server starts none. */
    enum err (*launch)(void *ctx, const struct server_launch *what, struct server_launched *ret, struct why *why);
    void *launch_ctx;
    struct history *history;   /* closed with the server; NULL = flows that leave memory are gone */
    struct fetcher *fetcher;   /* port/fetch.h: of what identity providers say; NULL = none is asked */
    struct verifier *verifier; /* port/signature.h; NULL = no token of theirs is believed */
    struct replayer *replayer; /* of events that have left memory; NULL = they are gone */
};

enum server_certified { SERVER_CERTIFIED_NOBODY, SERVER_CERTIFIED_WORKERS, SERVER_CERTIFIED_EVERYONE };

struct server_options {
    struct limits limits;
    uint32_t shard;
    uint64_t compact_bytes; /* appended between two compactions; 0 = never */
    int64_t checkpoint_ms;  /* between two checkpoints of the journal; 0 = none are made */
    const char *build;
    uint32_t uid;           /* of this process: who comes by Unix socket with it, or as root, is an administrator */
    bool appends_away;      /* every append is the journal thread's, however little is going on */
    bool without_threads;   /* appends, blobs and logs that are handed over wait for server_step; there are no fds */
    const char *listen;     /* address of the port, for the names that HTTP may call us by; NULL = loopback's only */
    const char *http_hosts; /* further ones, with commas; NULL = none */
    const struct assets *assets; /* of the console (asset.h); NULL = there is none */
    bool metrics_open;           /* who asks for /metrics from this machine needs no token */
    void (*at_rest)(void); /* called when nothing has happened for a moment, once until something does; may be NULL */
    uint32_t connections_max;               /* of the net: one principal may have half of them; 0 = nobody counts */
    bool needs_tls;                         /* who does not come by Unix socket must come by TLS */
    enum server_certified certified;        /* who must show a certificate, unless by Unix socket */
    const struct dialect_setting *dialects; /* of those that need options (dialect.h); NULL = none */
    const struct kill_switch *kill_switch;  /* under `reeve up --playground` (playground.h); NULL = nobody pulls it */
};

CHECKED enum err server_open(const struct server_world *world, const struct server_options *o, struct server **ret,
                             struct why *why);
/* Closes without waiting for anybody. When nothing is in flight and nothing failed, the journal is sealed. */
void server_close(struct server *s);

/* Whom it believes who somebody is (oidc.h); it takes them over. Those before are forgotten; NULL = nobody. */
void server_issuers(struct server *s, struct issuers *issuers);

/* Where others find it by HTTP, like https://host:port: callbacks are sent there. */
void server_reached_at(struct server *s, const char *url);

const struct net_handler *server_handler(struct server *s);
void server_pass(struct server *s);
mono_time server_next(struct server *s);
void server_fds(struct server *s, int *ret_journal, int *ret_vault);
void server_wake(struct server *s);      /* one of them is readable: before the pass */
bool server_step(struct server *s);      /* false: nothing was handed over */
int server_history_fd(struct server *s); /* the same; -1 = there is no history */

/* Compaction: a child of the process folds closed segments into a snapshot, then they are trimmed. Starting a child
 * takes too long for the loop, so `start` is called on the journal's housekeeping thread.
 *
 *     server_wants_compact     so many bytes were appended since the last time
 *     server_compact           start(ctx) is called soon, elsewhere
 *     server_compact_started   it has returned; asked in each pass
 *     server_compacted         the child ended; trims when it ended well */
bool server_wants_compact(const struct server *s);
void server_compact(struct server *s, void (*start)(void *ctx), void *ctx);
bool server_compact_started(struct server *s);
void server_compacted(struct server *s, bool well);

/* Somebody pulled the plug (playground.h): whoever holds it is to be told, once what the last pass sent is out. */
bool server_wants_kill(const struct server *s);

uint64_t server_durable_lsn(const struct server *s); /* of its journal; may fall when the shard is opened again */
/* The audit trail was handed on up to this record (program/serve_forward.h), or something is in its way. */
void server_forwarded(struct server *s, uint64_t lsn);
void server_forward_failed(struct server *s);

/* Begins a graceful stop: nothing new is taken, and everyone is told. True when everything asked before is answered. */
void server_drain(struct server *s);
bool server_is_drained(const struct server *s);
CHECKED enum err server_failed(const struct server *s, struct why *why); /* ERR_OK = it has not */

#endif
