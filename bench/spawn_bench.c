/* spawn_bench.c: what it costs to run /bin/true as a job: through nursery and keeper, with a workspace made and
 * removed, two in flight, beside the floor S (floor.h), which does the same with nothing around; and in sandboxes.
 *
 * Usage: spawn_bench [COUNT]
 *        spawn_bench COUNT FLIGHT PROGRAM [ARG]...   the floor alone, of another program with our environment,
 *                                                    so many at a time */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench_time.h"
#include "floor.h"
#include "osproc.h"
#include "ossandbox.h"
#include "osspace.h"
#include "panic.h"

#define FLIGHT 2
#define SIX_X \
    "XX"      \
    "XX"      \
    "XX" /* what mkdtemp replaces */

struct run {
    struct proc *proc;
    struct space *space;
    struct proc_sandbox sandbox;
    unsigned started, ended, count; /* of all rounds */
};

static void on_output(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes) {
    (void)ctx, (void)p, (void)stream, (void)bytes;
}

static void on_ready(void *ctx, proc_id p) {
    (void)ctx, (void)p;
}

static void on_ended(void *ctx, proc_id p, uint32_t exit_code, uint32_t number, const struct proc_usage *usage) {
    struct run *r = ctx;
    char name[32];
    (void)usage;
    ENSURE(exit_code == 0 && number == 0);
    snprintf(name, sizeof name, "j%llu", (unsigned long long)p.v);
    r->space->ops->remove(r->space, name);
    r->ended++;
}

static void start(struct run *r) {
    static const char *const argv[] = {"/bin/true", NULL}, *const env[] = {"PATH=/bin", NULL};
    char name[32], path[SPACE_PATH_MAX], whole[SPACE_PATH_MAX];
    struct why why;
    proc_id id;
    snprintf(name, sizeof name, "j%u", ++r->started);
    ENSURE(r->space->ops->make(r->space, name, &why) == ERR_OK);
    r->space->ops->path(r->space, name, "work", path);
    r->space->ops->path(r->space, name, "", whole);
    struct proc_spec spec = {.argv = argv, .env = env, .workdir = path, .sandbox = r->sandbox};
    spec.sandbox.space = whole;
    struct proc_handler handler = {on_output, on_ready, on_ended, r};
    ENSURE(r->proc->ops->start(r->proc, &spec, &handler, &id, &why) == ERR_OK);
    ENSURE(id.v == r->started);
}

static double ours_run(struct run *r, unsigned count) {
    double begin = bench_now();
    r->count += count;
    while (r->ended < r->count) {
        while (r->started < r->count && r->started - r->ended < FLIGHT) start(r);
        struct pollfd fd = {.fd = osproc_fd(r->proc), .events = POLLIN};
        ENSURE(poll(&fd, 1, 10000) == 1);
        osproc_run(r->proc);
    }
    return count / (bench_now() - begin);
}

/* Nothing where the kernel has no sandboxes for us. */
static void sandboxes_run(struct run *r, unsigned count, double floor, const char *dir) {
    static const struct {
        const char *name;
        struct proc_sandbox box;
    } kinds[] = {{"net-off", {.is_on = true, .net_off = true}},
                 {"strict", {.is_on = true, .net_off = true, .files = true}}};
    struct why why = {{0}};
    uint32_t first = 0, last = 0;
    enum err e = geteuid() == 0 ? ossandbox_uids(&first, &last, &why) : ERR_OK;
    if (e == ERR_OK) e = ossandbox_probe(dir, first, &why);
    if (e != ERR_OK) printf("no sandboxes here: %s\n", why.text);
    if (e == ERR_OK && first != 0) osproc_uids(r->proc, first, last);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && e == ERR_OK; i++) {
        r->sandbox = kinds[i].box;
        r->sandbox.own_uid = kinds[i].box.files && first != 0;
        double rate = ours_run(r, count);
        printf("%-8s %8.0f /s   %.2f S\n", kinds[i].name, rate, rate / floor);
    }
}

static int floor_alone(unsigned count, char **argv) {
    struct floor_command command = {.argv = argv + 3, .env = environ, .flight = (uint32_t)strtoul(argv[2], NULL, 10)};
    const char *where = getenv("TMPDIR");
    char root[300];
    struct why why = {{0}};
    double rate = 0;
    snprintf(root, sizeof root, "%s/reeve-bench-" SIX_X, where != NULL ? where : "/tmp");
    ENSURE(mkdtemp(root) != NULL);
    enum err e = floor_spawn_of(root, &command, count, &rate, &why);
    (void)rmdir(root);
    if (e != ERR_OK) fprintf(stderr, "spawn_bench: %s\n", why.text);
    printf("%.2f\n", rate);
    return e == ERR_OK ? 0 : 1;
}

int main(int argc, char **argv) {
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    if (argc > 3) return floor_alone(count, argv);
    char root[] = "/tmp/reeve-bench-" SIX_X, bare[300], space[300];
    struct run r = {.count = 0};
    struct why why;
    ENSURE(count > 0 && osproc_open(NULL, &r.proc, &why) == ERR_OK);
    ENSURE(mkdtemp(root) != NULL);
    snprintf(bare, sizeof bare, "%s/bare", root);
    snprintf(space, sizeof space, "%s/space", root);
    ENSURE(mkdir(bare, 0700) == 0 && osspace_open(space, &r.space, &why) == ERR_OK);
    double before = 0, after = 0;
    ENSURE(floor_spawn(bare, count, &before, &why) == ERR_OK);
    double ours = ours_run(&r, count);
    ENSURE(floor_spawn(bare, count, &after, &why) == ERR_OK);
    double most = before > after ? before : after;
    printf("floor S  %8.0f /s\nours     %8.0f /s   %.2f S\n", most, ours, ours / most);
    snprintf(bare, sizeof bare, "%s/probe", root);
    sandboxes_run(&r, count / 4 + 1, most, bare);
    snprintf(bare, sizeof bare, "%s/bare", root);
    osproc_close(r.proc);
    osspace_close(r.space);
    char trash[320];
    snprintf(trash, sizeof trash, "%s/.trash", space);
    (void)rmdir(trash);
    (void)rmdir(space);
    (void)rmdir(bare);
    (void)rmdir(root);
    return 0;
}
