/* titan_admin.c: statistics, services and workers by Titan's protocol. */
#include "server_impl.h"
#include "session.h"
#include "titan_impl.h"
#include "titan_job.h"

/* ---- statistics ---- */

static void text_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (!titan_refused(s, n, op, message)) titan_say(s, n, ((const struct wire_titan *)message)->text);
}

void titan_stats(struct server *s, struct session *n, struct slice body) {
    struct wire_titan_get get = {.what = WIRE_TITAN_STATS};
    (void)body;
    titan_ask(s, n, WIRE_TITAN_GET, &get, text_told);
}

void titan_stats_json(struct server *s, struct session *n, struct slice body) {
    struct wire_titan_get get = {.what = WIRE_TITAN_STATS_JSON};
    (void)body;
    titan_ask(s, n, WIRE_TITAN_GET, &get, text_told);
}

/* The statistics are made from the state each time: there is nothing to clear. */
void titan_clean_stats(struct server *s, struct session *n, struct slice body) {
    (void)body;
    titan_say(s, n, SLICE("Stats Map Cleared. Run STATS again to see fresh state."));
}

/* ---- services ---- */

struct stop_work {
    struct slice id;
};

static void unknown_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct stop_work *w = talk_of(n)->work;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    titan_sayf(s, n, "ERROR: Service %.*s not found in liveServiceMap. Current keys: %.*s", SLICE_FMT(w->id),
               SLICE_FMT(((const struct wire_titan *)message)->text));
}

static void stopped_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct stop_work *w = talk_of(n)->work;
    (void)more;
    if (!titan_refused(s, n, op, message)) titan_sayf(s, n, "STOPPED: %.*s", SLICE_FMT(w->id));
}

static void service_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_titan *m = message;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_titan_job *job = m->jobs.at;
    if (job->service.len == 0) {
        struct wire_titan_get get = {.what = WIRE_TITAN_SERVICES};
        titan_ask(s, n, WIRE_TITAN_GET, &get, unknown_told);
        return;
    }
    struct wire_service_set set = {.name = job->service, .desired = WIRE_DESIRED_STOPPED};
    titan_ask(s, n, WIRE_SERVICE_SET, &set, stopped_told);
}

void titan_stop(struct server *s, struct session *n, struct slice body) {
    struct stop_work *w = ARENA_NEW(&talk_of(n)->arena, struct stop_work);
    w->id = titan_trim(body);
    talk_of(n)->work = w;
    if (w->id.len == 0) {
        titan_say(s, n, SLICE("ERROR: Missing Service ID"));
        return;
    }
    struct wire_titan_name name = {w->id};
    struct wire_titan_get get = {.what = WIRE_TITAN_JOBS, .names = {&name, 1}};
    titan_ask(s, n, WIRE_TITAN_GET, &get, service_told);
}

/* ---- workers ---- */

struct kill_work {
    struct slice host, port;
    uint32_t services;
};

static void killed_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct kill_work *w = talk_of(n)->work;
    (void)more;
    if (!titan_refused(s, n, op, message))
        titan_sayf(s, n, "SUCCESS: Worker %.*s and %u services shut down.", SLICE_FMT(w->port), w->services);
}

static void worker_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct kill_work *w = talk_of(n)->work;
    const struct wire_titan *m = message;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    if (m->worker.len == 0) {
        titan_sayf(s, n, "ERROR: Worker node %.*s not found in registry.", SLICE_FMT(w->port));
    } else if (m->text.len > 0) {
        titan_sayf(s, n, "ERROR: Cannot auto-shutdown PERMANENT worker %.*s:%.*s", SLICE_FMT(w->host),
                   SLICE_FMT(w->port));
    } else {
        struct wire_drain drain = {.worker = m->worker, .end = true};
        w->services = m->services;
        titan_ask(s, n, WIRE_DRAIN, &drain, killed_told);
    }
}

void titan_kill_worker(struct server *s, struct session *n, struct slice body) {
    struct kill_work *w = ARENA_NEW(&talk_of(n)->arena, struct kill_work);
    int64_t port;
    talk_of(n)->work = w;
    if (!titan_cut(&body, &w->host)) {
        titan_say(s, n, SLICE("ERROR: Payload must be HOST|PORT"));
        return;
    }
    w->host = titan_trim(w->host);
    w->port = titan_trim(body);
    if (!titan_number(w->port, &port)) {
        titan_say(s, n, SLICE("ERROR: Invalid Port Format"));
        return;
    }
    struct wire_titan_name name = {w->port};
    struct wire_titan_get get = {.what = WIRE_TITAN_WORKER, .names = {&name, 1}};
    titan_ask(s, n, WIRE_TITAN_GET, &get, worker_told);
}
