/* kill9_test.c: a real process appends to a real journal and is killed at random moments. Every record it reported as
 * durable is there afterwards, byte for byte, and the next process goes on.
 *
 * The program is its own victim: `kill9_test --append DIR` appends until it dies and prints each durable LSN. */
#include "test.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "journal_fixture.h"
#include "osclock.h"
#include "osdisk.h"
#include "tmpdisk.h"
#include "writer.h"

#define SEGMENT (512u * 1024u)
#define ROUNDS 50u
extern char **environ;

static void victim(const char *path) {
    struct disk *d;
    struct journal_fixture l;
    struct why why;
    ENSURE(osdisk_open(path, &d, &why) == ERR_OK);
    journal_fixture_init(&l, d, SEGMENT);
    l.clock.clock = *osclock();
    ENSURE(journal_fixture_start(&l) == ERR_OK);
    for (uint32_t i = 0;; i++) {
        journal_fixture_append_ok(&l, 1 + i % 2, i * 613 % 30000);
        if (i % 7 == 0) ENSURE(l.journal->ops->seal(l.journal, &why) == ERR_OK);
        if (i % 5 == 0) ENSURE(l.journal->ops->prepare(l.journal, &why) == ERR_OK);
        uint64_t lsn = l.head.lsn;
        ENSURE(write(STDOUT_FILENO, &lsn, sizeof lsn) == (ssize_t)sizeof lsn);
        if (i % 40 == 39) {
            ENSURE(journal_fixture_snapshot(&l, lsn, 50000) == ERR_OK);
            ENSURE(l.journal->ops->trim(l.journal, lsn, &why) == ERR_OK);
        }
    }
}

static uint64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void linger(uint64_t us) {
    for (uint64_t end = now_us() + us; now_us() < end;) {}
}

static pid_t victim_start(const char *path, int *ret_pipe) {
    int ends[2];
    pid_t pid;
    char self[] = "/proc/self/exe", word[] = "--append", dir[256];
    snprintf(dir, sizeof dir, "%s", path);
    char *args[] = {self, word, dir, NULL};
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_t acts;
    posix_spawn_file_actions_init(&acts);
    posix_spawn_file_actions_adddup2(&acts, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&acts, ends[0]);
    assert_int_equal(posix_spawn(&pid, self, &acts, NULL, args, environ), 0);
    posix_spawn_file_actions_destroy(&acts);
    close(ends[1]);
    *ret_pipe = ends[0];
    return pid;
}

static void acknowledged_records_survive_kill_9(void **state) {
    (void)state;
    struct tmpdisk t;
    struct test_random r = {9};
    tmpdisk_make(&t);
    uint64_t acked = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int from;
        pid_t pid = victim_start(t.path, &from);
        uint64_t lsn, some = test_random_below(&r, 60);
        for (uint64_t i = 0; i < some && read(from, &lsn, sizeof lsn) == (ssize_t)sizeof lsn; i++) acked = lsn;
        linger(test_random_below(&r, 3000)); /* not waiting for anything: any moment must do */
        kill(pid, SIGKILL);
        while (read(from, &lsn, sizeof lsn) == (ssize_t)sizeof lsn) acked = lsn;
        close(from);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        struct journal_fixture l;
        tmpdisk_reopen(&t);
        journal_fixture_init(&l, t.disk, SEGMENT);
        l.reads = true;
        enum err e = journal_fixture_start(&l);
        if (e != ERR_OK) print_message("%s\n", l.why.text);
        assert_int_equal(e, ERR_OK);
        assert_in_range(l.read_lsn, acked, acked + 2);
        acked = l.read_lsn; /* found once, it has to stay */
        journal_fixture_stop(&l);
    }
    assert_true(acked > ROUNDS);
    tmpdisk_remove(&t);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--append") == 0) victim(argv[2]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(acknowledged_records_survive_kill_9)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
