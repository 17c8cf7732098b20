/* wire_flow.h: messages that change flows and jobs: submit, add, cancel, retry, decide.
 *
 * Zero and absent are one thing on the wire, so every number here is defined such that 0 is what most people want.
 * Targets are text as people type it. */
#ifndef REEVE_WIRE_FLOW_H
#define REEVE_WIRE_FLOW_H

#include "job_kind.h"
#include "job_options.h"
#include "wire_session.h"

/* ---- what a flow is made of ---- */

struct wire_demand { /* of a worker */
    struct slice pool, topic;
    struct tlv_list capabilities; /* of wire_name */
    struct tlv_list labels;       /* of wire_pair */
    uint32_t cpu_milli;
    uint64_t memory_bytes;
    uint32_t gpus;
    struct tlv_list resources; /* of wire_amount */
    struct tlv_list keys;      /* of wire_name */
    struct tlv_list rates;     /* of wire_name */
};

struct wire_options {
    uint8_t kind;     /* enum job_kind */
    int64_t priority; /* above or below normal */
    struct wire_demand demand;
    uint32_t attempts_max; /* in all; 0 = 4 */
    struct slice raw;      /* its bytes as they came; of a set that was made here, none */
    JOB_OPTION_MEMBERS     /* job_options.h */
};

struct wire_job {
    struct slice name;
    uint32_t options;            /* position in the list of option sets */
    struct tlv_u32s parents;     /* positions in the list of jobs */
    struct tlv_list parent_names; /* of wire_name: jobs that came before in this flow, or targets in other flows */
    struct slice body;           /* a `run` message (wire_run.h); opaque to the engine */
    uint32_t undo_options;       /* of its compensation: position + 1; 0 = it has none */
    struct slice undo_body;
    uint32_t child_options; /* foreach: of its children: position + 1; 0 = its own */
    struct slice service;   /* kind service: the one it deploys */
    struct slice cache_key; /* a hash of all that its result depends on; empty = always run it */
};

struct wire_jobs { /* part of a flow */
    struct tlv_list options; /* of wire_options: each different set once */
    struct tlv_list jobs;    /* of wire_job */
    bool more;               /* further parts follow with add_jobs */
};

struct wire_source_file { /* one that the flow file names: a small one as it was, another as the hash of its blob */
    struct slice path, bytes, hash;
};

struct wire_source { /* a flow file as it was submitted. The blob that keeps it is this message */
    struct slice text;
    struct slice spec;     /* the same in JSON, where `text` is not */
    struct tlv_list files; /* of wire_source_file */
};

struct wire_flow {
    struct slice name;
    struct slice key; /* idempotency key */
    int64_t key_ms;   /* how long it is remembered; 0 = the standard time */
    struct slice trace;
    struct tlv_list labels; /* of wire_pair */
    struct wire_jobs part;
    struct slice spec;   /* or, in place of `part`: a flow file in JSON */
    struct slice params; /* of the flow file: a JSON object; with `part`, which has them in it, to be shown */
    bool check;          /* judge it like a submit, and do nothing */
    uint8_t compensate_on; /* enum compensate_on */
    int64_t timeout_ms;    /* of its main jobs together, from the submit on; 0 = none */
    int64_t deadline_ms;   /* wall: from then on the flow is late; 0 = none */
    int64_t late_after_ms; /* the same, counted from the submit, or from the slot */
    struct wire_source source; /* to be kept with the flow */
    struct slice source_name;  /* of that file; with `spec` and no `source`, the spec is kept under it */
};

/* ---- messages ---- */

struct wire_submit {
    struct tlv_list flows; /* of wire_flow: each is accepted or refused on its own */
};

struct wire_submitted_flow {
    struct slice flow; /* its id; empty = refused */
    uint32_t job_count;
    bool repeated;
    struct slice code, message;
    uint32_t retry_after_ms;
};

struct wire_submitted {
    uint64_t lsn;
    struct tlv_list flows; /* of wire_submitted_flow, in the order of the request */
};

struct wire_add_jobs {
    struct slice flow;
    struct wire_jobs part;
    struct slice spec;   /* in place of `part`: the jobs of a flow file, in JSON */
    struct slice params; /* of it: a JSON object */
};

struct wire_again { /* the file of a flow, submitted once more as another flow */
    struct slice flow;
    struct slice params; /* that take the place of those of the flow: a JSON object */
    bool check;          /* judge it like a submit, and do nothing */
};

struct wire_source_get {
    struct slice flow;
};

struct wire_source_got {
    uint64_t lsn;
    struct slice name, text, params;
};

struct wire_dead { /* dead letters: those named, or else those that fit all of the rest */
    struct tlv_list targets; /* of wire_name */
    bool all;                /* must be said where nothing else chooses */
    struct slice flow;       /* only of this one */
    struct slice name;       /* of the job, begins with */
    struct tlv_list states;  /* of wire_name: one of these */
    int64_t since_ms, until_ms; /* that they ended */
};

struct wire_targets { /* cancel, retry, discard, rerun */
    struct tlv_list targets; /* of wire_name */
    struct slice reason;
};

enum wire_scope { WIRE_SCOPE_FLOW, WIRE_SCOPE_POOL, WIRE_SCOPE_TENANT, WIRE_SCOPE_COUNT };

struct wire_pause { /* pause, resume */
    uint8_t scope; /* enum wire_scope */
    struct slice name;
};

enum wire_verdict_word {
    WIRE_VERDICT_ALLOW,
    WIRE_VERDICT_DENY,
    WIRE_VERDICT_CONSTRAIN,
    WIRE_VERDICT_HOLD,
    WIRE_VERDICT_AGAIN,
    WIRE_VERDICT_QUARANTINE,
    WIRE_VERDICT_REDACT,
    WIRE_VERDICT_FAIL, /* it could not be evaluated */
    WIRE_VERDICT_COUNT
};

struct wire_verdict {
    uint64_t question;
    struct slice job; /* in place of a question: the one that this job stands before */
    uint32_t revision;
    struct slice hash; /* of what was seen */
    uint8_t verdict;   /* enum wire_verdict_word */
    struct slice reason;
    struct slice payload;
    int64_t again_ms;
    uint64_t policy;
    bool fatal;
    struct slice items; /* with the yes to an expansion: hash of the blob that holds them */
    uint32_t item_count;
};

struct wire_complete { /* the word from outside that an external job waits for */
    struct slice job;
    bool failed;
    struct slice output; /* JSON */
    struct slice reason;
    struct slice token; /* of the job: in place of a right to do so */
};

struct wire_callback { /* a token for someone outside */
    struct slice job;
    int64_t for_ms; /* 0 = as long as the job waits at most */
};

struct wire_callback_given {
    uint64_t lsn;
    struct slice token;
    struct slice url; /* to send it to; empty = nobody has said where the server is reached */
    int64_t expires_ms;
};

extern const struct tlv_desc wire_demand_desc, wire_options_desc, wire_job_desc, wire_jobs_desc, wire_flow_desc,
    wire_source_desc;
extern const struct tlv_desc wire_submit_desc, wire_submitted_flow_desc, wire_submitted_desc, wire_add_jobs_desc,
    wire_targets_desc, wire_dead_desc, wire_pause_desc, wire_verdict_desc, wire_complete_desc, wire_callback_desc,
    wire_callback_given_desc, wire_again_desc, wire_source_get_desc, wire_source_got_desc;

#endif
