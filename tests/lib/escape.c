/* escape.c: see escape.h. */
#include "escape.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ECHO_MS 2000

typedef const struct escape_world *world;

static int try_read(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int try_read(const char *format, ...) {
    char path[512], text[64];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    return read(fd, text, sizeof text) > 0 ? 0 : errno != 0 ? errno : ENODATA;
}

static int try_make(const char *dir) {
    char path[512];
    snprintf(path, sizeof path, "%s/reeve-escape-%d", dir, (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    (void)unlink(path);
    return 0;
}

static int result_of(long r) {
    return r < 0 ? errno : 0;
}

/* ---- files ---- */

static int read_outside(world w) {
    return try_read("%s/secret", w->outside);
}
static int write_outside(world w) {
    return try_make(w->outside);
}
static int stat_outside(world w) {
    struct stat st;
    return result_of(stat(w->outside, &st));
}
static int read_upwards(world w) {
    return try_read("../../../../../../../../../../../..%s/secret", w->outside);
}
static int read_by_link(world w) {
    char path[512];
    snprintf(path, sizeof path, "%s/secret", w->outside);
    (void)unlink("link");
    return symlink(path, "link") != 0 ? errno : try_read("link");
}
static int read_by_hard_link(world w) {
    char path[512];
    snprintf(path, sizeof path, "%s/secret", w->outside);
    (void)unlink("hard");
    return link(path, "hard") != 0 ? errno : try_read("hard");
}
static int read_by_own_root(world w) {
    return try_read("/proc/self/root%s/secret", w->outside);
}
static int read_by_own_cwd(world w) {
    return try_read("/proc/self/cwd/../../../../../../../../../..%s/secret", w->outside);
}
static int read_by_root_of_first(world w) {
    return try_read("/proc/1/root%s/secret", w->outside);
}
static int read_by_root_of_parent(world w) {
    return try_read("/proc/%d/root%s/secret", (int)w->parent, w->outside);
}
static int read_by_chroot(world w) {
    if (mkdir("jail", 0700) != 0 && errno != EEXIST) return errno;
    int up = open(".", O_RDONLY | O_DIRECTORY);
    if (chroot("jail") != 0 || fchdir(up) != 0) return errno;
    return try_read("../../../../../../../../../../../..%s/secret", w->outside);
}
static int read_shadow(world w) {
    (void)w;
    return try_read("/etc/shadow");
}
static int write_usr(world w) {
    (void)w;
    return try_make("/usr");
}
static int write_etc(world w) {
    (void)w;
    return try_make("/etc");
}
static int write_root(world w) {
    (void)w;
    return try_make("/");
}
static int write_settings_of_the_kernel(world w) {
    (void)w;
    return result_of(open("/proc/sys/kernel/core_pattern", O_WRONLY));
}
static int make_a_device(world w) {
    (void)w;
    (void)unlink("device");
    if (mknod("device", S_IFBLK | 0600, makedev(7, 0)) != 0) return errno;
    return result_of(unlink("device"));
}

/* ---- the worker, the server, the neighbour ---- */

static int worker_environment(world w) {
    return try_read("/proc/%d/environ", (int)w->worker);
}
static int worker_arguments(world w) {
    return try_read("/proc/%d/cmdline", (int)w->worker);
}
static int worker_token(world w) {
    return try_read("%s/worker.token", w->server_data);
}
static int server_directory(world w) {
    return opendir(w->server_data) == NULL ? errno : 0;
}
static int environment_of_parent(world w) {
    return try_read("/proc/%d/environ", (int)w->parent);
}
static int memory_of_parent(world w) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)w->parent);
    return result_of(open(path, O_RDWR));
}
static int environment_of_first(world w) { /* in a sandbox: a copy of the worker */
    (void)w;
    return try_read("/proc/1/environ");
}
static int neighbour_environment(world w) {
    return try_read("/proc/%d/environ", (int)w->neighbour);
}
static int neighbour_files(world w) {
    return try_read("%s/secret", w->neighbour_space);
}
static int neighbour_files_by_proc(world w) {
    return try_read("/proc/%d/cwd/secret", (int)w->neighbour);
}
static int neighbour_traced(world w) {
    if (ptrace(PTRACE_ATTACH, w->neighbour, NULL, NULL) != 0) return errno;
    (void)waitpid(w->neighbour, NULL, __WALL);
    return result_of(ptrace(PTRACE_DETACH, w->neighbour, NULL, NULL));
}
static int neighbour_memory(world w) {
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    errno = 0;
    (void)process_vm_readv(w->neighbour, &here, 1, &there, 1, 0);
    return errno == EFAULT ? 0 : errno; /* it was looked for there */
}
static int neighbour_signalled(world w) {
    return result_of(kill(w->neighbour, 0));
}
static int worker_signalled(world w) {
    return result_of(kill(w->worker, 0));
}
static int worker_descriptor(world w) {
    int pidfd = (int)syscall(SYS_pidfd_open, w->worker, 0);
    return pidfd < 0 ? errno : result_of(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

/* ---- network ---- */

static int socket_to(int type, uint32_t port) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? fd : -1;
}
static int tcp_to_the_host(world w) {
    return result_of(socket_to(SOCK_STREAM, w->tcp_port));
}
static int udp_to_the_host(world w) {
    char byte = 'x';
    int fd = socket_to(SOCK_DGRAM, w->udp_port);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (fd < 0 || send(fd, &byte, 1, 0) != 1) return errno;
    if (poll(&wait, 1, ECHO_MS) <= 0) return ETIMEDOUT;
    return result_of(recv(fd, &byte, 1, 0));
}
static int to_unix(const char *path, size_t len) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (len > sizeof to.sun_path) return ENAMETOOLONG;
    memcpy(to.sun_path, path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? errno
                  : result_of(
                        connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)));
}
static int socket_of_the_server(world w) {
    return to_unix(w->server_socket, strlen(w->server_socket) + 1);
}
static int abstract_socket(world w) {
    char name[108] = {0};
    snprintf(name + 1, sizeof name - 1, "%s", w->abstract);
    return to_unix(name, strlen(w->abstract) + 1);
}
static int make_socket(int family, int type) {
    return result_of(socket(family, type, 0));
}
static int packet_socket(world w) {
    (void)w;
    return make_socket(AF_PACKET, SOCK_RAW);
}
static int raw_socket(world w) {
    (void)w;
    return result_of(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}
static int socket_to_the_hypervisor(world w) {
    (void)w;
    return make_socket(AF_VSOCK, SOCK_STREAM);
}
static int socket_of_the_crypto_code(world w) {
    (void)w;
    return make_socket(AF_ALG, SOCK_SEQPACKET);
}

/* ---- the kernel ---- */

static int mount_something(world w) {
    (void)w;
    if (mkdir("mnt", 0700) != 0 && errno != EEXIST) return errno;
    if (mount("none", "mnt", "tmpfs", 0, NULL) != 0) return errno;
    return result_of(umount("mnt"));
}
static int unmount_something(world w) {
    (void)w;
    return umount2(".", MNT_DETACH) == 0 || errno == EINVAL ? 0 : errno; /* nothing is mounted there */
}
static int new_user_namespace(world w) {
    (void)w;
    return result_of(unshare(CLONE_NEWUSER));
}
static int new_user_namespace_by_clone(world w) {
    (void)w;
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return result_of(pid);
}
static int new_user_namespace_by_clone3(world w) {
    (void)w;
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0) _exit(0);
    return result_of(pid);
}
static int network_of_another(world w) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)w->neighbour);
    int fd = open(path, O_RDONLY);
    return fd < 0 ? errno : result_of(setns(fd, CLONE_NEWNET));
}
static int load_bpf(world w) {
    (void)w;
    char attributes[128] = {0};
    errno = 0;
    (void)syscall(SYS_bpf, 0, attributes, sizeof attributes);
    return errno == EPERM ? EPERM : 0; /* it is looked at */
}
static int use_io_uring(world w) {
    (void)w;
    char parameters[256] = {0};
    return result_of(syscall(SYS_io_uring_setup, 1, parameters));
}
static int use_keys(world w) {
    (void)w;
    return result_of(syscall(SYS_keyctl, 0 /* the id of a keyring */, -3 /* of the session */, 1));
}
static int use_userfaultfd(world w) {
    (void)w;
    return result_of(syscall(SYS_userfaultfd, O_CLOEXEC));
}
static int use_perf(world w) {
    (void)w;
    char attributes[128] = {0};
    errno = 0;
    (void)syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0);
    return errno == EPERM || errno == EACCES ? errno : 0;
}
static int set_the_hostname(world w) {
    (void)w;
    char name[65] = "";
    (void)gethostname(name, sizeof name - 1);
    return result_of(sethostname(name, strlen(name)));
}

const struct escape escapes[] = {
    {"read_outside", read_outside, WITNESS_ALWAYS},
    {"write_outside", write_outside, WITNESS_ALWAYS},
    {"stat_outside", stat_outside, WITNESS_ALWAYS},
    {"read_upwards", read_upwards, WITNESS_ALWAYS},
    {"read_by_link", read_by_link, WITNESS_ALWAYS},
    {"read_by_hard_link", read_by_hard_link, WITNESS_ROOT},
    {"read_by_own_root", read_by_own_root, WITNESS_ALWAYS},
    {"read_by_own_cwd", read_by_own_cwd, WITNESS_ALWAYS},
    {"read_by_root_of_first", read_by_root_of_first, WITNESS_IF_KERNEL},
    {"read_by_root_of_parent", read_by_root_of_parent, WITNESS_ROOT},
    {"read_by_chroot", read_by_chroot, WITNESS_ROOT},
    {"read_shadow", read_shadow, WITNESS_ROOT},
    {"write_usr", write_usr, WITNESS_ROOT},
    {"write_etc", write_etc, WITNESS_ROOT},
    {"write_root", write_root, WITNESS_ROOT},
    {"write_settings_of_the_kernel", write_settings_of_the_kernel, WITNESS_ROOT},
    {"make_a_device", make_a_device, WITNESS_ROOT},
    {"worker_environment", worker_environment, WITNESS_ROOT},
    {"worker_arguments", worker_arguments, WITNESS_ALWAYS},
    {"worker_token", worker_token, WITNESS_ROOT},
    {"server_directory", server_directory, WITNESS_ROOT},
    {"environment_of_parent", environment_of_parent, WITNESS_ROOT},
    {"memory_of_parent", memory_of_parent, WITNESS_ROOT},
    {"environment_of_first", environment_of_first, WITNESS_IF_KERNEL},
    {"neighbour_environment", neighbour_environment, WITNESS_ALWAYS},
    {"neighbour_files", neighbour_files, WITNESS_ALWAYS},
    {"neighbour_files_by_proc", neighbour_files_by_proc, WITNESS_ALWAYS},
    {"neighbour_traced", neighbour_traced, WITNESS_ROOT},
    {"neighbour_memory", neighbour_memory, WITNESS_ROOT},
    {"neighbour_signalled", neighbour_signalled, WITNESS_ALWAYS},
    {"worker_signalled", worker_signalled, WITNESS_ALWAYS},
    {"worker_descriptor", worker_descriptor, WITNESS_ROOT},
    {"tcp_to_the_host", tcp_to_the_host, WITNESS_ALWAYS},
    {"udp_to_the_host", udp_to_the_host, WITNESS_ALWAYS},
    {"socket_of_the_server", socket_of_the_server, WITNESS_ROOT},
    {"abstract_socket", abstract_socket, WITNESS_ALWAYS},
    {"packet_socket", packet_socket, WITNESS_IF_KERNEL},
    {"raw_socket", raw_socket, WITNESS_ROOT},
    {"socket_to_the_hypervisor", socket_to_the_hypervisor, WITNESS_IF_KERNEL},
    {"socket_of_the_crypto_code", socket_of_the_crypto_code, WITNESS_IF_KERNEL},
    {"mount_something", mount_something, WITNESS_ROOT},
    {"unmount_something", unmount_something, WITNESS_ROOT},
    {"new_user_namespace", new_user_namespace, WITNESS_IF_KERNEL},
    {"new_user_namespace_by_clone", new_user_namespace_by_clone, WITNESS_IF_KERNEL},
    {"new_user_namespace_by_clone3", new_user_namespace_by_clone3, WITNESS_IF_KERNEL},
    {"network_of_another", network_of_another, WITNESS_ROOT},
    {"load_bpf", load_bpf, WITNESS_IF_KERNEL},
    {"use_io_uring", use_io_uring, WITNESS_IF_KERNEL},
    {"use_keys", use_keys, WITNESS_IF_KERNEL},
    {"use_userfaultfd", use_userfaultfd, WITNESS_IF_KERNEL},
    {"use_perf", use_perf, WITNESS_IF_KERNEL},
    {"set_the_hostname", set_the_hostname, WITNESS_ROOT},
};
const uint32_t escape_count = sizeof escapes / sizeof escapes[0];

bool escape_kernel_can(uid_t uid) {
    char as[80] = "", command[256];
    bool is_root = uid == 0 && geteuid() == 0;
    if (uid != 0) snprintf(as, sizeof as, "setpriv --reuid %u --regid %u --clear-groups", uid, uid);
    snprintf(command, sizeof command, "%s unshare %s -m -p -n -i -u -f --mount-proc true 2>&1 | sed 's/^/# skipped: /'",
             as, is_root ? "" : "-U -r");
    FILE *f = popen(command, "r");
    bool can = f != NULL;
    for (int c; f != NULL && (c = fgetc(f)) != EOF; can = false) putchar(c);
    return f != NULL && pclose(f) == 0 && can;
}

void escape_args(const struct escape_world *w, char *ret, size_t size) {
    snprintf(ret, size, "%s, %s, %s, %s, %s, \"%u\", \"%u\", \"%d\", \"%d\"", w->outside, w->server_data,
             w->server_socket, w->neighbour_space, w->abstract, w->tcp_port, w->udp_port, (int)w->worker,
             (int)w->neighbour);
}

int escape_main(char **args) {
    const struct escape_world w = {.outside = args[0],
                                   .parent = getppid(),
                                   .server_data = args[1],
                                   .server_socket = args[2],
                                   .neighbour_space = args[3],
                                   .abstract = args[4],
                                   .tcp_port = (uint32_t)strtoul(args[5], NULL, 10),
                                   .udp_port = (uint32_t)strtoul(args[6], NULL, 10),
                                   .worker = (pid_t)strtol(args[7], NULL, 10),
                                   .neighbour = (pid_t)strtol(args[8], NULL, 10)};
    for (uint32_t i = 0; i < escape_count; i++) {
        int status = 0;
        (void)fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) _exit(escapes[i].attempt(&w));
        if (pid < 0 || waitpid(pid, &status, 0) != pid) _exit(1);
        if (status == 0)
            printf("%s through\n", escapes[i].name);
        else
            printf("%s refused %s\n", escapes[i].name,
                   WIFEXITED(status) ? strerrorname_np(WEXITSTATUS(status)) : "by a signal");
    }
    (void)fflush(stdout);
    _exit(0); /* a sanitizer would look for leaks by tracing itself, which it may not */
}
