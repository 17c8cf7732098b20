/* options.h: what a job asks of the engine, as described structs; the rest of a job's spec is opaque to the core.
 *
 * Jobs of a flow mostly share their options, so a submit carries each different set once (a *profile*) and jobs refer
 * to it. decide fills every default in before it records a set: apply reads no configuration. */
#ifndef REEVE_OPTIONS_H
#define REEVE_OPTIONS_H

#include "job_kind.h"
#include "job_options.h"

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
    uint8_t kind;      /* enum job_kind */
    uint32_t priority; /* PRIORITY_NORMAL is normal; higher goes first */
    struct demand demand;
    uint32_t retries;
    struct slice raw;
    JOB_OPTION_MEMBERS /* job_options.h */
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

/* The latest time and the longest wait that a record may name: sums of a few of them stay numbers. */
#define TIME_MS_MAX (INT64_MAX / 16)

/* Its jobs run once per item: a foreach job. */
static inline bool options_expand(const struct options *o) { return o->gates & GATE_BIT(GATE_EXPANSION); }

static inline enum trigger options_trigger(const struct options *o) {
    return o->on_upstream == UPSTREAM_RUN ? TRIGGER_ALL_DONE : (enum trigger)o->trigger;
}

/* Whether apply can work with options that come from a file; decide asks for far more. */
bool options_fit(const struct options *o);
bool worker_info_fits(const struct worker_info *w);
bool time_fits(int64_t ms);

/* The values a job gets that says nothing. */
void options_default(struct options *o);

#endif
