/* ossupervisor.c: see ossupervisor.h. Everything here runs in the nursery or in a keeper, never in the worker, but for
 * the fork itself. One thread; blocks where it likes; ends with _exit, so that nothing of the worker's is flushed
 * twice.
 *
 * Guarantees: a keeper tells the end of its job, takes the next one, or ends, only when it has no child left. Must not:
 * trust that a kill arrives at once (a process may sit in the kernel), or that what it sees in /proc is all there is:
 * it kills in rounds, until the kernel says that there is no child. */
#include "ossupervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "oscgroup.h"
#include "osprocs.h"
#include "ostitle.h"
#include "panic.h"
#include "wtime.h"

#define ROUND_MS 10     /* between two rounds of killing what has not died yet */
#define OOM_ROUND_MS 1  /* between two looks whether a process was killed for its memory, */
#define OOM_ROUNDS 1000 /* after a word that memory is short in its group or in one above */
#define EXIT_CANNOT_RUN 126
#define LISTS_BYTES_MAX (64u << 20) /* pointers to arguments and environment */

static int64_t now_ms(void) {
    struct timespec t;
    ENSURE(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* SIGCHLD comes through a descriptor, everything else that may be blocked is: only KILL ends us from outside. Nothing
 * is ignored or handled, once for all: what a job finds is what a keeper had, and sixty calls for each job would
 * show. */
static int signals_take(void) {
    sigset_t all, child;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    for (int number = 1; number < NSIG; number++) (void)signal(number, SIG_DFL); /* jobs inherit it */
    int fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    ENSURE(fd >= 0);
    return fd;
}

static void signals_drain(int fd) {
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
    }
}

static void signal_below(pid_t root, const struct u32vec *skip, int number) {
    struct u32vec pids = {0};
    osprocs_below(root, skip, &pids);
    for (uint32_t i = 0; i < pids.count; i++) (void)kill((pid_t)pids.at[i], number);
    u32vec_fini(&pids);
}

/* ---- messages ---- */

union fd_room {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(SUPERVISOR_FD_COUNT * sizeof(int))];
};

enum err ossupervisor_send(int socket, const struct supervisor_message *m, const int *fds, uint32_t count,
                           struct why *why) {
    union fd_room room = {0};
    struct supervisor_message copy = *m;
    struct iovec data = {&copy, sizeof copy};
    struct msghdr head = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &room};
    REQUIRE(count > 0 && count <= SUPERVISOR_FD_COUNT);
    head.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
    if (sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof copy) return ERR_OK;
    if (errno == EAGAIN || errno == ETOOMANYREFS) return why_set(why, ERR_BUSY, "too many starts at once");
    return why_set(why, ERR_IO, "the process that starts jobs is gone");
}

/* 1: a message, and descriptors that are now ours (-1 = none); 0: nothing yet; -1: the other side is gone. */
static int message_take(int socket, struct supervisor_message *ret, int ret_fds[SUPERVISOR_FD_COUNT]) {
    union fd_room room;
    struct iovec data = {ret, sizeof *ret};
    struct msghdr head = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    for (int i = 0; i < SUPERVISOR_FD_COUNT; i++) ret_fds[i] = -1;
    ssize_t got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (got != (ssize_t)sizeof *ret) return -1;
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
    if (rights != NULL && rights->cmsg_type == SCM_RIGHTS) {
        size_t bytes = rights->cmsg_len - CMSG_LEN(0);
        memcpy(ret_fds, CMSG_DATA(rights),
               bytes < sizeof(int) * SUPERVISOR_FD_COUNT ? bytes : sizeof(int) * SUPERVISOR_FD_COUNT);
    }
    return 1;
}

static void fds_close(const int fds[SUPERVISOR_FD_COUNT]) {
    for (int i = 0; i < SUPERVISOR_FD_COUNT; i++)
        if (fds[i] >= 0) (void)close(fds[i]);
}

/* ---- a keeper ---- */

struct supervisor {
    int control, signals; /* control -1: the worker is gone */
    bool is_busy;         /* with what follows */
    pid_t job;
    int64_t kill_at_ms;
    bool is_killing; /* everything: again and again until nothing is left */
    int status;
    bool is_boxed; /* another process stands before the job: */
    int *told;     /* it tells the job's status, in memory shared with us; NULL until there is one */
    uint64_t cpu_us, memory_bytes_max;
    const struct oscgroup *groups;
    struct oscgroup_job group;
    int oom_rounds; /* left, in which to look whether memory was short here or in a group above */
};

struct supervised_job {
    char *program, *workdir;
    char **argv, **env;
    const int *fds;
    bool has_stdin;
    const struct oscgroup_job *group;
    struct ossandbox sandbox;
};

static void job_streams(const struct supervised_job *j) {
    if (j->has_stdin) (void)dup2(j->fds[SUPERVISOR_FD_IN], STDIN_FILENO); /* else the nursery's /dev/null */
    (void)dup2(j->fds[SUPERVISOR_FD_OUT], STDOUT_FILENO);
    (void)dup2(j->fds[SUPERVISOR_FD_ERR], STDERR_FILENO);
}

/* Along PATH, for a program that is to be looked for in a sandbox. */
static void exec_along_path(const struct supervised_job *j) {
    const char *path = "/usr/local/bin:/usr/bin:/bin";
    char file[4096];
    for (char **line = j->env; *line != NULL; line++)
        if (strncmp(*line, "PATH=", 5) == 0) path = *line + 5;
    for (size_t len = 0; *path != 0; path += len + (path[len] == ':')) {
        len = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)len, path, j->program);
        if (len > 0 && access(file, X_OK) == 0) (void)execve(file, j->argv, j->env);
    }
}

/* Before anything is given up; false with errno: a limit would not hold. */
static bool job_limit(const struct supervised_job *j) {
    errno = oscgroup_enter(j->group);
    return errno == 0;
}

/* Returns when it cannot be run. */
static void job_exec(const struct supervised_job *j) {
    sigset_t none;
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir(j->workdir) != 0) return;
    if (strchr(j->program, '/') == NULL)
        exec_along_path(j);
    else
        (void)execve(j->program, j->argv, j->env);
}

/* The child runs in the memory of the keeper, which waits for the exec: nothing is changed there but `*ret_errno`. */
static pid_t job_spawn(const struct supervised_job *j, volatile int *ret_errno) {
    pid_t pid = vfork();
    if (pid == 0) {
        job_streams(j);
        if (job_limit(j)) job_exec(j);
        *ret_errno = errno;
        _exit(EXIT_CANNOT_RUN);
    }
    if (pid < 0) *ret_errno = errno;
    return pid;
}

/* In a copy of that memory: what is done here takes its time, and the keeper goes on. */
static pid_t job_spawn_boxed(const struct supervised_job *j, int *told, volatile int *ret_errno) {
    *told = SIGKILL; /* unless it tells more */
    pid_t pid = ossandbox_fork(&j->sandbox);
    if (pid == 0) {
        job_streams(j);
        if (job_limit(j)) {
            ossandbox_enter(&j->sandbox, told);
            job_exec(j);
        }
        (void)dprintf(STDERR_FILENO, "reeve: cannot run %s in %s, in its sandbox: %s\n", j->program, j->workdir,
                      strerrordesc_np(errno));
        _exit(EXIT_CANNOT_RUN);
    }
    if (pid < 0) *ret_errno = errno;
    return pid;
}

static char **texts_take(struct arena *arena, char **at, uint32_t count) {
    char **list = ARENA_ARRAY(arena, char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = *at;
        *at += strlen(*at) + 1;
    }
    return list;
}

static int *supervisor_told(struct supervisor *k) {
    if (k->told == NULL)
        k->told = mmap(NULL, sizeof *k->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ENSURE(k->told != MAP_FAILED);
    return k->told;
}

/* "reeve worker: f1v/web#5", by what the job finds in its environment. */
static void supervisor_title(char **env) {
    const char *job = "", *attempt = "";
    for (; *env != NULL; env++) {
        if (strncmp(*env, "REEVE_JOB=", 10) == 0) job = *env + 10;
        if (strncmp(*env, "REEVE_ATTEMPT=", 14) == 0) attempt = *env + 14;
    }
    ostitle_set("reeve worker: %s#%s", job, attempt);
}

/* The pid, or 0 when it could not be started; the words for the user then stand in its error output. */
static pid_t job_start(struct supervisor *k, const int fds[SUPERVISOR_FD_COUNT]) {
    struct stat st;
    struct arena arena;
    ENSURE(fstat(fds[SUPERVISOR_FD_ORDER], &st) == 0);
    char *whole = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fds[SUPERVISOR_FD_ORDER], 0);
    ENSURE(whole != MAP_FAILED);
    struct supervisor_order order;
    memcpy(&order, whole, sizeof order);
    char *text = whole + sizeof order;
    struct supervised_job j = {.fds = fds, .has_stdin = order.has_stdin != 0, .group = &k->group};
    arena_init(&arena, 4096, LISTS_BYTES_MAX);
    j.program = text;
    text += strlen(text) + 1;
    j.workdir = text;
    text += strlen(text) + 1;
    j.argv = texts_take(&arena, &text, order.argc);
    j.env = texts_take(&arena, &text, order.envc);
    supervisor_title(j.env);
    j.sandbox = ossandbox_take(&order.sandbox, &text, &arena);
    volatile int code = 0;
    struct why why;
    if (order.limits.pids != 0 && order.sandbox.is_on) order.limits.pids++; /* the sandbox's own process */
    pid_t pid = 0;
    if (oscgroup_begin(k->groups, &order.limits, &k->group, &why) != ERR_OK)
        (void)dprintf(fds[SUPERVISOR_FD_ERR], "reeve: cannot run %s: %s\n", j.program, why.text);
    else if (ossandbox_is_any(&order.sandbox))
        pid = job_spawn_boxed(&j, supervisor_told(k), &code);
    else
        pid = job_spawn(&j, &code);
    k->is_boxed = order.sandbox.is_on != 0;
    if (code != 0) {
        (void)dprintf(fds[SUPERVISOR_FD_ERR], "reeve: cannot run %s: %s\n", j.program, strerrordesc_np(code));
        if (pid > 0) (void)waitpid(pid, NULL, 0);
        pid = 0;
    }
    arena_fini(&arena);
    (void)munmap(whole, (size_t)st.st_size);
    return pid;
}

static void supervisor_start(struct supervisor *k, const int fds[SUPERVISOR_FD_COUNT]) {
    *k = (struct supervisor){.control = k->control,
                             .signals = k->signals,
                             .groups = k->groups,
                             .told = k->told,
                             .is_busy = true,
                             .kill_at_ms = TIME_NEVER};
    k->job = job_start(k, fds);
    if (k->job <= 0) k->status = EXIT_CANNOT_RUN << 8;
}

static void supervisor_say_ended(struct supervisor *k) {
    struct supervisor_message m = {.word = SUPERVISOR_ENDED};
    if (WIFSIGNALED(k->status))
        m.exit_signal = (uint32_t)WTERMSIG(k->status);
    else
        m.exit_code = (uint32_t)WEXITSTATUS(k->status);
    m.usage = (struct proc_usage){.cpu_ms = k->cpu_us / 1000, .memory_bytes_max = k->memory_bytes_max};
    oscgroup_end(&k->group, &m.usage);
    if (m.usage.oom_is_own) m.exit_code = 0, m.exit_signal = SIGKILL; /* whatever its first process made of it */
    k->is_busy = false;
    ostitle_set("reeve worker: waits for a job");
    if (k->control >= 0) (void)send(k->control, &m, sizeof m, MSG_NOSIGNAL);
}

static uint64_t us_of(struct timeval t) {
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* True when no child is left. */
static bool supervisor_reap(struct supervisor *k) {
    int status = 0;
    pid_t pid;
    struct rusage usage;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        uint64_t bytes = (uint64_t)usage.ru_maxrss * 1024;
        k->cpu_us += us_of(usage.ru_utime) + us_of(usage.ru_stime);
        if (bytes > k->memory_bytes_max) k->memory_bytes_max = bytes;
        if (pid != k->job) continue;
        k->status = k->is_boxed ? *k->told : status;
        k->is_killing = true; /* what it left behind goes with it */
    }
    return pid < 0 && errno == ECHILD;
}

static void supervisor_hear(struct supervisor *k) {
    struct supervisor_message m;
    int fds[SUPERVISOR_FD_COUNT];
    int got = message_take(k->control, &m, fds);
    if (got < 0) { /* the worker is gone, or has closed us */
        k->is_killing = true;
        (void)close(k->control);
        k->control = -1; /* poll passes over it */
        return;
    }
    if (got == 0) return;
    if (m.word == SUPERVISOR_ORDER && !k->is_busy) {
        supervisor_start(k, fds);
    } else if (k->is_busy) {
        if (m.word == SUPERVISOR_KILL_AT)
            k->kill_at_ms = m.kill_at_ms;
        else if (m.signal == SIGKILL)
            k->is_killing = true;
        else
            signal_below(getpid(), NULL, m.signal);
    }
    fds_close(fds);
}

static int supervisor_wait_ms(const struct supervisor *k) {
    if (!k->is_busy) return -1;
    if (k->is_killing) return ROUND_MS;
    if (k->oom_rounds > 0) return OOM_ROUND_MS;
    if (k->kill_at_ms == TIME_NEVER) return -1;
    int64_t left = k->kill_at_ms - now_ms();
    return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

/* A group of version 1 whose memory is short loses one process; the rest of the job goes with it, as soon as we see
 * it: the word comes before the kill. */
static void supervisor_look_for_oom(struct supervisor *k) {
    k->oom_rounds--;
    if (oscgroup_is_oom(&k->group)) k->is_killing = true;
}

static _Noreturn void keep(const struct oscgroup *groups, int signals, int control) {
    struct supervisor k = {
        .control = control, .signals = signals, .kill_at_ms = TIME_NEVER, .groups = groups, .group = {.oom = -1}};
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_NAME, OSSUPERVISOR_NAME);
    ostitle_set("reeve worker: waits for a job");
    struct supervisor_message born = {.word = SUPERVISOR_BORN, .pid = getpid()};
    (void)send(control, &born, sizeof born, MSG_NOSIGNAL);
    for (;;) {
        if (k.is_busy && supervisor_reap(&k)) supervisor_say_ended(&k);
        if (!k.is_busy && k.control < 0) _exit(0);
        if (k.is_busy && (k.is_killing || k.kill_at_ms <= now_ms())) {
            k.is_killing = true;
            oscgroup_kill(&k.group);
            signal_below(getpid(), NULL, SIGKILL);
        }
        if (k.is_busy && k.oom_rounds > 0 && !k.is_killing) supervisor_look_for_oom(&k);
        struct pollfd polls[3] = {{.fd = k.control, .events = POLLIN},
                                  {.fd = k.signals, .events = POLLIN},
                                  {.fd = k.group.oom, .events = POLLIN}};
        if (poll(polls, 3, supervisor_wait_ms(&k)) <= 0) continue;
        if (polls[1].revents != 0) signals_drain(k.signals);
        if (polls[2].revents != 0 && eventfd_read(k.group.oom, &(eventfd_t){0}) == 0) k.oom_rounds = OOM_ROUNDS;
        if (polls[0].revents != 0) supervisor_hear(&k);
    }
}

/* ---- the nursery ---- */

struct fork_server {
    int socket, signals;
    struct u32vec keepers; /* pids */
    bool has_orphans;      /* a keeper died without having ended its job */
    struct u32vec dead;    /* such keepers, while their groups may not be removed yet */
    const struct oscgroup *groups;
};

static void fork_server_reap(struct fork_server *n) {
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (uint32_t i = 0; i < n->keepers.count; i++) {
            if (n->keepers.at[i] != (uint32_t)pid) continue;
            n->keepers.at[i] = n->keepers.at[--n->keepers.count];
            if (WIFEXITED(status)) break;
            n->has_orphans = true;
            u32vec_push(&n->dead, (uint32_t)pid);
            break;
        }
    }
}

/* Its own children that are no keepers came from dead ones. */
static void fork_server_sweep(struct fork_server *n) {
    struct u32vec pids = {0};
    osprocs_below(getpid(), &n->keepers, &pids);
    for (uint32_t i = 0; i < pids.count; i++) (void)kill((pid_t)pids.at[i], SIGKILL);
    n->has_orphans = pids.count > 0;
    u32vec_fini(&pids);
    if (n->has_orphans) return;
    for (uint32_t i = 0; i < n->dead.count; i++) oscgroup_remove(n->groups, (pid_t)n->dead.at[i]);
    n->dead.count = 0;
}

/* False when the worker is gone. */
static bool fork_server_hear(struct fork_server *n) {
    struct supervisor_message m;
    int fds[SUPERVISOR_FD_COUNT];
    int got = message_take(n->socket, &m, fds);
    if (got <= 0) return got == 0;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(n->socket);
        keep(n->groups, n->signals, fds[0]);
    }
    /* Without one the control socket closes, which the worker takes for the keeper's death: the attempt has failed. */
    if (pid > 0) u32vec_push(&n->keepers, (uint32_t)pid);
    fds_close(fds);
    return true;
}

static _Noreturn void fork_server_end(struct fork_server *n) {
    do {
        signal_below(getpid(), NULL, SIGKILL);
        struct pollfd wait = {.fd = n->signals, .events = POLLIN};
        if (poll(&wait, 1, ROUND_MS) > 0) signals_drain(n->signals);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    } while (waitpid(-1, NULL, WNOHANG) == 0);
    for (uint32_t i = 0; i < n->keepers.count; i++) oscgroup_remove(n->groups, (pid_t)n->keepers.at[i]);
    for (uint32_t i = 0; i < n->dead.count; i++) oscgroup_remove(n->groups, (pid_t)n->dead.at[i]);
    _exit(0);
}

static _Noreturn void fork_server_run(const struct oscgroup *groups, int socket) {
    (void)setsid(); /* a Ctrl-C at the terminal is for the worker, which stops its jobs with grace */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_NAME, OSSUPERVISOR_FORK_SERVER_NAME);
    ostitle_set("reeve worker: starts jobs");
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    ENSURE(null >= 0);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(null, STDOUT_FILENO);
    ENSURE(dup2(socket, 3) == 3);
    ENSURE(fcntl(3, F_SETFD, FD_CLOEXEC) == 0);
    (void)close_range(4, ~0U, 0); /* nothing of the worker's is held open by us */
    struct fork_server n = {.socket = 3, .signals = signals_take(), .groups = groups};
    for (;;) {
        struct pollfd polls[2] = {{.fd = n.socket, .events = POLLIN}, {.fd = n.signals, .events = POLLIN}};
        int count = poll(polls, 2, n.has_orphans ? ROUND_MS : -1);
        if (count > 0 && polls[1].revents != 0) signals_drain(n.signals);
        fork_server_reap(&n);
        if (n.has_orphans) fork_server_sweep(&n);
        if (count > 0 && polls[0].revents != 0 && !fork_server_hear(&n)) fork_server_end(&n);
    }
}

enum err ossupervisor_fork_server(const struct oscgroup *groups, int *ret_socket, int32_t *ret_pid, struct why *why) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return why_set(why, ERR_IO, "socketpair: %s", strerrordesc_np(errno));
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(pair[0]);
        fork_server_run(groups, pair[1]);
    }
    (void)close(pair[1]);
    if (pid < 0) {
        enum err e = why_set(why, ERR_IO, "fork: %s", strerrordesc_np(errno));
        (void)close(pair[0]);
        return e;
    }
    *ret_socket = pair[0];
    *ret_pid = pid;
    return ERR_OK;
}
