/* workload.h: the table of workloads: what each is, with which settings it runs, and the function that runs it. */
#ifndef REEVE_WORKLOAD_H
#define REEVE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct bench;

/* The workload takes them from here, so that what is shown is what was done. 0 = it has none of that. */
struct workload_settings {
    uint32_t payload_bytes;    /* spec of each job */
    uint32_t connections;      /* of who submits or asks */
    uint32_t flight;           /* requests under way on each of them */
    uint32_t jobs_per_request; /* 0: nothing is submitted while the clock runs */
    uint64_t jobs;             /* of one round; 0 = as many as there is time for */
    uint32_t workers;
    uint32_t slots;    /* of each; 0 = their default */
    const char *sync;  /* when the journal is synced */
    const char *other; /* NULL = nothing else */
};

struct workload {
    const char *name, *text;
    enum err (*run)(struct bench *b, struct why *why);
    struct workload_settings with;
};

const struct workload *workload_find(const char *name); /* in any case; NULL = there is none */
const struct workload *workload_at(size_t i);           /* in order; NULL behind the last */
void workload_list(const char *build, bool json);       /* all of them with their settings */
void workload_settings_json(const struct workload_settings *s);

/* w_*.c */
enum err w0_floors(struct bench *b, struct why *why);
enum err w1_submit_one(struct bench *b, struct why *why);
enum err w2_submit_many(struct bench *b, struct why *why);
enum err w3_submit_batches(struct bench *b, struct why *why);
enum err w4_round_trip(struct bench *b, struct why *why);
enum err w5_drain(struct bench *b, struct why *why);
enum err w6_processes(struct bench *b, struct why *why);
enum err w7_graphs(struct bench *b, struct why *why);
enum err w8_chain(struct bench *b, struct why *why);
enum err w9_restart(struct bench *b, struct why *why);
enum err w10_memory(struct bench *b, struct why *why);
enum err w11_fair(struct bench *b, struct why *why);
enum err w13_http_submit(struct bench *b, struct why *why);
enum err w14_http_get(struct bench *b, struct why *why);

#endif
