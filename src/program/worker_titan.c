/* worker_titan.c: see worker_titan.h. Titan's protocol has no authentication: the port is open to this machine only,
 * unless its owner says both where else and that he means it. */
#include "worker_titan.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osclock.h"
#include "osdisk.h"
#include "osloop.h"
#include "osproc.h"
#include "osspace.h"
#include "titan_worker.h"

#define CONNECTIONS_MAX 16384u
#define PORT_STANDARD "8080"

struct titan_worker_program {
    struct osloop *loop;
    struct proc *proc;
    struct titan_worker *hand;
    uint32_t signals;
};

/* The number at the end; 0 = there is none. */
static uint32_t port_of(const char *address) {
    const char *colon = strrchr(address, ':');
    char *end = NULL;
    unsigned long port = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;
    return end != NULL && *end == 0 && port <= 65535 ? (uint32_t)port : 0;
}

static void address_of(const struct worker_options *o, char ret[OSLOOP_ADDRESS_MAX]) {
    const char *given = o->titan_listen != NULL ? o->titan_listen : PORT_STANDARD;
    bool has_host = strchr(given, ':') != NULL;
    snprintf(ret, OSLOOP_ADDRESS_MAX, "%s%s", has_host ? "" : "127.0.0.1:", given);
}

enum err worker_titan_check(const struct worker_options *o, struct why *why) {
    char address[OSLOOP_ADDRESS_MAX];
    const char *colon = strrchr(o->titan_master, ':');
    if (colon == NULL || colon == o->titan_master || port_of(o->titan_master) == 0)
        return why_set(why, ERR_INVALID, "--titan-master: expected HOST:PORT, found `%s`", o->titan_master);
    if (o->agent.sandbox.least != 0 || o->uid_first != 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "--sandbox and --job-uids do not work with --titan-master: what Titan's master sends runs as "
                       "this worker");
    address_of(o, address);
    if (!osloop_is_public(address) || o->titan_open) return ERR_OK;
    return why_set(
        why, ERR_FORBIDDEN,
        "--titan-listen: %s can be reached from other machines, and Titan's protocol has no authentication: any "
        "client could run anything here; pass --titan-open to allow it",
        address);
}

/* ---- the loop ---- */

static void pass(void *ctx) {
    struct titan_worker_program *w = ctx;
    titan_worker_pass(w->hand);
    if (titan_worker_is_over(w->hand) || w->signals > 1 || !osproc_is_well(w->proc)) osloop_stop(w->loop);
}

static mono_time next(void *ctx) {
    return titan_worker_next(((struct titan_worker_program *)ctx)->hand);
}

static void procs_ready(void *ctx, unsigned when) {
    (void)when;
    osproc_run(((struct titan_worker_program *)ctx)->proc);
}

static void on_signal(void *ctx, int number) {
    struct titan_worker_program *w = ctx;
    (void)number;
    w->signals++;
    titan_worker_drain(w->hand);
}

/* ---- life ---- */

static void capability_of(const struct worker_options *o, char *ret, size_t size) {
    size_t len = 0;
    ret[0] = 0;
    for (uint32_t i = 0; i < o->agent.capability_count && len < size; i++) {
        const char *name = o->agent.capabilities[i];
        bool is_ours = strcmp(name, "limits") == 0 || strcmp(name, "sandbox") == 0; /* said for our own servers */
        if (!is_ours) len += (size_t)snprintf(ret + len, size - len, "%s%s", len > 0 ? "," : "", name);
    }
    if (ret[0] == 0) snprintf(ret, size, "GENERAL");
}

static enum err hand_start(struct titan_worker_program *w, const struct worker_options *o, struct space *space,
                           void (*log)(void *ctx, const char *line), struct why *why) {
    static char capability[4096];
    struct titan_worker_world world = {osclock(), space, osloop_net(w->loop), w->proc};
    capability_of(o, capability, sizeof capability);
    struct titan_worker_options options = {.master = o->titan_master,
                                           .capability = capability,
                                           .permanent = o->agent.permanent,
                                           .slots = o->agent.slots,
                                           .env = o->agent.env,
                                           .limits_each = o->agent.ceilings.most,
                                           .limits = o->agent.limits,
                                           .log = log};
    return titan_worker_open(&world, &options, &w->hand, why);
}

static enum err run(struct titan_worker_program *w, const struct worker_options *o, struct space *space,
                    void (*log)(void *ctx, const char *line), struct why *why) {
    char address[OSLOOP_ADDRESS_MAX], got[OSLOOP_ADDRESS_MAX], line[OSLOOP_ADDRESS_MAX + 64];
    watch_id watch;
    address_of(o, address);
    enum err e = hand_start(w, o, space, log, why);
    if (e == ERR_OK) e = osloop_listen(w->loop, address, titan_worker_handler(w->hand), got, why);
    if (e != ERR_OK) return e;
    titan_worker_listens(w->hand, port_of(got));
    e = osloop_watch(w->loop, osproc_fd(w->proc), OSLOOP_READABLE, procs_ready, w, &watch, why);
    if (e == ERR_OK) e = osloop_signal(w->loop, SIGTERM, on_signal, w, why);
    if (e == ERR_OK) e = osloop_signal(w->loop, SIGINT, on_signal, w, why);
    osloop_own(w->loop, &(struct osloop_owner){pass, next, w});
    if (e != ERR_OK) return e;
    snprintf(line, sizeof line, "listening on %s for Titan's master, %u slots", got, o->agent.slots);
    log(NULL, line);
    osloop_run(w->loop);
    return osproc_is_well(w->proc) ? ERR_OK : why_set(why, ERR_IO, "the process that starts jobs was killed");
}

enum err worker_titan_run(const struct worker_options *o, struct proc *proc, const char *space_path,
                          void (*log)(void *ctx, const char *line), struct why *why) {
    struct titan_worker_program w = {.proc = proc};
    struct disk *disk = NULL;
    struct space *space = NULL;
    enum err e = osdisk_open(o->data, &disk, why); /* makes the directory */
    if (e == ERR_OK) e = osspace_open(space_path, &space, why);
    if (e == ERR_OK) e = osspace_sweep(space, why);
    if (e == ERR_OK) e = osloop_open(CONNECTIONS_MAX, &w.loop, why);
    if (e == ERR_OK) e = run(&w, o, space, log, why);
    if (w.hand != NULL) titan_worker_close(w.hand);
    if (w.loop != NULL) osloop_close(w.loop);
    if (space != NULL) osspace_close(space);
    if (disk != NULL) osdisk_close(disk);
    return e;
}
