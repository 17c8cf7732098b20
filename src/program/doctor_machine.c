/* doctor_machine.c: see doctor_machine.h. It changes nothing that stays: files that it writes to try something are
 * removed. */
#include "doctor_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "file.h"
#include "limit.h"
#include "oidc_file.h"
#include "oscert.h"
#include "oscgroup.h"
#include "osdisk.h"
#include "oslandlock.h"
#include "out.h"
#include "settings.h"
#include "worker_sandbox.h"

#define SYNCS 15
#define SYNC_BYTES 4096
#define SYNC_SLOW_US 20000 /* a rotating disk */
#define FILES_LEAST 256u   /* a few connections, and the files of the server itself */
#define PROCESSES_LEAST 256u
#define CERT_DAYS_LEAST 30
#define DAY_S (24L * 60 * 60)
#define TMPFS_TYPE 0x01021994
#define RAMFS_TYPE 0x858458f6
#define NFS_TYPE 0x6969
#define PATTERN \
    "XX"        \
    "XX"        \
    "XX" /* filled by mkostemp */

/* ---- the directory ---- */

/* What only its owner may see; `kind` says what others could do. Jobs with uids of their own pass through a directory,
 * which is not to see into it. False: there is no such file. */
static bool check_private(struct doctor *d, const char *check, const char *path, const char *kind) {
    struct stat st;
    if (stat(path, &st) != 0) return false;
    mode_t closed = S_ISDIR(st.st_mode) ? 066 : 077;
    if (st.st_uid != geteuid() && geteuid() != 0) {
        doctor_add(d, DOCTOR_PROBLEM, check, "%s belongs to uid %u, you are uid %u", path, st.st_uid, geteuid());
        doctor_advise(d, "run the server and this program as the owner, or change the owner with chown");
    } else if (st.st_mode & closed) {
        doctor_add(d, DOCTOR_PROBLEM, check, "%s has mode %04o: other users %s", path, st.st_mode & 07777, kind);
        doctor_advise(d, "chmod %s %s", S_ISDIR(st.st_mode) ? "700" : "600", path);
    } else {
        doctor_add(d, DOCTOR_OK, check, "%s belongs to uid %u, mode %04o", path, st.st_uid, st.st_mode & 07777);
    }
    return true;
}

static void check_lock(struct doctor *d) {
    int pid = 0;
    if (!osdisk_is_locked(d->data, "LOCK", &pid))
        doctor_add(d, DOCTOR_OK, "lock", "no process holds the journal of %s", d->data);
    else if (pid != 0)
        doctor_add(d, DOCTOR_OK, "lock", "process %d holds the journal of %s", pid, d->data);
    else
        doctor_add(d, DOCTOR_OK, "lock", "a process holds the journal of %s", d->data);
}

static void check_tokens(struct doctor *d) {
    static const char *const names[] = {"admin.token", "worker.token"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", d->data, names[i]);
        (void)check_private(d, "tokens", path, "can take its rights");
    }
}

/* ---- the disk ---- */

static void check_space(struct doctor *d, const struct settings *s) {
    struct statvfs st;
    struct file_options journal;
    char free_text[OUT_TIME_BYTES], journal_text[OUT_TIME_BYTES], store_text[OUT_TIME_BYTES];
    if (statvfs(d->data, &st) != 0) return;
    file_options_default(&journal);
    uint64_t free_bytes = (uint64_t)st.f_bavail * st.f_frsize, store = (uint64_t)s->limits.vault_reserve_bytes;
    (void)out_bytes(free_bytes, free_text), (void)out_bytes(journal.reserve_bytes, journal_text);
    (void)out_bytes(store, store_text);
    if (free_bytes <= journal.reserve_bytes) {
        doctor_add(d, DOCTOR_PROBLEM, "space", "%s free: the server accepts no new work below %s", free_text,
                   journal_text);
        doctor_advise(d, "free some space: what is left is reserved for the journal, to finish accepted work");
    } else if (free_bytes <= store) {
        doctor_add(d, DOCTOR_PROBLEM, "space", "%s free: output of jobs and blobs are not stored below %s", free_text,
                   store_text);
        doctor_advise(d, "free some space, or set vault_reserve_bytes lower");
    } else {
        doctor_add(d, DOCTOR_OK, "space", "%s free; %s of it are reserved for the journal, %s for journal and logs",
                   free_text, journal_text, store_text);
    }
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* As the journal appends: one write and one sync into blocks that are there. The median; -1 with errno. */
static int64_t sync_us(const char *data) {
    static const uint8_t block[SYNC_BYTES];
    int64_t took[SYNCS];
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/doctor-" PATTERN, data);
    int fd = mkostemp(path, O_CLOEXEC), code = 0;
    if (fd < 0) return -1;
    (void)unlink(path);
    for (int i = 0; i < SYNCS && code == 0; i++)
        if (pwrite(fd, block, sizeof block, (off_t)i * SYNC_BYTES) != SYNC_BYTES) code = errno;
    if (code == 0 && fdatasync(fd) != 0) code = errno;
    for (int i = 0; i < SYNCS && code == 0; i++) {
        int64_t from = now_us();
        if (pwrite(fd, block, sizeof block, (off_t)i * SYNC_BYTES) != SYNC_BYTES || fdatasync(fd) != 0) code = errno;
        took[i] = now_us() - from;
    }
    (void)close(fd);
    errno = code;
    if (code != 0) return -1;
    qsort(took, SYNCS, sizeof took[0], by_size);
    return took[SYNCS / 2];
}

static void check_disk(struct doctor *d) {
    struct statfs fs;
    int64_t us = sync_us(d->data);
    if (us < 0) {
        doctor_add(d, DOCTOR_PROBLEM, "disk", "%s cannot be written: %s", d->data, strerrordesc_np(errno));
        doctor_advise(d, "the server needs to write there: check the rights, the mount and the space");
    } else {
        bool is_slow = us > SYNC_SLOW_US;
        doctor_add(d, is_slow ? DOCTOR_NOTE : DOCTOR_OK, "disk", "a write and its sync take %.2f ms (median of %d)",
                   (double)us / 1000, SYNCS);
        if (is_slow) doctor_advise(d, "every acknowledgement waits for one: put the directory on an SSD");
    }
    if (statfs(d->data, &fs) != 0) return;
    if (fs.f_type == TMPFS_TYPE || fs.f_type == (long)RAMFS_TYPE) {
        doctor_add(d, DOCTOR_NOTE, "disk", "%s is in memory: it is lost when the machine restarts", d->data);
        doctor_advise(d, "choose a directory on a disk with --data");
    } else if (fs.f_type == NFS_TYPE) {
        doctor_add(d, DOCTOR_NOTE, "disk", "%s is on NFS: durability and the lock depend on that server", d->data);
        doctor_advise(d, "choose a directory on a local disk with --data");
    }
}

/* ---- certificates ---- */

static void check_cert(struct doctor *d, const char *path) {
    struct oscert_view v;
    struct why why;
    char host[256] = "";
    if (oscert_look(path, &v, &why) != ERR_OK) {
        doctor_add(d, DOCTOR_PROBLEM, "tls", "%s", why.text);
        doctor_advise(d, "`reeve cert init --data %s HOSTNAME` makes one", d->data);
        return;
    }
    long days = (long)((v.ends_s - (int64_t)time(NULL)) / DAY_S);
    bool is_over = v.ends_s <= (int64_t)time(NULL), is_short = days < CERT_DAYS_LEAST;
    if (is_over)
        doctor_add(d, DOCTOR_PROBLEM, "tls", "%s has expired: clients and workers refuse it", path);
    else
        doctor_add(d, is_short ? DOCTOR_NOTE : DOCTOR_OK, "tls", "%s expires in %ld days; it is for %s", path, days,
                   v.names);
    if (is_over || is_short)
        doctor_advise(d, "renew it: `reeve cert init --data %s %s`, then restart the server or send it SIGHUP", d->data,
                      v.names);
    if (gethostname(host, sizeof host - 1) != 0 || strstr(v.names, host) != NULL) return;
    doctor_add(d, DOCTOR_NOTE, "tls", "%s is not for the name of this machine, %s", path, host);
    doctor_advise(d, "if clients use that name: `reeve cert init --data %s %s %s`", d->data, v.names, host);
}

static void check_tls(struct doctor *d, const struct settings *s) {
    char own[PATH_MAX], ca[PATH_MAX];
    const char *cert = setting_text(s, SETTING_tls_cert), *key = setting_text(s, SETTING_tls_key);
    snprintf(own, sizeof own, "%s/tls/server.pem", d->data);
    snprintf(ca, sizeof ca, "%s/tls/ca.key", d->data);
    if (cert[0] == 0 && access(own, F_OK) == 0) cert = own;
    if (cert[0] == 0) {
        doctor_add(d, DOCTOR_OK, "tls", "no certificate: the server listens on this machine only");
        return;
    }
    check_cert(d, cert);
    (void)check_private(d, "tls", key[0] != 0 ? key : cert, "can read the server's key");
    (void)check_private(d, "tls", ca, "can read the authority's key and make certificates");
}

/* ---- the process, the kernel ---- */

static void check_rlimit(struct doctor *d, int pid, int which, const char *what, uint64_t least, uint64_t wish,
                         const char *advice) {
    struct rlimit l;
    if (prlimit(pid, (__rlimit_resource_t)which, NULL, &l) != 0) return;
    char text[32] = "unlimited";
    if (l.rlim_cur != RLIM_INFINITY) snprintf(text, sizeof text, "%llu", (unsigned long long)l.rlim_cur);
    enum doctor_state state = l.rlim_cur < least ? DOCTOR_PROBLEM : l.rlim_cur < wish ? DOCTOR_NOTE : DOCTOR_OK;
    doctor_add(d, state, "limits", "%s may have %s %s%s", pid != 0 ? "the server" : "a process", text, what,
               state == DOCTOR_PROBLEM ? ": too few to work" : "");
    if (state != DOCTOR_OK) doctor_advise(d, "%s", advice);
}

static void check_limits(struct doctor *d, const struct settings *s) {
    int pid = 0;
    uint64_t connections = strtoull(setting_text(s, SETTING_connections_max), NULL, 10);
    (void)osdisk_is_locked(d->data, "LOCK", &pid);
    check_rlimit(d, pid, RLIMIT_NOFILE, "open files", FILES_LEAST, connections,
                 "each connection takes one, connections_max is higher: `ulimit -n`, or LimitNOFILE= of the unit");
    check_rlimit(d, pid, RLIMIT_NPROC, "processes", PROCESSES_LEAST, PROCESSES_LEAST,
                 "each job takes some: `ulimit -u`, or LimitNPROC= of the unit");
}

static void check_clock(struct doctor *d) {
    struct timex t = {0};
    int state = adjtimex(&t);
    bool is_synced = state >= 0 && state != TIME_ERROR && !(t.status & STA_UNSYNC);
    doctor_add(d, is_synced ? DOCTOR_OK : DOCTOR_NOTE, "clock", "the clock of this machine is %s",
               is_synced ? "synchronised" : "not synchronised, as far as the kernel knows");
    if (!is_synced) doctor_advise(d, "schedules and times depend on it: run chrony or systemd-timesyncd");
}

static void check_kernel(struct doctor *d, const char *data) {
    struct why cannot = {{0}};
    struct oscgroup groups;
    char text[512];
    int abi = oslandlock_abi();
    bool works = worker_sandbox_works(data, &cannot);
    doctor_add(d, works ? DOCTOR_OK : DOCTOR_NOTE, "sandbox", "namespaces and seccomp: %s",
               works ? "jobs can have a sandbox" : cannot.text);
    if (!works) doctor_advise(d, "jobs with `sandbox:` find no worker here; docs/guides/sandbox.md says what it needs");
    if (abi > 0)
        doctor_add(d, DOCTOR_OK, "sandbox", "Landlock: version %d", abi);
    else
        doctor_add(d, DOCTOR_NOTE, "sandbox", "this kernel has no Landlock: sandboxes do without it");
    if (oscgroup_find(OSCGROUP_AUTO, "/proc/self", &groups, &cannot) != ERR_OK) return;
    oscgroup_describe(&groups, text, sizeof text);
    doctor_add(d, groups.lacking.text[0] == 0 ? DOCTOR_OK : DOCTOR_NOTE, "cgroups", "%s", text);
    if (groups.lacking.text[0] != 0)
        doctor_advise(d, "jobs with such limits run without them; docs/guides/worker.md says what a worker needs");
}

/* ---- identity providers ---- */

static void check_oidc(struct doctor *d, const struct settings *s) {
    const char *path = setting_text(s, SETTING_oidc);
    struct issuers *issuers = NULL;
    struct why why = {{0}};
    if (path[0] == 0) return;
    if (oidc_file_read(path, &s->limits, &issuers, &why) != ERR_OK) {
        doctor_add(d, DOCTOR_PROBLEM, "oidc", "%s", why.text);
        doctor_advise(d, "correct it: the server would not start; docs/guides/login.md has the keys");
        return;
    }
    doctor_add(d, DOCTOR_OK, "oidc", "%s has %u identity provider%s", path, issuers->count,
               issuers->count == 1 ? "" : "s");
    issuers_free(issuers);
}

/* ---- */

static bool settings_find(struct doctor *d, struct settings *s) {
    char flag[] = "--data", data[SETTING_TEXT_MAX];
    char *args[] = {flag, data};
    struct why why;
    snprintf(data, sizeof data, "%s", d->data);
    enum err e = settings_read(s, 2, args, &why);
    if (e == ERR_OK) e = settings_check(s, &why);
    if (e == ERR_OK) return true;
    doctor_add(d, DOCTOR_PROBLEM, "settings", "%s", why.text);
    doctor_advise(d, "correct it: the server would not start; `reeve config --data %s` shows all settings", d->data);
    return false;
}

void doctor_machine(struct doctor *d) {
    static struct settings s;
    bool is_there = check_private(d, "directory", d->data, "can read jobs, output and tokens");
    if (is_there) {
        check_lock(d);
        check_tokens(d);
        check_disk(d);
    } else {
        doctor_add(d, DOCTOR_NOTE, "directory", "%s: %s", d->data, strerrordesc_np(errno));
        doctor_advise(d, "the first `reeve up` makes it; name another with --data");
    }
    if (settings_find(d, &s)) {
        if (is_there) check_space(d, &s), check_tls(d, &s);
        check_limits(d, &s);
        check_oidc(d, &s);
    }
    check_clock(d);
    check_kernel(d, is_there ? d->data : "/tmp");
}
