/* workload.c: see workload.h. */
#include "workload.h"

#include <stdio.h>
#include <strings.h>

#include "request.h"

#define SPEC REQUEST_SPEC_BYTES
#define ANSWERED "before each answer" /* the server's default, and there is no other */

static const struct workload workloads[] = {
    {"W0",
     "the floors: F, T(1), T(64), S, and apply alone",
     w0_floors,
     {.payload_bytes = SPEC,
      .connections = 64,
      .flight = 1,
      .sync = "F: each record; T(n): each pass",
      .other = "F: 256 bytes a record; T(1) has one connection; S: two processes at a time"}},
    {"W1",
     "durable submit, 1 connection, one at a time",
     w1_submit_one,
     {.payload_bytes = SPEC, .connections = 1, .flight = 1, .jobs_per_request = 1, .sync = ANSWERED}},
    {"W2",
     "durable submit, 64 connections, one in flight each",
     w2_submit_many,
     {.payload_bytes = SPEC, .connections = 64, .flight = 1, .jobs_per_request = 1, .sync = ANSWERED}},
    {"W3",
     "100,000 jobs submitted in batches of 1,000",
     w3_submit_batches,
     {.payload_bytes = SPEC,
      .connections = 1,
      .flight = 8,
      .jobs_per_request = 1000,
      .jobs = 100000,
      .sync = ANSWERED}},
    {"W4",
     "no-op round trip through a worker, one in flight",
     w4_round_trip,
     {.connections = 1,
      .flight = 1,
      .jobs_per_request = 1,
      .jobs = 500,
      .workers = 1,
      .sync = ANSWERED,
      .other = "over when the event of the end has come"}},
    {"W5",
     "500,000 queued no-ops drained by 2 workers of 1,000 slots",
     w5_drain,
     {.connections = 1,
      .flight = 1,
      .jobs = 500000,
      .workers = 2,
      .slots = 1000,
      .sync = ANSWERED,
      .other = "500 flows of 1,000, submitted while the tenant was paused"}},
    {"W6",
     "5,000 times /bin/true, output captured",
     w6_processes,
     {.connections = 1, .flight = 1, .jobs_per_request = 5000, .jobs = 5000, .workers = 1, .sync = ANSWERED}},
    {"W7",
     "a flow of 10,000 no-ops, per job",
     w7_graphs,
     {.connections = 1,
      .flight = 1,
      .jobs_per_request = 10000,
      .jobs = 10000,
      .workers = 2,
      .slots = 1000,
      .sync = ANSWERED}},
    {"W8",
     "a chain of 1,000 no-ops, per step",
     w8_chain,
     {.connections = 1, .flight = 1, .jobs_per_request = 1000, .jobs = 1000, .workers = 1, .sync = ANSWERED}},
    {"W9",
     "1,000,000 queued, kill -9, restart to first dispatch",
     w9_restart,
     {.payload_bytes = SPEC,
      .connections = 1,
      .flight = 8,
      .jobs_per_request = 1000,
      .jobs = 1000000,
      .workers = 1,
      .slots = 1,
      .sync = ANSWERED,
      .other = "serve --compact-bytes 0; the worker is the benchmark itself"}},
    {"W10",
     "memory of a queued job; server and worker at rest",
     w10_memory,
     {.payload_bytes = SPEC,
      .connections = 1,
      .flight = 1,
      .jobs_per_request = 1000,
      .jobs = 1000000,
      .workers = 1,
      .sync = ANSWERED,
      .other = "the worker is there for the rest only; a round of rest takes a heartbeat"}},
    {"W11",
     "a no-op of a tenant while another has 100,000 jobs queued",
     w11_fair,
     {.connections = 1,
      .flight = 1,
      .jobs_per_request = 1,
      .jobs = 100000,
      .workers = 2,
      .slots = 1000,
      .sync = ANSWERED,
      .other = "asked 300 times, 10 ms apart, and as long as the queue is run; the worker of who asks has its default "
               "of slots"}},
    {"W13",
     "durable submit by HTTP, 64 connections, one in flight each",
     w13_http_submit,
     {.connections = 64, .flight = 1, .jobs_per_request = 1, .sync = ANSWERED, .other = "a flow file in JSON"}},
    {"W14",
     "a job by HTTP, 64 connections, one in flight each",
     w14_http_get,
     {.connections = 64, .flight = 1, .sync = "nothing is written"}},
};
#define WORKLOAD_COUNT (sizeof workloads / sizeof workloads[0])

const struct workload *workload_find(const char *name) {
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        if (strcasecmp(workloads[i].name, name) == 0) return &workloads[i];
    return NULL;
}

const struct workload *workload_at(size_t i) {
    return i < WORKLOAD_COUNT ? &workloads[i] : NULL;
}

/* ---- showing ---- */

static void number_json(const char *name, uint64_t v, bool is_there) {
    if (is_there)
        printf("\"%s\":%llu,", name, (unsigned long long)v);
    else
        printf("\"%s\":null,", name);
}

void workload_settings_json(const struct workload_settings *s) {
    printf("{");
    number_json("payload_bytes", s->payload_bytes, true);
    number_json("connections", s->connections, true);
    number_json("in_flight", s->flight, true);
    number_json("jobs_per_request", s->jobs_per_request, true);
    number_json("jobs", s->jobs, s->jobs > 0);
    number_json("workers", s->workers, true);
    if (s->workers > 0) number_json("slots", s->slots, s->slots > 0); /* null: their default */
    printf("\"sync\":\"%s\"", s->sync);
    if (s->other != NULL) printf(",\"other\":\"%s\"", s->other);
    printf("}");
}

static void settings_text(const struct workload_settings *s) {
    printf("       payload %u bytes, connections %u, in flight on each %u", s->payload_bytes, s->connections,
           s->flight);
    if (s->jobs_per_request > 0) printf(", jobs in a request %u", s->jobs_per_request);
    if (s->jobs > 0) printf(", jobs in a round %llu", (unsigned long long)s->jobs);
    if (s->workers > 0) printf(", workers %u", s->workers);
    if (s->slots > 0) printf(" with %u slots", s->slots);
    printf("; synced %s", s->sync);
    if (s->other != NULL) printf("; %s", s->other);
    printf("\n");
}

void workload_list(const char *build, bool json) {
    if (!json)
        printf("reeve %s; server and workers are this program with its defaults, asked by TCP with a token\n", build);
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) {
        const struct workload *w = &workloads[i];
        if (json) {
            printf("{\"workload\":\"%s\",\"text\":\"%s\",\"version\":\"%s\",\"settings\":", w->name, w->text, build);
            workload_settings_json(&w->with);
            printf("}\n");
        } else {
            printf("  %-4s %s\n", w->name, w->text);
            settings_text(&w->with);
        }
    }
}
