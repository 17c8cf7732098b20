/* wire_titan.h: what Titan's interface shows of a tenant: its jobs by the ids that Titan gives them, its workers by
 * port, its statistics. One request, one answer, made from the state like every other view. Ids are bytes: v1 checks
 * none. */
#ifndef REEVE_WIRE_TITAN_H
#define REEVE_WIRE_TITAN_H

#include "wire_session.h"

enum wire_titan_what {
    WIRE_TITAN_JOBS,       /* those of the ids in `names`, in their order */
    WIRE_TITAN_WORKER,     /* the one with the port that `names` has */
    WIRE_TITAN_STATS,      /* as text */
    WIRE_TITAN_STATS_JSON, /* as JSON */
    WIRE_TITAN_SERVICES,   /* the ids of all, as Java writes a set */
    WIRE_TITAN_DAGS,       /* all DAGs with their jobs, as JSON */
    WIRE_TITAN_DAG,        /* the jobs of the one that `names` has */
    WIRE_TITAN_WHAT_COUNT
};

#define WIRE_TITAN_ID_MAX 1024u
#define WIRE_TITAN_NOTE_MAX 8192u
#define WIRE_TITAN_NAMES_MAX 100000u
#define WIRE_TITAN_STATS_MAX (64u << 20)

struct wire_titan_name {
    struct slice id;
};

struct wire_titan_get {
    uint8_t what;          /* enum wire_titan_what */
    struct tlv_list names; /* of wire_titan_name */
};

struct wire_titan_job {
    struct slice id;      /* as it is known */
    struct slice target;  /* FLOW/JOB; empty = there is none of that id */
    struct slice status;  /* in Titan's words */
    uint32_t attempts;    /* so far: each has a log */
    struct slice service; /* that it deploys and that is to run; empty = there is none */
    struct slice log;     /* FLOW/JOB whose attempts have its output: of a service another job than itself */
    struct slice note;    /* of a gate, which has none: what it asks, and what became of that */
    struct slice dag, run; /* what a manifest told of its flow: the DAG, and the run of an agent */
};

struct wire_titan {
    uint64_t lsn;
    struct tlv_list jobs; /* of wire_titan_job, as many as were asked for */
    struct slice text;
    struct slice worker;  /* its id; empty = no such port */
    uint32_t services;    /* that run on it */
};

extern const struct tlv_desc wire_titan_name_desc, wire_titan_get_desc, wire_titan_job_desc, wire_titan_desc;

#endif
