/* joblimits.c: see joblimits.h. */
#include "joblimits.h"

#include <signal.h>
#include <stdio.h>

#define SENTENCE_BYTES 160u
#define SHELL_SIGNAL 128u /* a shell says of a command that a signal ended: this and its number */

/* ---- the limits ---- */

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a == 0 || (b != 0 && b < a) ? b : a; /* 0 = there is none */
}

/* Of the first that is named, and never above `most`. */
static uint64_t ceiling(uint64_t own, uint64_t reserved, uint64_t standard, uint64_t most) {
    return lesser(own != 0 ? own : reserved != 0 ? reserved : standard, most);
}

struct proc_limits joblimits_of(const struct agent_ceilings *c, const struct wire_assignment *order,
                                const struct wire_run *run) {
    const struct wire_ceilings *own = &run->limits;
    const struct proc_limits *standard = &c->standard, *most = &c->most;
    uint64_t memory = c->by_request ? order->memory_bytes : 0;
    uint32_t cpu = c->by_request ? order->cpu_milli : 0;
    return (struct proc_limits){
        .memory_bytes = ceiling(own->memory_bytes, memory, standard->memory_bytes, most->memory_bytes),
        .cpu_milli = (uint32_t)ceiling(own->cpu_milli, cpu, standard->cpu_milli, most->cpu_milli),
        .pids = (uint32_t)ceiling(own->pids, 0, standard->pids, most->pids),
        .open_files = (uint32_t)ceiling(own->open_files, 0, standard->open_files, most->open_files),
        .file_bytes = ceiling(own->file_bytes, 0, standard->file_bytes, most->file_bytes),
        .cpu_asked_milli = order->cpu_milli,
    };
}

/* ---- what is said of them ---- */

static const char *size_text(uint64_t bytes, char ret[24]) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    uint32_t unit = 0;
    for (; unit < 4 && bytes % 1024 == 0 && bytes > 0; unit++) bytes /= 1024;
    if (unit == 0)
        snprintf(ret, 24, "%llu bytes", (unsigned long long)bytes);
    else
        snprintf(ret, 24, "%llu%s", (unsigned long long)bytes, units[unit]);
    return ret;
}

/* Whether a file became too large shows in the signal alone. */
static bool is_file_too_large(const struct proc_limits *l, const struct wire_end *end) {
    return l->file_bytes != 0 && (end->signal == SIGXFSZ || end->exit_code == SHELL_SIGNAL + SIGXFSZ);
}

static void sentence(const struct proc_limits *l, const struct proc_usage *usage, const struct wire_end *end,
                     char ret[SENTENCE_BYTES]) {
    char size[24];
    ret[0] = 0;
    switch ((enum wire_hit)end->hit) {
    case WIRE_HIT_MEMORY:
        snprintf(ret, SENTENCE_BYTES, "killed: used more than its %s of memory", size_text(l->memory_bytes, size));
        return;
    case WIRE_HIT_PIDS:
        snprintf(ret, SENTENCE_BYTES, "fork refused: its limit of %u processes was reached, %u time%s", l->pids,
                 usage->forks_refused, usage->forks_refused == 1 ? "" : "s");
        return;
    case WIRE_HIT_FILE_SIZE:
        snprintf(ret, SENTENCE_BYTES, "killed: wrote a file larger than its %s", size_text(l->file_bytes, size));
        return;
    case WIRE_HIT_NONE:
    case WIRE_HIT_COUNT: break;
    }
    if (usage->oom_kills > 0) snprintf(ret, SENTENCE_BYTES, "killed: the machine ran out of memory");
}

/* "cpu, pids not kept; memory kept for each process by itself" */
static struct slice unkept_text(const struct proc_usage *usage, struct arena *arena) {
    static const char *const words[PROC_LIMIT_COUNT] = {"memory", "cpu", "pids"};
    char text[SENTENCE_BYTES] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < PROC_LIMIT_COUNT; i++)
        if (usage->unkept & PROC_BIT(i))
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? ", " : "", words[i]);
    if (len > 0) len += (size_t)snprintf(text + len, sizeof text - len, " not kept");
    for (uint32_t i = 0; i < PROC_LIMIT_COUNT; i++)
        if (usage->weak & PROC_BIT(i))
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s kept for each process by itself",
                                    len > 0 ? "; " : "", words[i]);
    return arena_slice(arena, slice_str(text));
}

void joblimits_tell(const struct proc_limits *l, const struct proc_usage *usage, struct arena *arena,
                    struct wire_end *end) {
    char text[SENTENCE_BYTES];
    end->cpu_ms = usage->cpu_ms;
    end->memory_bytes_max = usage->memory_bytes_max;
    end->throttled_ms = usage->throttled_ms;
    if (usage->unkept | usage->weak) end->unkept = unkept_text(usage, arena);
    if (usage->oom_kills > 0 && usage->oom_is_own) {
        end->hit = WIRE_HIT_MEMORY;
        end->hit_count = usage->oom_kills;
    } else if (is_file_too_large(l, end)) {
        end->hit = WIRE_HIT_FILE_SIZE;
        end->hit_count = 1;
    } else if (usage->forks_refused > 0) {
        end->hit = WIRE_HIT_PIDS;
        end->hit_count = usage->forks_refused;
    }
    if (end->outcome == WIRE_OUTCOME_OK) return; /* it lived with it */
    sentence(l, usage, end, text);
    if (text[0] != 0) end->reason = arena_slice(arena, slice_str(text));
}
