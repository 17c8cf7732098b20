/* plan.h: what a seed decides before its run begins: how large the world is, which faults it has and how often.
 *
 * Each family of faults is switched on by its own coin, so that some runs see one family alone and deep, and others all
 * of them at once. A rate of 0 means never. The whole plan is printed on one line: a red seed can be read without
 * running it. */
#ifndef REEVE_SIM_PLAN_H
#define REEVE_SIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "limit.h"

#define PLAN_WORKERS_MAX 6u
#define PLAN_CLIENTS_MAX 4u

/* The numbers of a plan, in the order in which they are printed. `_ms` rates are mean gaps between two faults. */
#define PLAN_TABLE(X)                                                        \
    X(workers, "workers")                                                    \
    X(clients, "clients that submit and meddle")                             \
    X(jobs, "jobs that may be submitted in all")                             \
    X(flow_jobs, "jobs of one flow at most")                                 \
    X(large, "one flow with more jobs than one step may visit")              \
    X(faulty_ms, "how long faults go on")                                    \
    X(net_us, "ordinary delay of a piece of bytes at most")                  \
    X(drop_ppm, "sends at which a connection breaks")                        \
    X(late_ppm, "pieces that come much later")                               \
    X(late_ms, "how much")                                                   \
    X(partition_ms, "between partitions")                                    \
    X(kill_ms, "between kill -9 of the server")                              \
    X(power_ms, "between power cuts of the server")                          \
    X(effect_crash_ppm, "effects before or after which the server dies")     \
    X(append_crash_ppm, "appends in which the power fails")                  \
    X(freeze_ms, "between pauses of the server process")                     \
    X(jump_ms, "between jumps of the wall clock")                            \
    X(append_us, "ordinary duration of an append at most")                   \
    X(slow_ppm, "disk calls that are slow")                                  \
    X(short_ppm, "reads and writes that are short")                          \
    X(write_error_ppm, "writes that fail")                                   \
    X(sync_error_ppm, "syncs that fail")                                     \
    X(full_ms, "between times of a full disk")                               \
    X(segment_kib, "size of a journal segment")                              \
    X(snapshot_ms, "between compactions")                                    \
    X(digest_ms, "between comparisons of the live state with its replay")    \
    X(worker_kill_ms, "between kills of a worker")                           \
    X(worker_stop_ms, "between pauses of a worker process")                  \
    X(machine_stop_ms, "between pauses of a worker's whole machine")         \
    X(worker_drain_ms, "between drains of a worker")                         \
    X(meddle, "percent of client actions that are not submits")              \
    X(lease_ms, "lease of a worker")                                         \
    X(store, "percent of client actions that are about the store")           \
    X(keys, "percent of option sets that name keys or rates")                \
    X(triggers, "percent of option sets with a trigger of their own")        \
    X(stages, "percent of submits with jobs behind the main ones")           \
    X(services, "percent of submits that deploy a service")                  \
    X(replicas, "percent of these whose new version starts first, and of submits that deploy a set") \
    X(foreach, "percent of option sets that are of foreach jobs")            \
    X(policy_ms, "between changes of the policy")                            \
    X(history_ms, "between words of the history, after which flows leave")   \
    X(schedules, "percent of other client actions that are about schedules") \
    X(memos, "percent of jobs with a cache key")                             \
    X(sources, "percent of submits and schedules that come with their file") \
    X(checkpoint_ms, "between checkpoints of the journal")                   \
    X(hostile_ms, "between words of somebody who means harm")                \
    X(ram, "the journal of the server is in memory")                         \
    X(lost_ppm, "turns of the server after which an append is fenced, unknown, full or failed")

struct sim_plan {
    uint64_t seed;
#define X(name, text) int64_t name;
    PLAN_TABLE(X)
#undef X
    struct limits limits;
};

void plan_draw(struct sim_plan *p, uint64_t seed);
void plan_calm(struct sim_plan *p); /* all faults off, everything else as it is */
void plan_print(const struct sim_plan *p, FILE *to);

#endif
