/* powercut_test.c: the disk that loses power (tools/powercut) forgets what was not synced and nothing else: the tests
 * that stand on it would be worth nothing otherwise.
 *
 * The program is its own victim: `powercut_test --victim WHAT DIR` changes files, through the shim, and ends. Without
 * sanitizers only, which want to be loaded first themselves. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "panic.h"
#include "realserver.h"

#define BIG (64u << 10)
#define SLOW_MS 50 /* as the scenario says */
extern char **environ;

/* ---- the victim: in its directory are `old` with aaaa, and an empty directory `sub` ---- */

static int opened(const char *name, int flags) {
    int fd = open(name, flags | O_CLOEXEC, 0600);
    ENSURE(fd >= 0);
    return fd;
}

static void put(int fd, const char *text, off_t at) {
    ENSURE(pwrite(fd, text, strlen(text), at) == (ssize_t)strlen(text));
}

static void sync_dir(const char *name) {
    ENSURE(fsync(opened(name, O_RDONLY | O_DIRECTORY)) == 0);
}

static void make(const char *name, bool with_dir) {
    int fd = opened(name, O_RDWR | O_CREAT | O_EXCL);
    put(fd, "new", 0);
    ENSURE(fsync(fd) == 0);
    if (with_dir) sync_dir(".");
}

static void do_overwrite(void) {
    put(opened("old", O_RDWR), "bb", 1);
}

static void do_overwrite_synced(void) {
    int fd = opened("old", O_RDWR);
    put(fd, "bb", 1);
    ENSURE(fdatasync(fd) == 0);
}

/* What comes after the sync goes, what came before stays. */
static void do_overwrite_twice(void) {
    int fd = opened("old", O_RDWR);
    put(fd, "bb", 1);
    ENSURE(fdatasync(fd) == 0);
    put(fd, "cccccc", 2);
}

static void do_overwrite_dsync(void) {
    put(opened("old", O_RDWR | O_DSYNC), "bb", 1);
}

static void do_append(void) {
    int fd = opened("old", O_WRONLY | O_APPEND);
    ENSURE(write(fd, "bbbb", 4) == 4 && fsync(fd) == 0);
    ENSURE(write(fd, "cccc", 4) == 4);
}

static void do_truncate(void) {
    ENSURE(truncate("old", 1) == 0);
}

static void do_open_truncate(void) {
    put(opened("old", O_WRONLY | O_TRUNC), "b", 0);
}

static void do_allocate(void) {
    ENSURE(fallocate(opened("old", O_RDWR), 0, 0, 100) == 0);
}

static void do_create(void) {
    make("new", false);
}

static void do_create_synced(void) {
    make("new", true);
}

static void do_rename(void) {
    make("tmp", true);
    ENSURE(rename("tmp", "old") == 0);
}

static void do_rename_synced(void) {
    make("tmp", false);
    ENSURE(rename("tmp", "old") == 0);
    sync_dir(".");
}

static void do_unlink(void) {
    ENSURE(unlink("old") == 0);
}

static void do_unlink_synced(void) {
    ENSURE(unlink("old") == 0);
    sync_dir(".");
}

static void do_mkdir(void) {
    ENSURE(mkdir("dir", 0700) == 0);
    make("dir/file", false);
    sync_dir("dir");
}

static void do_subdir(void) {
    make("sub/file", false);
    sync_dir("sub");
}

static void *overwrite_thread(void *ctx) {
    do_overwrite();
    return ctx;
}

static void do_thread(void) {
    pthread_t thread;
    ENSURE(pthread_create(&thread, NULL, overwrite_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Whoever was started by it loses power, too. */
static void do_child(void) {
    ENSURE(system("printf bb | dd of=old bs=1 seek=1 conv=notrunc 2>/dev/null") == 0);
}

static void do_big(void) {
    static char bytes[BIG];
    memset(bytes, 'b', sizeof bytes);
    ENSURE(pwrite(opened("big", O_RDWR), bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
}

/* With trouble, see below. */
static void do_sync_refused(void) {
    int fd = opened("old", O_RDWR);
    put(fd, "bb", 1);
    ENSURE(fsync(fd) != 0 && errno == EIO);
    make("new", true); /* only the one file is in trouble */
}

static void do_sync_slowly(void) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do_overwrite_synced();
    clock_gettime(CLOCK_MONOTONIC, &b);
    ENSURE((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 >= SLOW_MS - 1);
}

/* ---- what is left ---- */

struct scenario {
    const char *name;
    void (*run)(void);
    const char *file, *content; /* content NULL: it is not there */
    const char *option, *value; /* of the cut; NULL = none */
    bool lies;
    const char *trouble; /* of the disk; NULL = none */
};

static const struct scenario scenarios[] = {
    {"overwrite", do_overwrite, "old", "aaaa", NULL, NULL, false, NULL},
    {"overwrite_synced", do_overwrite_synced, "old", "abba", NULL, NULL, false, NULL},
    {"overwrite_twice", do_overwrite_twice, "old", "abba", NULL, NULL, false, NULL},
    {"overwrite_dsync", do_overwrite_dsync, "old", "abba", NULL, NULL, false, NULL},
    {"append", do_append, "old", "aaaabbbb", NULL, NULL, false, NULL},
    {"truncate", do_truncate, "old", "aaaa", NULL, NULL, false, NULL},
    {"open_truncate", do_open_truncate, "old", "aaaa", NULL, NULL, false, NULL},
    {"allocate", do_allocate, "old", "aaaa", NULL, NULL, false, NULL},
    {"create", do_create, "new", NULL, NULL, NULL, false, NULL},
    {"create", do_create, "new", "new", "--names", "all", false, NULL},
    {"mkdir", do_mkdir, "dir/file", "new", "--names", "all", false, NULL},
    {"unlink", do_unlink, "old", "aaaa", "--names", "all", false, NULL},
    {"create_synced", do_create_synced, "new", "new", NULL, NULL, false, NULL},
    {"rename", do_rename, "old", "aaaa", NULL, NULL, false, NULL},
    {"rename", do_rename, "tmp", "new", NULL, NULL, false, NULL},
    {"rename_synced", do_rename_synced, "old", "new", NULL, NULL, false, NULL},
    {"rename_synced", do_rename_synced, "tmp", NULL, NULL, NULL, false, NULL},
    {"unlink", do_unlink, "old", "aaaa", NULL, NULL, false, NULL},
    {"unlink_synced", do_unlink_synced, "old", NULL, NULL, NULL, false, NULL},
    {"mkdir", do_mkdir, "dir/file", NULL, NULL, NULL, false, NULL},
    {"subdir", do_subdir, "sub/file", "new", NULL, NULL, false, NULL},
    {"thread", do_thread, "old", "aaaa", NULL, NULL, false, NULL},
    {"child", do_child, "old", "aaaa", NULL, NULL, false, NULL},
    {"overwrite_synced", do_overwrite_synced, "old", "aaaa", NULL, NULL, true, NULL},
    {"big", do_big, "old", "aaaa", NULL, NULL, false, NULL},
    {"sync_refused", do_sync_refused, "old", "aaaa", NULL, NULL, false, "slow 10 /new\nfail /old\n"},
    {"sync_refused", do_sync_refused, "new", "new", NULL, NULL, false, "fail /old\n"},
    {"sync_slowly", do_sync_slowly, "old", "abba", NULL, NULL, false, "slow 50000 /old\n"},
};
#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])

struct bed {
    char dir[64], data[80], state[80], tools[256];
};

static void beside(char ret[256]) {
    snprintf(ret, 256, "%s", realserver_binary());
    *strrchr(ret, '/') = 0;
}

static int run(const char *path, const char *const *argv, char *const *env) {
    pid_t pid;
    int status;
    posix_spawn_file_actions_t quietly;
    posix_spawn_file_actions_init(&quietly);
    posix_spawn_file_actions_addopen(&quietly, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    assert_int_equal(posix_spawn(&pid, path, &quietly, NULL, (char *const *)(uintptr_t)argv, env), 0);
    posix_spawn_file_actions_destroy(&quietly);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void tool(const struct bed *b, const char *what, const char *option, const char *value) {
    char path[280];
    snprintf(path, sizeof path, "%s/powercut", b->tools);
    const char *const argv[] = {"powercut", what, b->state, b->data, option, value, NULL};
    assert_int_equal(run(path, argv, environ), 0);
}

static void fill(const struct bed *b, const char *name, char letter, size_t len) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", b->data, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    for (size_t i = 0; i < len; i++) fputc(letter, f);
    fclose(f);
}

static void bed_make(struct bed *b) {
    char path[128];
    snprintf(b->dir, sizeof b->dir, "/tmp/reeve-power-%s",
             "XX"
             "XX"
             "XX");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->data, sizeof b->data, "%s/data", b->dir);
    snprintf(b->state, sizeof b->state, "%s/state", b->dir);
    beside(b->tools);
    assert_int_equal(mkdir(b->data, 0700), 0);
    snprintf(path, sizeof path, "%s/sub", b->data);
    assert_int_equal(mkdir(path, 0700), 0);
    fill(b, "old", 'a', 4);
    fill(b, "big", 'a', BIG);
    tool(b, "settle", NULL, NULL);
}

static void trouble_make(const struct bed *b, const char *lines) {
    char path[128];
    if (lines == NULL) return;
    snprintf(path, sizeof path, "%s/trouble", b->state);
    FILE *f = fopen(path, "we");
    assert_true(f != NULL && fputs(lines, f) >= 0 && fclose(f) == 0);
}

static void bed_remove(const struct bed *b) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", b->dir);
    assert_int_equal(system(command), 0);
}

static void victim_run(const struct bed *b, const char *name, bool lies) {
    char env[5][300];
    snprintf(env[0], sizeof env[0], "LD_PRELOAD=%s/powercut.so", b->tools);
    snprintf(env[1], sizeof env[1], "POWERCUT_STATE=%s", b->state);
    snprintf(env[2], sizeof env[2], "POWERCUT_DIRS=%s", b->data);
    snprintf(env[3], sizeof env[3], "PATH=/usr/bin:/bin");
    snprintf(env[4], sizeof env[4], "POWERCUT_LIE=1");
    char *const list[] = {env[0], env[1], env[2], env[3], lies ? env[4] : NULL, NULL};
    const char *const argv[] = {"powercut_test", "--victim", name, b->data, NULL};
    assert_int_equal(run("/proc/self/exe", argv, list), 0);
}

/* Its content; false: it is not there. */
static bool content(const struct bed *b, const char *name, char *ret, size_t bytes, size_t *ret_len) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", b->data, name);
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    *ret_len = fread(ret, 1, bytes, f);
    fclose(f);
    return true;
}

static void what_was_not_synced_is_gone_and_nothing_else(void **state) {
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++) {
        const struct scenario *s = &scenarios[i];
        struct bed b;
        char text[200];
        size_t len = 0;
        bed_make(&b);
        trouble_make(&b, s->trouble);
        victim_run(&b, s->name, s->lies);
        tool(&b, "cut", s->option, s->value);
        bool there = content(&b, s->file, text, sizeof text - 1, &len);
        text[len] = 0;
        if (there != (s->content != NULL) || (there && strcmp(text, s->content) != 0))
            fail_msg("%s: %s is %s, expected was %s", s->name, s->file, there ? text : "not there",
                     s->content != NULL ? s->content : "that it is not there");
        bed_remove(&b);
    }
}

/* Some sectors have arrived, others have not; none is half there. */
static void any_choice_of_sectors_survives(void **state) {
    (void)state;
    static char bytes[BIG];
    uint32_t mixed = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct bed b;
        char number[16];
        size_t len = 0, old = 0;
        bed_make(&b);
        victim_run(&b, "big", false);
        snprintf(number, sizeof number, "%u", seed);
        char path[280];
        snprintf(path, sizeof path, "%s/powercut", b.tools);
        const char *const argv[] = {"powercut", "cut", b.state, b.data, "--keep", "some", "--seed", number, NULL};
        assert_int_equal(run(path, argv, environ), 0);
        assert_true(content(&b, "big", bytes, sizeof bytes, &len) && len == BIG);
        for (size_t at = 0; at < BIG; at += 512) {
            for (size_t i = 1; i < 512; i++) assert_int_equal(bytes[at + i], bytes[at]);
            old += bytes[at] == 'a';
        }
        mixed += old > 0 && old < BIG / 512;
        bed_remove(&b);
    }
    assert_in_range(mixed, 5, 19); /* all and nothing are choices, too */
}

/* The test of the test: on a disk that answers a sync and does nothing, `reeve crashtest` finds what is missing. */
static void a_disk_that_lies_is_found_out(void **state) {
    (void)state;
    struct bed b;
    char out[4096];
    bed_make(&b);
    int code =
        test_shell(out, sizeof out, "%s crashtest --power-cut --lie --rounds 6 --seed 3 --json --data %s 2>/dev/null",
                   realserver_binary(), b.dir);
    assert_true(code > 0);
    const char *sum = strstr(out, "\"acknowledged\":"); /* of flows: the first */
    assert_non_null(sum);
    unsigned acknowledged = 0, lost = 0;
    assert_int_equal(sscanf(sum, "\"acknowledged\":%u,\"lost\":%u", &acknowledged, &lost), 2);
    assert_true(lost > 0 && lost <= acknowledged);
    bed_remove(&b);
}

static int victim(const char *name, const char *dir) {
    ENSURE(chdir(dir) == 0);
    for (size_t i = 0; i < SCENARIOS; i++)
        if (strcmp(scenarios[i].name, name) == 0) {
            scenarios[i].run();
            return 0;
        }
    return 1;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--victim") == 0) return victim(argv[2], argv[3]);
#ifdef __SANITIZE_ADDRESS__
    printf("1..0 # the release build has it\n");
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_synced_is_gone_and_nothing_else),
        cmocka_unit_test(any_choice_of_sectors_survives),
        cmocka_unit_test(a_disk_that_lies_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
