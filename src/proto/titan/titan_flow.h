/* titan_flow.h: a submission by Titan's protocol as a flow of ours. Pure. */
#ifndef REEVE_TITAN_FLOW_H
#define REEVE_TITAN_FLOW_H

#include "titan_job.h"
#include "wire_flow.h"

#define TITAN_DIALECT "titan" /* label `dialect` of its flows */
#define TITAN_ID_LABEL "titan.id"
#define TITAN_GATE_LABEL "titan.gate" /* of a gate: its id, as the keys of the store have it */
#define TITAN_JOBS_LABEL "titan.jobs" /* of a flow with gates: how many jobs were submitted; others were added later */
#define TITAN_WORKER_JAR "Worker.jar" /* a service of this name is another worker */
#define TITAN_TOPIC "titan" /* of its jobs: leads to our workers and to Titan's own */

struct titan_rules {
    struct slice listen; /* where the server speaks Titan's protocol, for its jobs */
    bool backoff; /* wait between attempts as we do; else at once */
    int64_t dag_ms, alone_ms; /* how long an attempt may run: of a job of a DAG, of one alone */
    bool gates;               /* jobs of the form of a gate are gates of ours; else scripts */
    int64_t gate_ms_max;      /* one that would wait longer, or that keys of the store cannot name, is a script */
    size_t gate_id_bytes_max;
    int64_t priority_max;
    size_t name_bytes_max;
};

/* Is it a gate of ours under these rules? Then it needs no script. */
bool titan_is_gate(const struct titan_rules *rules, const struct titan_job *j, struct titan_gate *ret);

/* Jobs whose bytes or hashes, and whose parents elsewhere, are filled in. */
CHECKED enum err titan_flow(const struct titan_jobs *jobs, const struct titan_rules *rules, struct arena *arena,
                            struct wire_flow *ret, struct why *why);

#endif
