/* crash_round.c: one round: clients ask, somebody is killed and started again, what was acknowledged is looked for. */
#include <signal.h>
#include <sys/wait.h>

#include "crash_impl.h"
#include "panic.h"

#define ASLEEP_US 200000u
#define GO_ON_US_MAX 75000u /* with a worker killed, or until a disk fails */

enum victim { KILL_SERVER, KILL_WORKER, KILL_BOTH };

/* ---- clients ---- */

static void clients_start(struct crash *c) {
    sigset_t all, before;
    sigfillset(&all); /* signals are for the first thread */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    atomic_store(&c->stop, false);
    for (uint32_t i = 0; i < CRASH_CLIENTS; i++)
        ENSURE(pthread_create(&c->clients[i].thread, NULL, crash_client_run, &c->clients[i]) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static enum err clients_end(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    atomic_store(&c->stop, true);
    for (uint32_t i = 0; i < CRASH_CLIENTS; i++) {
        struct crash_client *k = &c->clients[i];
        pthread_join(k->thread, NULL);
        if (e == ERR_OK && k->error != ERR_OK) e = why_set(why, k->error, "%s", k->why.text);
    }
    return e;
}

/* ---- who dies ---- */

/* Orphans of a worker come to us; whoever is not ours by name is done with. */
void crash_orphans_reap(struct crash *c) {
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
        if (info.si_pid == c->lab.server || info.si_pid == c->lab.workers[0]) return;
        (void)waitpid(info.si_pid, NULL, WNOHANG);
    }
}

static enum err server_again(struct crash *c, struct why *why) {
    double begun = bench_now();
    enum err e = lab_server_start(&c->lab, why);
    if (e == ERR_OK) e = lab_connect(&c->lab, why);
    if (e != ERR_OK && c->lab.server == 0) { /* it ended: what it kept is of no use to it */
        c->is_down = true;
        crash_tell(c, "does not start again: %s", why->text);
        return ERR_OK;
    }
    if (e != ERR_OK) return e;
    *(double *)vec_push(&c->recoveries) = bench_now() - begun;
    return ERR_OK;
}

static enum err worker_down(struct crash *c, struct why *why) {
    *(uint32_t *)vec_push(&c->worker_deaths) = c->round;
    return lab_worker_kill(&c->lab, 0, why);
}

/* With power left, what the server started lives on for a while; without, nothing does. */
static enum err server_down(struct crash *c, bool power_goes, struct why *why) {
    if (power_goes) return lab_server_fell(&c->lab, why);
    lab_server_kill(&c->lab);
    return ERR_OK;
}

static enum err strike(struct crash *c, enum victim who, bool power_goes, struct why *why) {
    bool server_first = crash_draw(&c->random) % 2 == 0;
    enum err e = ERR_OK;
    if (who != KILL_WORKER && server_first) e = server_down(c, power_goes, why);
    if (e == ERR_OK && who != KILL_SERVER) e = worker_down(c, why);
    if (e == ERR_OK && who != KILL_WORKER && !server_first) e = server_down(c, power_goes, why);
    return e;
}

/* ---- a round ---- */

/* What a round does: who is killed and when, whether the power goes, and what ails the disk until then. */
struct crash_plan {
    enum victim who;
    enum crash_moment moment;
    bool power_goes, disk_fails;
    bool worker_sleeps;  /* it comes back to the new server late, but within its lease */
    const char *trouble; /* NULL: nothing */
};

/* Of each moment the files that are slow then; one of two. */
static const char *slow_files(enum crash_moment moment, bool first) {
    static const char *const journal = "slow 30000 /journal/\n", *const logs = "slow 60000 /logs/\n",
                             *const all = "slow 10000 /\n";
    switch (moment) {
    case CRASH_OUTPUT: return logs;
    case CRASH_END: return first ? logs : journal;
    case CRASH_ANSWER: return first ? journal : all;
    case CRASH_ANY: return first ? NULL : journal;
    case CRASH_FOLD: return first ? NULL : all;
    case CRASH_MOMENTS: break;
    }
    return NULL;
}

/* A slow disk keeps the moments between a write, its sync and the answer open for long enough to be met. One that fails
 * says so to the server, which may promise nothing from then on; then the power goes. */
static void plan_draw(struct crash *c, struct crash_plan *ret) {
    static const enum victim victims[] = {KILL_SERVER, KILL_SERVER, KILL_SERVER, KILL_SERVER, KILL_WORKER,
                                          KILL_WORKER, KILL_WORKER, KILL_BOTH,   KILL_BOTH,   KILL_BOTH};
    static const enum crash_moment moments[] = {CRASH_ANY, CRASH_ANY,    CRASH_ANSWER, CRASH_END,
                                                CRASH_END, CRASH_OUTPUT, CRASH_OUTPUT, CRASH_FOLD};
    uint64_t chance = crash_draw(&c->random);
    bool has_shim = c->lab.power.shim != NULL;
    *ret = (struct crash_plan){.who = victims[chance % 10], .moment = moments[(chance >> 8) % 8]};
    ret->power_goes = has_shim && (chance >> 16) % 5 != 0;
    /* A worker that dies takes along what its server forgot about it: in the second half none does. */
    if (c->round >= c->rounds / 2) ret->who = KILL_SERVER;
    ret->worker_sleeps = ret->who == KILL_SERVER && (chance >> 40) % 3 == 0;
    if (has_shim) ret->trouble = slow_files(ret->moment, (chance >> 24) % 2 == 0);
    ret->disk_fails = ret->power_goes && (chance >> 32) % 5 == 0 && !c->lies;
    if (ret->disk_fails) ret->trouble = "fail /journal/\n";
    if (ret->disk_fails && ret->who == KILL_WORKER) ret->who = KILL_SERVER; /* it does not live on */
    c->failed += ret->disk_fails;
    c->slow += ret->trouble != NULL && !ret->disk_fails;
    c->kills[ret->who]++;
}

/* The server lives: clients go on until they are told. */
static enum err worker_round(struct crash *c, const struct crash_plan *p, struct why *why) {
    enum err e = p->power_goes ? crash_power_cut(c, false, true, why) : ERR_OK;
    if (e == ERR_OK) e = lab_worker_again(&c->lab, 0, why);
    if (e == ERR_OK) crash_pause_us(crash_draw(&c->random) % GO_ON_US_MAX);
    return e;
}

/* Started again, on what is left of its disk. */
static enum err server_round(struct crash *c, const struct crash_plan *p, struct why *why) {
    enum err e = p->power_goes ? crash_power_cut(c, true, p->who == KILL_BOTH, why) : ERR_OK;
    if (e == ERR_OK) e = server_again(c, why);
    if (e == ERR_OK && !c->is_down && p->who == KILL_BOTH) e = lab_worker_again(&c->lab, 0, why);
    if (!p->worker_sleeps) return e;
    crash_pause_us(ASLEEP_US);
    kill(c->lab.workers[0], SIGCONT);
    return e;
}

enum err crash_round_run(struct crash *c, struct why *why) {
    struct crash_plan p;
    plan_draw(c, &p);
    if (!p.disk_fails && crash_power_trouble(c, p.trouble, why) != ERR_OK) return ERR_IO;
    clients_start(c);
    enum err e = ERR_OK, ended;
    if (p.disk_fails) { /* something was promised before */
        crash_pause_us(crash_draw(&c->random) % GO_ON_US_MAX);
        e = crash_power_trouble(c, p.trouble, why);
    }
    crash_aim(c, p.moment, p.trouble != NULL);
    if (p.worker_sleeps) kill(c->lab.workers[0], SIGSTOP);
    if (e == ERR_OK) e = strike(c, p.who, p.power_goes, why);
    if (e == ERR_OK && p.who == KILL_WORKER) e = worker_round(c, &p, why);
    ended = clients_end(c, e == ERR_OK ? why : &(struct why){0});
    if (e == ERR_OK && !p.disk_fails) e = ended; /* what cannot be kept is refused */
    if (e == ERR_OK) e = crash_power_trouble(c, NULL, why);
    if (e != ERR_OK) return e;
    if (p.who != KILL_WORKER) e = server_round(c, &p, why);
    if (e == ERR_OK && !c->is_down) e = crash_check_round(c, why);
    crash_orphans_reap(c);
    return e;
}
