/* job_options.h: the options of a job, one line each.
 *
 * From a line come the member of `struct options` (core/model/options.h, as the journal keeps it) and of `struct
 * wire_options` (proto/wire/wire_flow.h, as clients send it), the fields of both descriptions, the way from one to the
 * other, the standard value, the checks of times, and the remark in docs/formats/wire.md. An option is added by its
 * line here, the key of flow files that sets it (spec/spec_keys.c), and the code that it changes.
 *
 * Not here is what the journal and the wire keep in different forms: kind and demand, the priority (the wire counts
 * from normal) and the retries (the wire counts all attempts). */
#ifndef REEVE_JOB_OPTIONS_H
#define REEVE_JOB_OPTIONS_H

#include "tlv.h"

/* What the token of a job may do beyond its own flow, in its tenant. Bits of `token_rights`. */
#define TOKEN_READ 1u   /* look, as a viewer */
#define TOKEN_SUBMIT 2u /* submit flows and look after them, as a submitter, within the bounds of the job itself */
#define TOKEN_RIGHTS_ALL (TOKEN_READ | TOKEN_SUBMIT)

enum on_upstream { UPSTREAM_FAIL, UPSTREAM_SKIP, UPSTREAM_RUN, UPSTREAM_COUNT };
extern const char *const on_upstream_words[UPSTREAM_COUNT];

/* When a job starts, by the ends of the jobs that it needs. `on_upstream: run` is the older word for ALL_DONE; the
 * other two say how a job ends whose trigger cannot come any more. */
enum trigger { TRIGGER_ALL_SUCCEEDED, TRIGGER_NONE_FAILED, TRIGGER_ONE_SUCCEEDED, TRIGGER_ALL_DONE, TRIGGER_COUNT };
extern const char *const trigger_words[TRIGGER_COUNT];

/* How a service changes to a new version: the old one stops first, or when the new one is healthy. */
enum update { UPDATE_STOP_FIRST, UPDATE_START_FIRST, UPDATE_COUNT };
extern const char *const update_words[UPDATE_COUNT];

/* Of a flow, not of a job: which ends of its jobs call for the compensations. */
enum compensate_on { COMPENSATE_FATAL, COMPENSATE_FAILURE, COMPENSATE_COUNT };
extern const char *const compensate_on_words[COMPENSATE_COUNT];

/* When a job of a flow has its turn: with the main jobs, or after their end. A flow itself is in one of them, and at
 * last over. Their order is format. */
enum flow_stage {
    FLOW_STAGE_MAIN,
    FLOW_STAGE_SUCCESS, /* one of these two, by what the main jobs came to */
    FLOW_STAGE_FAILURE,
    FLOW_STAGE_FINALLY, /* whatever they came to */
    FLOW_STAGE_OVER,    /* of a flow alone */
    FLOW_STAGE_COUNT
};
#define JOB_STAGE_COUNT FLOW_STAGE_OVER
extern const char *const flow_stage_words[FLOW_STAGE_COUNT];

/* Which ends of an attempt are tried again. Bits of `retry_on`; 0 = all of them. */
#define RETRY_LOST 1u    /* its worker is gone */
#define RETRY_TIMEOUT 2u /* it ran for too long */
#define RETRY_EXIT 4u    /* it exited with an error */
#define RETRY_ALL (RETRY_LOST | RETRY_TIMEOUT | RETRY_EXIT)

#define PRIORITY_NORMAL 1u
#define RETRIES_STANDARD 3u

/* Columns:
 *   name      of the member, and of the field in JSON
 *   type      below
 *   journal   tag in records and snapshots } both are format: ascending, never used again, and a new
 *   wire      tag in messages              } option takes the next of JOB_OPTIONS_LATER
 *   standard  what a 0 on the wire stands for; where decide fills in a limit of the server, 0
 *   wait      of a duration: its name in a refusal; NULL = it is not bounded by `delay_ms_max`
 *   text      for people
 *
 * The sections are in the order of the journal's tags. On the wire `cache_ms` came behind the services. */
/* clang-format off */
/*    name                 type   journal wire standard  wait and text */
#define JOB_OPTIONS_COMMON(X)                                                                                                              \
    X(backoff_base_ms,     MS32,      5,   5,  1000,  "backoff", "0: the standard, so in the next two")                                    \
    X(backoff_cap_ms,      MS32,      6,   6,  30000, "backoff cap", "where the doubling ends")                                            \
    X(backoff_jitter_ms,   MS32,      7,   7,  500,   NULL, "1: none")                                                                     \
    X(on_upstream,         UPSTREAM,  8,   8,  0,     NULL, "when a parent ends badly")                                                    \
    X(exclusive,           BOOL,      9,   9,  0,     NULL, "never two attempts at once")                                                  \
    X(delay_from_submit,   BOOL,     10,  10,  0,     NULL, "the delay counts from the submit, else from readiness")                       \
    X(delay_ms,            MS64,     11,  11,  0,     "delay", "how long to wait before it runs")                                          \
    X(not_before_ms,       MOMENT,   12,  12,  0,     NULL, "wall time; 0: at once")                                                       \
    X(deadline_ms,         MOMENT,   13,  13,  0,     NULL, "wall time; 0: none")                                                          \
    X(start_within_ms,     MS64,     14,  14,  0,     "start_within", "0: any time")                                                       \
    X(dispatch_timeout_ms, MS64,     15,  15,  0,     "dispatch_timeout", "0: the standard")                                               \
    X(run_timeout_ms,      MS64,     16,  16,  0,     "run_timeout", "0: none")                                                            \
    X(preferred_worker,    TEXT,     17,  17,  0,     NULL, "a worker by name")                                                            \
    X(preferred_pool,      TEXT,     18,  18,  0,     NULL, "a pool by name")                                                              \
    X(affinity,            BOOL,     19,  19,  0,     NULL, "prefers the worker of its parent")                                            \
    X(prefer_ms,           MS64,     20,  20,  0,     "the time of a preference", "after which preferences are dropped")                   \
    X(gates,               U8,       21,  21,  0,     NULL, "bits: 1 condition, 2 render, 4 policy, 8 approval, 16 external, 32 output, 64 expansion") \
    X(approval_ms,         MS64,     22,  22,  0,     "the time of an approval", "how long an approval stays open; 0: the standard")       \
    X(quorum,              U32,      23,  23,  1,     NULL, "voices an approval needs; 0: 1")                                              \
    X(four_eyes,           BOOL,     24,  24,  0,     NULL, "the submitter may not approve")                                               \
    X(policy_open,         BOOL,     25,  25,  0,     NULL, "no answer from the policy means allow")                                       \
    X(approval_role,       TEXT,     26,  26,  0,     NULL, "that an approver must have; empty: any that may approve")                     \
    X(fatal_exits,         U32S,     27,  27,  0,     NULL, "exit codes after which there is no retry")

#define JOB_OPTIONS_CACHE(X)                                                                                                               \
    X(cache_ms,            MS64,     60,  37,  0,     "the time of a kept result", "how long its result may be used again; 0: the standard time")

/* Of foreach jobs; other jobs are refused with one of them. */
#define JOB_OPTIONS_FOREACH(X)                                                                                                             \
    X(max_parallel,        U32,      70,  28,  0,     NULL, "foreach: children under way at once; 0: the standard")                        \
    X(fail_fast,           BOOL,     71,  29,  0,     NULL, "foreach: call the rest off as soon as it cannot succeed any more")            \
    X(allow_count,         U32,      72,  30,  0,     NULL, "foreach: children that may end badly")                                        \
    X(allow_percent,       U32,      73,  31,  0,     NULL, "foreach: or their share of all, rounded down")

/* Of jobs of kind service; of other jobs they are recorded as 0. */
#define JOB_OPTIONS_SERVICE(X)                                                                                                             \
    X(restart_base_ms,     MS32,     80,  32,  0,     "the time before a restart", "services: before the first restart, doubles with each; 0: the standard, so to the end") \
    X(restart_cap_ms,      MS32,     81,  33,  0,     "the longest time before a restart", "services: where the doubling ends")            \
    X(restart_reset_ms,    MS64,     82,  34,  0,     "the healthy time that forgives restarts", "services: healthy for so long, and the next restart counts as the first") \
    X(healthy_within_ms,   MS64,     83,  35,  0,     "the time to become healthy", "services: from the deployment; else back to the version before") \
    X(stop_within_ms,      MS32,     84,  36,  0,     "the time to stop", "services: how long a worker may take to confirm that it stopped")

#define JOB_OPTIONS_LATER(X)                                                                                                               \
    X(calls,               BOOL,    105,  58,  0,     NULL, "external: it has attempts, by the steps of its body")                         \
    X(poll_ms,             MS32,    106,  59,  0,     "the time between polls", "external: how long until it is asked again; 0: never")    \
    X(poll_cap_ms,         MS32,    107,  60,  0,     "the longest time between polls", "external: the time between polls doubles up to this") \
    X(token_rights,        U8,      108,  61,  0,     NULL, "bits of what the job's token may do in its tenant: 1 read, 2 submit (and read)") \
    X(free_losses,         U32,     109,  62,  0,     NULL, "attempts up to this number cost no retry when their worker is lost, and the job is ready again at once; 0 = every one does") \
    X(trigger,             TRIGGER, 110,  63,  0,     NULL, "what the jobs that it needs must have come to before it starts; none_failed: skipped ones are fine; all_done: as on_upstream run") \
    X(retry_on,            U8,      111,  64,  0,     NULL, "bits of the ends that are tried again: 1 lost, 2 timeout, 4 exit; 0 = all; an attempt that never began always is") \
    X(stage,               STAGE,   120, 120,  0,     NULL, "main: with the main jobs of its flow; else after their end: on_success, on_failure, finally") \
    X(update,              UPDATE,  125, 125, 0,     NULL, "services: the old version stops first, or when the new one is healthy")     \
    X(replica_of,          TEXT,    126, 126, 0,     NULL, "services: the set that NAME.NUMBER is a replica of; barriers: the set whose deployment is through with it") \
    X(replicas,            U32,     127, 127, 0,     NULL, "barriers with replica_of: how many replicas the set has from then on; those with higher numbers are removed")

/* All of them, in the order of the journal's tags and of the wire's. */
#define JOB_OPTION_TABLE(X) \
    JOB_OPTIONS_COMMON(X) JOB_OPTIONS_CACHE(X) JOB_OPTIONS_FOREACH(X) JOB_OPTIONS_SERVICE(X) JOB_OPTIONS_LATER(X)
#define JOB_OPTION_TABLE_OF_WIRE(X) \
    JOB_OPTIONS_COMMON(X) JOB_OPTIONS_FOREACH(X) JOB_OPTIONS_SERVICE(X) JOB_OPTIONS_CACHE(X) JOB_OPTIONS_LATER(X)

/* ---- types: as a member, as a described field, and with the standard in place of 0 ---- */

#define JOB_OPTION_C_BOOL     bool
#define JOB_OPTION_C_U8       uint8_t
#define JOB_OPTION_C_U32      uint32_t
#define JOB_OPTION_C_MS32     uint32_t        /* a duration */
#define JOB_OPTION_C_MS64     int64_t         /* a duration */
#define JOB_OPTION_C_MOMENT   int64_t         /* wall time */
#define JOB_OPTION_C_TEXT     struct slice    /* a name */
#define JOB_OPTION_C_U32S     struct tlv_u32s
#define JOB_OPTION_C_UPSTREAM uint8_t         /* enum on_upstream */
#define JOB_OPTION_C_TRIGGER  uint8_t         /* enum trigger */
#define JOB_OPTION_C_STAGE    uint8_t         /* enum flow_stage, below JOB_STAGE_COUNT */
#define JOB_OPTION_C_UPDATE   uint8_t         /* enum update */

#define JOB_OPTION_FIELD_BOOL(tag, of, name)     TLV_FIELD(tag, TLV_BOOL, of, name)
#define JOB_OPTION_FIELD_U8(tag, of, name)       TLV_FIELD(tag, TLV_U8, of, name)
#define JOB_OPTION_FIELD_U32(tag, of, name)      TLV_FIELD(tag, TLV_U32, of, name)
#define JOB_OPTION_FIELD_MS32(tag, of, name)     TLV_FIELD(tag, TLV_U32, of, name)
#define JOB_OPTION_FIELD_MS64(tag, of, name)     TLV_FIELD(tag, TLV_I64, of, name)
#define JOB_OPTION_FIELD_MOMENT(tag, of, name)   TLV_FIELD(tag, TLV_I64, of, name)
#define JOB_OPTION_FIELD_TEXT(tag, of, name)     TLV_FIELD(tag, TLV_TEXT, of, name, .max = 255)
#define JOB_OPTION_FIELD_U32S(tag, of, name)     TLV_FIELD(tag, TLV_U32S, of, name, .max = 256)
#define JOB_OPTION_FIELD_UPSTREAM(tag, of, name) TLV_FIELD(tag, TLV_ENUM, of, name, .max = UPSTREAM_COUNT, .names = on_upstream_words)
#define JOB_OPTION_FIELD_TRIGGER(tag, of, name)  TLV_FIELD(tag, TLV_ENUM, of, name, .max = TRIGGER_COUNT, .names = trigger_words)
#define JOB_OPTION_FIELD_STAGE(tag, of, name)    TLV_FIELD(tag, TLV_ENUM, of, name, .max = JOB_STAGE_COUNT, .names = flow_stage_words)
#define JOB_OPTION_FIELD_UPDATE(tag, of, name)   TLV_FIELD(tag, TLV_ENUM, of, name, .max = UPDATE_COUNT, .names = update_words)

#define JOB_OPTION_OR_BOOL(value, standard)     (value)
#define JOB_OPTION_OR_U8(value, standard)       (value)
#define JOB_OPTION_OR_U32(value, standard)      ((standard) != 0 && (value) == 0 ? (standard) : (value))
#define JOB_OPTION_OR_MS32(value, standard)     JOB_OPTION_OR_U32(value, standard)
#define JOB_OPTION_OR_MS64(value, standard)     JOB_OPTION_OR_U32(value, standard)
#define JOB_OPTION_OR_MOMENT(value, standard)   (value)
#define JOB_OPTION_OR_TEXT(value, standard)     (value)
#define JOB_OPTION_OR_U32S(value, standard)     (value)
#define JOB_OPTION_OR_UPSTREAM(value, standard) (value)
#define JOB_OPTION_OR_TRIGGER(value, standard)  (value)
#define JOB_OPTION_OR_STAGE(value, standard)    (value)
#define JOB_OPTION_OR_UPDATE(value, standard)   (value)
/* clang-format on */

/* The members of a struct that has all options. */
#define JOB_OPTION_MEMBER(name, type, journal, wire, standard, wait, text) JOB_OPTION_C_##type name;
#define JOB_OPTION_MEMBERS JOB_OPTION_TABLE(JOB_OPTION_MEMBER)

#endif
