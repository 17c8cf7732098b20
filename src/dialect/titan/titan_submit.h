/* titan_submit.h: submissions by Titan's protocol, for those who read the jobs elsewhere. */
#ifndef REEVE_TITAN_SUBMIT_H
#define REEVE_TITAN_SUBMIT_H

#include "server_impl.h"
#include "titan_job.h"

#define TITAN_NO_FILE "File not found in perm_files: " /* and then which */

struct titan_about { /* the protocol says none of it */
    struct slice name;
    const struct wire_pair *labels;
    uint32_t label_count;
};

/* Jobs as they were read; said as SUBMIT_DAG is. They stay until then. */
void titan_submit_jobs(struct server *s, struct session *n, struct titan_jobs jobs, const struct titan_about *about);

#endif
