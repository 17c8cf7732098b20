/* titan_worker_port.c: what a master asks of its worker, frame by frame, with the answers that Titan's workers give.
 *
 * A connection may bring any number of frames; each is answered before the next is looked at, and those that nobody
 * knows are passed over in silence. What is no frame ends the connection without a word, as there. */
#include <stdarg.h>
#include <stdio.h>

#include "base64.h"
#include "titan_job.h"
#include "titan_worker_impl.h"

#define SESSIONS_MAX 4096u
#define ZIP_END_BYTES 22u   /* of the record behind a zip's directory */
#define ZIP_ENTRY_BYTES 46u /* of one of the directory, before its name */
#define KILL_MS 100         /* from the answer to the end */

struct slice titan_worker_cut(struct slice *in) {
    const uint8_t *bar = in->len > 0 ? memchr(in->ptr, '|', in->len) : NULL;
    size_t len = bar != NULL ? (size_t)(bar - in->ptr) : in->len;
    struct slice part = slice_of(in->ptr, len);
    *in = bar != NULL ? slice_of(bar + 1, in->len - len - 1) : (struct slice){0};
    return part;
}

static void say(struct titan_worker *h, const struct titan_worker_session *n, uint8_t opcode, const char *text) {
    struct buf out;
    buf_init(&out, TITAN_HEADER_BYTES + (64u << 10));
    titan_put(&out, opcode, slice_str(text));
    h->w.net->ops->send(h->w.net, n->conn, buf_slice(&out));
    buf_fini(&out);
}

#define SAY_MAX (SPACE_PATH_MAX + TITAN_WORKER_ID_MAX + 512u)

static void sayf(struct titan_worker *h, const struct titan_worker_session *n, uint8_t opcode, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void sayf(struct titan_worker *h, const struct titan_worker_session *n, uint8_t opcode, const char *format,
                 ...) {
    char text[SAY_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(h, n, opcode, text);
}

static bool is_id(struct slice id) {
    return id.len > 0 && id.len <= TITAN_WORKER_ID_MAX;
}

static bool is_full(struct titan_worker *h, const struct titan_worker_session *n) {
    if (!h->is_draining && titan_worker_run_active(h) < h->o.slots) return false;
    say(h, n, TITAN_ERROR, "ERROR_WORKER_SATURATED");
    return true;
}

/* ---- jobs ---- */

static void heartbeat(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    (void)body;
    sayf(h, n, TITAN_ACK, "PONG|%u|%u", titan_worker_run_active(h), h->o.slots);
}

static void stage(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    bool has_bar = body.len > 0 && memchr(body.ptr, '|', body.len) != NULL;
    struct slice name = titan_worker_cut(&body), bytes = {0};
    struct why why = {{0}};
    char path[SPACE_PATH_MAX];
    if (!has_bar) {
        say(h, n, TITAN_ERROR, "JOB_FAILED Invalid File Payload");
    } else if (!titan_worker_stage_is_name(name)) {
        say(h, n, TITAN_ERROR, "JOB_FAILED Invalid file name (path traversal rejected)");
    } else {
        enum err e = base64_read(body, &h->frame, &bytes, &why);
        if (e == ERR_OK) e = titan_worker_stage_put(h, name, bytes, path, &why);
        sayf(h, n, e == ERR_OK ? TITAN_ACK : TITAN_ERROR, e == ERR_OK ? "FILE_SAVED: %s" : "JOB_FAILED %s",
             e == ERR_OK ? path : why.text);
    }
}

/* A job is accepted also when it cannot be run: its end then says why, as there. */
static void begin(struct titan_worker *h, const struct titan_worker_session *n,
                  const struct titan_worker_run_order *order) {
    struct titan_worker_task *t = NULL;
    struct why why = {{0}};
    enum err e = titan_worker_run_begin(h, order, &t, &why);
    say(h, n, e == ERR_OK ? TITAN_ACK : TITAN_ERROR, e == ERR_OK ? "JOB_ACCEPTED" : "ERROR_WORKER_SATURATED");
}

static void run(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    struct titan_worker_run_order order = {.id = titan_worker_cut(&body)};
    struct buf bytes;
    struct why why = {{0}};
    order.file = titan_worker_cut(&body);
    order.args = body;
    if (!is_id(order.id) || !titan_worker_stage_is_name(order.file)) {
        say(h, n, TITAN_ERROR, "ERROR: Invalid Run Payload");
        return;
    }
    if (is_full(h, n)) return;
    buf_init(&bytes, TITAN_BODY_BYTES_MAX);
    if (titan_worker_stage_get(h, order.file, &bytes, &why) == ERR_OK)
        order.bytes = buf_slice(&bytes);
    else
        order.refusal = why.text;
    begin(h, n, &order);
    buf_fini(&bytes);
}

static bool is_zip(struct slice bytes) {
    return bytes.len >= 4 && memcmp(bytes.ptr, "PK", 2) == 0;
}

static uint32_t little(const uint8_t *at, uint32_t bytes) {
    uint32_t value = 0;
    for (uint32_t i = bytes; i > 0; i--) value = value << 8 | at[i - 1];
    return value;
}

/* Whether the archive's own directory, at its end, names this file. An archive whose directory cannot be followed is
 * for the child that unpacks it to judge. */
static bool zip_may_have(struct slice zip, struct slice entry) {
    size_t end = zip.len < ZIP_END_BYTES ? 0 : zip.len - ZIP_END_BYTES + 1;
    while (end > 0 && memcmp(zip.ptr + end - 1, "PK\5\6", 4) != 0) end--;
    if (end == 0) return true;
    size_t at = little(zip.ptr + end - 1 + 16, 4);
    uint32_t count = little(zip.ptr + end - 1 + 10, 2);
    if (count == UINT16_MAX) return true; /* more than this record can count */
    for (uint32_t left = count; left > 0; left--) {
        if (at > zip.len || zip.len - at < ZIP_ENTRY_BYTES || memcmp(zip.ptr + at, "PK\1\2", 4) != 0) return true;
        const uint8_t *head = zip.ptr + at;
        uint32_t name = little(head + 28, 2), more = little(head + 30, 2) + little(head + 32, 2);
        if (zip.len - at - ZIP_ENTRY_BYTES < name) return true;
        if (slice_eq(slice_of(head + ZIP_ENTRY_BYTES, name), entry)) return true;
        at += ZIP_ENTRY_BYTES + (size_t)name + more;
    }
    return false;
}

/* The entry of an archive is a path in it, and stays there. */
static bool is_entry(struct slice entry) {
    if (entry.len == 0 || entry.len >= SPACE_PATH_MAX || entry.ptr[0] == '/') return false;
    for (size_t i = 0, from = 0; i <= entry.len; i++) {
        if (i < entry.len && entry.ptr[i] == 0) return false;
        if (i < entry.len && entry.ptr[i] != '/') continue;
        if (i - from == 2 && memcmp(entry.ptr + from, "..", 2) == 0) return false;
        from = i + 1;
    }
    return true;
}

static bool archive_take(struct titan_worker *h, struct slice text, struct titan_worker_run_order *order,
                         struct why *why) {
    if (!is_id(order->id)) (void)why_set(why, ERR_INVALID, "no id");
    if (is_id(order->id) && !is_entry(order->entry))
        (void)why_set(why, ERR_INVALID, "Invalid entry (path traversal rejected)");
    if (why->text[0] != 0 || base64_read(text, &h->frame, &order->bytes, why) != ERR_OK) return false;
    if (is_zip(order->bytes)) return true;
    (void)why_set(why, ERR_INVALID, "it is no zip file");
    return false;
}

static void run_archive(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    struct titan_worker_run_order order = {
        .is_archive = true, .id = titan_worker_cut(&body), .file = SLICE("archive.zip")};
    struct why why = {{0}};
    order.entry = titan_worker_cut(&body);
    if (is_full(h, n)) return;
    if (!archive_take(h, body, &order, &why)) {
        sayf(h, n, TITAN_ERROR, "ARCHIVE_FAILED: %s", why.text);
        return;
    }
    begin(h, n, &order);
}

/* ---- services ---- */

static uint32_t port_of(struct slice text) {
    uint32_t port = 0;
    if (text.len == 0 || text.len > 5) return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return 0;
        port = port * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    return port <= 65535 ? port : 0;
}

static void deploy(struct titan_worker *h, const struct titan_worker_session *n,
                   const struct titan_worker_run_order *order) {
    struct titan_worker_task *t = titan_worker_run_find(h, order->id, true);
    struct why why = {{0}};
    if (t != NULL) {
        sayf(h, n, TITAN_ACK, "SERVICE_ALREADY_RUNNING: %.*s", SLICE_FMT(order->id));
    } else if (h->is_draining || titan_worker_run_begin(h, order, &t, &why) != ERR_OK) {
        say(h, n, TITAN_ACK, "LAUNCH_ERROR: this worker takes no more");
    } else if (t->is_over) {
        sayf(h, n, TITAN_ACK, "LAUNCH_ERROR: %s", t->refusal.text);
        titan_worker_run_forget(h, t);
    } else if (t->is_worker) {
        sayf(h, n, TITAN_ACK, "DEPLOYED_SUCCESS | ID: %.*s | PID: DETACHED", SLICE_FMT(order->id));
    } else { /* processes have numbers here, not pids: the system may use those again */
        sayf(h, n, TITAN_ACK, "DEPLOYED_SUCCESS | ID: %.*s | PID: %llu", SLICE_FMT(order->id),
             (unsigned long long)t->process.v);
    }
}

static void start_service(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    struct titan_worker_run_order order = {.is_service = true, .file = titan_worker_cut(&body)};
    struct buf bytes;
    struct why why = {{0}};
    char path[SPACE_PATH_MAX];
    order.id = titan_worker_cut(&body);
    order.port = port_of(titan_worker_cut(&body));
    order.is_worker = slice_eq(order.file, SLICE("Worker.jar"));
    if (!is_id(order.id) || !titan_worker_stage_is_name(order.file) || (order.is_worker && order.port == 0)) {
        say(h, n, TITAN_ERROR, "ERROR: Invalid Service Payload");
        return;
    }
    buf_init(&bytes, TITAN_BODY_BYTES_MAX);
    if (order.is_worker || titan_worker_stage_get(h, order.file, &bytes, &why) == ERR_OK) {
        order.bytes = buf_slice(&bytes);
        deploy(h, n, &order);
    } else {
        titan_worker_stage_path(h, order.file, path);
        sayf(h, n, TITAN_ERROR, "ERROR: File not found at %s", path);
    }
    buf_fini(&bytes);
}

static void start_service_archive(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    struct titan_worker_run_order order = {.is_service = true, .is_archive = true, .id = titan_worker_cut(&body)};
    struct why why = {{0}};
    order.file = SLICE("archive.zip");
    order.entry = titan_worker_cut(&body);
    order.port = port_of(titan_worker_cut(&body));
    bool is_good = archive_take(h, body, &order, &why);
    if (is_good && !zip_may_have(order.bytes, order.entry)) {
        is_good = false;
        (void)why_set(&why, ERR_NOT_FOUND, "no file %.*s in the archive", SLICE_FMT(order.entry));
    }
    if (!is_good) {
        sayf(h, n, TITAN_ERROR, "ARCHIVE_SERVICE_FAILED: %s", why.text);
        return;
    }
    deploy(h, n, &order);
}

/* ---- the end of things ---- */

/* The answer comes when nothing of it runs any more. */
static void stop(struct titan_worker *h, struct titan_worker_session *n, struct slice id, bool is_service, uint8_t op) {
    struct titan_worker_task *t = titan_worker_run_find(h, id, is_service);
    if (t == NULL) {
        if (is_service)
            sayf(h, n, TITAN_ACK, "UNKNOWN_SERVICE: %.*s",
                 (int)(id.len < TITAN_WORKER_ID_MAX ? id.len : TITAN_WORKER_ID_MAX),
                 id.len > 0 ? (const char *)id.ptr : "");
        else
            say(h, n, TITAN_ACK, "NOT_FOUND");
        return;
    }
    n->waits_for = t->number;
    n->waits_op = op;
    titan_worker_run_stop(h, t);
}

static void stop_service(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    stop(h, n, body, true, TITAN_STOP);
}

static void cancel(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    stop(h, n, body, false, TITAN_CANCEL_JOB);
}

static void kill_worker(struct titan_worker *h, struct titan_worker_session *n, struct slice body) {
    (void)body;
    say(h, n, TITAN_KILL_WORKER, "SUCCESS: Worker shutting down.");
    if (h->over_at_ms == TIME_NEVER) titan_worker_log(h, "the master has this worker end");
    h->over_at_ms = titan_worker_now(h) + KILL_MS;
}

/* ---- frames ---- */

static const struct {
    uint8_t opcode;
    void (*serve)(struct titan_worker *h, struct titan_worker_session *n, struct slice body);
} table[] = {
    {TITAN_HEARTBEAT, heartbeat},
    {TITAN_STAGE, stage},
    {TITAN_RUN, run},
    {TITAN_START_SERVICE, start_service},
    {TITAN_STOP, stop_service},
    {TITAN_CANCEL_JOB, cancel},
    {TITAN_RUN_ARCHIVE, run_archive},
    {TITAN_START_SERVICE_ARCHIVE, start_service_archive},
    {TITAN_KILL_WORKER, kill_worker},
};

static struct titan_worker_session *session_of(const struct titan_worker *h, conn_id c) {
    uint32_t index = map_get(&h->session_by_conn, c.v);
    return index != 0 ? pool_at(&h->sessions, index) : NULL;
}

static void forget(struct titan_worker *h, struct titan_worker_session *n) {
    buf_fini(&n->in);
    pool_free(&h->sessions, map_del(&h->session_by_conn, n->conn.v));
}

/* Everything that is whole, until one has to wait. */
static void serve(struct titan_worker *h, struct titan_worker_session *n) {
    struct slice left = buf_slice(&n->in);
    struct titan_frame f;
    struct why why;
    size_t need = 0;
    while (n->waits_for == 0) {
        if (titan_take(&left, TITAN_BODY_BYTES_MAX, &f, &need, &why) != ERR_OK) {
            h->w.net->ops->close(h->w.net, n->conn);
            forget(h, n);
            return;
        }
        if (need != 0) break;
        arena_reset(&h->frame);
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
            if (table[i].opcode == f.opcode) table[i].serve(h, n, f.body);
    }
    if (left.len > 0 && left.ptr != n->in.at) memmove(n->in.at, left.ptr, left.len);
    buf_cut(&n->in, left.len);
}

void titan_worker_port_ended(struct titan_worker *h, const struct titan_worker_task *t) {
    for (uint32_t i = 1; i <= h->sessions.high; i++) {
        struct titan_worker_session *n = pool_at(&h->sessions, i);
        if (n->conn.v == 0 || n->waits_for != t->number) continue;
        if (n->waits_op == TITAN_STOP)
            sayf(h, n, TITAN_ACK, "STOPPED: %.*s", SLICE_FMT(bytes_slice(t->id)));
        else
            say(h, n, TITAN_ACK, "KILLED");
        n->waits_for = 0;
        n->is_ready = true; /* what came behind it is served by the pass */
    }
}

void titan_worker_port_pass(struct titan_worker *h) {
    for (uint32_t i = 1; i <= h->sessions.high; i++) {
        struct titan_worker_session *n = pool_at(&h->sessions, i);
        if (n->conn.v == 0 || !n->is_ready) continue;
        n->is_ready = false;
        serve(h, n);
    }
}

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct titan_worker *h = ctx;
    uint32_t index = pool_alloc(&h->sessions);
    (void)peer;
    if (index == 0) {
        h->w.net->ops->close(h->w.net, c);
        return;
    }
    struct titan_worker_session *n = pool_at(&h->sessions, index);
    n->conn = c;
    buf_init(&n->in, 2 * (TITAN_HEADER_BYTES + (size_t)TITAN_BODY_BYTES_MAX));
    map_put(&h->session_by_conn, c.v, index);
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct titan_worker *h = ctx;
    struct titan_worker_session *n = session_of(h, c);
    if (n == NULL) return;
    buf_put_slice(&n->in, bytes);
    if (!n->in.full) {
        serve(h, n);
        return;
    }
    h->w.net->ops->close(h->w.net, c);
    forget(h, n);
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct titan_worker *h = ctx;
    struct titan_worker_session *n = session_of(h, c);
    (void)why;
    if (n != NULL) forget(h, n);
}

void titan_worker_port_init(struct titan_worker *h) {
    pool_init(&h->sessions, sizeof(struct titan_worker_session), SESSIONS_MAX);
    map_init(&h->session_by_conn);
    h->handler = (struct net_handler){on_opened, on_received, on_drained, on_closed, h};
}

void titan_worker_port_fini(struct titan_worker *h) {
    for (uint32_t i = 1; i <= h->sessions.high; i++) {
        struct titan_worker_session *n = pool_at(&h->sessions, i);
        if (n->conn.v == 0) continue;
        h->w.net->ops->close(h->w.net, n->conn);
        forget(h, n);
    }
    pool_fini(&h->sessions);
    map_fini(&h->session_by_conn);
}
