/* oscgroup_files.c: see oscgroup_files.h. The files are described in the kernel's admin-guide/cgroup-v2.rst and
 * admin-guide/cgroup-v1. */
#include "oscgroup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4608u
#define FILE_BYTES_MAX 4096u
#define PERIOD_US 100000u /* in which a share of cpu is counted: the kernel's own */
#define WEIGHT_V1 1024u   /* of one processor: what a group has that asked for nothing */
#define WEIGHT_V2 100u
#define WEIGHT_V1_MAX 262144u
#define WEIGHT_V2_MAX 10000u

const char *oscgroup_files_control(enum oscgroup_version version, enum proc_limit limit) {
    static const char *const names[PROC_LIMIT_COUNT][2] = {
        [PROC_LIMIT_MEMORY] = {"memory.limit_in_bytes", "memory.max"},
        [PROC_LIMIT_CPU] = {"cpu.cfs_quota_us", "cpu.max"},
        [PROC_LIMIT_PIDS] = {"pids.max", "pids.max"},
    };
    return names[limit][version == OSCGROUP_V2];
}

bool oscgroup_files_get(const char *dir, const char *name, char *ret, size_t size) {
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, ret, size - 1);
    (void)close(fd);
    if (got < 0) return false;
    ret[got] = 0;
    if (got > 0 && ret[got - 1] == '\n') ret[got - 1] = 0;
    return true;
}

int oscgroup_files_put(const char *dir, const char *name, const char *text) {
    char path[PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    int code = write(fd, text, strlen(text)) < 0 ? errno : 0;
    (void)close(fd);
    return code;
}

/* ---- limits ---- */

struct writing {
    const char *dir;
    struct why *why;
    enum err err;
};

static void put(struct writing *w, bool may_lack, const char *name, const char *text) {
    if (w->err != ERR_OK) return;
    int code = oscgroup_files_put(w->dir, name, text);
    if (code == 0 || (code == ENOENT && may_lack)) return;
    w->err = why_set(w->why, ERR_IO, "%s: %s", name, strerrordesc_np(code));
}

static void put_number(struct writing *w, bool may_lack, const char *name, uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    put(w, may_lack, name, text);
}

/* Swap would only make the limit slow to be hit; without accounting of swap there is nothing to say about it. */
static void put_memory(struct writing *w, enum oscgroup_version version, uint64_t bytes) {
    put_number(w, false, oscgroup_files_control(version, PROC_LIMIT_MEMORY), bytes);
    if (version == OSCGROUP_V2) {
        put(w, true, "memory.swap.max", "0");
        put(w, true, "memory.oom.group", "1"); /* half a job is worth nothing; in version 1 the keeper sees to it */
    } else {
        put_number(w, true, "memory.memsw.limit_in_bytes", bytes);
    }
}

static void put_cpu(struct writing *w, enum oscgroup_version version, uint32_t milli) {
    uint64_t quota_us = (uint64_t)milli * (PERIOD_US / 1000);
    if (version == OSCGROUP_V1) {
        put_number(w, false, "cpu.cfs_period_us", PERIOD_US);
        put_number(w, false, "cpu.cfs_quota_us", quota_us);
        return;
    }
    char text[48];
    snprintf(text, sizeof text, "%llu %u", (unsigned long long)quota_us, PERIOD_US);
    put(w, false, "cpu.max", text);
}

static void put_weight(struct writing *w, enum oscgroup_version version, uint32_t milli) {
    bool is_v2 = version == OSCGROUP_V2;
    uint64_t weight = (uint64_t)milli * (is_v2 ? WEIGHT_V2 : WEIGHT_V1) / 1000;
    uint64_t most = is_v2 ? WEIGHT_V2_MAX : WEIGHT_V1_MAX, least = is_v2 ? 1 : 2;
    put_number(w, true, is_v2 ? "cpu.weight" : "cpu.shares", weight > most ? most : weight < least ? least : weight);
}

enum err oscgroup_files_write(const char *dir, struct oscgroup_kind kind, const struct proc_limits *l,
                              struct why *why) {
    struct writing w = {dir, why, ERR_OK};
    if ((kind.keeps & PROC_BIT(PROC_LIMIT_MEMORY)) && l->memory_bytes != 0)
        put_memory(&w, kind.version, l->memory_bytes);
    if ((kind.keeps & PROC_BIT(PROC_LIMIT_CPU)) && l->cpu_milli != 0) put_cpu(&w, kind.version, l->cpu_milli);
    if ((kind.keeps & PROC_BIT(PROC_LIMIT_CPU)) && l->cpu_asked_milli != 0)
        put_weight(&w, kind.version, l->cpu_asked_milli);
    if ((kind.keeps & PROC_BIT(PROC_LIMIT_PIDS)) && l->pids != 0) put_number(&w, false, "pids.max", l->pids);
    return w.err;
}

/* ---- what was used ---- */

/* Of a file with lines "name number"; 0 = it is not there. */
static uint64_t get_named(const char *dir, const char *file, const char *name) {
    char text[FILE_BYTES_MAX];
    size_t len = strlen(name);
    if (!oscgroup_files_get(dir, file, text, sizeof text)) return 0;
    for (const char *line = text; line != NULL;) {
        if (strncmp(line, name, len) == 0 && line[len] == ' ') return strtoull(line + len + 1, NULL, 10);
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    return 0;
}

static uint64_t get_number(const char *dir, const char *file) {
    char text[64];
    return oscgroup_files_get(dir, file, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

/* A process that the kernel killed may have died for the limit of a group above, or for want of memory in the whole
 * machine. Version 2 counts the former; in version 1 (whose failcnt newer kernels leave at 0) it shows in the peak, to
 * a few pages. */
static bool is_at_limit(const char *dir, uint64_t bytes) {
    uint64_t limit = get_number(dir, "memory.limit_in_bytes");
    return bytes >= limit - limit / 32;
}

bool oscgroup_files_is_oom(const char *dir) {
    if (get_named(dir, "memory.oom_control", "oom_kill") > 0)
        return is_at_limit(dir, get_number(dir, "memory.max_usage_in_bytes"));
    return get_named(dir, "memory.oom_control", "under_oom") > 0 &&
           is_at_limit(dir, get_number(dir, "memory.usage_in_bytes"));
}

static void read_memory(const char *dir, bool is_v2, struct proc_usage *usage) {
    uint64_t peak = get_number(dir, is_v2 ? "memory.peak" : "memory.max_usage_in_bytes");
    uint64_t kills = get_named(dir, is_v2 ? "memory.events" : "memory.oom_control", "oom_kill");
    if (peak != 0) usage->memory_bytes_max = peak; /* of all together; what was known was of the largest alone */
    usage->oom_kills += (uint32_t)kills;
    bool is_own = is_v2 ? get_named(dir, "memory.events", "oom") > 0 : is_at_limit(dir, peak);
    if (kills > 0 && is_own) usage->oom_is_own = true;
}

void oscgroup_files_read(const char *dir, struct oscgroup_kind kind, struct proc_usage *usage) {
    bool is_v2 = kind.version == OSCGROUP_V2;
    if (kind.keeps & PROC_BIT(PROC_LIMIT_MEMORY)) read_memory(dir, is_v2, usage);
    if (kind.keeps & PROC_BIT(PROC_LIMIT_CPU))
        usage->throttled_ms += is_v2 ? get_named(dir, "cpu.stat", "throttled_usec") / 1000
                                     : get_named(dir, "cpu.stat", "throttled_time") / 1000000;
    if (kind.keeps & PROC_BIT(PROC_LIMIT_PIDS)) usage->forks_refused += (uint32_t)get_named(dir, "pids.events", "max");
}
