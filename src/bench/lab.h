/* lab.h: this program as a server with workers, in a directory of its own: started, asked, killed, counted. */
#ifndef REEVE_LAB_H
#define REEVE_LAB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench_impl.h"
#include "client.h"

#define LAB_WORKERS_MAX 2u
#define LAB_TOKEN_MAX 128u
#define LAB_FLAGS_MAX 8u

/* A disk that can lose power (tools/powercut). Server and worker are machines of their own. */
struct lab_power {
    const char *shim;                                              /* NULL: it cannot */
    bool lies;                                                     /* what is synced is lost, too */
    char server[BENCH_PATH_MAX + 32], worker[BENCH_PATH_MAX + 32]; /* what is noted to be undone */
};

struct lab {
    struct bench *bench;
    char dir[BENCH_PATH_MAX];
    char data[BENCH_PATH_MAX + 16];
    char address[64]; /* the same after a restart */
    char admin[LAB_TOKEN_MAX], worker[LAB_TOKEN_MAX];
    const char *flags[LAB_FLAGS_MAX]; /* further ones of the server; set before its start */
    struct lab_power power;           /* likewise */
    pid_t server;                     /* 0: it does not run */
    pid_t workers[LAB_WORKERS_MAX];
    uint32_t worker_count;
    bool is_connected;
    struct client client; /* as administrator, by TCP */
};

CHECKED enum err lab_open(struct lab *l, struct bench *b, struct why *why); /* with a server */
/* The same, and nothing is folded into snapshots. */
CHECKED enum err lab_open_uncompacted(struct lab *l, struct bench *b, struct why *why);
/* Its directory only; what else it needs is set before lab_server_start. */
CHECKED enum err lab_make(struct lab *l, struct bench *b, struct why *why);
void lab_close(struct lab *l); /* ends all of it, removes the directory */

CHECKED enum err lab_server_start(struct lab *l, struct why *why); /* does not wait for it */
CHECKED enum err lab_connect(struct lab *l, struct why *why);      /* waits until it answers */
CHECKED enum err lab_is_alive(struct lab *l, struct why *why);     /* else: what the server said last */
void lab_server_kill(struct lab *l);                               /* -9 */
/* All processes of it, and none is left. */
CHECKED enum err lab_server_fell(struct lab *l, struct why *why);
CHECKED enum err lab_worker_start(struct lab *l, uint32_t slots, struct why *why); /* attached; 0 = its default */
/* The same for who has another token, of another tenant. */
CHECKED enum err lab_worker_start_as(struct lab *l, const char *token, uint32_t slots, struct why *why);
CHECKED enum err lab_worker_again(struct lab *l, uint32_t index, struct why *why); /* does not wait for it */
CHECKED enum err lab_worker_kill(struct lab *l, uint32_t index, struct why *why);  /* -9; what it ran is gone with it */
/* A new token of a tenant for one role. */
CHECKED enum err lab_token(struct lab *l, const char *tenant, const char *role, char ret[LAB_TOKEN_MAX],
                           struct why *why);
CHECKED enum err lab_stop(struct lab *l, struct why *why); /* workers and server, by TERM */

/* A number of `reeve stats`. */
CHECKED enum err lab_stat(struct lab *l, const char *name, uint64_t *ret, struct why *why);

/* Stops everything and counts what the journal has: so many flows submitted, so many attempts ended, none more. */
CHECKED enum err lab_check(struct lab *l, uint64_t flows, uint64_t ends, struct why *why);
/* Seconds that applying the records of the stopped journal takes, reading included: the floor of what a server could
 * do with them. */
CHECKED enum err lab_fold(struct lab *l, double *ret, struct why *why);

/* What the system knows of a process and its threads. */
struct usage {
    uint64_t rss_bytes;
    uint64_t wakeups; /* how often one of its threads had to be woken */
    double cpu_seconds;
};
CHECKED enum err lab_usage(pid_t pid, struct usage *ret, struct why *why);

#endif
