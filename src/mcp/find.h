/* find.h: the job that an agent means. It may say FLOW/JOB, or an id as Titan knows them: `train` and `DAG-train` are
 * the newest job that was submitted as one of these. */
#ifndef REEVE_FIND_H
#define REEVE_FIND_H

#include "tool.h"

#define FIND_PREFIX "DAG-"      /* Titan puts it before the ids of jobs */
#define FIND_GATE "hitl-gate-"  /* and this before that of a job, for the gate behind it */
#define FIND_ID_LABEL "titan.id" /* of a job: its id, as Titan knows it */

/* v is NULL when there is no such job. */
typedef void find_then(struct tool_call *c, const struct wire_job_view *v);
void find_job(struct tool_call *c, struct slice id, find_then *then);

/* The id as Titan knows it, and as a name that a job of ours can have. */
struct slice find_id(struct tool_call *c, struct slice id);
struct slice find_name(struct tool_call *c, struct slice id);

#endif
