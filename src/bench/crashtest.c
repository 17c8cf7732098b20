/* crashtest.c: see crashtest.h. Rounds: clients ask for things, at some moment server or worker or both are killed, are
 * started again, and what was acknowledged must be there. One data directory for all of them.
 *
 * Everything is as by default, but for the size of segments and how often the journal is folded, so that a short run
 * has both in the middle of its kills. */
#include "crashtest.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crash_impl.h"
#include "panic.h"

#define ROUNDS_STANDARD 50u
#define ROUND_MS_MAX 150u /* from the first request to the kill */
#define ROUND_SECONDS_MAX 180
#define CHECK_SECONDS_MAX 3600 /* of all, in the end */
#define PROGRESS_ROUNDS 10u
#define SEGMENT_BYTES "1048576"
#define COMPACT_BYTES "2097152"

enum victim { KILL_SERVER, KILL_WORKER, KILL_BOTH };

static volatile sig_atomic_t too_long;
static struct crash crash; /* one at a time; too large for a stack, and the alarm has to find it */

/* A server that does not answer any more is ended, so that nobody waits for it. */
static void on_alarm(int number) {
    (void)number;
    too_long = 1;
    if (crash.lab.server > 0) kill(crash.lab.server, SIGKILL);
}

static void pause_us(uint64_t us) {
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* ---- a round ---- */

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

/* Orphans of a worker come to us; whoever is not ours by name is done with. */
static void orphans_reap(struct crash *c) {
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

static enum err one_round(struct crash *c, struct why *why) {
    static const enum victim victims[] = {KILL_SERVER, KILL_SERVER, KILL_SERVER, KILL_SERVER, KILL_SERVER,
                                          KILL_SERVER, KILL_WORKER, KILL_WORKER, KILL_BOTH,   KILL_BOTH};
    enum victim who = victims[crash_draw(&c->random) % 10];
    bool power_goes = c->lab.power.shim != NULL && crash_draw(&c->random) % 5 != 0;
    uint64_t us = crash_draw(&c->random) % (ROUND_MS_MAX * 1000);
    c->kills[who]++;
    clients_start(c);
    pause_us(us);
    enum err e = strike(c, who, power_goes, why), ended = ERR_OK;
    if (who == KILL_WORKER) { /* the server lives: clients go on until they are told */
        if (e == ERR_OK && power_goes) e = crash_power_cut(c, false, true, why);
        if (e == ERR_OK) e = lab_worker_again(&c->lab, 0, why);
        if (e == ERR_OK) pause_us(us / 2);
    }
    ended = clients_end(c, e == ERR_OK ? why : &(struct why){0});
    if (e == ERR_OK) e = ended;
    if (e != ERR_OK) return e;
    if (who != KILL_WORKER) {
        if (power_goes) e = crash_power_cut(c, true, who == KILL_BOTH, why);
        if (e == ERR_OK) e = server_again(c, why);
        if (e == ERR_OK && who == KILL_BOTH) e = lab_worker_again(&c->lab, 0, why);
    }
    if (e == ERR_OK) e = crash_check_round(c, why);
    orphans_reap(c);
    return e;
}

/* ---- all of them ---- */

static enum err begin(struct crash *c, bool power, struct why *why) {
    static const char *const flags[] = {"--segment-bytes", SEGMENT_BYTES, "--compact-bytes",
                                        COMPACT_BYTES,     "--log-level", "error"};
    char path[BENCH_PATH_MAX + 16];
    enum err e = lab_make(&c->lab, &c->bench, why);
    if (e != ERR_OK) return e;
    char real[PATH_MAX];
    if (realpath(c->lab.dir, real) == NULL || strlen(real) >= sizeof c->lab.dir)
        return why_set(why, ERR_IO, "%s: %s", c->lab.dir, strerrordesc_np(errno));
    snprintf(c->lab.dir, sizeof c->lab.dir, "%s", real); /* the shim compares paths */
    snprintf(c->lab.data, sizeof c->lab.data, "%s/data", c->lab.dir);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) c->lab.flags[i] = flags[i];
    snprintf(path, sizeof path, "%s/ran", c->lab.dir);
    if (mkdir(path, 0700) != 0) return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    if (power) e = crash_power_find(c, why);
    if (e == ERR_OK) e = crash_power_settle(c, why);
    if (e == ERR_OK) e = lab_server_start(&c->lab, why);
    if (e == ERR_OK) e = lab_connect(&c->lab, why);
    return e == ERR_OK ? lab_worker_start(&c->lab, 0, why) : e;
}

static enum err rounds_run(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    for (c->round = 0; c->round < c->rounds && e == ERR_OK; c->round++) {
        alarm(ROUND_SECONDS_MAX);
        e = one_round(c, why);
        if (e != ERR_OK) return why_wrap(why, e, "round %u", c->round + 1);
        if ((c->round + 1) % PROGRESS_ROUNDS == 0 && c->round + 1 < c->rounds && !c->bench.json) {
            c->round++;
            crash_progress(c);
            c->round--;
        }
    }
    alarm(CHECK_SECONDS_MAX);
    if (e == ERR_OK) e = crash_check_all(c, why);
    alarm(0);
    return e;
}

static void crash_init(struct crash *c) {
    struct sigaction act = {.sa_handler = on_alarm}; /* no restart: who waits looks up */
    vec_init(&c->items, sizeof(struct crash_item));
    vec_init(&c->worker_deaths, sizeof(uint32_t));
    vec_init(&c->recoveries, sizeof(double));
    c->random = c->seed;
    c->start = bench_now();
    for (uint32_t i = 0; i < CRASH_CLIENTS; i++) {
        struct crash_client *k = &c->clients[i];
        k->crash = c;
        k->index = i;
        k->random = crash_draw(&c->random);
        vec_init(&k->items, sizeof(struct crash_item));
    }
    sigaction(SIGALRM, &act, NULL);
    client_interrupt_by(&too_long);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void crash_fini(struct crash *c) {
    lab_close(&c->lab);
    orphans_reap(c);
    client_interrupt_by(NULL);
    for (uint32_t i = 0; i < CRASH_CLIENTS; i++) vec_fini(&c->clients[i].items);
    vec_fini(&c->items);
    vec_fini(&c->worker_deaths);
    vec_fini(&c->recoveries);
}

/* ---- arguments ---- */

static void help(void) {
    printf(
        "usage: reeve crashtest [--rounds N] [--power-cut] [--seed N] [--data DIR] [--json] [--lie]\n\n"
        "Starts this program as server and worker in a directory of its own and kills them (-9) at random moments,\n"
        "while clients submit flows, put blobs and set keys. After each kill all that was acknowledged is looked for\n"
        "and compared to the last byte; in the end it is counted how often each job ran. Exit 0: nothing was lost,\n"
        "and nothing ran twice.\n\n"
        "  --rounds N   how often; 50 unless said\n"
        "  --power-cut  most kills also take what was not synced from the disks, all of it or any part (needs\n"
        "               powercut.so and powercut beside this program, as in build/release)\n"
        "  --lie        with a power cut: syncs are answered and not done: losses must be found, a test of the test\n"
        "  --seed N     for moments, victims and contents; drawn and told unless said\n"
        "  --data DIR   on which disk: a directory is made in DIR and removed again; TMPDIR, else /var/tmp\n"
        "  --json       the result as one object\n");
}

static enum err number_parse(const char *flag, const char *value, uint64_t most, uint64_t *ret, struct why *why) {
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != 0 || errno != 0 || v < 1 || v > most)
        return why_set(why, ERR_INVALID, "%s: a number from 1 to %llu is expected, not %s", flag,
                       (unsigned long long)most, value);
    *ret = v;
    return ERR_OK;
}

static enum err args_read(struct crash *c, int count, char **args, bool *ret_power, struct why *why) {
    uint64_t rounds = ROUNDS_STANDARD;
    enum err e = ERR_OK;
    for (int i = 0; i < count && e == ERR_OK; i++) {
        const char *flag = args[i], *value = i + 1 < count ? args[i + 1] : NULL;
        bool takes = strcmp(flag, "--rounds") == 0 || strcmp(flag, "--seed") == 0 || strcmp(flag, "--data") == 0;
        if (takes && value == NULL) return why_set(why, ERR_INVALID, "%s: a value is missing", flag);
        if (strcmp(flag, "--rounds") == 0)
            e = number_parse(flag, value, CRASH_ROUNDS_MAX, &rounds, why);
        else if (strcmp(flag, "--seed") == 0)
            e = number_parse(flag, value, UINT64_MAX, &c->seed, why);
        else if (strcmp(flag, "--data") == 0)
            c->bench.disk = value;
        else if (strcmp(flag, "--json") == 0)
            c->bench.json = true;
        else if (strcmp(flag, "--power-cut") == 0)
            *ret_power = true;
        else if (strcmp(flag, "--lie") == 0)
            c->lies = true;
        else
            e = why_set(why, ERR_INVALID, "there is no flag %s; `reeve crashtest --help` lists them", flag);
        i += takes;
    }
    c->rounds = (uint32_t)rounds;
    if (e == ERR_OK && c->lies && !*ret_power) e = why_set(why, ERR_INVALID, "--lie goes with --power-cut");
    return e;
}

enum err crashtest_run(int count, char **args, const char *build, struct why *why) {
    struct crash *c = &crash;
    const char *tmp = getenv("TMPDIR");
    struct timespec now;
    bool power = false;
    for (int i = 0; i < count; i++)
        if (strcmp(args[i], "--help") == 0 || strcmp(args[i], "-h") == 0) {
            help();
            return ERR_OK;
        }
    clock_gettime(CLOCK_REALTIME, &now);
    c->seed = (uint64_t)now.tv_nsec + 1;
    c->bench = (struct bench){.build = build, .disk = tmp != NULL && tmp[0] != 0 ? tmp : "/var/tmp"};
    enum err e = args_read(c, count, args, &power, why);
    if (e == ERR_OK && access(c->bench.disk, W_OK) != 0)
        e = why_set(why, ERR_NOT_FOUND, "%s: %s", c->bench.disk, strerrordesc_np(errno));
    if (e != ERR_OK) return e;
    crash_init(c);
    e = begin(c, power, why);
    if (e == ERR_OK) e = rounds_run(c, why);
    if (e != ERR_OK) fprintf(stderr, "seed %llu\n", (unsigned long long)c->seed);
    if (e == ERR_OK) crash_report(c);
    if (e == ERR_OK && !crash_is_good(c))
        e = why_set(why, ERR_CORRUPT, "acknowledged things were lost, or things ran that should not have; see above");
    crash_fini(c);
    return e;
}
