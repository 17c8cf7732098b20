/* limits_test.c: what jobs may use, on the real machine: memory, cpu, processes, files; which limit was hit, and that
 * nobody forgets it; what a worker allows at most; what is said where the machine has no means; that nothing is left.
 */
#include "test.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgroups.h"
#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

#define PATIENCE_MS 20000
/* Wants 300 MB: tail keeps a line until it has seen its end. */
#define HOG "head -c 300m /dev/zero | tail >out"

static struct realserver server;
static struct realworker grouped, strict, weak;
static struct cgroups groups;
static bool has_groups;
static struct realcli r;
static char grouped_log[128], weak_log[128];

static int setup(void **state) {
    static const char *const strict_flags[] = {"--pool",           "strict",       "--limit",           "pids=8",
                                               "--limit-standard", "memory=24MiB", "--limit-by-request"};
    static const char *const weak_flags[] = {"--pool", "weak", "--limits-by", "rlimit"};
    (void)state;
    has_groups = cgroups_make(&groups);
    if (!has_groups) print_message("limits by control groups are not tested: %s\n", groups.why_not);
    realserver_make(&server);
    realserver_start(&server);
    r = (struct realcli){0};
    snprintf(r.data, sizeof r.data, "%s", server.data);
    realworker_make(&grouped, &server, "grouped");
    realworker_make(&strict, &server, "strict");
    realworker_make(&weak, &server, "weak");
    snprintf(grouped_log, sizeof grouped_log, "%s/grouped.log", server.data);
    snprintf(weak_log, sizeof weak_log, "%s/weak.log", server.data);
    for (size_t i = 0; i < sizeof strict_flags / sizeof strict_flags[0]; i++) strict.flags[i] = strict_flags[i];
    for (size_t i = 0; i < sizeof weak_flags / sizeof weak_flags[0]; i++) weak.flags[i] = weak_flags[i];
    grouped.log = grouped_log;
    weak.log = weak_log;
    grouped.cgroups = strict.cgroups = &groups;
    if (has_groups) realworker_start(&grouped, &server);
    if (has_groups) realworker_start(&strict, &server);
    realworker_start(&weak, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    struct realworker *all[] = {&grouped, &strict, &weak};
    for (int i = 0; i < 3; i++)
        if (all[i]->pid != 0) realworker_kill(all[i]);
    realserver_remove(&server);
    cgroups_remove(&groups);
    return 0;
}

/* One job `x` of this flow file, until it is over; what `show --json` says about it. */
static const char *run(const char *keys, char id[64]) {
    char text[1024];
    snprintf(text, sizeof text, "defaults: {retries: 0}\njobs:\n  x:\n%s", keys);
    snprintf(id, 64, "%s", realcli_submit(&r, text, ""));
    (void)realcli_run(&r, realcli_at("wait -q --timeout 60s @", id), NULL, NULL);
    return realcli_ok(&r, realcli_at("show @/x --json", id), NULL).out;
}

static long number_of(const char *json, const char *name) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = strstr(json, wanted);
    return at != NULL ? strtol(at + strlen(wanted), NULL, 10) : 0;
}

static void none_left(void) {
    for (int ms = 0; cgroups_of_jobs(&groups) > 0; ms += 10) {
        if (ms > PATIENCE_MS) fail_msg("%u groups of jobs are left", cgroups_of_jobs(&groups));
        (void)poll(NULL, 0, 10);
    }
}

static void log_says(const char *path, const char *words) {
    static char text[65536];
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        FILE *f = fopen(path, "re");
        size_t len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f != NULL) fclose(f);
        text[len] = 0;
        if (strstr(text, words) != NULL) return;
        (void)poll(NULL, 0, 10);
    }
    fail_msg("%s does not say: %s\n%s", path, words, text);
}

/* ---- by control groups ---- */

static void the_worker_finds_what_is_there(void **state) {
    char words[128];
    (void)state;
    if (!has_groups) skip();
    snprintf(words, sizeof words, "limits: memory by cgroup%d, cpu by cgroup%d, pids by cgroup%d\n", groups.version,
             groups.version, groups.version);
    log_says(grouped_log, words);
}

static void a_job_that_wants_too_much_memory_is_killed_whole_and_that_is_said(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    /* what is left of it would wait for ever */
    const char *json = run("    run: \"" HOG "; mkfifo f; cat <>f\"\n    limits: {memory: 32MiB}\n", id);
    assert_has(json, "\"state\":\"failed\"");
    assert_has(json, "\"reason\":\"killed: used more than its 32MiB of memory\"");
    assert_has(json, "\"hit\":\"memory\"");
    assert_in_range(number_of(json, "hit_count"), 1, 10);
    assert_in_range(number_of(json, "memory_bytes_max"), 30 << 20, 32 << 20);
    assert_has(realcli_ok(&r, realcli_at("show @/x", id), NULL).out,
               "32.0 MiB of memory, limit of memory hit: killed:");
    none_left();
}

static void a_job_that_stays_below_its_limits_is_left_alone(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    const char *json = run("    run: 'head -c 8m /dev/zero | tail | wc -c'\n"
                           "    limits: {memory: 256MiB, cpu: 4, pids: 50, open_files: 50, file_size: 1MiB}\n",
                           id);
    assert_has(json, "\"state\":\"succeeded\"");
    assert_has_not(json, "\"hit\"");
    assert_has_not(json, "\"unkept\"");
    assert_in_range(number_of(json, "memory_bytes_max"), 8 << 20, 256 << 20);
    assert_has(realcli_ok(&r, realcli_at("show @/x", id), NULL).out,
               "256.0 MiB of memory, 4.000 processors, 50 processes, 50 open files, files of 1.0 MiB");
    none_left();
}

static void refused_forks_are_counted(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    const char *json =
        run("    run: 'mkfifo f; for i in 1 2 3 4 5 6 7 8; do cat <>f & done'\n    limits: {pids: 5}\n", id);
    assert_has(json, "\"state\":\"failed\"");
    assert_has(json, "\"hit\":\"pids\"");
    assert_has(json, "fork refused: its limit of 5 processes was reached, ");
    assert_in_range(number_of(json, "hit_count"), 1, 100);
    none_left();
}

static void a_share_of_cpu_is_kept(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    const char *json = run("    run: timeout 2 sh -c 'while :; do :; done'; true\n    limits: {cpu: 0.05}\n", id);
    assert_has(json, "\"state\":\"succeeded\"");
    assert_in_range(number_of(json, "cpu_ms"), 1, 300); /* 100, and what the start took before the first period */
    assert_in_range(number_of(json, "throttled_ms"), 1, 10000);
    none_left();
}

static void an_ordinary_job_has_no_group(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    const char *json = run("    run: cat /proc/self/cgroup\n", id);
    assert_has(json, "\"state\":\"succeeded\"");
    const char *said = realcli_ok(&r, realcli_at("logs @/x", id), NULL).out;
    assert_has(said, "/reeve-test.");
    for (const char *at = strstr(said, "/reeve."); at != NULL; at = strstr(at + 1, "/reeve."))
        assert_false(isdigit((unsigned char)at[7]));
    run("    run: cat /proc/self/cgroup\n    limits: {memory: 64MiB}\n", id);
    said = realcli_ok(&r, realcli_at("logs @/x", id), NULL).out;
    const char *at = strstr(said, "/reeve-test.");
    assert_non_null(at);
    assert_non_null(strstr(at, "/reeve."));
}

/* The process that a sandbox has before the job is in the group, too, and not the job's to count. */
static void limits_hold_in_a_sandbox(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    if (strstr(realcli_ok(&r, "workers --json", NULL).out, "\"sandbox\"") == NULL) skip(); /* its own tests say why */
    const char *json = run("    sandbox: strict\n    run: \"" HOG "\"\n    limits: {memory: 32MiB}\n", id);
    assert_has(json, "killed: used more than its 32MiB of memory");
    json = run("    sandbox: strict\n    run: [sh, -c, 'true; echo one; sh -c \"sh -c true; true\"; true']\n"
               "    limits: {pids: 3}\n",
               id);
    assert_has(json, "\"state\":\"succeeded\"");
    json =
        run("    sandbox: strict\n    run: [sh, -c, 'sh -c \"sh -c true; true\"; true']\n    limits: {pids: 2}\n", id);
    assert_has(json, "\"hit\":\"pids\"");
    none_left();
}

static void what_was_used_outlives_the_server(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    char *before = strdup(run("    run: \"" HOG "\"\n    limits: {memory: 16MiB}\n", id));
    realserver_kill(&server);
    realserver_start(&server);
    const char *after = realcli_ok(&r, realcli_at("show @/x --json", id), NULL).out;
    assert_string_equal(strstr(after, "\"job\":"), strstr(before, "\"job\":")); /* behind the LSN */
    free(before);
}

/* ---- what a worker allows ---- */

static void a_worker_has_a_standard_and_a_most(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    const char *json = run("    pool: strict\n    run: \"" HOG "\"\n", id);
    assert_has(json, "killed: used more than its 24MiB of memory");
    json = run("    pool: strict\n    run: \"" HOG "\"\n    limits: {memory: 40MiB}\n", id);
    assert_has(json, "killed: used more than its 40MiB of memory");
    json = run("    pool: strict\n    run: \"" HOG "\"\n    resources: {memory: 20MiB}\n", id);
    assert_has(json, "killed: used more than its 20MiB of memory");
    json = run("    pool: strict\n    limits: {pids: 100}\n"
               "    run: 'mkfifo f; for i in 1 2 3 4 5 6 7 8 9; do cat <>f & done'\n",
               id);
    assert_has(json, "fork refused: its limit of 8 processes was reached, ");
    none_left();
}

/* ---- what is left ---- */

static void signal_all_with(const char *mark, int number) {
    char path[64], wanted[96];
    static char text[65536];
    snprintf(wanted, sizeof wanted, "STORM_MARK=%s", mark);
    DIR *all = opendir("/proc");
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all)) {
        if (!isdigit((unsigned char)e->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%.20s/environ", e->d_name);
        FILE *f = fopen(path, "re");
        size_t len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f != NULL) fclose(f);
        if (memmem(text, len, wanted, strlen(wanted)) != NULL) (void)kill((pid_t)strtol(e->d_name, NULL, 10), number);
    }
    closedir(all);
}

static void started(const char *id) {
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        if (strstr(realcli_run(&r, realcli_at("logs @/x", id), NULL, NULL).out, "here") != NULL) return;
        (void)poll(NULL, 0, 10);
    }
    fail_msg("it does not start");
}

static void groups_go_with_a_killed_worker_and_with_a_killed_keeper(void **state) {
    char id[64];
    (void)state;
    if (!has_groups) skip();
    const char *flow =
        "defaults: {retries: 0}\njobs: {x: {run: mkfifo f; echo here; cat <>f, limits: {memory: 64MiB, pids: 9}}}";
    snprintf(id, sizeof id, "%s", realcli_submit(&r, flow, ""));
    started(id);
    assert_true(cgroups_of_jobs(&groups) > 0);
    realworker_kill(&grouped); /* its nursery sees to it */
    none_left();
    realworker_start(&grouped, &server);
    snprintf(id, sizeof id, "%s", realcli_submit(&r, flow, ""));
    started(id);
    /* worker, nursery, keeper and job at one blow: nobody is left to clean up */
    signal_all_with(grouped.mark, SIGSTOP);
    signal_all_with(grouped.mark, SIGKILL);
    realworker_kill(&grouped);
    assert_true(cgroups_of_jobs(&groups) > 0);
    realworker_start(&grouped, &server);
    none_left();
}

/* ---- without control groups ---- */

static void without_groups_memory_is_kept_by_process_and_the_rest_is_said_not_to_be(void **state) {
    char id[64];
    (void)state;
    log_says(weak_log,
             "limits: memory for each process by itself, cpu not kept, pids not kept (it was told to use rlimit)");
    const char *json =
        run("    pool: weak\n    run: \"" HOG "\"\n    limits: {memory: 32MiB, cpu: 0.5, pids: 3}\n", id);
    assert_has(json, "\"state\":\"failed\""); /* it was refused the memory, and said so itself */
    assert_has(json, "\"unkept\":\"cpu, pids not kept; memory kept for each process by itself\"");
    assert_has(realcli_run(&r, realcli_at("logs @/x", id), NULL, NULL).err, "memory exhausted");
    assert_has(realcli_ok(&r, realcli_at("show @/x", id), NULL).out, "limits: cpu, pids not kept; memory kept for");
}

static void limits_of_files_need_no_groups(void **state) {
    char id[64];
    (void)state;
    const char *json = run(
        "    pool: weak\n    run: [dd, if=/dev/zero, of=big, bs=1M, count=20]\n    limits: {file_size: 5MiB}\n", id);
    assert_has(json, "\"hit\":\"file_size\"");
    assert_has(json, "killed: wrote a file larger than its 5MiB");
    json = run("    pool: weak\n    run: ulimit -n; ulimit -f\n    limits: {open_files: 33}\n", id);
    assert_has(json, "\"state\":\"succeeded\"");
    assert_has(realcli_ok(&r, realcli_at("logs @/x", id), NULL).out, "33\n");
}

static void who_must_have_limits_asks_for_the_capability(void **state) {
    char id[64];
    (void)state;
    snprintf(id, sizeof id, "%s", realcli_submit(&r, "jobs: {x: {run: 'true', pool: weak, requires: limits}}", ""));
    struct ran ran = realcli_run(&r, realcli_at("why @/x", id), NULL, NULL);
    assert_has(ran.out, "no attached worker has what the job requires");
    assert_int_equal(realcli_run(&r, realcli_at("cancel @", id), NULL, NULL).exit_code, 0);
    if (!has_groups) skip();
    assert_has(run("    run: 'true'\n    requires: limits\n", id), "\"state\":\"succeeded\"");
}

static void a_means_that_is_not_there_is_not_pretended(void **state) {
    (void)state;
    if (!has_groups) skip();
    if (groups.version == 1)
        realcli_refused(&r, "worker --server 127.0.0.1:1 --limits-by cgroup2", 2,
                        "limits by cgroup2 are not possible: ");
    else
        realcli_refused(&r, "worker --server 127.0.0.1:1 --limits-by cgroup1", 2,
                        "limits by cgroup1 are not possible: ");
}

static void slips_of_whoever_starts_a_worker_are_refused(void **state) {
    (void)state;
    realcli_refused(&r, "worker --limit memory=lots", 2, "--limit: expected an amount of memory, found `lots`");
    realcli_refused(&r, "worker --limit ram=1GiB", 2,
                    "--limit: expected memory, cpu, pids, open_files or file_size=AMOUNT, found `ram=1GiB`");
    realcli_refused(&r, "worker --limit-standard pids=0", 2, "--limit-standard: expected an amount of pids, found `0`");
    realcli_refused(&r, "worker --limits-by magic", 2, "--limits-by: expected auto, cgroup2, cgroup1, rlimit or none");
    realcli_refused(&r, "worker --cpu many", 2, "--cpu: expected a number like 4 or 1.5");
    assert_int_equal(setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b", 1), 0);
    realcli_refused(&r, "worker --server 127.0.0.1:1 --gpus 3", 2, "--gpus 3: $CUDA_VISIBLE_DEVICES names 2");
    assert_int_equal(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
    realcli_refused(&r, "worker --memory some", 2, "--memory: expected a size like 512MiB or 8GiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worker_finds_what_is_there),
        cmocka_unit_test(a_job_that_wants_too_much_memory_is_killed_whole_and_that_is_said),
        cmocka_unit_test(a_job_that_stays_below_its_limits_is_left_alone),
        cmocka_unit_test(refused_forks_are_counted),
        cmocka_unit_test(a_share_of_cpu_is_kept),
        cmocka_unit_test(an_ordinary_job_has_no_group),
        cmocka_unit_test(limits_hold_in_a_sandbox),
        cmocka_unit_test(what_was_used_outlives_the_server),
        cmocka_unit_test(a_worker_has_a_standard_and_a_most),
        cmocka_unit_test(groups_go_with_a_killed_worker_and_with_a_killed_keeper),
        cmocka_unit_test(without_groups_memory_is_kept_by_process_and_the_rest_is_said_not_to_be),
        cmocka_unit_test(limits_of_files_need_no_groups),
        cmocka_unit_test(who_must_have_limits_asks_for_the_capability),
        cmocka_unit_test(a_means_that_is_not_there_is_not_pretended),
        cmocka_unit_test(slips_of_whoever_starts_a_worker_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
