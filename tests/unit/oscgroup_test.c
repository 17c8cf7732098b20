/* oscgroup_test.c: control groups: what is written and read in both versions, on files that look like theirs; how a
 * worker finds where it may make groups; and, where this machine lets us, real ones. */
#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oscgroup.h"

#define ALL (PROC_BIT(PROC_LIMIT_MEMORY) | PROC_BIT(PROC_LIMIT_CPU) | PROC_BIT(PROC_LIMIT_PIDS))

static char root[64];

static int setup(void **state) {
    (void)state;
    snprintf(root, sizeof root,
             "/tmp/reeve-cgroup-XX"
             "XX"
             "XX");
    return mkdtemp(root) == NULL;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static int teardown(void **state) {
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A file below the root, with its directories. */
static void file(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *name, const char *text) {
    char path[512], got[256] = "";
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

static const struct proc_limits limits = {
    .memory_bytes = 64 << 20, .cpu_milli = 1500, .pids = 20, .cpu_asked_milli = 500};

/* ---- files ---- */

static void limits_of_version_2_are_written(void **state) {
    static const char *const files[] = {"memory.max", "memory.swap.max", "memory.oom.group",
                                        "cpu.max",    "cpu.weight",      "pids.max"};
    struct why why;
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) file(files[i], "");
    assert_int_equal(oscgroup_files_write(root, (struct oscgroup_kind){OSCGROUP_V2, ALL}, &limits, &why), ERR_OK);
    holds("memory.max", "67108864");
    holds("memory.swap.max", "0");
    holds("memory.oom.group", "1");
    holds("cpu.max", "150000 100000");
    holds("cpu.weight", "50");
    holds("pids.max", "20");
}

static void limits_of_version_1_are_written(void **state) {
    struct why why;
    (void)state;
    file("memory.limit_in_bytes", "");
    file("cpu.cfs_period_us", "");
    file("cpu.cfs_quota_us", "");
    file("cpu.shares", "");
    file("pids.max", "");
    /* without accounting of swap */
    assert_int_equal(oscgroup_files_write(root, (struct oscgroup_kind){OSCGROUP_V1, ALL}, &limits, &why), ERR_OK);
    holds("memory.limit_in_bytes", "67108864");
    holds("cpu.cfs_period_us", "100000");
    holds("cpu.cfs_quota_us", "150000");
    holds("cpu.shares", "512");
    holds("pids.max", "20");
    file("memory.memsw.limit_in_bytes", "");
    assert_int_equal(oscgroup_files_write(root, (struct oscgroup_kind){OSCGROUP_V1, ALL}, &limits, &why), ERR_OK);
    holds("memory.memsw.limit_in_bytes", "67108864");
}

static void what_a_group_does_not_keep_is_not_written(void **state) {
    struct oscgroup_kind pids_only = {OSCGROUP_V2, PROC_BIT(PROC_LIMIT_PIDS)};
    struct why why;
    (void)state;
    file("pids.max", "");
    file("memory.max", "max");
    assert_int_equal(oscgroup_files_write(root, pids_only, &limits, &why), ERR_OK);
    holds("memory.max", "max");
    holds("pids.max", "20");
}

static void a_limit_that_cannot_be_written_is_an_error_with_its_name(void **state) {
    struct why why = {{0}};
    (void)state;
    file("memory.max", "");
    assert_int_equal(oscgroup_files_write(root, (struct oscgroup_kind){OSCGROUP_V2, ALL}, &limits, &why), ERR_IO);
    assert_has(why.text, "cpu.max: No such file");
}

static void what_was_used_is_read_in_version_2(void **state) {
    struct proc_usage usage = {.cpu_ms = 7, .memory_bytes_max = 1};
    (void)state;
    file("memory.peak", "60000000\n");
    file("memory.events", "low 0\nhigh 0\nmax 31\noom 2\noom_kill 3\noom_group_kill 1\n");
    file("cpu.stat", "usage_usec 900\nuser_usec 1\nnr_throttled 4\nthrottled_usec 123456\n");
    file("pids.events", "max 5\n");
    oscgroup_files_read(root, (struct oscgroup_kind){OSCGROUP_V2, ALL}, &usage);
    assert_int_equal(usage.memory_bytes_max, 60000000);
    assert_int_equal(usage.oom_kills, 3);
    assert_true(usage.oom_is_own);
    assert_int_equal(usage.throttled_ms, 123);
    assert_int_equal(usage.forks_refused, 5);
    assert_int_equal(usage.cpu_ms, 7);
}

static void what_was_used_is_read_in_version_1(void **state) {
    struct proc_usage usage = {0};
    (void)state;
    file("memory.max_usage_in_bytes", "67108864\n");
    file("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    file("memory.limit_in_bytes", "67108864\n");
    file("cpu.stat", "nr_periods 11\nnr_throttled 4\nthrottled_time 107524524\n");
    file("pids.events", "max 1\n");
    oscgroup_files_read(root, (struct oscgroup_kind){OSCGROUP_V1, ALL}, &usage);
    assert_int_equal(usage.memory_bytes_max, 67108864);
    assert_int_equal(usage.oom_kills, 1);
    assert_true(usage.oom_is_own);
    assert_int_equal(usage.throttled_ms, 107);
    assert_int_equal(usage.forks_refused, 1);
}

static void a_machine_without_memory_is_not_the_limit(void **state) {
    struct proc_usage usage = {0};
    (void)state;
    file("memory.events", "oom 0\noom_kill 1\n");
    oscgroup_files_read(root, (struct oscgroup_kind){OSCGROUP_V2, ALL}, &usage);
    assert_int_equal(usage.oom_kills, 1);
    assert_false(usage.oom_is_own);
    assert_int_equal(usage.memory_bytes_max, 0); /* no memory.peak before Linux 5.19 */
    file("memory.max_usage_in_bytes", "1000000\n");
    file("memory.limit_in_bytes", "67108864\n");
    file("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    usage = (struct proc_usage){0};
    oscgroup_files_read(root, (struct oscgroup_kind){OSCGROUP_V1, ALL}, &usage);
    assert_int_equal(usage.oom_kills, 1);
    assert_false(usage.oom_is_own);
}

/* ---- finding ---- */

/* A hierarchy of version 2 at root/cg, in which this process is in `own`. The group that is tried is there already, as
 * no kernel fills it with files. */
static void tree_v2(const char *own, const char *mount_root, const char *base, const char *handed_on) {
    char name[256], text[512];
    file("proc/cgroup", own);
    snprintf(text, sizeof text, "29 23 0:26 %s %s/cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", mount_root,
             root);
    file("proc/mountinfo", text);
    const char *const files[] = {"cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"};
    const char *const texts[] = {"cpuset cpu io memory pids\n", handed_on, ""};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "cg%s/%s", base, files[i]);
        file(name, texts[i]);
    }
    const char *const controls[] = {"memory.max", "cpu.max", "pids.max"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "cg%s/reeve.%d/%s", base, (int)getpid(), controls[i]);
        file(name, "max");
    }
}

static enum err find(enum oscgroup_by by, struct oscgroup *g, struct why *why) {
    char proc[128];
    snprintf(proc, sizeof proc, "%s/proc", root);
    return oscgroup_find(by, proc, g, why);
}

static void found_in(const char *base) {
    struct oscgroup g;
    struct why why = {{0}};
    char path[256], text[512];
    if (find(OSCGROUP_AUTO, &g, &why) != ERR_OK) fail_msg("%s", why.text);
    oscgroup_describe(&g, text, sizeof text);
    snprintf(path, sizeof path, "%s/cg%s", root, base);
    assert_string_equal(text, "limits: memory by cgroup2, cpu by cgroup2, pids by cgroup2");
    assert_int_equal(g.tree_count, 1);
    assert_string_equal(g.trees[0].path, path);
    assert_int_equal(g.keeps, ALL);
}

static void the_group_of_the_worker_is_found(void **state) {
    (void)state;
    tree_v2("0::/system.slice/reeve.service\n", "/", "/system.slice/reeve.service", "cpu memory pids\n");
    found_in("/system.slice/reeve.service");
}

static void a_worker_that_was_put_into_the_leaf_looks_above_it(void **state) {
    (void)state;
    tree_v2("0::/reeve.service/reeve.main\n", "/", "/reeve.service", "cpu memory pids\n");
    found_in("/reeve.service");
}

static void a_part_of_the_hierarchy_may_be_mounted(void **state) {
    (void)state;
    tree_v2("0::/docker/abc/inner\n", "/docker/abc", "/inner", "cpu memory pids\n");
    found_in("/inner");
}

static void controllers_are_asked_for(void **state) {
    struct oscgroup g;
    struct why why;
    char text[512];
    (void)state;
    tree_v2("0::/a\n", "/", "/a", "pids\n");
    assert_int_equal(find(OSCGROUP_AUTO, &g, &why), ERR_OK);
    holds("cg/a/cgroup.subtree_control", "+memory +cpu"); /* a file, so nothing comes of it */
    oscgroup_describe(&g, text, sizeof text);
    assert_string_equal(text,
                        "limits: memory for each process by itself, cpu not kept, pids not kept (no control group "
                        "offers memory, cpu or pids here)");
}

static void what_is_not_there_is_refused_when_it_must_be(void **state) {
    struct oscgroup g;
    struct why why;
    (void)state;
    tree_v2("0::/../elsewhere\n", "/", "/a", "cpu memory pids\n");
    assert_int_equal(find(OSCGROUP_BY_V2, &g, &why), ERR_UNSUPPORTED);
    assert_has(why.text, "limits by cgroup2 are not possible: no control group offers");
    assert_int_equal(find(OSCGROUP_BY_V1, &g, &why), ERR_UNSUPPORTED);
    assert_int_equal(find(OSCGROUP_AUTO, &g, &why), ERR_OK);
    assert_true(g.memory_by_rlimit);
    assert_int_equal(find(OSCGROUP_BY_NOTHING, &g, &why), ERR_OK);
    assert_false(g.memory_by_rlimit);
}

static void each_hierarchy_of_version_1_has_a_path_of_its_own(void **state) {
    struct oscgroup g;
    struct why why;
    char text[1024], name[128];
    (void)state;
    file("proc/cgroup", "8:pids:/\n4:memory:/nested/x\n1:cpu,cpuacct:/\n0::/\n");
    int len = 0;
    static const char *const mounts[] = {"cpu,cpuacct", "memory", "pids"};
    for (int i = 0; i < 3; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "30 24 0:27 / %s/cg/%s rw - cgroup cgroup rw,%s\n", root,
                        mounts[i], mounts[i]);
    file("proc/mountinfo", text);
    snprintf(name, sizeof name, "cg/cpu,cpuacct/reeve.%d/cpu.cfs_quota_us", (int)getpid());
    file(name, "-1");
    snprintf(name, sizeof name, "cg/memory/nested/x/reeve.%d/memory.limit_in_bytes", (int)getpid());
    file(name, "-1");
    assert_int_equal(find(OSCGROUP_AUTO, &g, &why), ERR_OK);
    assert_int_equal(g.tree_count, 2);
    snprintf(name, sizeof name, "%s/cg/memory/nested/x", root);
    assert_string_equal(g.trees[0].path, name);
    oscgroup_describe(&g, text, sizeof text);
    assert_has(text, "limits: memory by cgroup1, cpu by cgroup1, pids not kept (");
}

/* ---- leftovers ---- */

static void groups_of_the_dead_are_swept_and_those_of_the_living_stay(void **state) {
    struct oscgroup g = {.tree_count = 1};
    char dead[128], live[128], other[128];
    (void)state;
    pid_t gone = fork();
    if (gone == 0) _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT), 0); /* dead, and not buried */
    snprintf(g.trees[0].path, sizeof g.trees[0].path, "%s", root);
    snprintf(dead, sizeof dead, "%s/reeve.%d", root, (int)gone);
    snprintf(live, sizeof live, "%s/reeve.%d", root, (int)getpid());
    snprintf(other, sizeof other, "%s/reeve.main", root);
    assert_int_equal(mkdir(dead, 0755) | mkdir(live, 0755) | mkdir(other, 0755), 0);
    oscgroup_sweep(&g);
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(access(live, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(limits_of_version_2_are_written),
        T(limits_of_version_1_are_written),
        T(what_a_group_does_not_keep_is_not_written),
        T(a_limit_that_cannot_be_written_is_an_error_with_its_name),
        T(what_was_used_is_read_in_version_2),
        T(what_was_used_is_read_in_version_1),
        T(a_machine_without_memory_is_not_the_limit),
        T(the_group_of_the_worker_is_found),
        T(a_worker_that_was_put_into_the_leaf_looks_above_it),
        T(a_part_of_the_hierarchy_may_be_mounted),
        T(controllers_are_asked_for),
        T(what_is_not_there_is_refused_when_it_must_be),
        T(each_hierarchy_of_version_1_has_a_path_of_its_own),
        T(groups_of_the_dead_are_swept_and_those_of_the_living_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
