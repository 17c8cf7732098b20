/* probe.c: one look at whether a service is well: a connection that opens, an HTTP answer, a command that ends with 0.
 *
 * Guarantees: of what the other side says only the beginning is read; a late word about a probe that was given up finds
 * nobody. Must not: wait, or call service_health_heard from inside probe_begin unless it could not even begin. */
#include <signal.h>
#include <stdio.h>

#include "agent_impl.h"
#include "service_health.h"

#define STATUS_BYTES 12u /* "HTTP/1.1 200" */

static struct attempt *attempt_at(const struct agent *a, uint32_t index) {
    return index != 0 ? attempts_at(&a->attempts, index) : NULL;
}

/* ---- connections ---- */

static void hang_up(struct agent *a, struct service_health *v) {
    (void)map_del(&a->by_conn, v->conn.v);
    a->w.net->ops->close(a->w.net, v->conn);
    v->conn = (conn_id){0};
}

static void answered(struct agent *a, struct attempt *t, const char *why) {
    hang_up(a, service_health_of(a, t));
    service_health_heard(a, t, why);
}

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct agent *a = ctx;
    struct attempt *t = attempt_at(a, map_get(&a->by_conn, c.v));
    struct wire_assignment order;
    struct wire_run run;
    (void)peer;
    if (t == NULL) return;
    if (service_health_of(a, t)->kind == WIRE_PROBE_TCP) {
        answered(a, t, NULL);
        return;
    }
    struct buf ask;
    arena_reset(&a->arena);
    run_order(a, t, &order, &run);
    buf_init(&ask, 2 * WIRE_TEXT_MAX);
    buf_printf(&ask, "GET %.*s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUser-Agent: reeve\r\nConnection: close\r\n\r\n",
               SLICE_FMT(run.health.path.len > 0 ? run.health.path : SLICE("/")), service_health_of(a, t)->probed_port);
    a->w.net->ops->send(a->w.net, c, buf_slice(&ask));
    buf_fini(&ask);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* 200 to 399 is well. */
static void read_status(struct agent *a, struct attempt *t) {
    const char *s = service_health_of(a, t)->heard;
    char why[40];
    bool is_http = memcmp(s, "HTTP/1.", 7) == 0 && s[8] == ' ' && is_digit(s[9]) && is_digit(s[10]) && is_digit(s[11]);
    if (!is_http) {
        answered(a, t, "it answers, but not in HTTP");
        return;
    }
    snprintf(why, sizeof why, "it answered %.3s", s + 9);
    answered(a, t, s[9] == '2' || s[9] == '3' ? NULL : why);
}

static void keep(struct service_health *v, struct slice bytes, uint32_t most) {
    size_t room = most - v->heard_bytes, len = bytes.len < room ? bytes.len : room;
    if (len > 0) memcpy(v->heard + v->heard_bytes, bytes.ptr, len);
    v->heard_bytes += (uint32_t)len;
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct agent *a = ctx;
    struct attempt *t = attempt_at(a, map_get(&a->by_conn, c.v));
    if (t == NULL) return;
    keep(service_health_of(a, t), bytes, STATUS_BYTES);
    if (service_health_of(a, t)->heard_bytes == STATUS_BYTES) read_status(a, t);
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct agent *a = ctx;
    struct attempt *t = attempt_at(a, map_get(&a->by_conn, c.v));
    char text[SERVICE_HEALTH_TEXT_MAX];
    if (t == NULL) return;
    struct service_health *v = service_health_of(a, t);
    (void)map_del(&a->by_conn, c.v);
    v->conn = (conn_id){0};
    snprintf(text, sizeof text, "port %u: %s", v->probed_port, why);
    service_health_heard(a, t, text);
}

static void dial(struct agent *a, struct attempt *t) {
    struct net_handler handler = {on_opened, on_received, on_drained, on_closed, a};
    struct service_health *v = service_health_of(a, t);
    char address[300];
    snprintf(address, sizeof address, "%s:%u", a->o.service_host != NULL ? a->o.service_host : "127.0.0.1",
             v->probed_port);
    v->conn = a->w.net->ops->dial(a->w.net, address, &handler);
    if (v->conn.v == 0)
        service_health_later(a, t); /* too many at once, which is not its fault */
    else
        map_put(&a->by_conn, v->conn.v, t->index);
}

/* ---- commands ---- */

/* The attempt whose probe the process is. */
static struct attempt *probed_by(const struct agent *a, proc_id p) {
    struct attempt *t = attempt_at(a, map_get(&a->by_process, p.v));
    return t != NULL && t->tended != 0 && service_health_of(a, t)->process.v == p.v ? t : NULL;
}

static void on_output(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes) {
    struct agent *a = ctx;
    struct attempt *t = probed_by(a, p);
    (void)stream;
    if (t != NULL) keep(service_health_of(a, t), bytes, 80);
}

static void on_stdin_ready(void *ctx, proc_id p) {
    (void)ctx, (void)p;
}

static void on_ended(void *ctx, proc_id p, uint32_t exit_code, uint32_t number, const struct proc_usage *usage) {
    struct agent *a = ctx;
    struct attempt *t = probed_by(a, p);
    char text[SERVICE_HEALTH_TEXT_MAX];
    (void)usage;
    if (t == NULL) return;
    struct service_health *v = service_health_of(a, t);
    (void)map_del(&a->by_process, p.v);
    v->process = (proc_id){0};
    while (v->heard_bytes > 0 && v->heard[v->heard_bytes - 1] == '\n') v->heard_bytes--;
    snprintf(text, sizeof text, "the probe ended with %s%u%s%.*s", number != 0 ? "signal " : "",
             number != 0 ? number : exit_code, v->heard_bytes > 0 ? ": " : "", (int)v->heard_bytes, v->heard);
    service_health_heard(a, t, exit_code == 0 && number == 0 ? NULL : text);
}

static void start(struct agent *a, struct attempt *t) {
    struct proc_handler handler = {on_output, on_stdin_ready, on_ended, a};
    struct service_health *v = service_health_of(a, t);
    struct proc_spec spec;
    struct why why = {{0}};
    enum err e = job_setup_probe(a, t, &spec, &why);
    if (e == ERR_OK) e = a->w.proc->ops->start(a->w.proc, &spec, &handler, &v->process, &why);
    if (e != ERR_OK) {
        v->process = (proc_id){0};
        service_health_heard(a, t, why.text);
        return;
    }
    map_put(&a->by_process, v->process.v, t->index);
}

/* ---- */

void probe_begin(struct agent *a, struct attempt *t) {
    if (service_health_of(a, t)->kind == WIRE_PROBE_COMMAND)
        start(a, t);
    else
        dial(a, t);
}

void probe_stop(struct agent *a, struct attempt *t) {
    struct service_health *v = service_health_of(a, t);
    if (v->conn.v != 0) hang_up(a, v);
    if (v->process.v == 0) return;
    (void)map_del(&a->by_process, v->process.v);
    a->w.proc->ops->signal(a->w.proc, v->process, SIGKILL);
    v->process = (proc_id){0};
}
