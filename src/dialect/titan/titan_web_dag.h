/* titan_web_dag.h: what the interface of Titan's dashboard keeps of DAGs, as keys of the store:
 *
 *     titan:draft:NAME       the drawing, as JSON
 *     titan:manifest:ID      what the manifest says of the job ID (DAG-x), or of a run of an agent, as JSON
 *     titan:payload:ENTRY    where the payload of the manifest's entry is: HASH BYTES MS OFFSET LENGTH, a piece of a
 *                            blob, which the sweep keeps
 *
 * and in the store of a flow, which goes with it:
 *
 *     titan:dag              the DAG that it is a run of
 *     titan:agent_run_id     the run of an agent that it belongs to (late_labels.h) */
#ifndef REEVE_TITAN_WEB_DAG_H
#define REEVE_TITAN_WEB_DAG_H

#include "late_labels.h"
#include "server_impl.h"
#include "titan_http.h"

#define TITAN_DRAFT_PREFIX "titan:draft:"
#define TITAN_MANIFEST_PREFIX "titan:manifest:"
#define TITAN_PAYLOAD_PREFIX "titan:payload:"
#define TITAN_TOLD_MAX 255u               /* bytes of what a manifest tells of a flow */
#define TITAN_ENTRY_DAG "__payload__"     /* of the manifest, and then the name of the DAG */
#define TITAN_ENTRY_JOB "__job_payload__" /* and then the id of the job */

#define TITAN_DAG_LABEL "titan.dag"       /* of a flow that was submitted by the dashboard: the name of the DAG */
#define TITAN_REPLAY_LABEL "titan.replay" /* of one that is one job of a DAG again */

struct titan_sending { /* a DAG on its way: the page of its request */
    struct slice word; /* of the path */
    struct slice name; /* of the DAG */
    struct slice job;  /* its id: the only one that is run again; empty = all are */
    struct slice run;  /* the run of an agent that it belongs to; empty = none */
    struct titan_dag dag;
    bool is_new; /* it came with this request, and is kept */
    uint8_t *text;
    uint64_t len, room; /* what was kept, as it comes */
};

/* Submits it, after the gates of it were told that no decision was made yet; answers the request. */
void titan_send(struct server *s, struct session *n);

struct slice titan_draft_key(struct session *n, struct slice name);
struct slice titan_draft_value(struct server *s, struct session *n, struct slice nodes, struct slice edges);
struct slice titan_payload_value(struct server *s, struct session *n, struct slice hash, uint64_t bytes,
                                 uint64_t offset, uint64_t length);

/* Sets the entries in as many steps as they need; then calls `done`, unless it was refused and answered so. */
struct titan_entries {
    struct wire_kv_entry *at;
    uint32_t count, next;
    void (*done)(struct server *s, struct session *n);
};
void titan_entries_set(struct server *s, struct session *n, const struct titan_entries *e);

#endif
