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
#include <time.h>
#include <unistd.h>

#include "crash_impl.h"

#define ROUNDS_STANDARD 50u
#define PATIENCE_S 60u
#define PATIENCE_S_MAX 3600u
#define ROUND_SECONDS_MAX 180
#define CHECK_SECONDS_MAX 3600 /* of all, in the end */
#define PROGRESS_ROUNDS 10u
#define SEGMENT_BYTES "1048576"
#define COMPACT_BYTES "524288"

static volatile sig_atomic_t too_long;
static struct crash crash; /* one at a time; too large for a stack, and the alarm has to find it */

/* A server that does not answer any more is ended, so that nobody waits for it. */
static void on_alarm(int number) {
    (void)number;
    too_long = 1;
    if (crash.lab.server > 0) kill(crash.lab.server, SIGKILL);
}

/* ---- all of them ---- */

static enum err limits_set(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 1; i <= CRASH_LIMITS && e == ERR_OK; i++) {
        char name[32];
        struct client_frame got;
        snprintf(name, sizeof name, "crash-%u", i);
        struct wire_limit m = {.kind = WIRE_LIMIT_KEY, .name = slice_str(name), .width = i};
        client_forget(&c->lab.client);
        e = client_ask(&c->lab.client, WIRE_LIMIT, &m, &got, why);
        if (e == ERR_OK) crash_note(&c->clients[0], CRASH_LIMIT, i, SLICE(""), false);
    }
    return e;
}

static enum err begin(struct crash *c, bool power, struct why *why) {
    static const char *const flags[] = {"--segment-bytes", SEGMENT_BYTES, "--compact-bytes",
                                        COMPACT_BYTES,     "--log-level", "error"};
    char path[BENCH_PATH_MAX + 16];
    enum err e = crash_aim_open(c, why);
    if (e == ERR_OK) e = lab_make(&c->lab, &c->bench, why);
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
    if (e == ERR_OK) e = limits_set(c, why);
    return e == ERR_OK ? lab_worker_start(&c->lab, 0, why) : e;
}

static enum err rounds_run(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    for (c->round = 0; c->round < c->rounds && !c->is_down && e == ERR_OK; c->round++) {
        alarm(ROUND_SECONDS_MAX);
        e = crash_round_run(c, why);
        if (e != ERR_OK) return why_wrap(why, e, "round %u", c->round + 1);
        if ((c->round + 1) % PROGRESS_ROUNDS == 0 && c->round + 1 < c->rounds && !c->bench.json) {
            c->round++;
            crash_progress(c);
            c->round--;
        }
    }
    alarm(CHECK_SECONDS_MAX);
    if (e == ERR_OK && !c->is_down) e = crash_check_all(c, why);
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
    crash_orphans_reap(c);
    crash_aim_close(c);
    client_interrupt_by(NULL);
    for (uint32_t i = 0; i < CRASH_CLIENTS; i++) vec_fini(&c->clients[i].items);
    vec_fini(&c->items);
    vec_fini(&c->worker_deaths);
    vec_fini(&c->recoveries);
}

/* ---- arguments ---- */

static void help(void) {
    printf(
        "usage: reeve crashtest [--rounds N] [--power-cut] [--seed N] [--patience S] [--data DIR] [--json] [--lie]\n\n"
        "Starts this program as server and worker in a directory of its own and kills them (-9) at random and at\n"
        "chosen moments, while clients submit flows, put blobs and set keys. After each kill all that was\n"
        "acknowledged is looked for and compared to the last byte; in the end it is counted how often each job ran,\n"
        "and which flows do not end. Exit 0: nothing was lost, nothing ran twice, nothing hangs.\n\n"
        "  --rounds N   number of kills (default: 50)\n"
        "  --power-cut  most kills also take what was not synced from the disks, all of it or any part; before, the\n"
        "               disk is slow in most rounds, and in some it fails (needs powercut.so and powercut beside this\n"
        "               program, as in build/release)\n"
        "  --lie        with a power cut: syncs are answered and not done: losses must be found, a test of the test\n"
        "  --seed N     seed for moments, victims and contents (default: random, printed)\n"
        "  --patience S seconds without a finished flow after which the rest counts as hanging (default: 60)\n"
        "  --data DIR   on which disk: a directory is made in DIR and removed again; TMPDIR, else /var/tmp\n"
        "  --json       the result as one object\n");
}

static enum err number_parse(const char *flag, const char *value, uint64_t most, uint64_t *ret, struct why *why) {
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != 0 || errno != 0 || v < 1 || v > most)
        return why_set(why, ERR_INVALID, "%s: expected a number from 1 to %llu, found `%s`", flag,
                       (unsigned long long)most, value);
    *ret = v;
    return ERR_OK;
}

static bool takes_value(const char *flag) {
    return strcmp(flag, "--rounds") == 0 || strcmp(flag, "--seed") == 0 || strcmp(flag, "--data") == 0 ||
           strcmp(flag, "--patience") == 0;
}

static enum err args_read(struct crash *c, int count, char **args, bool *ret_power, struct why *why) {
    uint64_t rounds = ROUNDS_STANDARD, patience = PATIENCE_S;
    enum err e = ERR_OK;
    for (int i = 0; i < count && e == ERR_OK; i++) {
        const char *flag = args[i], *value = i + 1 < count ? args[i + 1] : NULL;
        bool takes = takes_value(flag);
        if (takes && value == NULL) return why_set(why, ERR_INVALID, "%s: a value is missing", flag);
        if (strcmp(flag, "--rounds") == 0)
            e = number_parse(flag, value, CRASH_ROUNDS_MAX, &rounds, why);
        else if (strcmp(flag, "--seed") == 0)
            e = number_parse(flag, value, UINT64_MAX, &c->seed, why);
        else if (strcmp(flag, "--patience") == 0)
            e = number_parse(flag, value, PATIENCE_S_MAX, &patience, why);
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
    c->patience_ms = (int64_t)patience * 1000;
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
        e = why_set(why, ERR_CORRUPT, "acknowledged things were lost, ran that should not have, or hang; see above");
    crash_fini(c);
    return e;
}
