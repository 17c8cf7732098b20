/* crash_impl.h: what the files of the crash test share: what was acknowledged, who asks for it, and what is missing.
 *
 * Everything has a number, and its content follows from the number: so little has to be remembered, and bytes can be
 * compared to the last. Clients are threads of their own, which end when the server does; what they note is looked at
 * when none of them runs. */
#ifndef REEVE_CRASH_IMPL_H
#define REEVE_CRASH_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "lab.h"
#include "vec.h"

#define CRASH_CLIENTS 4u
#define CRASH_ID_BYTES 24u
#define CRASH_TEXT_MAX (200u << 10)
/* Numbers from here on are of flows that come many in one request, which is more than the server syncs in its loop:
 * their append is handed over, and other requests are served meanwhile. */
#define CRASH_HEAP (UINT64_C(1) << 40)
#define CRASH_HEAP_FLOWS 64u
#define CRASH_ROUNDS_MAX 1000000u
#define CRASH_LIMITS 4u
#define CRASH_SOON_MS 1500 /* after which brief keys are gone, and flows that nobody can run have ended */
#define CRASH_BRIEF "brief/"

enum crash_kind {
    CRASH_FLOW,
    CRASH_BLOB,
    CRASH_KEY,
    CRASH_LOG,   /* a flow was seen to end: its end, and the output of its jobs, stay */
    CRASH_LIMIT, /* set before the first round */
    CRASH_KINDS
};
extern const char *const crash_kind_words[CRASH_KINDS]; /* in the plural */

enum crash_shape {
    CRASH_IDLE,  /* a job that is no process */
    CRASH_CHAIN, /* a, then b */
    CRASH_JOIN,  /* a and b, then c */
    CRASH_FAIL,  /* a fails, and b never runs */
    CRASH_LATE   /* nobody can run it, and it has a deadline */
};

/* When a round's kill comes. */
enum crash_moment {
    CRASH_ANY,    /* some time after the first request */
    CRASH_ANSWER, /* right after an answer was read */
    CRASH_OUTPUT, /* while output of jobs is being written */
    CRASH_END,    /* a job has ended, and its worker says so */
    CRASH_FOLD,   /* while the journal is being folded into a snapshot */
    CRASH_MOMENTS
};
extern const char *const crash_moment_words[CRASH_MOMENTS];

struct crash_item { /* acknowledged */
    uint64_t number;
    uint32_t round;
    uint8_t kind;
    bool succeeded;          /* of a log: how the flow ended */
    char id[CRASH_ID_BYTES]; /* of a flow */
};

struct crash;

struct crash_client {
    struct crash *crash;
    uint32_t index;
    pthread_t thread;
    uint64_t random, count; /* of numbers given */
    struct vec items;       /* of crash_item, of this round */
    bool is_open;           /* a request is without an answer */
    enum crash_kind open_kind;
    uint64_t open_number;
    int64_t soon_ms;      /* wall time, of the request: a deadline is the same when it is asked for again */
    uint64_t kept, tried; /* its one key that is written again and again: acknowledged, asked for */
    uint64_t twice;       /* flows that were made again when they were asked for again */
    enum err error;       /* the server refused something; else ERR_OK */
    struct why why;
};

struct crash {
    struct bench bench;
    struct lab lab;
    char tool[BENCH_PATH_MAX + 16]; /* powercut; "" = power stays */
    uint64_t seed, random;
    uint32_t rounds, round;
    int64_t patience_ms; /* for a flow to end when nobody is killed any more */
    bool lies;
    atomic_bool stop; /* clients end after the request under way */
    int answered;     /* eventfd: rises with each answer */
    struct crash_client clients[CRASH_CLIENTS];
    struct vec items;         /* of crash_item: all that was ever acknowledged */
    uint32_t checked;         /* of these, after the kill that came next */
    struct vec worker_deaths; /* of uint32_t: rounds in which a worker was killed */
    struct vec recoveries;    /* of double: seconds from a start to the first answer */
    struct {
        uint64_t acknowledged, lost, unanswered; /* the last: there though nobody was told */
    } counts[CRASH_KINDS];
    uint64_t jobs_run, run_twice, bad_ends, hung;
    uint64_t kills[3], cuts;                       /* of the server, the worker, both; with a power cut */
    uint64_t moments[CRASH_MOMENTS], slow, failed; /* kills at these; rounds with a slow disk, and one that fails */
    uint64_t writes_undone, names_undone;
    bool is_down;  /* the server did not start again: that was the last round */
    uint32_t told; /* lines about what is missing */
    double start;
};

/* crash_flow.c: what is to be in item `number`, the same each time. */
uint64_t crash_draw(uint64_t *state);                                              /* splitmix64 */
size_t crash_text(const struct crash *c, uint64_t number, size_t most, char *ret); /* letters and digits */
size_t crash_blob_bytes(const struct crash *c, uint64_t number);
enum crash_shape crash_shape(const struct crash *c, uint64_t number);
bool crash_is_work(const struct crash *c, uint64_t number);                       /* it has jobs that are processes */
uint32_t crash_jobs(const struct crash *c, uint64_t number);                      /* how many */
uint32_t crash_attempts(const struct crash *c, uint64_t number);                  /* how often such a job may run */
bool crash_succeeds(const struct crash *c, uint64_t number);                      /* if nobody is killed */
size_t crash_output(const struct crash *c, uint64_t number, char job, char *ret); /* what job `a`, `b` or `c` prints */
/* One request; all flows of it. What is acknowledged is noted. */
CHECKED enum err crash_put_flows(struct crash_client *k, struct client *c, uint64_t number, uint32_t *ret_repeated,
                                 struct why *why);

/* crash_client.c */
void *crash_client_run(void *client); /* until the server is gone or `stop` */
void crash_note(struct crash_client *k, enum crash_kind kind, uint64_t number, struct slice id, bool succeeded);

/* crash_round.c */
CHECKED enum err crash_round_run(struct crash *c, struct why *why);
void crash_orphans_reap(struct crash *c); /* of killed workers: they come to us */

/* crash_aim.c: when. */
CHECKED enum err crash_aim_open(struct crash *c, struct why *why);
void crash_aim_close(struct crash *c);
void crash_answered(struct crash *c); /* by a client */
/* Returns when the moment is there, or when it does not come. On a slow disk moments last. */
void crash_aim(struct crash *c, enum crash_moment moment, bool is_slow);
void crash_pause_us(uint64_t us);
int64_t crash_wall_ms(void);

/* crash_check.c: after a restart. */
CHECKED enum err crash_check_round(struct crash *c, struct why *why);
CHECKED enum err crash_check_all(struct crash *c, struct why *why); /* when all is quiet */
CHECKED enum err crash_item_check(struct crash *c, struct crash_item *item, struct why *why);
bool crash_worker_died_since(const struct crash *c, uint32_t round);

/* crash_end.c: when nobody is killed any more. */
CHECKED enum err crash_end_check(struct crash *c, struct crash_item *flow, double *last_end, struct why *why);
CHECKED enum err crash_brief_check(struct crash *c, struct why *why);

/* crash_power.c */
CHECKED enum err crash_power_find(struct crash *c, struct why *why);   /* shim and tool, beside this program */
CHECKED enum err crash_power_settle(struct crash *c, struct why *why); /* all of the disks is durable */
/* What ails the server's disk from now on; NULL = nothing. Lines as in tools/powercut/powercut.h. */
CHECKED enum err crash_power_trouble(struct crash *c, const char *lines, struct why *why);
CHECKED enum err crash_power_cut(struct crash *c, bool server, bool worker, struct why *why);

/* crash_show.c */
void crash_tell(struct crash *c, const char *format, ...) __attribute__((format(printf, 2, 3))); /* something bad */
void crash_progress(const struct crash *c);
void crash_report(const struct crash *c);
bool crash_is_good(const struct crash *c);

#endif
