/* service_health.h: what a worker does for a service beside running it: gives it a port, looks whether it is well,
 * says so, and ends one that no longer is. When it starts again is the server's business.
 *
 *     started --> not yet well --> well --> (threshold probes in a row fail) --> told to end
 *                      |                                                             ^
 *                      +---- the same, once its grace is over ----------------------+
 *
 * One probe of a service is under way at a time; none of them waits. How a probe is made is in probe.c. An answer
 * counts when a process of the service gave it, as far as that can be told (ADR 0123). */
#ifndef REEVE_SERVICE_HEALTH_H
#define REEVE_SERVICE_HEALTH_H

#include "attempts.h"
#include "net.h"
#include "wire_run.h"

#define SERVICE_HEALTH_TEXT_MAX 160u

struct agent;

struct service_health {
    uint32_t port;    /* its $PORT; 0 = none */
    bool has_lease;   /* the port is ours to give back */
    uint8_t kind;     /* enum wire_probe_kind, never STANDARD with a port */
    uint32_t probed_port;
    uint64_t unauthenticated; /* who listened there before its process started (net.h); 0 = nobody that is known */
    uint32_t interval_ms, timeout_ms, threshold;
    int64_t grace_until_ms;
    uint32_t failures; /* in a row, those in its grace left out */
    bool is_well, is_told;
    bool is_quiet; /* its process was told to end */
    bool has_space; /* its probes have a directory of their own */
    char text[SERVICE_HEALTH_TEXT_MAX]; /* why the last probe failed; empty = it did not */
    /* the probe that is under way */
    bool is_probed;
    conn_id conn;
    proc_id process;
    uint32_t heard_bytes;
    char heard[SERVICE_HEALTH_TEXT_MAX]; /* the beginning of what it said */
};

/* Before its process starts: it needs its port then. False: there is none for it. */
bool service_health_begin(struct agent *a, struct attempt *t, const struct wire_run *run);
void service_health_started(struct agent *a, struct attempt *t);
void service_health_due(struct agent *a, struct attempt *t);
void service_health_quiet(struct agent *a, struct attempt *t); /* its process is to end: no more probes */
void service_health_end(struct agent *a, struct attempt *t);   /* it has ended */
struct service_health *service_health_of(const struct agent *a, const struct attempt *t); /* NULL = it is no service */

/* probe.c */
void probe_begin(struct agent *a, struct attempt *t);
void probe_stop(struct agent *a, struct attempt *t); /* without a result */
/* The result of a probe; NULL = it is well. */
void service_health_heard(struct agent *a, struct attempt *t, const char *why);
void service_health_later(struct agent *a, struct attempt *t); /* no look was possible now */

#endif
