/* fetch.h: one HTTP request to a server far away, made by someone who does not keep the caller waiting. On Linux a
 * process of its own (os/osfetch.h), so that neither a name server that is silent nor a library that reads strangers'
 * bytes touches the loop; where there is none (the simulator), nothing is fetched.
 *
 * All calls are the loop thread's and none of them waits. The handler is never called from inside a call. */
#ifndef REEVE_FETCH_H
#define REEVE_FETCH_H

#include "arena.h"
#include "buf.h"
#include "err.h"

typedef struct { uint64_t v; } fetch_id; /* 0 = none; never used again */

#define FETCH_URL_MAX 2048u
#define FETCH_FORM_MAX 65536u
#define FETCH_BODY_MAX (1u << 20)
#define FETCH_CA_MAX (1u << 20)

struct fetch_spec {
    struct slice url;
    struct slice form;          /* application/x-www-form-urlencoded; empty: GET */
    struct slice authorization; /* header; empty: none */
    struct slice ca;            /* authorities as PEM; empty: those of the system */
    uint32_t timeout_ms;
    uint32_t bytes_max;         /* of the answer; more is an error */
    bool is_public;             /* only an address that everybody reaches: the URL is not our owner's choice */
};

/* No redirect is followed: it is an answer like another. */
struct fetched {
    uint32_t status; /* 0: no answer, `problem` says why */
    int64_t max_age_s; /* by Cache-Control; -1: not said */
    int64_t date_ms;   /* wall, of the server; 0: not said */
    struct slice body;
    struct slice problem;
};

struct fetch_handler {
    void (*came)(void *ctx, fetch_id id, const struct fetched *f); /* valid during the call; then it is over */
    void *ctx;
};

struct fetcher {
    const struct fetcher_ops *ops;
};

struct fetcher_ops {
    fetch_id (*start)(struct fetcher *f, const struct fetch_spec *spec, const struct fetch_handler *h); /* 0: no room */
    void (*stop)(struct fetcher *f, fetch_id id); /* its handler is not called; fine with one that is over */
};

/* How the two processes write these; for implementations. */
void fetch_spec_put(struct buf *out, const struct fetch_spec *spec);
CHECKED enum err fetch_spec_take(struct slice in, struct arena *arena, struct fetch_spec *ret, struct why *why);
void fetched_put(struct buf *out, const struct fetched *f);
CHECKED enum err fetched_take(struct slice in, struct arena *arena, struct fetched *ret, struct why *why);

#endif
