/* wire_session.h: messages of every connection (who is it, what went wrong, try later), and parts others share. */
#ifndef REEVE_WIRE_SESSION_H
#define REEVE_WIRE_SESSION_H

#include "tlv.h"

#define WIRE_NAME_MAX 255u
#define WIRE_TARGET_MAX 511u /* a flow, and the name of a job in it */
#define WIRE_TEXT_MAX 4096u
#define WIRE_TOKEN_MAX 8192u /* one of an identity provider tells much */
#define WIRE_VALUE_MAX 65536u
#define WIRE_BODY_MAX 1048576u
#define WIRE_SOURCE_MAX 16777216u /* a flow file that is kept */
#define WIRE_COUNT_MAX 1000000u
#define WIRE_FLOWS_MAX 10000u /* of one submit: each is decided on its own while the loop stands still */

/* ---- shared parts ---- */

struct wire_name { /* a name, or a target: `f3k9a`, `f3k9a/train`, or an unambiguous beginning of one */
    struct slice name;
};

struct wire_pair { /* a label, a variable of the environment */
    struct slice key, value;
};

struct wire_amount {
    struct slice name;
    uint64_t amount;
};

struct wire_result { /* what became of one thing of a batch */
    struct slice target;
    struct slice code; /* word of the error table; empty = done */
    struct slice message;
    bool repeated; /* it was so already */
};

struct wire_kept { /* an artifact, stored as a blob */
    struct slice name, hash;
    uint64_t bytes;
};

enum wire_stream { WIRE_STREAM_OUT, WIRE_STREAM_ERR, WIRE_STREAM_NOTE, WIRE_STREAM_COUNT };
extern const char *const wire_stream_words[WIRE_STREAM_COUNT];

struct wire_log_piece { /* of what an attempt wrote; offsets count the bytes of all streams together */
    uint64_t offset;
    uint8_t stream; /* enum wire_stream; a note is of the worker itself */
    int64_t time_ms;
    struct slice data;
};

extern const struct tlv_desc wire_name_desc, wire_pair_desc, wire_amount_desc, wire_result_desc, wire_kept_desc,
    wire_log_piece_desc;

/* ---- messages ---- */

enum wire_peer { WIRE_PEER_CLIENT, WIRE_PEER_WORKER, WIRE_PEER_COUNT };

struct wire_hello {
    uint8_t version_min, version_max; /* of frames */
    uint8_t peer;                     /* enum wire_peer */
    struct slice build;
    struct slice token;  /* empty: the socket itself vouches (peer uid, client certificate) */
    struct slice tenant; /* to act for; empty = that of the token */
    bool agent;          /* the connection speaks for an agent, whoever's token it is */
};

struct wire_welcome {
    uint64_t lsn;
    uint8_t version;
    struct slice build;
    uint64_t epoch;
    uint32_t shard;
    struct slice principal, tenant;
    struct tlv_list roles; /* of wire_name */
    int64_t now_ms;        /* wall clock of the server */
    uint32_t frame_bytes_max;
    uint32_t lease_ms, heartbeat_ms; /* for workers */
};

struct wire_error {
    uint64_t lsn;
    struct slice code; /* word of the error table */
    struct slice message;
    uint32_t retry_after_ms; /* 0 = sending it again does not help */
    uint64_t version;        /* of a conflict in the store: the one that is there */
};

struct wire_busy {
    uint32_t retry_after_ms;
    struct slice reason;
};

struct wire_accepted {
    uint64_t lsn;
    bool repeated; /* answered as before: an idempotency key, or an acknowledgement given once more */
    struct tlv_list results; /* of wire_result: of a request about several things, in its order */
    bool more; /* others fit as well, and were left as they are: ask again */
};

struct wire_ping {
    uint64_t number; /* comes back with the pong */
};

struct wire_goodbye { /* nothing new is taken on this connection; what is under way is still answered */
    struct slice reason;
    uint32_t retry_after_ms;
};

struct wire_stop { /* ends a request that answers with a stream; its last frame is the answer */
    TLV_ALONE uint32_t request;
};

extern const struct tlv_desc wire_hello_desc, wire_welcome_desc, wire_error_desc, wire_busy_desc, wire_accepted_desc,
    wire_ping_desc, wire_goodbye_desc, wire_stop_desc;

#endif
