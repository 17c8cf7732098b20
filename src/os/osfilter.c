/* osfilter.c: see osfilter.h. The filter is written here instruction by instruction: it is a list of numbers and four
 * questions about arguments, for which a library would be the larger part to read. The kernel remembers which calls are
 * allowed whatever their arguments, so the length of the list costs an allowed call nothing. */
#include "osfilter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "panic.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#define FILTER_X32_BIT 0x40000000u /* calls of the x32 kind have numbers of their own: none is let through */
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCH

#define INSTRUCTIONS_MAX 256u
#define REFUSE(code) (SECCOMP_RET_ERRNO | ((code)&SECCOMP_RET_DATA))
#define NEW_NAMESPACES                                                                                   \
    ((uint32_t)CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
     CLONE_NEWCGROUP | 0x80u /* CLONE_NEWTIME; for clone it is a part of the signal number, which nobody sets */)
#define SOCKET_TYPE_MASK 0xfu

#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef __NR_quotactl_fd
#define __NR_quotactl_fd 443
#endif
#define NR_OPEN_TREE_ATTR 467 /* newer than the headers of Debian 12 */

static const uint32_t refused[] = {
    /* other processes */
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_process_madvise,
    __NR_pidfd_getfd,
    __NR_kcmp,
    /* other views of the machine */
    __NR_setns,
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_move_mount,
    __NR_open_tree,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_mount_setattr,
    NR_OPEN_TREE_ATTR,
    __NR_name_to_handle_at,
    __NR_open_by_handle_at,
    /* the kernel itself */
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    __NR_kexec_load,
    __NR_kexec_file_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    __NR_fanotify_init,
    __NR_lookup_dcookie,
    __NR_syslog,
    /* the machine */
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_acct,
    __NR_quotactl,
    __NR_quotactl_fd,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_clock_adjtime,
    __NR_adjtimex,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_vhangup,
#ifdef __x86_64__
    __NR_iopl,
    __NR_ioperm,
    __NR_modify_ldt,
    __NR_uselib,
    __NR_create_module,
    __NR_query_module,
    __NR_get_kernel_syms,
    __NR_nfsservctl,
    __NR__sysctl,
    __NR_ustat,
    __NR_sysfs,
#endif
};

struct program {
    struct sock_filter at[INSTRUCTIONS_MAX];
    uint16_t count;
};

static void put(struct program *p, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false) {
    ENSURE(p->count < INSTRUCTIONS_MAX);
    p->at[p->count++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(struct program *p, size_t offset) {
    put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The lower half: all that the kernel looks at in the arguments that are asked about here. */
static void load_argument(struct program *p, unsigned which) {
    size_t offset = offsetof(struct seccomp_data, args) + which * sizeof(uint64_t);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    offset += sizeof(uint32_t);
#endif
    load(p, offset);
}

static void answer(struct program *p, uint32_t value) {
    put(p, BPF_RET | BPF_K, value, 0, 0);
}

/* When what is loaded is so, the answer; else on to the next. */
static void when_equal(struct program *p, uint32_t value, uint32_t then) {
    put(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(p, then);
}

static void when_any_bit(struct program *p, uint32_t bits, uint32_t then) {
    put(p, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(p, then);
}

/* Questions about the arguments of one call: whatever comes between begin and end is skipped for all others, and has to
 * end in an answer. */
static uint16_t call_begin(struct program *p, uint32_t number) {
    put(p, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
    return p->count;
}

static void call_end(struct program *p, uint16_t from) {
    ENSURE(p->count - from <= UINT8_MAX);
    p->at[from - 1].jf = (uint8_t)(p->count - from);
}

static void put_namespaces(struct program *p) {
    const uint32_t calls[] = {__NR_clone, __NR_unshare};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        uint16_t from = call_begin(p, calls[i]);
        load_argument(p, 0);
        when_any_bit(p, NEW_NAMESPACES, REFUSE(EPERM));
        answer(p, SECCOMP_RET_ALLOW);
        call_end(p, from);
    }
    when_equal(p, __NR_clone3, REFUSE(ENOSYS)); /* its flags cannot be seen; everyone falls back to clone */
}

static void put_terminals(struct program *p) {
    uint16_t from = call_begin(p, __NR_ioctl);
    load_argument(p, 1);
    when_equal(p, TIOCSTI, REFUSE(EPERM)); /* typing in another's name */
    when_equal(p, TIOCLINUX, REFUSE(EPERM));
    answer(p, SECCOMP_RET_ALLOW);
    call_end(p, from);
}

/* Of the families that pass only Unix knows no namespaces, and it has files; vsock, for one, would reach the host. */
static void put_sockets(struct program *p, enum osfilter_sockets sockets) {
    if (sockets == OSFILTER_SOCKETS_NONE) {
        when_equal(p, __NR_socket, REFUSE(EPERM));
        return;
    }
    uint16_t from = call_begin(p, __NR_socket);
    load_argument(p, 0);
    when_equal(p, AF_UNIX, SECCOMP_RET_ALLOW);
    when_equal(p, AF_NETLINK, SECCOMP_RET_ALLOW);
    put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
    put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
    answer(p, REFUSE(EAFNOSUPPORT));
    load_argument(p, 1);
    put(p, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
    when_equal(p, SOCK_RAW, REFUSE(EPERM));
    when_equal(p, SOCK_PACKET, REFUSE(EPERM));
    answer(p, SECCOMP_RET_ALLOW);
    call_end(p, from);
}

static void program_make(struct program *p, enum osfilter_sockets sockets) {
    p->count = 0;
    load(p, offsetof(struct seccomp_data, arch));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
#ifdef FILTER_X32_BIT
    put(p, BPF_JMP | BPF_JGE | BPF_K, FILTER_X32_BIT, 0, 1);
    answer(p, SECCOMP_RET_KILL_PROCESS);
#endif
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) when_equal(p, refused[i], REFUSE(EPERM));
    put_namespaces(p);
    put_terminals(p);
    put_sockets(p, sockets);
    answer(p, SECCOMP_RET_ALLOW);
}

enum err osfilter_load(enum osfilter_sockets sockets, struct why *why) {
    struct program p;
    program_make(&p, sockets);
    struct sock_fprog all = {.len = p.count, .filter = p.at};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) == 0) return ERR_OK;
    return why_set(why, ERR_UNSUPPORTED, "system calls cannot be filtered (seccomp): %s", strerrordesc_np(errno));
}

#else

enum err osfilter_load(enum osfilter_sockets sockets, struct why *why) {
    (void)sockets;
    return why_set(why, ERR_UNSUPPORTED, "system calls cannot be filtered on this kind of processor");
}

#endif
