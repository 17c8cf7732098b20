/* crash_show.c: what the crash test says: a line now and then, what is missing, and the table in the end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "crash_impl.h"

#define TOLD_MAX 20u

const char *const crash_kind_words[CRASH_KINDS] = {"flows", "blobs", "keys", "logs", "limits"};
static const char *const kill_words[] = {"server", "worker", "both"};

void crash_tell(struct crash *c, const char *format, ...) {
    va_list list;
    if (c->told++ > TOLD_MAX) return;
    va_start(list, format);
    fprintf(stderr, "round %u: ", c->round + 1);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    if (c->told > TOLD_MAX) fprintf(stderr, "further ones are only counted\n");
}

static uint64_t sum(const struct crash *c, bool lost) {
    uint64_t all = 0;
    for (int i = 0; i < CRASH_KINDS; i++) all += lost ? c->counts[i].lost : c->counts[i].acknowledged;
    return all;
}

bool crash_is_good(const struct crash *c) {
    return sum(c, true) == 0 && c->run_twice == 0 && c->bad_ends == 0 && c->hung == 0 && !c->is_down;
}

void crash_progress(const struct crash *c) {
    fprintf(stderr, "round %u of %u: %llu acknowledged, %llu lost\n", c->round, c->rounds,
            (unsigned long long)sum(c, false), (unsigned long long)sum(c, true));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double recovery_ms(const struct crash *c, uint32_t index) {
    return *(const double *)vec_at(&c->recoveries, index) * 1000;
}

static void report_json(const struct crash *c, double median, double longest) {
    printf("{\"rounds\":%u,\"power_cut\":%s,\"seed\":%llu,\"seconds\":%.1f,\"kills\":{", c->round,
           c->lab.power.shim != NULL ? "true" : "false", (unsigned long long)c->seed, bench_now() - c->start);
    for (int i = 0; i < 3; i++)
        printf("%s\"%s\":%llu", i > 0 ? "," : "", kill_words[i], (unsigned long long)c->kills[i]);
    printf("},\"moments\":{");
    for (int i = 0; i < CRASH_MOMENTS; i++)
        printf("%s\"%s\":%llu", i > 0 ? "," : "", crash_moment_words[i], (unsigned long long)c->moments[i]);
    printf("},\"slow_disk\":%llu,\"failing_disk\":%llu,", (unsigned long long)c->slow, (unsigned long long)c->failed);
    for (int i = 0; i < CRASH_KINDS; i++)
        printf("\"%s\":{\"acknowledged\":%llu,\"lost\":%llu,\"unanswered_there\":%llu},", crash_kind_words[i],
               (unsigned long long)c->counts[i].acknowledged, (unsigned long long)c->counts[i].lost,
               (unsigned long long)c->counts[i].unanswered);
    printf("\"acknowledged\":%llu,\"lost\":%llu,\"jobs_run\":%llu,\"run_twice\":%llu,\"ended_badly\":%llu,"
           "\"hung\":%llu,\"is_down\":%s,"
           "\"cuts\":%llu,\"writes_undone\":%llu,\"names_undone\":%llu,\"recovery_ms_median\":%.1f,\"recovery_ms_max\":"
           "%.1f}\n",
           (unsigned long long)sum(c, false), (unsigned long long)sum(c, true), (unsigned long long)c->jobs_run,
           (unsigned long long)c->run_twice, (unsigned long long)c->bad_ends, (unsigned long long)c->hung,
           c->is_down ? "true" : "false", (unsigned long long)c->cuts, (unsigned long long)c->writes_undone,
           (unsigned long long)c->names_undone, median, longest);
}

static void report_text(const struct crash *c, double median, double longest) {
    printf("%u rounds in %.0f s, seed %llu: the server was killed %llu times, the worker %llu times, both %llu times\n",
           c->round, bench_now() - c->start, (unsigned long long)c->seed, (unsigned long long)c->kills[0],
           (unsigned long long)c->kills[1], (unsigned long long)c->kills[2]);
    printf(
        "at a random moment %llu times, after an answer %llu, in the middle of output %llu, at the end of a job %llu, "
        "in a snapshot %llu\n",
        (unsigned long long)c->moments[CRASH_ANY], (unsigned long long)c->moments[CRASH_ANSWER],
        (unsigned long long)c->moments[CRASH_OUTPUT], (unsigned long long)c->moments[CRASH_END],
        (unsigned long long)c->moments[CRASH_FOLD]);
    if (c->lab.power.shim != NULL)
        printf("the disk was slow in %llu rounds and failed in %llu\n", (unsigned long long)c->slow,
               (unsigned long long)c->failed);
    if (c->lab.power.shim != NULL)
        printf(
            "with a power cut %llu times: %llu writes and %llu changes of names had not been synced and were undone\n",
            (unsigned long long)c->cuts, (unsigned long long)c->writes_undone, (unsigned long long)c->names_undone);
    printf("\n%-8s %14s %10s %22s\n", "", "acknowledged", "lost", "there, though unsaid");
    for (int i = 0; i < CRASH_KINDS; i++)
        printf("%-8s %14llu %10llu %22llu\n", crash_kind_words[i], (unsigned long long)c->counts[i].acknowledged,
               (unsigned long long)c->counts[i].lost, (unsigned long long)c->counts[i].unanswered);
    printf(
        "\njobs that ran: %llu, of these twice or too early: %llu; flows that ended wrongly: %llu, that hang: %llu\n",
        (unsigned long long)c->jobs_run, (unsigned long long)c->run_twice, (unsigned long long)c->bad_ends,
        (unsigned long long)c->hung);
    if (c->is_down) printf("the server did not start again\n");
    printf("from a start to the first answer: %.0f ms (median), %.0f ms (longest)\n", median, longest);
}

void crash_report(const struct crash *c) {
    uint32_t count = c->recoveries.count;
    if (count > 0) qsort(c->recoveries.at, count, sizeof(double), by_size);
    double median = count > 0 ? recovery_ms(c, count / 2) : 0, longest = count > 0 ? recovery_ms(c, count - 1) : 0;
    if (c->bench.json)
        report_json(c, median, longest);
    else
        report_text(c, median, longest);
    fflush(stdout);
}
