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

enum crash_kind {
    CRASH_FLOW,
    CRASH_BLOB,
    CRASH_KEY,
    CRASH_LOG, /* a flow was seen to end: its end, and the output of its jobs, stay */
    CRASH_KINDS
};
extern const char *const crash_kind_words[CRASH_KINDS]; /* in the plural */

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
    uint64_t kept, tried; /* its one key that is written again and again: acknowledged, asked for */
    enum err error;       /* the server refused something; else ERR_OK */
    struct why why;
};

struct crash {
    struct bench bench;
    struct lab lab;
    char tool[BENCH_PATH_MAX + 16]; /* powercut; "" = power stays */
    uint64_t seed, random;
    uint32_t rounds, round;
    bool lies;
    atomic_bool stop; /* clients end after the request under way */
    struct crash_client clients[CRASH_CLIENTS];
    struct vec items;         /* of crash_item: all that was ever acknowledged */
    uint32_t checked;         /* of these, after the kill that came next */
    struct vec worker_deaths; /* of uint32_t: rounds in which a worker was killed */
    struct vec recoveries;    /* of double: seconds from a start to the first answer */
    struct {
        uint64_t acknowledged, lost, unanswered; /* the last: there though nobody was told */
    } counts[CRASH_KINDS];
    uint64_t jobs_run, run_twice, bad_ends;
    uint64_t kills[3], cuts; /* of the server, the worker, both; with a power cut */
    uint64_t writes_undone, names_undone;
    uint32_t told; /* lines about what is missing */
    double start;
};

uint64_t crash_draw(uint64_t *state); /* splitmix64 */
/* What is to be in item `number`: letters and digits; the same each time. */
size_t crash_text(const struct crash *c, uint64_t number, size_t most, char *ret);
size_t crash_blob_bytes(const struct crash *c, uint64_t number);
/* Whether a flow has jobs that are processes, and how often such a job may run. */
bool crash_is_work(const struct crash *c, uint64_t number);
uint32_t crash_attempts(const struct crash *c, uint64_t number);
/* What job `a` or `b` prints. */
size_t crash_output(const struct crash *c, uint64_t number, char job, char *ret);

/* crash_client.c */
void *crash_client_run(void *client); /* until the server is gone or `stop` */
/* One request; all flows of it. What is acknowledged is noted. */
CHECKED enum err crash_put_flows(struct crash_client *k, struct client *c, uint64_t number, uint32_t *ret_repeated,
                                 struct why *why);
void crash_note(struct crash_client *k, enum crash_kind kind, uint64_t number, struct slice id, bool succeeded);

/* crash_check.c: after a restart. */
CHECKED enum err crash_check_round(struct crash *c, struct why *why);
CHECKED enum err crash_check_all(struct crash *c, struct why *why); /* when all is quiet */

/* crash_power.c */
CHECKED enum err crash_power_find(struct crash *c, struct why *why);   /* shim and tool, beside this program */
CHECKED enum err crash_power_settle(struct crash *c, struct why *why); /* all of the disks is durable */
CHECKED enum err crash_power_cut(struct crash *c, bool server, bool worker, struct why *why);

/* crash_show.c */
void crash_tell(struct crash *c, const char *format, ...) __attribute__((format(printf, 2, 3))); /* something bad */
void crash_progress(const struct crash *c);
void crash_report(const struct crash *c);
bool crash_is_good(const struct crash *c);

#endif
