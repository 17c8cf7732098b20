/* osconfine_test.c: a process that has given up what it does not need tries to get at it. Each attempt is also made by
 * a process that has given up nothing: what fails there proves nothing here. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osconfine.h"
#include "osfilter.h"
#include "oslandlock.h"

static char dir[64], inside[96], outside[96];

static int setup(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/reeve-confine-%s",
             "XX"
             "XX"
             "XX");
    assert_non_null(mkdtemp(dir));
    snprintf(inside, sizeof inside, "%s/in", dir);
    snprintf(outside, sizeof outside, "%s/out", dir);
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_int_equal(mkdir(outside, 0700), 0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

/* Each answers 0 when it came through, else errno. */
static int write_below(const char *where) {
    char path[128];
    snprintf(path, sizeof path, "%s/file", where);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    return fd < 0 ? errno : close(fd);
}
static int write_inside(void) {
    return write_below(inside);
}
static int write_outside(void) {
    return write_below(outside);
}
static int write_through_a_link(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/link", inside);
    (void)unlink(path);
    return symlink(outside, path) != 0 ? errno : write_below(path);
}
static int read_outside(void) {
    int fd = open("/proc/self/environ", O_RDONLY);
    return fd < 0 ? errno : close(fd);
}
static int make_socket(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : close(fd);
}
static int make_raw_socket(void) {
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    return fd < 0 ? errno : close(fd);
}
static int make_user_namespace(void) {
    return unshare(CLONE_NEWUSER) != 0 ? errno : 0;
}
static int clone_with_namespace(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return pid < 0 ? errno : waitpid((pid_t)pid, NULL, 0) < 0;
}
static int trace_me(void) {
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 ? errno : 0;
}
static int fork_one(void) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    return pid < 0 ? errno : waitpid(pid, NULL, 0) < 0;
}
static int run_a_program(void) {
    int status = system("exec /bin/true");
    return status == 0 ? 0 : EIO;
}
static int dump_memory(void) {
    struct rlimit some = {1, 1};
    return setrlimit(RLIMIT_CORE, &some) != 0 ? errno : 0;
}
static int get_a_privilege(void) {
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && geteuid() == 0 ? chown(inside, 1, 1) != 0 ? errno : 0 : 0;
}

/* errno of the attempt in a process of its own, after it was confined; -1: it could not be. */
static int try(int (*attempt)(void), const struct confine_spec *spec) {
    struct why why = {{0}};
    pid_t pid = fork();
    if (pid == 0) {
        if (spec != NULL && osconfine.self(spec, &why) != ERR_OK) {
            fprintf(stderr, "%s\n", why.text);
            _exit(255);
        }
        _exit(attempt());
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

static bool has_landlock(void) {
    if (oslandlock_abi() > 0) return true;
    printf("# skipped: this kernel has no Landlock\n");
    return false;
}

static const struct confine_spec *spec(bool sockets) {
    static struct confine_spec s;
    s = (struct confine_spec){.write = inside, .sockets = sockets};
    return &s;
}

static void what_it_needs_it_keeps(void **state) {
    (void)state;
    if (!has_landlock()) return;
    assert_int_equal(try(write_inside, spec(false)), 0);
    assert_int_equal(try(fork_one, spec(false)), 0);
    assert_int_equal(try(run_a_program, spec(false)), 0);
    assert_int_equal(try(make_socket, spec(true)), 0);
}

static void files_elsewhere_are_out_of_reach(void **state) {
    (void)state;
    if (!has_landlock()) return;
    assert_int_equal(try(write_outside, NULL), 0);
    assert_int_equal(try(write_outside, spec(false)), EACCES);
    assert_int_equal(try(write_through_a_link, NULL), 0);
    assert_int_equal(try(write_through_a_link, spec(false)), EACCES);
    assert_int_equal(try(read_outside, NULL), 0);
    assert_int_equal(try(read_outside, spec(false)), EACCES);
}

static void there_is_no_network(void **state) {
    (void)state;
    if (!has_landlock()) return;
    assert_int_equal(try(make_socket, NULL), 0);
    assert_int_equal(try(make_socket, spec(false)), EPERM);
    if (geteuid() == 0) assert_int_equal(try(make_raw_socket, NULL), 0);
    assert_int_equal(try(make_raw_socket, spec(true)), EPERM);
}

static void nothing_is_gained(void **state) {
    (void)state;
    if (!has_landlock()) return;
    assert_int_equal(try(trace_me, NULL), 0);
    assert_int_equal(try(trace_me, spec(true)), EPERM);
    if (try(make_user_namespace, NULL) == 0) assert_int_equal(try(clone_with_namespace, NULL), 0);
    assert_int_equal(try(make_user_namespace, spec(true)), EPERM);
    assert_int_equal(try(clone_with_namespace, spec(true)), EPERM);
    assert_int_equal(try(dump_memory, spec(true)), EPERM);
    if (geteuid() == 0) assert_int_equal(try(get_a_privilege, spec(true)), EPERM);
}

/* Of the kinds that are neither plain nor raw. */
static int odd_socket_filtered(void) {
    struct why why;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || osfilter_load(OSFILTER_SOCKETS_PLAIN, &why) != ERR_OK)
        return ENOSYS;
    for (int family = 0; family < 64; family++) {
        int fd = socket(family, SOCK_STREAM, 0);
        bool is_plain = family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
        if (fd < 0 && !is_plain && errno == EAFNOSUPPORT) continue;
        if (!is_plain) return 1;
        if (fd < 0 && family == AF_UNIX) return 2;
        if (fd >= 0) (void)close(fd);
    }
    return 0;
}

static void odd_kinds_of_sockets_do_not_exist(void **state) {
    (void)state;
    assert_int_equal(try(odd_socket_filtered, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_needs_it_keeps),
        cmocka_unit_test(files_elsewhere_are_out_of_reach),
        cmocka_unit_test(there_is_no_network),
        cmocka_unit_test(nothing_is_gained),
        cmocka_unit_test(odd_kinds_of_sockets_do_not_exist),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
