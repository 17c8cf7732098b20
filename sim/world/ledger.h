/* ledger.h: the attempts that are open according to the records, and what the server owes to each of them.
 *
 * Two promises are judged here because only whoever sees both the records and the sessions can: an attempt is not taken
 * from a worker before its lease has ended (counted anew after a restart), and an attempt that a worker of the same
 * incarnation does not know of is sent to it again. */
#ifndef REEVE_LEDGER_H
#define REEVE_LEDGER_H

#include "command.h"
#include "trace.h"
#include "vec.h"

struct serverhost;

struct ledger_entry {
    struct job_ref job;
    uint32_t attempt;
    uint32_t node;
    uint64_t incarnation;
    bool stopping;
    bool owed; /* the worker attached without it: an ASSIGN or STOP must follow */
    uint64_t owed_lsn; /* of the state it attached to; what was decided before knows nothing of it */
};

struct ledger {
    struct serverhost *server;
    struct vec entries; /* of ledger_entry */
};

void ledger_init(struct ledger *l, struct serverhost *server);
void ledger_fini(struct ledger *l);
void ledger_clear(struct ledger *l);
/* Takes a record in. `judging` is off while history is told again after a restart. */
/* A cancel or a fatal failure stops every attempt of the flow that it reaches, without a record for each. */
void ledger_called_off(struct ledger *l, uint64_t flow);
void ledger_record(struct ledger *l, const struct trace_entry *e, bool judging);
void ledger_restarted(struct ledger *l); /* a new process owes nothing yet */
void ledger_attached(struct ledger *l, uint32_t node, const struct cmd_attach *attach);
void ledger_sent(struct ledger *l, struct job_ref job, uint32_t attempt);

#endif
