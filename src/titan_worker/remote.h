/* remote.h: processes that run on one of Titan's own workers (port/proc.h), which this program is the master of.
 *
 *     stage the file ──▶ have it run ──▶ running ──▶ its end is called back
 *         └── not answered, or the worker is full: again, and again
 *
 * What was staged has a name that no other attempt has, so equal names of scripts never mix there. A worker that is
 * full, or away, keeps a process waiting and fails nothing: how long that may take is a matter of leases, and those are
 * the business of who owns this. */
#ifndef REEVE_REMOTE_H
#define REEVE_REMOTE_H

#include "exchange.h"
#include "proc.h"
#include "space.h"

#define REMOTE_ID_PREFIX "DAG-" /* of the id of a job there, before the name of its space: others end after a minute */

struct remote {
    struct proc proc; /* first: the port's pointer is ours */
    struct clock *clock;
    struct space *space;
    struct exchanges *exchanges;
    const char *address; /* of the worker */
    struct pool runs;
    struct map by_id;
    uint64_t last;
};

void remote_init(struct remote *r, struct clock *clock, struct space *space, struct exchanges *exchanges,
                 const char *address);
void remote_fini(struct remote *r);
void remote_pass(struct remote *r);
int64_t remote_next(const struct remote *r);

/* What the worker says; false: of none that is here. */
bool remote_output(struct remote *r, struct slice job, struct slice text);   /* lines, without the last line end */
bool remote_complete(struct remote *r, struct slice job, struct slice rest); /* "COMPLETED|…" or "FAILED|…" */
bool remote_gone(struct remote *r, struct slice job);                        /* a service ended */
/* It says how many jobs it runs, as of `asked_ms`. Those that it has forgotten end. */
void remote_counted(struct remote *r, uint32_t active, int64_t asked_ms);

#endif
