/* service_health.c: see service_health.h. */
#include "service_health.h"

#include <stdio.h>

#include "agent_impl.h"
#include "panic.h"

#define INTERVAL_MS 5000u
#define TIMEOUT_MS 2000u
#define THRESHOLD 3u
#define GRACE_MS 30000u
#define QUICK_MS 200u   /* between probes of one that is starting: whoever deploys it waits */
#define SETTLED_MS 1000 /* without a probe: what still runs by then did not fail at its start */

struct service_health *service_health_of(const struct agent *a, const struct attempt *t) {
    return t->tended != 0 ? pool_at(&a->tended, t->tended) : NULL;
}

static uint32_t or_standard(uint32_t given, uint32_t standard) {
    return given != 0 ? given : standard;
}

static void port_back(struct agent *a, struct service_health *v) {
    if (v->has_lease) a->w.net->ops->give_port(a->w.net, v->port);
    v->has_lease = false;
}

/* What listens on another machine, or is asked by a command, is not ours to look at. */
static bool is_port_here(const struct agent *a, const struct service_health *v) {
    return a->o.service_host == NULL && (v->kind == WIRE_PROBE_TCP || v->kind == WIRE_PROBE_HTTP) &&
           v->probed_port != 0;
}

static uint64_t listeners(const struct agent *a, const struct service_health *v) {
    return is_port_here(a, v) ? a->w.net->ops->listeners(a->w.net, v->probed_port) : 0;
}

bool service_health_begin(struct agent *a, struct attempt *t, const struct wire_run *run) {
    const struct wire_probe *how = &run->health;
    if (t->tended != 0) port_back(a, service_health_of(a, t));
    uint32_t port = run->port_auto ? a->w.net->ops->take_port(a->w.net) : run->port;
    if (run->port_auto && port == 0) return false;
    if (t->tended == 0) t->tended = pool_alloc(&a->tended);
    ENSURE(t->tended != 0); /* there are as many as attempts */
    *service_health_of(a, t) = (struct service_health){
        .port = port,
        .has_lease = run->port_auto,
        .kind = how->kind == WIRE_PROBE_STANDARD && port != 0 ? WIRE_PROBE_TCP : how->kind,
        .probed_port = or_standard(how->port, port),
        .interval_ms = or_standard(how->interval_ms, INTERVAL_MS),
        .timeout_ms = or_standard(how->timeout_ms, TIMEOUT_MS),
        .threshold = or_standard(how->threshold, THRESHOLD),
        .grace_until_ms = or_standard(how->grace_ms, GRACE_MS),
        .is_told = port == 0,
    };
    struct service_health *v = service_health_of(a, t);
    v->unauthenticated = listeners(a, v);
    return true;
}

void service_health_started(struct agent *a, struct attempt *t) {
    struct service_health *v = service_health_of(a, t);
    int64_t now = agent_now_ms(a);
    v->grace_until_ms += now;
    t->tend_at_ms = now + (v->kind == WIRE_PROBE_STANDARD ? SETTLED_MS : 0);
    attempts_time(&a->attempts, t);
}

/* ---- what is thought of it ---- */

static void think(struct agent *a, struct attempt *t, bool well, const char *text) {
    struct service_health *v = service_health_of(a, t);
    if (v->is_well == well && strcmp(v->text, text) == 0) return;
    v->is_well = well;
    snprintf(v->text, sizeof v->text, "%s", text);
    v->is_told = false;
    attempts_touch(&a->attempts, t);
}

static int64_t pause_ms(const struct service_health *v, int64_t now) {
    bool is_starting = !v->is_well && now < v->grace_until_ms;
    return is_starting && v->interval_ms > QUICK_MS ? QUICK_MS : v->interval_ms;
}

/* Whether the answer came from a process that is not the service's, and so says nothing about it. Where nobody can tell
 * whose socket it is, it is a stranger's if those that listened before the service was started are all there are. */
static bool is_strangers_answer(const struct agent *a, const struct attempt *t, struct why *why) {
    const struct service_health *v = service_health_of(a, t);
    if (!is_port_here(a, v)) return false;
    switch (a->w.proc->ops->port_owner(a->w.proc, t->process, v->probed_port, why)) {
    case PROC_PORT_OWN: return false;
    case PROC_PORT_FOREIGN: return true;
    case PROC_PORT_UNKNOWN: break;
    }
    if (v->is_well || v->unauthenticated == 0 || listeners(a, v) != v->unauthenticated) return false;
    (void)why_set(why, ERR_STATE, "another process listens at port %u", v->probed_port);
    return true;
}

void service_health_heard(struct agent *a, struct attempt *t, const char *why) {
    struct service_health *v = service_health_of(a, t);
    struct why stranger = {{0}};
    if (why == NULL && is_strangers_answer(a, t, &stranger)) why = stranger.text;
    int64_t now = agent_now_ms(a);
    bool forgiven = !v->is_well && now < v->grace_until_ms;
    v->is_probed = false;
    v->failures = why == NULL ? 0 : v->failures + !forgiven;
    t->tend_at_ms = now + pause_ms(v, now);
    attempts_time(&a->attempts, t);
    if (why == NULL) {
        think(a, t, true, "");
    } else if (v->failures >= v->threshold) {
        think(a, t, false, why);
        run_end_unwell(a, t);
    } else if (!v->is_well) {
        think(a, t, false, why);
    }
}

void service_health_later(struct agent *a, struct attempt *t) {
    service_health_of(a, t)->is_probed = false;
    t->tend_at_ms = agent_now_ms(a) + QUICK_MS;
    attempts_time(&a->attempts, t);
}

void service_health_due(struct agent *a, struct attempt *t) {
    struct service_health *v = service_health_of(a, t);
    char text[64];
    t->tend_at_ms = TIME_NEVER;
    if (v->kind == WIRE_PROBE_STANDARD) {
        think(a, t, true, "");
    } else if (v->is_probed) {
        probe_stop(a, t);
        snprintf(text, sizeof text, "no answer within %u ms", v->timeout_ms);
        service_health_heard(a, t, text);
    } else {
        v->is_probed = true;
        v->heard_bytes = 0;
        t->tend_at_ms = agent_now_ms(a) + v->timeout_ms;
        probe_begin(a, t);
    }
}

/* ---- its end ---- */

void service_health_quiet(struct agent *a, struct attempt *t) {
    struct service_health *v = service_health_of(a, t);
    if (v == NULL) return;
    if (v->is_probed) probe_stop(a, t);
    v->is_probed = false;
    v->is_quiet = true;
    t->tend_at_ms = TIME_NEVER;
}

void service_health_end(struct agent *a, struct attempt *t) {
    if (t->tended == 0) return;
    service_health_quiet(a, t);
    if (service_health_of(a, t)->has_space) {
        char name[ATTEMPT_NAME_MAX + sizeof JOB_SETUP_PROBE_SPACE];
        snprintf(name, sizeof name, "%s" JOB_SETUP_PROBE_SPACE, t->space);
        a->w.space->ops->remove(a->w.space, name);
    }
    port_back(a, service_health_of(a, t)); /* its processes are dead: nobody listens there any more */
    pool_free(&a->tended, t->tended);
    t->tended = 0;
}
