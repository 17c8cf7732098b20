/* jail.c: see jail.h. */
#include "jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* ---- Landlock ---- */

#define FS_ALL_1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) /* the first version */
#define FS_REFER (1ULL << 13)                             /* links between folders; the second */
#define FS_TRUNCATE (1ULL << 14)                          /* the third */
#define FS_IOCTL_DEV (1ULL << 15)                         /* the fifth */
#define FS_NEEDED                                                                                \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_SYM | FS_REFER)

static uint64_t fs_known(long version) {
    return FS_ALL_1 | (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0) |
           (version >= 5 ? FS_IOCTL_DEV : 0);
}

static enum err paths_lock(int folder, struct why *why) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return ERR_OK;     /* not there, or switched off */
    uint64_t known = fs_known(version); /* the first field of the kernel's struct; the others are not for files */
    long rules = syscall(SYS_landlock_create_ruleset, &known, sizeof known, 0);
    if (rules < 0) return fail(why, "Landlock");
    struct landlock_path_beneath_attr beneath = {.allowed_access = FS_NEEDED & known, .parent_fd = folder};
    long bad = syscall(SYS_landlock_add_rule, (int)rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    if (bad == 0) bad = syscall(SYS_landlock_restrict_self, (int)rules, 0);
    enum err e = bad == 0 ? ERR_OK : fail(why, "Landlock");
    (void)close((int)rules);
    return e;
}

/* ---- seccomp ---- */

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

enum err jail_enter(int folder, uint64_t file_bytes_max, struct why *why) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return fail(why, "prctl");
    enum err e = limits_set(file_bytes_max, why);
    if (e == ERR_OK) e = paths_lock(folder, why);
    return e == ERR_OK ? calls_lock(why) : e;
}
