/* verb_demand.c: what waits for a worker; once, or whenever it changes. */
#include "api_print.h"
#include "out.h"
#include "verbs.h"

#define ASKS_BYTES_MAX 400u

/* What a worker would have to offer, in the words of flow files. */
static void put_asks(struct buf *b, const struct wire_demand *d) {
    const struct wire_name *names = d->capabilities.at;
    const struct wire_pair *labels = d->labels.at;
    const struct wire_amount *amounts = d->resources.at;
    for (uint32_t i = 0; i < d->capabilities.count; i++) buf_printf(b, "%.*s ", SLICE_FMT(names[i].name));
    for (uint32_t i = 0; i < d->labels.count; i++)
        buf_printf(b, "%.*s=%.*s ", SLICE_FMT(labels[i].key), SLICE_FMT(labels[i].value));
    if (d->cpu_milli > 0) buf_printf(b, "cpu:%g ", d->cpu_milli / 1000.0);
    if (d->memory_bytes > 0) {
        char text[OUT_TIME_BYTES];
        buf_printf(b, "memory:%s ", out_bytes(d->memory_bytes, text));
    }
    if (d->gpus > 0) buf_printf(b, "gpus:%u ", d->gpus);
    for (uint32_t i = 0; i < d->resources.count; i++)
        buf_printf(b, "%.*s:%llu ", SLICE_FMT(amounts[i].name), (unsigned long long)amounts[i].amount);
}

static void put_row(struct out_table *t, const struct wire_demand_row *r, int64_t now_ms) {
    char age[OUT_TIME_BYTES];
    struct buf asks;
    bool by_topic = r->demand.pool.len == 0;
    buf_init(&asks, ASKS_BYTES_MAX);
    put_asks(&asks, &r->demand);
    out_cell(t, OUT_BOLD, "%s%.*s", by_topic ? "topic " : "", SLICE_FMT(by_topic ? r->demand.topic : r->demand.pool));
    out_slice(t, OUT_PLAIN, r->tenant);
    out_cell(t, OUT_YELLOW, "%u%s", r->ready, r->more ? "+" : "");
    out_cell(t, OUT_PLAIN, "%s", out_age(now_ms, r->since_ms, age));
    out_slice(t, OUT_PLAIN, r->code);
    out_slice(t, OUT_PLAIN, buf_slice(&asks));
    buf_fini(&asks);
}

static void show(struct cli *c, const struct wire_demands *m) {
    static const char *const heads[] = {"POOL", "TENANT", "READY", "WAITING", "WHY", "ASKS FOR"};
    const struct wire_demand_row *rows = m->rows.at;
    struct out_table t;
    if (c->json) {
        api_print_answer(c, "/demand", WIRE_DEMANDS, m);
        return;
    }
    if (m->rows.count == 0) {
        printf("no job waits for a worker\n");
        return;
    }
    out_table_init(&t, c, 6, heads);
    for (uint32_t i = 0; i < m->rows.count; i++) put_row(&t, &rows[i], m->now_ms);
    out_table_end(&t);
    if (m->rows_left > 0)
        printf("… and %u more kinds of jobs, %llu jobs in total\n", m->rows_left, (unsigned long long)m->ready);
}

enum err verb_demand(struct cli *c) {
    struct client_frame f;
    bool watch = cli_flag(c, "watch") != NULL;
    uint64_t most = watch ? UINT64_MAX : 1;
    struct wire_demand_watch m = {.once = !watch};
    enum err e = cli_flag_number(c, "count", 1000000000, &most);
    if (e == ERR_OK && !watch && cli_flag(c, "count") != NULL)
        e = cli_refuse(c, ERR_INVALID, "--count goes with --watch");
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_DEMAND_WATCH, &m, &f, c->why);
    while (e == ERR_OK && most > 0) {
        if (f.op != WIRE_DEMANDS) return cli_refuse(c, ERR_UNSUPPORTED, "unexpected answer from the server");
        show(c, f.message);
        fflush(stdout);
        client_forget(&c->client);
        if (--most > 0) e = client_answer(&c->client, f.request, &f, c->why);
    }
    return e;
}
