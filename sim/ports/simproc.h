/* simproc.h: processes of jobs, behind port/proc.h: they run for a while, write output, may not mind a TERM, end with a
 * code, and die with their worker. A keeper of their own kills them at its time, also while the worker stands still.
 *
 * What a process does is its last argument: "ms=40 exit=0 flaky=2 health=20 undo=j3" runs 40 ms; its first two
 * attempts end with 1 (later=2: with 75, of a poll "not yet"), later ones with 0; it is a service that is healthy
 * after 20 ms (0 = never); it undoes job j3. The program SIMPROC_PROBE
 * looks whether the service in whose directory it is started is healthy. */
#ifndef REEVE_SIMPROC_H
#define REEVE_SIMPROC_H

#include "proc.h"
#include "rng.h"
#include "trace.h"
#include "vec.h"

#define SIMPROC_PROBE "probe"

struct workerhost;

struct simproc {
    struct proc proc; /* first: what the port gives back */
    struct workerhost *host;
    struct rng rng;
    struct vec processes; /* of struct process *, in the order of their starts */
    uint64_t last;
};

void simproc_init(struct simproc *s, struct workerhost *host, struct rng rng);
void simproc_fini(struct simproc *s);
void simproc_die(struct simproc *s); /* all of them, with their worker */
/* The worker goes on after it stood still: what it missed is told. */
void simproc_awake(struct simproc *s);

#endif
