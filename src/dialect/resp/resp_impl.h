/* resp_impl.h: what the files of the RESP dialect share. */
#ifndef REEVE_RESP_IMPL_H
#define REEVE_RESP_IMPL_H

#include "resp.h"
#include "resp_session.h"
#include "server_impl.h"
#include "view_store.h"

#define RESP_REDIS_VERSION "7.0.0" /* whose commands ours are like: clients ask */

struct resp_mark { /* replies up to `end` may leave when `lsn` is durable */
    uint64_t lsn;
    size_t end;
};

struct resp_sub { /* a subscription */
    struct bytes *text;
    bool is_pattern;
    uint32_t watch; /* its number in the engine */
};

struct resp_watched { /* a key that EXEC finds unchanged, or does nothing */
    struct bytes *key;
    uint64_t version;
    int64_t expires_ms;
};

#define RESP_NAME_BYTES 65u

struct resp {
    conn_id conn; /* first: never 0 while in use */
    struct resp_in in;
    uint8_t version; /* of RESP: 2 or 3 */
    uint32_t index; /* in the pool */
    bool is_ready, is_holding;
    bool has_spoken; /* something came */
    bool stalled; /* commands wait until replies have left */
    bool ending; /* nothing more is served; the connection ends when its replies are out */
    char name[RESP_NAME_BYTES]; /* by CLIENT SETNAME */
    struct buf held;            /* replies */
    struct vec marks;           /* struct resp_mark */
    bool multi, aborted;        /* between MULTI and EXEC; a command of it was refused */
    struct buf queue;           /* its commands */
    uint32_t queued;
    struct vec watched; /* struct resp_watched */
    struct vec subs;    /* struct resp_sub, the oldest first */
    uint32_t watch_last;
    uint32_t pattern_bytes; /* of the patterns in it that are not cheap (pattern.h) */
};

static inline struct resp *resp_of(const struct session *n) {
    return n->dialect_state;
}

static inline bool resp_is_own_listener(const struct session *n) {
    return n->only == &resp_dialect;
}

struct resp_command;

struct resp_ask { /* a command that is being served */
    struct server *s;
    struct session *n;
    struct resp *p;
    const struct resp_command *command;
    const struct slice *args; /* the name of the command first */
    uint32_t count;
    struct resp_out out;
    struct store_place place; /* whose keys */
    wall_time now;
    uint64_t work;  /* of the pass so far, in nanoseconds or so: looking at many keys, matching patterns */
    uint64_t began; /* what it was before this command; of a transaction before EXEC */
};

/* What one command may take, and all commands of one pass: others want their turn. */
#define RESP_WORK_MAX 10000000u
#define RESP_LOOK_WORK 50u /* looking at a key */

#define RESP_READS 1u     /* the store */
#define RESP_WRITES 2u
#define RESP_STRANGER 4u  /* before AUTH */
#define RESP_AT_ONCE 8u   /* also between MULTI and EXEC */
#define RESP_ALONE 32u    /* not between MULTI and EXEC */
#define RESP_LISTENER 16u /* also by RESP2 while subscribed */

struct resp_command {
    const char *name; /* lower case */
    void (*serve)(struct resp_ask *x);
    int8_t arity; /* arguments with the name; negative: at least so many */
    uint8_t flags;
    uint8_t op; /* of the request whose rights it uses; 0 = it is about who calls */
    int8_t first_key, last_key, step; /* where its keys are; last -1 = to the end, 0 = it has none */
    const char *text;
};

/* resp_command.c */
extern const struct resp_command resp_commands[];
extern const uint32_t resp_command_count;
const struct resp_command *resp_command_find(struct slice name); /* NULL = there is none */
/* Checks and serves, or keeps for EXEC. */
void resp_command_serve(struct resp_ask *x);

/* What the commands share (resp_common.c). */
bool resp_is(struct slice word, const char *literal); /* in any case */
bool resp_integer(struct resp_ask *x, struct slice text, int64_t *ret); /* false: it was refused */
void resp_wrong_arity(struct resp_ask *x);
void resp_wrong_type(struct resp_ask *x);
void resp_syntax(struct resp_ask *x);
/* A key as it stands now; false: it is not there. Its value as text: `room` is for a number. */
bool resp_look(const struct resp_ask *x, struct slice key, struct item_view *ret);
struct slice resp_value(const struct item_view *v, char room[24]);
/* A key that may hold a text (or number). False: it holds a set, and that was said. */
bool resp_look_text(struct resp_ask *x, struct slice key, bool *ret_there, struct item_view *ret);
bool resp_look_set(struct resp_ask *x, struct slice key, bool *ret_there, struct item_view *ret);
/* A change through the engine; false: it was refused, and that was said. */
bool resp_change(struct resp_ask *x, const struct cmd_store *change, struct reply *ret);
enum err resp_try(struct resp_ask *x, const struct cmd_store *change, struct reply *ret);
void resp_refused(struct resp_ask *x, const struct reply *r);
/* Keys that are made from the state of jobs and workers (resp_key_map). */
bool resp_is_virtual(struct slice key);

/* Who may come (resp_gate.c). */
bool resp_login(struct resp_ask *x, struct slice name, struct slice token);
void resp_welcome(struct server *s, struct session *n); /* of who needs no token */
void resp_be(struct resp_ask *x); /* from here on it is asked by who the session is of */
void resp_flush(struct server *s, struct session *n);   /* sends what may leave */

/* Transactions and subscriptions (resp_multi.c, resp_channel.c). */
void resp_multi_queue(struct resp_ask *x);
bool resp_multi_waits(struct resp_ask *x); /* an EXEC that this batch has no room for: later */
void resp_multi_end(struct resp *p); /* as DISCARD and UNWATCH */
void resp_channels_end(struct resp *p);
/* A message on a channel that this session has subscribed to. */
void resp_tell(struct server *s, struct session *n, uint64_t watch, const struct store_effect *x);
void resp_channels_stop(struct resp_ask *x); /* all, without a word */

/* Where a SCAN goes on (resp_scan.c): false: the cursor is not known, and that was said. */
bool resp_bookmark_find(struct resp_ask *x, struct slice cursor, struct slice set, struct slice *ret);
uint64_t resp_bookmark_put(struct resp_ask *x, struct slice where, struct slice set);

/* The functions of the table. */
#define RESP_SERVE(name) void resp_do_##name(struct resp_ask *x)
RESP_SERVE(ping); RESP_SERVE(echo); RESP_SERVE(auth); RESP_SERVE(hello); RESP_SERVE(select); RESP_SERVE(info);
RESP_SERVE(command); RESP_SERVE(client); RESP_SERVE(config); RESP_SERVE(quit); RESP_SERVE(reset);
RESP_SERVE(dbsize); RESP_SERVE(time); RESP_SERVE(wait);
RESP_SERVE(get); RESP_SERVE(set); RESP_SERVE(setnx); RESP_SERVE(setex); RESP_SERVE(getset); RESP_SERVE(getdel);
RESP_SERVE(getex); RESP_SERVE(mget); RESP_SERVE(mset); RESP_SERVE(incr); RESP_SERVE(incrby); RESP_SERVE(append);
RESP_SERVE(strlen); RESP_SERVE(cas); RESP_SERVE(casver); RESP_SERVE(cad); RESP_SERVE(getver);
RESP_SERVE(del); RESP_SERVE(exists); RESP_SERVE(expire); RESP_SERVE(ttl); RESP_SERVE(persist); RESP_SERVE(type);
RESP_SERVE(keys); RESP_SERVE(scan);
RESP_SERVE(sadd); RESP_SERVE(smembers); RESP_SERVE(sismember); RESP_SERVE(smismember); RESP_SERVE(scard);
RESP_SERVE(sscan);
RESP_SERVE(subscribe); RESP_SERVE(unsubscribe); RESP_SERVE(publish);
RESP_SERVE(multi); RESP_SERVE(exec); RESP_SERVE(discard); RESP_SERVE(watch); RESP_SERVE(unwatch);

#endif
