/* flow_file.h: a submit that brings a flow file (JSON) in place of jobs. */
#ifndef REEVE_FLOW_FILE_H
#define REEVE_FLOW_FILE_H

#include "server_impl.h"

/* *ret is `from` with the jobs of its spec; name, key and labels of the message go before those of the file. */
CHECKED enum err flow_file_read(struct server *s, const struct request *r, const struct wire_flow *from,
                                struct wire_flow *ret, struct why *why);
/* The jobs of a flow file for a flow that is there. */
CHECKED enum err flow_file_read_jobs(struct server *s, const struct request *r, const struct wire_add_jobs *from,
                                     struct wire_jobs *ret, struct why *why);
/* The file of a flow once more: `from` has its source, and name, labels and params of that flow; `given` go before its
 * params. */
CHECKED enum err flow_file_read_again(struct server *s, const struct request *r, const struct wire_flow *from,
                                      struct slice given, struct wire_flow *ret, struct why *why);

#endif
