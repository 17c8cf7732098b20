/* w_absolute.c: see w_absolute.h. */
#include "w_absolute.h"

#include "request.h"

void absolute_init(struct absolute *w) {
    buf_init(&w->request, REQUEST_BYTES_MAX);
}

void absolute_fini(struct absolute *w) {
    buf_fini(&w->request);
}

static enum err one_round(struct absolute *w, struct lab *l, double *ret_floor, struct why *why) {
    uint64_t after = 0;
    w->syncs_before = 0;
    enum err e = w->run(l, w, why);
    if (e == ERR_OK) e = lab_stat(l, "journal_syncs", &after, why);
    if (e == ERR_OK) e = lab_check(l, w->flows, w->ends, why);
    if (e == ERR_OK) e = lab_fold(l, ret_floor, why);
    w->syncs = after - w->syncs_before;
    return e;
}

enum err absolute_rounds(struct absolute *w, struct bench *b, struct why *why) {
    struct series values = {.count = 0}, floors = {.count = 0};
    for (uint32_t i = 0; i < b->rounds; i++) {
        struct lab l;
        double floor = 0;
        enum err e = lab_open(&l, b, why);
        if (e == ERR_OK) e = one_round(w, &l, &floor, why);
        lab_close(&l);
        if (e != ERR_OK) return e;
        series_add(&values, w->seconds);
        series_add(&floors, floor);
    }
    w->value = spread_of(&values);
    w->floor = series_median(&floors);
    return ERR_OK;
}

void absolute_report_seconds(const struct absolute *w, struct bench *b, const char *shape, double target) {
    figure_report(b, &(struct figure){.shape = shape,
                                      .unit = "s",
                                      .value = w->value,
                                      .floor = w->floor,
                                      .target = target,
                                      .syncs = w->syncs,
                                      .operations = w->jobs});
}

void absolute_report_rate(const struct absolute *w, struct bench *b, const char *shape, double target) {
    figure_report(b, &(struct figure){.shape = shape,
                                      .unit = "/s",
                                      .more_is_better = true,
                                      .value = spread_under((double)w->jobs, w->value),
                                      .floor = (double)w->jobs / w->floor,
                                      .target = target,
                                      .syncs = w->syncs,
                                      .operations = w->jobs});
}

void absolute_report_each(const struct absolute *w, struct bench *b, const char *shape, double target) {
    double us = 1e6 / (double)w->jobs;
    figure_report(b, &(struct figure){.shape = shape,
                                      .unit = "us",
                                      .value = spread_times(w->value, us),
                                      .floor = w->floor * us,
                                      .target = target,
                                      .syncs = w->syncs,
                                      .operations = w->jobs});
}
