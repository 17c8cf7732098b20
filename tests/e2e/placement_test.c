/* placement_test.c: many jobs that ask for shares of two workers, and a witness that adds up what runs at once: never
 * more than a worker has, also when the server is killed in between; and no GPU twice. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

#define JOBS 80u
#define SEED 20u

static struct realserver server;
static struct realworker workers[2];
static struct realcli r;

/* What each has: thousandths of a processor, MiB, GPUs, licences. */
static const struct share { uint32_t cpu, memory, gpus, licences; } has[2] = {{2500, 1000, 3, 5}, {1000, 600, 1, 2}};

static int setup(void **state) {
    static const char *const flags[2][12] = {
        {"--slots", "50", "--cpu", "2.5", "--memory", "1000MiB", "--gpus", "3", "--resource", "licences=5"},
        {"--slots", "50", "--cpu", "1", "--memory", "600MiB", "--gpus", "1", "--resource", "licences=2"}};
    static const char *const names[] = {"big", "small"};
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    r = (struct realcli){0};
    snprintf(r.data, sizeof r.data, "%s", server.data);
    for (int i = 0; i < 2; i++) {
        realworker_make(&workers[i], &server, names[i]);
        for (int k = 0; flags[i][k] != NULL; k++) workers[i].flags[k] = flags[i][k];
        realworker_start(&workers[i], &server);
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) realworker_kill(&workers[i]);
    realserver_remove(&server);
    return 0;
}

/* The witness: under a lock it adds the job's share to what its worker has running, and writes the sums down; a line
 * for each beginning and each end. A directory for each GPU: making it fails when another job has the same one. */
static const char witness[] =
    "set -e\n"
    "say() { flock book sh -c 'echo \"$1\" >>book' sh \"$1\"; }\n"
    "cd \"$BOOK\"\n"
    "worker=${REEVE_WORKER%-*}\n"
    "for gpu in $(echo \"$REEVE_GPUS\" | tr , ' '); do mkdir \"gpu.$worker.$gpu\"; done\n"
    "[ \"$CUDA_VISIBLE_DEVICES\" = \"$REEVE_GPUS\" ]\n"
    "[ \"$(echo \"$REEVE_GPUS\" | tr , '\\n' | grep -c .)\" = \"$GPUS\" ] || [ \"$GPUS\" = 0 ]\n"
    "say \"+ $worker $SHARE\"\n"
    "sleep \"$NAP\"\n"
    "say \"- $worker $SHARE\"\n"
    "for gpu in $(echo \"$REEVE_GPUS\" | tr , ' '); do rmdir \"gpu.$worker.$gpu\"; done\n";

static struct share share_of(struct test_random *random) {
    struct share s = {0};
    if (test_random_below(random, 3) > 0) s.cpu = 100 * (uint32_t)(1 + test_random_below(random, 9));
    if (test_random_below(random, 3) > 0) s.memory = 50 * (uint32_t)(1 + test_random_below(random, 10));
    if (test_random_below(random, 3) == 0) s.gpus = (uint32_t)(1 + test_random_below(random, 3));
    if (test_random_below(random, 4) == 0) s.licences = (uint32_t)(1 + test_random_below(random, 4));
    return s;
}

static char *flow_make(void) {
    static char text[128 * 1024];
    struct test_random random = {SEED};
    int len = snprintf(text, sizeof text, "defaults: {retries: 0, env: {BOOK: '%s'}}\njobs:\n", server.data);
    for (uint32_t i = 0; i < JOBS; i++) {
        struct share s = share_of(&random);
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "  j%u:\n    script: witness.sh\n    env: {SHARE: '%u %u %u %u', GPUS: '%u', NAP: '0.%u'}\n"
                        "    resources: {cpu: %u.%03u, memory: %uMiB, gpus: %u, custom: {licences: %u}}\n",
                        i, s.cpu, s.memory, s.gpus, s.licences, s.gpus, (unsigned)test_random_below(&random, 4),
                        s.cpu / 1000, s.cpu % 1000, s.memory, s.gpus, s.licences);
    }
    return text;
}

static struct share sum(struct share a, struct share b, int sign) {
    return (struct share){a.cpu + (uint32_t)sign * b.cpu, a.memory + (uint32_t)sign * b.memory,
                          a.gpus + (uint32_t)sign * b.gpus, a.licences + (uint32_t)sign * b.licences};
}

static void most(uint32_t *at, uint32_t value) {
    if (value > *at) *at = value;
}

/* Reads the book; how many began. `ret_most` is what ran at once at most. */
static uint32_t book_read(struct share ret_most[2]) {
    char path[128], worker[16];
    struct share now[2] = {{0}};
    uint32_t begun = 0;
    char sign;
    struct share s;
    snprintf(path, sizeof path, "%s/book", server.data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fscanf(f, " %c %15s %u %u %u %u", &sign, worker, &s.cpu, &s.memory, &s.gpus, &s.licences) == 6) {
        int w = strcmp(worker, "big") == 0 ? 0 : 1;
        begun += sign == '+';
        now[w] = sum(now[w], s, sign == '+' ? 1 : -1);
        most(&ret_most[w].cpu, now[w].cpu);
        most(&ret_most[w].memory, now[w].memory);
        most(&ret_most[w].gpus, now[w].gpus);
        most(&ret_most[w].licences, now[w].licences);
    }
    fclose(f);
    return begun;
}

static void no_worker_is_ever_given_more_than_it_has(void **state) {
    char id[64];
    struct share peak[2] = {{0}};
    (void)state;
    (void)realcli_file(&r, "witness.sh", witness);
    snprintf(id, sizeof id, "%s", realcli_submit(&r, flow_make(), ""));
    realserver_kill(&server); /* what runs goes on, and must still be counted */
    realserver_start(&server);
    struct ran ran = realcli_run(&r, realcli_at("wait --timeout 55s @", id), NULL, NULL);
    if (ran.exit_code != 0) fail_msg("%s%s\n%s", ran.out, ran.err, realcli_ok(&r, realcli_at("ls @", id), NULL).out);
    assert_int_equal(book_read(peak), JOBS);
    for (int w = 0; w < 2; w++) {
        print_message("%s at once: cpu %u of %u, memory %u of %u, gpus %u of %u, licences %u of %u\n",
                      w == 0 ? "big" : "small", peak[w].cpu, has[w].cpu, peak[w].memory, has[w].memory, peak[w].gpus,
                      has[w].gpus, peak[w].licences, has[w].licences);
        assert_in_range(peak[w].cpu, 0, has[w].cpu);
        assert_in_range(peak[w].memory, 0, has[w].memory);
        assert_in_range(peak[w].gpus, 0, has[w].gpus);
        assert_in_range(peak[w].licences, 0, has[w].licences);
    }
    /* and it was worth looking: they were nearly full */
    assert_true(peak[0].cpu >= 2000 && peak[0].memory >= 800 && peak[0].gpus == 3);
}

static void what_no_worker_has_is_waited_for_with_that_reason(void **state) {
    char id[64];
    (void)state;
    snprintf(id, sizeof id, "%s", realcli_submit(&r, "jobs: {x: {run: 'true', resources: {gpus: 4}}}", ""));
    assert_has(realcli_run(&r, realcli_at("why @/x", id), NULL, NULL).out,
               "no attached worker has what the job requires");
    assert_int_equal(realcli_run(&r, realcli_at("cancel @", id), NULL, NULL).exit_code, 0);
}

static void who_asks_for_no_gpu_sees_none(void **state) {
    char id[64];
    (void)state;
    snprintf(id, sizeof id, "%s",
             realcli_submit(&r, "jobs: {x: {run: 'echo \"<$REEVE_GPUS><${CUDA_VISIBLE_DEVICES-unset}>\"'}}", "--wait"));
    assert_string_equal(realcli_ok(&r, realcli_at("logs @/x", id), NULL).out, "<><>\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_worker_is_ever_given_more_than_it_has),
        cmocka_unit_test(what_no_worker_has_is_waited_for_with_that_reason),
        cmocka_unit_test(who_asks_for_no_gpu_sees_none),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
