/* options.h: what a job asks of the engine, as described structs; the rest of a job's spec is opaque to the core.
 *
 * Jobs of a flow mostly share their options, so a submit carries each different set once (a *profile*) and jobs refer
 * to it. decide fills every default in before it records a set: apply reads no configuration. */
#ifndef REEVE_OPTIONS_H
#define REEVE_OPTIONS_H

#include "job_kind.h"
#include "tlv.h"

/* What the token of a job may do beyond its own flow, in its tenant. Bits of `options.token_rights`. */
#define TOKEN_READ 1u   /* look, as a viewer */
#define TOKEN_SUBMIT 2u /* submit flows and look after them, as a submitter, within the bounds of the job itself */
#define TOKEN_RIGHTS_ALL (TOKEN_READ | TOKEN_SUBMIT)

enum on_upstream { UPSTREAM_FAIL, UPSTREAM_SKIP, UPSTREAM_RUN, UPSTREAM_COUNT };

#define INPUT_GATE_COUNT 6u
extern const char *const gate_words[GATE_COUNT];
extern const uint8_t gates_in_order[INPUT_GATE_COUNT]; /* all but GATE_OUTPUT, as they are asked */

struct name_item {
    struct slice name;
};

struct label {
    struct slice key;
    struct slice value;
};

struct resource {
    struct slice name;
    uint64_t amount;
};

/* What a job needs of a worker. Equal demands of one tenant and priority form a demand class. */
struct demand {
    struct slice pool;            /* exactly one of pool and topic is set (decide fills in pool "default") */
    struct slice topic;
    struct tlv_list capabilities; /* of name_item, ascending, no two alike */
    struct tlv_list labels;       /* of label, ascending by key */
    uint32_t cpu_milli;
    uint64_t memory_bytes;
    uint32_t gpus;
    struct tlv_list resources;    /* of resource, ascending by name */
    struct tlv_list keys;         /* of name_item, ascending: concurrency keys, all taken at once */
    struct tlv_list rates;        /* of name_item, ascending: rates, a token of each per attempt */
    struct slice raw;
};

struct options {
    uint8_t kind; /* enum job_kind */
    uint32_t priority;
    struct demand demand;
    uint32_t retries;
    uint32_t backoff_base_ms;
    uint32_t backoff_cap_ms;
    uint32_t backoff_jitter_ms;
    uint8_t on_upstream;
    bool exclusive;
    bool delay_from_submit; /* delay counts from the submit, not from readiness */
    int64_t delay_ms;
    int64_t not_before_ms;  /* wall time; 0 = at once */
    int64_t deadline_ms;    /* wall time; 0 = none */
    int64_t start_within_ms;
    int64_t dispatch_timeout_ms;
    int64_t run_timeout_ms;
    struct slice preferred_worker;
    struct slice preferred_pool;
    bool affinity;          /* to the worker of the parent with the highest ordinal */
    int64_t prefer_ms;      /* after which preferences are dropped */
    uint8_t gates;          /* GATE_BITs */
    int64_t approval_ms;
    uint32_t quorum;
    bool four_eyes;         /* the submitter may not approve */
    bool policy_open;       /* no answer from the policy: allow */
    struct slice approval_role;
    struct tlv_u32s fatal_exits;
    int64_t cache_ms;       /* how long its result may be used again; 0 = the standard time (memo_ms) */
    uint32_t max_parallel;  /* foreach: children under way at once */
    bool fail_fast;         /* foreach: call the rest off as soon as it cannot succeed any more */
    uint32_t allow_count;   /* foreach: children that may end badly, */
    uint32_t allow_percent; /* or their share of all, rounded down */
    uint32_t restart_base_ms;  /* services, so to the end: before the first restart; doubles with each */
    uint32_t restart_cap_ms;
    int64_t restart_reset_ms;  /* healthy for so long: the next restart is the first again */
    int64_t healthy_within_ms; /* from its deployment; else back to the version before */
    uint32_t stop_within_ms;   /* how long a worker may take to confirm that it stopped */
    bool calls;                /* external, as the polls: it has attempts (external.h) */
    uint32_t free_losses;      /* its attempts up to this number cost no retry when their worker is lost */
    uint8_t token_rights;      /* TOKEN_ bits; 0 = its own flow, and the store and blobs of its tenant */
    uint32_t poll_ms;          /* external: after which it is asked how it is; 0 = never */
    uint32_t poll_cap_ms;      /* the time between two polls doubles up to this */
    struct slice raw;
};

struct worker_info {
    struct slice pool;
    struct tlv_list capabilities; /* of name_item */
    struct tlv_list labels;       /* of label */
    uint32_t slots;
    uint32_t cpu_milli;
    uint64_t memory_bytes;
    uint32_t gpus;
    struct tlv_list resources;
    bool permanent; /* known also while it is away */
    struct slice build;
    struct slice tenant; /* the only one whose jobs it gets; empty = of all */
};

extern const struct tlv_desc name_item_desc, label_desc, resource_desc, demand_desc, options_desc, worker_info_desc;

#define DEFAULT_POOL "default"
#define PRIORITY_NORMAL 1u
#define RETRIES_STANDARD 3u
#define BACKOFF_BASE_MS 1000u
#define BACKOFF_CAP_MS 30000u
#define BACKOFF_JITTER_MS 500u

/* The latest time and the longest wait that a record may name: sums of a few of them stay numbers. */
#define TIME_MS_MAX (INT64_MAX / 16)

/* Its jobs run once per item: a foreach job. */
static inline bool options_expand(const struct options *o) { return o->gates & GATE_BIT(GATE_EXPANSION); }

/* Whether apply can work with options that come from a file; decide asks for far more. */
bool options_fit(const struct options *o);
bool worker_info_fits(const struct worker_info *w);
bool time_fits(int64_t ms);

/* The values a job gets that says nothing. */
void options_default(struct options *o);

#endif
