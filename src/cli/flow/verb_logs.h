/* verb_logs.h: output of jobs on our own. */
#ifndef REEVE_VERB_LOGS_H
#define REEVE_VERB_LOGS_H

#include "cli.h"

/* Standard output to standard output, errors to errors, byte for byte; with --json one object per piece. */
void logs_print(struct cli *c, const struct wire_log_data *m, bool times);

/* The same for the replicas of a service, each line behind the name of its replica; `what` names no job. */
CHECKED enum err logs_of_replicas(struct cli *c, const struct wire_service_view *replicas, uint32_t count,
                                  const struct wire_logs *what);

#endif
