/* w_http.c: W13 and W14: what W2 does and a look at one job, by HTTP. The floor of W13 is T(64), that of W14 a server
 * on the same loop that gives everyone the same answer. */
#include <stdio.h>

#include "request.h"
#include "w_submit.h"

#define SECONDS 1.0
#define SUBMIT_TARGET 0.6
#define GET_TARGET 0.7

struct web_load {
    struct submits submits; /* first: its floor takes it for that */
    struct buf request;
    struct buf answer; /* a whole one, for the floor */
    struct floor_server floor;
    struct load_conns floor_load, load;
    bool has_floor_load, has_load;
};

static void put_request(const struct web_load *w, struct buf *out, const char *verb, const char *path,
                        const char *body) {
    buf_clear(out);
    buf_printf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n", verb, path,
               w->submits.lab->admin);
    if (body[0] != 0) buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    buf_printf(out, "\r\n%s", body);
}

static enum err rate(struct web_load *w, struct load_conns *l, uint64_t *ret_answers, double *ret, struct why *why) {
    struct load_plan plan = {.request = &w->request,
                             .http = true,
                             .flight = w->submits.flight,
                             .seconds = w->submits.bench->quick ? SECONDS / 20 : SECONDS};
    double took = 0;
    enum err e = load_run(l, &plan, ret_answers, &took, why);
    *ret = (double)*ret_answers / took;
    return e;
}

/* ---- W13 ---- */

static enum err submit_value(void *ctx, double *ret, struct why *why) {
    struct web_load *w = ctx;
    uint64_t answers = 0, before = 0, after = 0;
    enum err e = lab_stat(w->submits.lab, "journal_syncs", &before, why);
    if (e == ERR_OK) e = rate(w, &w->load, &answers, ret, why);
    if (e == ERR_OK) e = lab_stat(w->submits.lab, "journal_syncs", &after, why);
    w->submits.flows += answers;
    w->submits.answers = answers;
    w->submits.syncs = after - before;
    return e;
}

static void web_close(struct web_load *w) {
    if (w->has_load) load_close(&w->load);
    if (w->has_floor_load) load_close(&w->floor_load);
    floor_server_stop(&w->floor);
    buf_fini(&w->request);
    buf_fini(&w->answer);
}

static enum err web_open(struct web_load *w, struct lab *l, struct bench *b, struct why *why) {
    const struct workload_settings *with = bench_with(b);
    w->submits = (struct submits){.bench = b, .connections = with->connections, .flight = with->flight, .lab = l};
    buf_init(&w->request, REQUEST_BYTES_MAX);
    buf_init(&w->answer, REQUEST_BYTES_MAX);
    enum err e = lab_open(l, b, why);
    if (e == ERR_OK) e = load_open(&w->load, l->address, with->connections, NULL, b->build, why);
    w->has_load = e == ERR_OK;
    return e;
}

enum err w13_http_submit(struct bench *b, struct why *why) {
    struct lab l;
    struct web_load w = {0};
    struct spread value = {0};
    double floor = 0;
    enum err e = web_open(&w, &l, b, why);
    if (e == ERR_OK) e = submits_open(&w.submits, l.dir, why);
    if (e == ERR_OK) {
        put_request(&w, &w.request, "POST", "/api/v1/flows", "{\"jobs\": {\"a\": {\"noop\": true}}}");
        e = bench_rounds(b, &(struct pairing){submits_floor, submit_value, &w}, &value, &floor, why);
    }
    web_close(&w);
    submits_close(&w.submits);
    if (e == ERR_OK) e = lab_check(&l, w.submits.flows, 0, why);
    lab_close(&l);
    if (e == ERR_OK)
        figure_report(b, &(struct figure){.shape = "",
                                          .unit = "/s",
                                          .more_is_better = true,
                                          .value = value,
                                          .floor = floor,
                                          .target = SUBMIT_TARGET * floor,
                                          .syncs = w.submits.syncs,
                                          .operations = w.submits.answers});
    return e;
}

/* ---- W14 ---- */

static enum err get_value(void *ctx, double *ret, struct why *why) {
    struct web_load *w = ctx;
    uint64_t answers = 0;
    return rate(w, &w->load, &answers, ret, why);
}

static enum err get_floor(void *ctx, double *ret, struct why *why) {
    struct web_load *w = ctx;
    uint64_t answers = 0;
    return rate(w, &w->floor_load, &answers, ret, why);
}

/* One request, and its answer as it came. */
static enum err ask_once(struct web_load *w, const char *verb, const char *path, const char *body, struct why *why) {
    struct load_conns one;
    uint64_t answers = 0;
    double took = 0;
    put_request(w, &w->request, verb, path, body);
    enum err e = load_open(&one, w->submits.lab->address, 1, NULL, w->submits.bench->build, why);
    if (e != ERR_OK) return e;
    struct load_plan plan = {.request = &w->request, .http = true, .flight = 1, .answers_max = 1};
    e = load_run(&one, &plan, &answers, &took, why);
    buf_clear(&w->answer);
    buf_put_slice(&w->answer, buf_slice(&one.conns[0].in));
    load_close(&one);
    return e;
}

static enum err make_job(struct web_load *w, char path[128], struct why *why) {
    enum err e = ask_once(w, "POST", "/api/v1/flows", "{\"jobs\": {\"a\": {\"noop\": true}}}", why);
    if (e != ERR_OK) return e;
    const uint8_t *at = memmem(w->answer.at, w->answer.len, "\"flow\":\"", 8);
    if (at == NULL) return why_set(why, ERR_UNKNOWN, "an answer without a flow");
    at += 8;
    snprintf(path, 128, "/api/v1/jobs/%.*s/a", (int)strcspn((const char *)at, "\""), (const char *)at);
    return ask_once(w, "GET", path, "", why);
}

enum err w14_http_get(struct bench *b, struct why *why) {
    struct lab l;
    struct web_load w = {0};
    char path[128];
    struct spread value = {0};
    double floor = 0;
    enum err e = web_open(&w, &l, b, why);
    if (e == ERR_OK) e = make_job(&w, path, why);
    if (e == ERR_OK) e = floor_http_start(&w.floor, buf_slice(&w.answer), why);
    if (e == ERR_OK) e = load_open(&w.floor_load, w.floor.address, w.submits.connections, NULL, "", why);
    w.has_floor_load = e == ERR_OK;
    if (e == ERR_OK) {
        put_request(&w, &w.request, "GET", path, "");
        e = bench_rounds(b, &(struct pairing){get_floor, get_value, &w}, &value, &floor, why);
    }
    web_close(&w);
    lab_close(&l);
    if (e == ERR_OK)
        figure_report(b, &(struct figure){.shape = "",
                                          .unit = "/s",
                                          .more_is_better = true,
                                          .value = value,
                                          .floor = floor,
                                          .target = GET_TARGET * floor});
    return e;
}
