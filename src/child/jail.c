/* jail.c: see jail.h. */
#include "jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define FILES_MAX 64                /* descriptors: an archive, a folder, a file, and some to spare */
#define MEMORY_BYTES_MAX (1u << 30) /* xz may ask for as much as its header says; 1 GiB unpacks what -9 made */

static enum err fail(struct why *why, const char *what) {
    return why_set(why, ERR_IO, "the unpacker cannot lock itself in: %s: %s", what, strerrordesc_np(errno));
}

static enum err limits_set(uint64_t file_bytes_max, struct why *why) {
    const struct {
        int what;
        rlim_t most;
    } limits[] = {
        {RLIMIT_CORE, 0},
        {RLIMIT_NOFILE, FILES_MAX},
        {RLIMIT_FSIZE, file_bytes_max},
#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes and uses little of them */
        {RLIMIT_AS, MEMORY_BYTES_MAX},
#endif
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit now;
        if (getrlimit((__rlimit_resource_t)limits[i].what, &now) != 0) return fail(why, "getrlimit");
        rlim_t most = now.rlim_max < limits[i].most ? now.rlim_max : limits[i].most;
        struct rlimit then = {most, most};
        if (setrlimit((__rlimit_resource_t)limits[i].what, &then) != 0) return fail(why, "setrlimit");
    }
    return ERR_OK;
}

/* ---- calls ---- */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "which system calls are these?"
#endif

/* What unpacking takes, and what libc and the sanitizers do beside it. */
static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_pread64,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_openat2,
    SYS_mkdirat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_fcntl,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getpid,
    SYS_gettid,
    SYS_sched_yield,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_tgkill,
    SYS_exit,
    SYS_exit_group,
};
/* Allowed where what is mapped does not become code. */
static const int mapping[] = {SYS_mmap, SYS_mprotect};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
/* Another architecture's numbers mean other calls: no answer is right but the end. */
#define HEAD 4
#define TAIL 5

static enum err calls_lock(struct why *why) {
    struct sock_filter code[HEAD + 2 * COUNT(allowed) + COUNT(mapping) + TAIL];
    size_t n = 0;
    code[n++] = (struct sock_filter)LOAD(arch);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)LOAD(nr);
    for (size_t i = 0; i < COUNT(allowed); i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
        code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < COUNT(mapping); i++)
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)mapping[i],
                                                 (uint8_t)(COUNT(mapping) - i), 0);
    code[n++] = (struct sock_filter)REFUSE;
    code[n++] = (struct sock_filter)LOAD(args[2]); /* low half: little endian, as both architectures are */
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
    code[n++] = (struct sock_filter)REFUSE;
    code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)n, code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return fail(why, "seccomp");
    return ERR_OK;
}

enum err jail_enter(const struct confine *confine, uint64_t file_bytes_max, struct why *why) {
    static const char *const nothing[] = {NULL};
    const struct confine_spec here = {.write = ".", .read = nothing};
    struct why without;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail(why, "prctl");
    enum err e = confine->self(&here, &without);
    if (e == ERR_UNSUPPORTED) e = ERR_OK; /* a kernel without Landlock: the other fences stand */
    if (e == ERR_OK) e = limits_set(file_bytes_max, why);
    return e == ERR_OK ? calls_lock(why) : e;
}
