/* live.h: the volatile state: sessions, credit, heartbeats, lease clocks, shares served. It is an input to decide, is
 * never recorded, and starts anew with the process: after a restart every worker gets one full lease. */
#ifndef REEVE_LIVE_H
#define REEVE_LIVE_H

#include "command.h"
#include "inputs.h"
#include "limit.h"
#include "option_cache.h"
#include "state.h"
#include "watch.h"

struct live_worker {
    uint32_t number;       /* of the worker in this pool slot; 0 = nothing known yet */
    bool attached;         /* has a session */
    uint32_t credit;       /* attempts it is willing to hold */
    uint32_t cpu_percent;
    uint32_t gpu_percent;
    mono_time lease_until; /* TIME_NEVER = nothing runs out */
    wall_time attached_at;
    uint64_t served;       /* rises with each assignment; lowest = served longest ago */
};

/* What the worker says about an open attempt, for people. */
struct live_words {
    struct job_ref job; /* in this pool slot of runs, with its attempt: */
    uint32_t attempt;   /* of another one nothing is known */
    struct bytes *text; /* NULL = nothing */
};
#define LIVE_WORDS_BYTES 256u

struct live_schedule {
    uint64_t revision; /* of the schedule the slots are for; 0 = none are known */
    struct vec slots;  /* of int64_t, ascending; those at or before the schedule's `after_ms` are used up */
    int64_t after_ms;  /* they follow this */
    uint64_t earlier;  /* slots between that and the first of them that were left out */
    bool last;         /* none follows */
    struct vec excluded; /* of struct cmd_slots_excluded, ascending: what is said of some of the slots */
};

struct live {
    struct vec workers;       /* of live_worker, by pool index */
    struct vec shares;        /* of uint64_t, by tenant: work given, divided by weight */
    uint64_t share_clock;     /* share of the tenant served last: where an idle one joins */
    uint64_t served_last;
    uint64_t stale_refused;
    mono_time lease_next;     /* no lease ends before this */
    struct watches watches;   /* of the store */
    uint32_t ask_next;        /* after a change of the policy: the next question to look at; 0 = all were */
    uint64_t projected_lsn;   /* history is durable up to here; 0 = nobody keeps one, or it has not said so yet */
    wall_time now;            /* of the last pass; a batch is made only when something happens */
    struct vec schedules;     /* of live_schedule, by pool index */
    struct vec words;         /* of live_words, by pool index of the run */
    struct option_cache sets; /* option sets that were checked before */
};

void live_init(struct live *l);
void live_fini(struct live *l);
/* Entry of a known worker; fresh when its pool slot changed hands. */
struct live_worker *live_worker(struct live *l, const struct state *s, uint32_t worker);
/* The same for readers: NULL when nothing is known. */
const struct live_worker *live_worker_look(const struct live *l, const struct state *s, uint32_t worker);
/* Or zeroes. */
struct live_worker live_worker_get(const struct live *l, const struct state *s, uint32_t worker);
uint64_t *live_share(struct live *l, uint32_t tenant);
void live_set_lease(struct live *l, struct live_worker *w, mono_time until);

/* What its worker says about the job's open attempt; empty = nothing. */
struct slice live_words_of(const struct live *l, const struct state *s, uint32_t job);

/* Slots known for a schedule; NULL = none since it was last changed. */
const struct live_schedule *live_schedule_get(const struct live *l, const struct state *s, uint32_t schedule);
/* What is said of a slot of which its calendar leaves nothing but a note; NULL = it is one that fires. */
const struct cmd_slots_excluded *live_slot_excluded(const struct live_schedule *known, int64_t slot_ms);

void live_clock_moved(struct live *l, int64_t by_ms);

/* Takes in what a command says about sessions, after its records are applied. */
void live_note(struct live *l, const struct state *s, const struct limits *limits, const struct inputs *in,
               const struct command *cmd);

#endif
