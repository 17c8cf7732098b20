/* jail_test.c: what a process can still do that has locked itself in. Each attempt is made by a child of its own. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail.h"
#include "osconfine.h"

static char dir[] = "/tmp/reeve-jail-XX"
                    "XX"
                    "XX";

static int attempt_open(const char *path, uint64_t flags) {
    struct open_how how = {.flags = flags, .mode = flags & O_CREAT ? 0644 : 0};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

static int make_inside(int folder) {
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_EXCL, .mode = 0644};
    int fd = (int)syscall(SYS_openat2, folder, "file", &how, sizeof how);
    return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : -1;
}
static int make_links_inside(int folder) {
    return mkdirat(folder, "sub", 0755) == 0 && symlinkat("file", folder, "link") == 0 ? 0 : -1;
}
static int read_elsewhere(int folder) {
    (void)folder;
    return attempt_open("/etc/passwd", O_RDONLY);
}
static int make_elsewhere(int folder) {
    (void)folder;
    return attempt_open("/tmp/reeve-jail-escaped", O_WRONLY | O_CREAT);
}
static int make_folder_elsewhere(int folder) {
    return mkdirat(folder, "../reeve-jail-escaped", 0755);
}
static int open_a_socket(int folder) {
    (void)folder;
    return socket(AF_INET, SOCK_STREAM, 0);
}
static int start_a_process(int folder) {
    (void)folder;
    return (int)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}
static int run_a_program(int folder) {
    (void)folder;
    return execl("/bin/true", "true", NULL);
}
static int signal_another(int folder) {
    (void)folder;
    return kill(getppid(), 0);
}
static int trace_another(int folder) {
    (void)folder;
    return (int)syscall(SYS_ptrace, 16, getpid(), NULL, NULL); /* attach */
}
static int make_code(int folder) {
    (void)folder;
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ? 0 : -1;
}
static int change_rights(int folder) {
    return fchmodat(folder, ".", 0777, 0);
}
static int write_too_much(int folder) {
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_EXCL, .mode = 0644};
    int fd = (int)syscall(SYS_openat2, folder, "large", &how, sizeof how);
    char block[8192] = {0};
    errno = 0; /* a part is written: no error, but not all */
    return write(fd, block, sizeof block) == (ssize_t)sizeof block ? 0 : -1;
}

/* 0: done; else the errno with which it was refused. */
static int tried(int (*attempt)(int folder)) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct why why = {{0}};
        int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0 || fchdir(folder) != 0 || jail_enter(&osconfine, 4096, &why) != ERR_OK) {
            dprintf(2, "# %s\n", why.text);
            _exit(255);
        }
        _exit(attempt(folder) >= 0 ? 0 : errno);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 255);
    return WEXITSTATUS(status);
}

static void a_jailed_process_writes_below_its_folder(void **state) {
    (void)state;
    assert_int_equal(tried(make_inside), 0);
    assert_int_equal(tried(make_links_inside), 0);
    assert_int_equal(tried(write_too_much), 0); /* as far as the limit goes */
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "%s/large", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 4096);
}

static void a_jailed_process_reaches_no_other_path(void **state) {
    (void)state;
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
        print_message("skipped: this kernel has no Landlock (%s)\n", strerror(errno));
        skip();
    }
    assert_int_equal(tried(read_elsewhere), EACCES);
    assert_int_equal(tried(make_elsewhere), EACCES);
    assert_int_equal(tried(make_folder_elsewhere), EACCES);
    assert_int_not_equal(access("/tmp/reeve-jail-escaped", F_OK), 0);
}

static void a_jailed_process_can_do_nothing_else(void **state) {
    (void)state;
    assert_int_equal(tried(open_a_socket), EPERM);
    assert_int_equal(tried(start_a_process), EPERM);
    assert_int_equal(tried(run_a_program), EPERM);
    assert_int_equal(tried(signal_another), EPERM);
    assert_int_equal(tried(trace_another), EPERM);
    assert_int_equal(tried(make_code), EPERM);
    assert_int_equal(tried(change_rights), EPERM);
}

static int setup(void **state) {
    (void)state;
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int teardown(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jailed_process_writes_below_its_folder),
        cmocka_unit_test(a_jailed_process_reaches_no_other_path),
        cmocka_unit_test(a_jailed_process_can_do_nothing_else),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
