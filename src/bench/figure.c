/* figure.c: see figure.h. */
#include "figure.h"

#include <stdio.h>

#include "bench_impl.h"
#include "panic.h"

void series_add(struct series *s, double v) {
    REQUIRE(s->count < sizeof s->at / sizeof s->at[0]);
    uint32_t i = s->count++;
    for (; i > 0 && s->at[i - 1] > v; i--) s->at[i] = s->at[i - 1]; /* kept in order */
    s->at[i] = v;
}

double series_median(const struct series *s) {
    REQUIRE(s->count > 0);
    return (s->at[(s->count - 1) / 2] + s->at[s->count / 2]) / 2;
}

struct spread spread_once(double v) {
    return (struct spread){v, v, v, 1};
}

struct spread spread_of(const struct series *s) {
    return (struct spread){series_median(s), s->at[0], s->at[s->count - 1], s->count};
}

struct spread spread_times(struct spread s, double factor) {
    REQUIRE(factor > 0);
    return (struct spread){s.median * factor, s.least * factor, s.most * factor, s.rounds};
}

struct spread spread_under(double n, struct spread s) {
    REQUIRE(s.least > 0);
    return (struct spread){n / s.median, n / s.most, n / s.least, s.rounds};
}

/* ---- showing ---- */

/* How near it comes to the floor: 1 = it is as good. */
static double ratio_of(const struct figure *f) {
    if (f->floor <= 0 || f->value.median <= 0) return 0;
    return f->more_is_better ? f->value.median / f->floor : f->floor / f->value.median;
}

static bool is_met(const struct figure *f) {
    return f->more_is_better ? f->value.median >= f->target : f->value.median <= f->target;
}

static const char *number_text(double v, char text[32]) {
    snprintf(text, 32, v != 0 && v < 100 ? "%.4g" : "%.0f", v);
    return text;
}

static void report_json(const struct bench *b, const struct figure *f) {
    char text[32], least[32], most[32];
    printf("{\"workload\":\"%s\",", b->workload->name);
    if (f->shape[0] != 0) printf("\"shape\":\"%s\",", f->shape);
    printf("\"value\":%s,\"unit\":\"%s\"", number_text(f->value.median, text), f->unit);
    printf(",\"rounds\":%u,\"min\":%s,\"max\":%s", f->value.rounds, number_text(f->value.least, least),
           number_text(f->value.most, most));
    if (f->floor > 0)
        printf(",\"floor\":%s,\"ratio\":%.3f", number_text(f->floor, text), ratio_of(f));
    else
        printf(",\"floor\":null,\"ratio\":null");
    printf(",\"syncs\":%llu,\"operations\":%llu", (unsigned long long)f->syncs, (unsigned long long)f->operations);
    if (f->target > 0)
        printf(",\"target\":%s,\"met\":%s", number_text(f->target, text), is_met(f) ? "true" : "false");
    else
        printf(",\"target\":null,\"met\":null");
    printf(",\"version\":\"%s\",\"settings\":", b->build);
    workload_settings_json(&b->workload->with);
    printf("}\n");
}

static void report_text(const struct bench *b, const struct figure *f) {
    char value[32], other[32], most[32], range[80] = "";
    printf("%-4s %-22s %10s %-3s", b->workload->name, f->shape, number_text(f->value.median, value), f->unit);
    if (f->value.rounds > 1)
        snprintf(range, sizeof range, "%s..%s", number_text(f->value.least, other), number_text(f->value.most, most));
    printf("%-18s", range);
    if (f->floor > 0)
        printf("  floor %10s  ratio %5.2f", number_text(f->floor, other), ratio_of(f));
    else
        printf("%32s", "");
    if (f->target > 0)
        printf("  target %s %-8s %s", f->more_is_better ? ">=" : "<=", number_text(f->target, other),
               is_met(f) ? "met" : "MISSED");
    if (f->syncs > 0) printf("  %llu syncs", (unsigned long long)f->syncs);
    printf("\n");
}

void figure_report(const struct bench *b, const struct figure *f) {
    if (b->draws) fprintf(stderr, "\r\033[K");
    if (b->json)
        report_json(b, f);
    else
        report_text(b, f);
    fflush(stdout);
}
