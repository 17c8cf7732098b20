/* sweep.c: see sweep.h. */
#include "sweep.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mutant.h"
#include "panic.h"
#include "world.h"

#define SEED_SECONDS_MAX 60u
#define CHILDREN_MAX 8
#define REGRESS_MAX 4096u

/* The world of this process, for those who find out too late to be handed it. */
static struct world *current;

static void on_panic(const char *file, int line, const char *fact) {
    if (current) world_red(current, "panic", "%s:%d: %s", file, line, fact);
}

static void on_signal(int number) {
    signal(number, SIG_DFL);
    if (current) world_red(current, number == SIGALRM ? "hang" : "signal", "signal %d", number);
    _Exit(1);
}

static void run_world(uint64_t seed, enum world_voice voice, struct world_result *ret) {
    current = world_new(seed, voice);
    world_run(current, ret);
    struct world *w = current;
    current = NULL;
    world_free(w);
}

static void run_seed(uint64_t seed, enum world_voice voice, bool verbose) {
    struct world_result first, second;
    struct timespec begin, end;
    panic_hook_set(on_panic);
    signal(SIGSEGV, on_signal);
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
    alarm(SEED_SECONDS_MAX);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run_world(seed, voice, &first);
    run_world(seed, voice == WORLD_LOUD ? WORLD_TEXT : voice, &second);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (first.hash != second.hash || first.digest.lo != second.digest.lo || first.digest.hi != second.digest.hi) {
        if (voice != WORLD_SILENT)
            printf("RED seed %" PRIu64 ": determinism: two runs differ (events %" PRIu64 " and %" PRIu64
                   ", records %" PRIu64 " and %" PRIu64 ")\n",
                   seed, first.events, second.events, first.records, second.records);
        fflush(stdout);
        _Exit(1);
    }
    if (verbose) {
        double ms = (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
        printf("seed %" PRIu64 ": ok, %" PRIu64 " events, %" PRIu64 " records, %u crashes, %.1f s virtual, %.0f ms\n",
               seed, first.events, first.records, first.crashes, (double)first.virtual_ms / 1000.0, ms);
    }
}

static pid_t spawn(uint64_t seed, enum world_voice voice, bool verbose) {
    fflush(stdout);
    pid_t pid = fork();
    ENSURE(pid >= 0);
    if (pid > 0) return pid;
    if (voice == WORLD_SILENT && !freopen("/dev/null", "w", stderr)) _Exit(1);
    run_seed(seed, voice, verbose);
    exit(0); /* not _Exit: leak checks and coverage are told at the end of a process */
}

static bool reap(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A silent red prints its first lines; the second run has the last lines of the trace as well. */
static void tell(uint64_t seed) {
    if (reap(spawn(seed, WORLD_TEXT, false)))
        printf("RED seed %" PRIu64 " is green when told: not reproducible\n", seed);
}

struct sweep_running {
    pid_t pid;
    uint64_t seed;
};

static int children(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > CHILDREN_MAX ? CHILDREN_MAX : (int)cores;
}

static void settle(struct sweep_tally *t, struct sweep_running *r) {
    if (reap(r->pid)) {
        t->passed++;
    } else {
        t->failed++;
        tell(r->seed);
    }
    r->pid = 0;
}

void sweep_run(struct sweep_tally *t, uint64_t from, uint64_t count, bool verbose) {
    struct sweep_running slots[CHILDREN_MAX] = {{0, 0}};
    int width = children();
    for (uint64_t i = 0; i < count; i++) {
        struct sweep_running *r = &slots[i % (uint64_t)width];
        if (r->pid) settle(t, r);
        r->seed = from + i;
        r->pid = spawn(r->seed, WORLD_SILENT, verbose);
    }
    for (uint64_t i = count; i < count + (uint64_t)width; i++) {
        struct sweep_running *r = &slots[i % (uint64_t)width];
        if (r->pid) settle(t, r);
    }
}

void sweep_one(struct sweep_tally *t, uint64_t seed, bool trace) {
    struct sim_plan plan;
    plan_draw(&plan, seed);
    plan_print(&plan, stdout);
    if (reap(spawn(seed, trace ? WORLD_LOUD : WORLD_TEXT, true)))
        t->passed++;
    else
        t->failed++;
}

bool sweep_regress(struct sweep_tally *t, const char *path) {
    FILE *list = fopen(path, "r");
    if (list == NULL) {
        fprintf(stderr, "reeve-sim: cannot read %s\n", path);
        return false;
    }
    /* All of it first: a child that ends moves the place of reading in a file it shares with us. */
    uint64_t seeds[REGRESS_MAX];
    uint32_t count = 0;
    char line[512];
    while (count < REGRESS_MAX && fgets(line, sizeof line, list)) {
        if (line[0] >= '0' && line[0] <= '9') seeds[count++] = strtoull(line, NULL, 10);
    }
    fclose(list);
    for (uint32_t i = 0; i < count; i++) {
        struct sweep_running r = {.seed = seeds[i], .pid = spawn(seeds[i], WORLD_SILENT, true)};
        settle(t, &r);
    }
    return true;
}

#ifdef REEVE_MUTANTS

/* The seed that caught it when somebody last looked, 0 = not known. */
static uint64_t known_seed(const char *path, const char *mutant) {
    char line[128], word[64];
    uint64_t seed = 0, found = 0;
    FILE *list = fopen(path, "re");
    while (list != NULL && found == 0 && fgets(line, sizeof line, list))
        if (sscanf(line, "%63s %" SCNu64, word, &seed) == 2 && strcmp(word, mutant) == 0) found = seed;
    if (list != NULL) fclose(list);
    return found;
}

/* The seed that catches it, 0 = none of so many. The known one saves most of the search while it still does. */
static uint64_t hunt(uint64_t count, uint64_t known) {
    fflush(stdout);
    if (known > 0 && known <= count && !reap(spawn(known, WORLD_SILENT, false))) return known;
    uint64_t width = (uint64_t)children();
    for (uint64_t i = 0; i < count; i += width) {
        pid_t pids[CHILDREN_MAX];
        uint64_t caught = 0;
        uint64_t n = count - i < width ? count - i : width;
        for (uint64_t k = 0; k < n; k++) {
            fflush(stdout);
            pids[k] = spawn(1 + i + k, WORLD_SILENT, false);
        }
        for (uint64_t k = 0; k < n; k++) {
            if (!reap(pids[k]) && caught == 0) caught = i + k + 1;
        }
        if (caught) return caught;
    }
    return 0;
}

bool sweep_mutants(struct sweep_tally *t, uint64_t count, const char *only, const char *path) {
    uint64_t most = 1;
    for (int i = 1; i < (int)MUTANT_COUNT; i++) {
        if (only && strcmp(only, mutant_words[i]) != 0) continue;
        mutant_active = (enum mutant)i;
        uint64_t known = known_seed(path, mutant_words[i]);
        uint64_t seeds = hunt(count, known);
        if (seeds) {
            t->passed++;
            printf("mutant %s: caught by seed %" PRIu64 "%s\n", mutant_words[i], seeds,
                   seeds == known ? "" : ", which is not the known one");
        } else {
            t->failed++;
            printf("mutant %s: NOT caught by %" PRIu64 " seeds\n", mutant_words[i], count);
        }
        if (seeds > most) most = seeds;
    }
    mutant_active = MUTANT_none;
    printf("mutant none: must pass the same %" PRIu64 " seeds\n", most);
    sweep_run(t, 1, most, false);
    return true;
}

#else

bool sweep_mutants(struct sweep_tally *t, uint64_t count, const char *only, const char *path) {
    (void)t, (void)count, (void)only, (void)path;
    fprintf(stderr, "reeve-sim: this build has no mutants (tools/test.sh mutants)\n");
    return false;
}

#endif
