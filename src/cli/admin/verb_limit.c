/* verb_limit.c: what may run at once and how often: keys, rates and whole tenants; what is set, and what is taken. */
#include "api_print.h"
#include "out.h"
#include "spec_value.h"
#include "verbs.h"

#define RATE_MILLI_MOST 1000000000u /* as the server has it: a million a second */

/* ---- looking ---- */

static void put_limit(struct out_table *t, const struct wire_limit_view *v) {
    static const char *const kinds[WIRE_LIMIT_KIND_COUNT] = {"key", "rate", "tenant"};
    char taken[120] = "", most[120] = "", bytes[OUT_TIME_BYTES], bytes_most[OUT_TIME_BYTES];
    size_t a = 0, b = 0;
    if (v->kind == WIRE_LIMIT_KEY) {
        snprintf(taken, sizeof taken, "%u running", v->taken);
        snprintf(most, sizeof most, "%u at once", v->width);
    } else if (v->kind == WIRE_LIMIT_RATE && v->set) {
        snprintf(taken, sizeof taken, "%g left", (double)v->level_milli / 1000);
        snprintf(most, sizeof most, "%g a second, %llu at once", (double)v->rate_milli / 1000,
                 (unsigned long long)v->burst);
    } else if (v->kind == WIRE_LIMIT_RATE) {
        snprintf(most, sizeof most, "none");
    } else {
        if (v->running_max > 0) {
            a += (size_t)snprintf(taken + a, sizeof taken - a, "%u running ", v->running);
            b += (size_t)snprintf(most + b, sizeof most - b, "%u running ", v->running_max);
        }
        if (v->queued_max > 0) {
            a += (size_t)snprintf(taken + a, sizeof taken - a, "%llu queued ", (unsigned long long)v->queued);
            b += (size_t)snprintf(most + b, sizeof most - b, "%llu queued ", (unsigned long long)v->queued_max);
        }
        if (v->bytes_max > 0) {
            snprintf(taken + a, sizeof taken - a, "%s", out_bytes(v->bytes, bytes));
            snprintf(most + b, sizeof most - b, "%s", out_bytes(v->bytes_max, bytes_most));
        }
    }
    out_cell(t, OUT_PLAIN, "%s", v->kind < WIRE_LIMIT_KIND_COUNT ? kinds[v->kind] : "?");
    out_slice(t, OUT_BOLD, v->name);
    out_slice(t, OUT_PLAIN, v->tenant);
    out_cell(t, v->set ? OUT_PLAIN : OUT_GREY, "%s%s", most, v->set ? "" : " (not set)");
    out_cell(t, OUT_PLAIN, "%s", taken);
}

enum err verb_limits(struct cli *c) {
    static const char *const heads[] = {"KIND", "NAME", "TENANT", "LIMIT", "NOW"};
    struct wire_page m = {0};
    struct out_table t;
    struct api_print answer;
    uint32_t shown = 0;
    api_print_begin(&answer, c, "/limits");
    for (bool more = true; more;) {
        struct client_frame f;
        enum err e = client_ask(&c->client, WIRE_LIMIT_LS, &m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_limit_list *page = f.message;
        const struct wire_limit_view *list = page->limits.at;
        if (!c->json && shown == 0 && page->limits.count > 0) out_table_init(&t, c, 5, heads);
        for (uint32_t i = 0; i < page->limits.count && !c->json; i++, shown++) put_limit(&t, &list[i]);
        more = page->cursor.len > 0;
        if (c->json) api_print_page(&answer, f.op, page);
        m.cursor = page->cursor;
    }
    api_print_end(&answer);
    if (!c->json && shown > 0) out_table_end(&t);
    if (!c->json && shown == 0) printf("no limits are set\n");
    return ERR_OK;
}

/* ---- setting ---- */

static enum err number_of(struct cli *c, const char *text, uint64_t most, const char *what, uint64_t *ret) {
    int64_t n = 0;
    if (!spec_number(slice_str(text), &n) || n < 0 || (uint64_t)n > most)
        return cli_refuse(c, ERR_INVALID, "expected %s, found `%s`", what, text);
    *ret = (uint64_t)n;
    return ERR_OK;
}

static void say_set(const struct wire_limit *m) {
    char bytes[OUT_TIME_BYTES];
    const char *what = m->kind == WIRE_LIMIT_KEY ? "key" : m->kind == WIRE_LIMIT_RATE ? "rate" : "tenant";
    struct slice name = m->kind == WIRE_LIMIT_TENANT ? m->tenant : m->name;
    printf("limit of %s%s", what, name.len > 0 ? " " : "");
    out_clean(stdout, name);
    if (m->clear) printf(" removed");
    if (!m->clear && m->kind == WIRE_LIMIT_KEY) printf(": %u at once", m->width);
    if (!m->clear && m->kind == WIRE_LIMIT_RATE)
        printf(": %g per second, burst %llu", (double)m->rate_milli / 1000, (unsigned long long)m->burst);
    if (m->running != 0) printf(": %u running", m->running);
    if (m->queued != 0) printf("%s %llu unfinished", m->running != 0 ? "," : ":", (unsigned long long)m->queued);
    if (m->bytes != 0) printf("%s %s", m->running + m->queued != 0 ? "," : ":", out_bytes(m->bytes, bytes));
    printf("\n");
}

static enum err send(struct cli *c, struct wire_limit *m) {
    struct client_frame f;
    m->tenant = cli_flag_text(c, "tenant");
    m->clear = cli_flag(c, "clear") != NULL;
    enum err e = client_ask(&c->client, WIRE_LIMIT, m, &f, c->why);
    if (e == ERR_OK && c->json) api_print_answer(c, "POST /limits", WIRE_ACCEPTED, f.message);
    if (e == ERR_OK && !c->json) say_set(m);
    return e;
}

static enum err check_count(struct cli *c, int wanted, const char *what) {
    bool clear = cli_flag(c, "clear") != NULL;
    if (clear == (c->arg_count < wanted)) return ERR_OK;
    return clear ? cli_refuse(c, ERR_INVALID, "pass %s or --clear, not both", what)
                 : cli_refuse(c, ERR_INVALID, "pass %s, or --clear", what);
}

enum err verb_limit_key(struct cli *c) {
    struct wire_limit m = {.kind = WIRE_LIMIT_KEY, .name = slice_str(c->args[0])};
    uint64_t width = 0;
    enum err e = check_count(c, 2, "how many run at once");
    if (e == ERR_OK && c->arg_count > 1) e = number_of(c, c->args[1], UINT32_MAX, "a number of jobs", &width);
    m.width = (uint32_t)width;
    return e == ERR_OK ? send(c, &m) : e;
}

enum err verb_limit_rate(struct cli *c) {
    struct wire_limit m = {.kind = WIRE_LIMIT_RATE, .name = slice_str(c->args[0]), .burst = 1};
    uint32_t milli = 0;
    enum err e = check_count(c, 2, "how many a second");
    if (e == ERR_OK && c->arg_count > 1 &&
        (!spec_milli(slice_str(c->args[1]), &milli) || milli == 0 || milli > RATE_MILLI_MOST))
        e = cli_refuse(c, ERR_INVALID, "expected a rate per second, like 5 or 0.2, found `%s`", c->args[1]);
    if (e == ERR_OK) e = cli_flag_number(c, "burst", RATE_MILLI_MOST, &m.burst);
    m.rate_milli = milli;
    return e == ERR_OK ? send(c, &m) : e;
}

enum err verb_limit_tenant(struct cli *c) {
    struct wire_limit m = {.kind = WIRE_LIMIT_TENANT};
    uint64_t running = 0;
    const char *bytes = cli_flag(c, "bytes");
    enum err e = cli_flag_number(c, "running", UINT32_MAX, &running);
    if (e == ERR_OK) e = cli_flag_number(c, "queued", INT64_MAX, &m.queued);
    if (e == ERR_OK && bytes != NULL && !spec_size(slice_str(bytes), &m.bytes))
        e = cli_refuse(c, ERR_INVALID, "--bytes: expected a size like 512MiB, found `%s`", bytes);
    m.running = (uint32_t)running;
    bool any = m.running != 0 || m.queued != 0 || m.bytes != 0;
    if (e == ERR_OK && any == (cli_flag(c, "clear") != NULL))
        e = cli_refuse(c, ERR_INVALID, "pass --running, --queued or --bytes, or --clear");
    return e == ERR_OK ? send(c, &m) : e;
}
