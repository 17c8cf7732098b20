/* worker_proto.c: what a worker and its server say to each other once they know each other.
 *
 * Of one attempt, STARTED, its log and DONE leave in this order, on one connection. Nothing is forgotten when it was
 * said, only when it is acknowledged; after a new connection all of it is said again. */
#include "agent_impl.h"
#include "blobs.h"
#include "mutant.h"
#include "panic.h"
#include "service_health.h"

#define SAY_BYTES (256u * 1024u)              /* of logs in one frame */
#define UNSENT_BYTES_MAX (4u * 1024u * 1024u) /* beyond it logs wait until the connection has drained */
#define ALONE_BYTES 16384u                    /* of one log: fewer wait while others are under way */
#define DONE_MAX 1000u                        /* ends in one frame */
#define ACK_MS 200                            /* an end that is not acknowledged by then goes to disk */

/* ---- attaching ---- */

uint32_t worker_proto_credit(const struct agent *a) {
    return a->is_draining ? 0 : a->o.slots;
}

bool worker_proto_epoch(struct agent *a, uint64_t epoch) {
    struct why why;
    if (epoch < a->spool.self.epoch) return false;
    if (spool_epoch(&a->spool, epoch, &why) != ERR_OK) agent_log(a, "cannot remember epoch: %s", why.text);
    return true;
}

void worker_proto_attach(struct agent *a) {
    struct wire_held *held = ARENA_ARRAY(&a->arena, struct wire_held, a->attempts.pool.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        const struct attempt *t = attempts_at(&a->attempts, i);
        if (t != NULL && !t->is_dropped) held[count++] = (struct wire_held){t->id, t->phase};
    }
    struct wire_attach attach = {
        .worker = slice_str(a->spool.self.id),
        .incarnation = a->spool.self.incarnation,
        .epoch_seen = a->spool.self.epoch,
        .load = {worker_proto_credit(a), 0, 0},
        .held = {held, count},
    };
    agent_info(&a->o, &a->arena, &attach.info);
    connection_send(a, WIRE_ATTACH, connection_request(a), &attach);
}

void worker_proto_again(struct agent *a) {
    for (uint32_t i = 1; i <= attempts_high(&a->attempts); i++) {
        struct attempt *t = attempts_at(&a->attempts, i);
        if (t == NULL || t->is_dropped) continue;
        t->started_told = t->done_told = false;
        if (t->tended != 0) service_health_of(a, t)->is_told = false;
        t->capture.sent = t->capture.acked;
        attempts_touch(&a->attempts, t);
        run_flow(a, t);
        blobs_again(a, t);
    }
}

/* ---- saying ---- */

static void say_started(struct agent *a, const struct u32vec *list) {
    struct wire_attempt *ids = ARENA_ARRAY(&a->arena, struct wire_attempt, list->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct attempt *t = attempts_at(&a->attempts, list->at[i]);
        /* One that is over already says so with DONE. */
        if (t->phase != WIRE_HELD_RUNNING || t->started_told) continue;
        if (t->tell_at_ms != TIME_NEVER) {
            if (t->capture.end + t->capture.open.len == 0) continue; /* later, or with the end; before its output */
            t->tell_at_ms = TIME_NEVER;
            attempts_time(&a->attempts, t);
        }
        t->started_told = true;
        ids[count++] = t->id;
    }
    struct wire_attempts message = {{ids, count}};
    if (count > 0) connection_send(a, WIRE_STARTED, 0, &message);
}

static void say_health(struct agent *a, const struct u32vec *list) {
    struct wire_health_item *items = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct attempt *t = attempts_at(&a->attempts, list->at[i]);
        struct service_health *v = service_health_of(a, t);
        if (v == NULL || v->is_told || t->process.v == 0) continue;
        if (items == NULL) items = ARENA_ARRAY(&a->arena, struct wire_health_item, list->count);
        v->is_told = true;
        items[count++] = (struct wire_health_item){t->id, v->is_well, slice_str(v->text), v->port};
    }
    struct wire_health message = {{items, count}};
    if (count > 0) connection_send(a, WIRE_HEALTH, 0, &message);
}

/* One frame with the next pieces of its log. False: there was nothing to say. */
static bool say_pieces(struct agent *a, struct attempt *t) {
    struct capture *c = &t->capture;
    enum { PIECES_MAX = SAY_BYTES / 1024 };
    struct wire_log_piece pieces[PIECES_MAX];
    struct buf data[1];
    uint32_t count = 0;
    uint64_t bytes = 0;
    buf_init(data, 2 * WIRE_BODY_MAX);
    while (count < PIECES_MAX && bytes < SAY_BYTES && c->sent < c->end) {
        if (c->sent < c->file_end) {
            struct why why;
            if (count > 0) break; /* one from the file at a time: its bytes are in `data` */
            enum err e = spool_piece(&a->spool, &t->file, c->sent, data, &pieces[0], &why);
            if (e != ERR_OK) {
                agent_log(a, "spooled output of %.*s: %s", SLICE_FMT(bytes_slice(t->job)), why.text);
                c->sent = c->file_end;
                break;
            }
            c->sent = pieces[0].offset + pieces[0].data.len;
            count = 1;
            break;
        }
        const struct piece *p = capture_at(c, c->sent);
        ENSURE(p != NULL);
        struct slice s = bytes_slice(p->data);
        pieces[count++] = (struct wire_log_piece){p->offset, p->stream, p->time_ms, s};
        bytes += s.len;
        c->sent = p->offset + s.len;
    }
    struct wire_log_batch batch = {t->id, {pieces, count}};
    struct wire_log message = {{&batch, 1}};
    if (count > 0) connection_send(a, WIRE_LOG, 0, &message);
    buf_fini(data);
    return count > 0;
}

/* A program that flushes each line would have each of them sent and stored on its own. The first goes at once; what
 * follows while it is under way goes together, when it is acknowledged, when there is enough of it or at the end. */
static bool waits_for_company(const struct attempt *t) {
    const struct capture *c = &t->capture;
    return t->phase != WIRE_HELD_FINISHED && c->sent > c->acked && c->end + c->open.len - c->sent < ALONE_BYTES;
}

/* True when all of it is said that is to be said now. */
static bool say_log(struct agent *a, struct attempt *t) {
    if (waits_for_company(t)) return true;
    capture_close_piece(&t->capture);
    while (t->capture.sent < t->capture.end) {
        if (a->out.len + a->w.net->ops->unsent(a->w.net, a->connection.conn) > UNSENT_BYTES_MAX) return false;
        if (!say_pieces(a, t)) break;
    }
    return t->capture.sent >= t->capture.end;
}

static void say_done(struct agent *a, const struct u32vec *list) {
    for (uint32_t from = 0; from < list->count; from += DONE_MAX) {
        uint32_t upto = list->count - from < DONE_MAX ? list->count : from + DONE_MAX;
        struct wire_end *ends = ARENA_ARRAY(&a->arena, struct wire_end, upto - from);
        for (uint32_t i = from; i < upto; i++) {
            struct attempt *t = attempts_at(&a->attempts, list->at[i]);
            struct why why;
            enum err e =
                tlv_decode(&wire_end_desc, bytes_slice(t->end), TLV_SKIP_UNKNOWN, &a->arena, &ends[i - from], &why);
            ENSURE(e == ERR_OK); /* we wrote it, and its file has a checksum */
            ends[i - from].ended_ago_ms = (uint64_t)(agent_now_ms(a) - t->ended_at_ms);
            t->done_told = true;
            if (!t->is_spooled) t->spool_at_ms = agent_now_ms(a) + ACK_MS;
            attempts_time(&a->attempts, t);
        }
        struct wire_done message = {{ends, upto - from}};
        connection_send(a, WIRE_DONE, connection_request(a), &message);
        for (uint32_t i = from; MUTANT(end_forgotten) && i < upto; i++)
            run_forget(a, attempts_at(&a->attempts, list->at[i]));
    }
}

void worker_proto_say(struct agent *a) {
    struct vec *dirty = &a->attempts.dirty;
    struct u32vec list = {0}, done = {0};
    if (agent_now_ms(a) >= a->connection.again_at_ms) {
        a->connection.again_at_ms = TIME_NEVER;
        worker_proto_again(a);
    }
    arena_reset(&a->arena);
    for (uint32_t i = 0; i < dirty->count; i++) {
        uint32_t index = *(uint32_t *)vec_at(dirty, i);
        struct attempt *t = attempts_at(&a->attempts, index);
        if (t == NULL) continue; /* forgotten since */
        t->is_dirty = false;
        if (!t->is_dropped) u32vec_push(&list, index);
    }
    dirty->count = 0;
    if (list.count > 0) say_started(a, &list);
    if (a->tended.count > 0) say_health(a, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        struct attempt *t = attempts_at(&a->attempts, list.at[i]);
        if (!say_log(a, t))
            attempts_touch(&a->attempts, t); /* the rest when the connection has drained */
        else if (t->phase == WIRE_HELD_FINISHED && !t->done_told)
            u32vec_push(&done, list.at[i]);
        run_flow(a, t);
    }
    say_done(a, &done);
    u32vec_fini(&list);
    u32vec_fini(&done);
}

/* ---- hearing ---- */

static void hear_assign(struct agent *a, const struct wire_assign *m) {
    const struct wire_assignment *orders = m->assignments.at;
    if (!worker_proto_epoch(a, m->epoch)) return;
    a->is_detaching = false; /* it crossed our goodbye: that comes again when this is done */
    for (uint32_t i = 0; i < m->assignments.count; i++) run_assign(a, &orders[i]);
}

static void hear_stops(struct agent *a, const struct wire_stop_attempts *m) {
    const struct wire_stopped *stops = m->stops.at;
    if (!worker_proto_epoch(a, m->epoch)) return;
    for (uint32_t i = 0; i < m->stops.count; i++) run_stop(a, &stops[i]);
}

static void hear_lease(struct agent *a, const struct wire_lease *m) {
    if (!worker_proto_epoch(a, m->epoch)) return;
    a->connection.beats_open = 0;
    run_lease(a, (int64_t)m->sent_ms + m->lease_ms);
}

static void hear_log_ack(struct agent *a, const struct wire_log_ack *m) {
    const struct wire_log_mark *marks = m->marks.at;
    for (uint32_t i = 0; i < m->marks.count; i++) {
        struct attempt *t = attempts_find(&a->attempts, &marks[i].attempt);
        if (t == NULL) continue;
        capture_ack(&t->capture, marks[i].offset);
        if (!t->is_spooled && t->file.is_open && t->capture.acked >= t->capture.file_end)
            spool_forget(&a->spool, &t->id, &t->file);
        attempts_touch(&a->attempts, t);
        run_flow(a, t);
    }
}

static void hear_done_ack(struct agent *a, const struct wire_done_ack *m) {
    const struct wire_end_ack *acks = m->acks.at;
    for (uint32_t i = 0; i < m->acks.count; i++) {
        struct attempt *t = attempts_find(&a->attempts, &acks[i].attempt);
        if (t == NULL || t->phase != WIRE_HELD_FINISHED) continue;
        if (acks[i].code.len > 0) /* it will never be recorded: nobody waits for it any more */
            agent_log(a, "%.*s#%u: the server does not take its end: %.*s: %.*s", SLICE_FMT(bytes_slice(t->job)),
                      t->id.attempt, SLICE_FMT(acks[i].code), SLICE_FMT(acks[i].message));
        run_forget(a, t);
    }
}

/* A heartbeat that is refused for good means that the server no longer knows us. An end that is refused as a whole is
 * said again, after a pause. */
static void hear_refused(struct agent *a, const struct frame *f, struct slice code, struct slice text,
                         uint32_t retry_after_ms) {
    /* A word of a newer server: perhaps it helps to try again. */
    bool again = retry_after_ms != 0 || err_is_retryable(err_find(code, ERR_UNKNOWN));
    struct why why;
    (void)why_set(&why, ERR_OK, "%.*s: %.*s", SLICE_FMT(code), SLICE_FMT(text));
    if (f->request == a->connection.detach_request && a->is_detaching) {
        a->is_over = true;
    } else if (f->request == a->connection.drain_request) {
        agent_log(a, "the server does not mind that we drain: %s", why.text); /* without credit it gives us nothing */
    } else if (!again && map_get(&a->by_request, f->request) != 0) {
        blobs_refused(a, f, code, text);
    } else if (again) {
        blobs_held(a, f->request, why.text);
        a->connection.again_at_ms = agent_now_ms(a) + (retry_after_ms != 0 ? retry_after_ms : 1000);
    } else {
        agent_log(a, "refused: %s", why.text);
        connection_lost(a, why.text);
    }
}

void worker_proto_hear(struct agent *a, const struct frame *f) {
    struct why why;
    const struct wire_info *info = wire_info(f->opcode);
    if (info == NULL) return; /* a newer server says something that we may ignore */
    void *message = arena_alloc(&a->arena, info->desc->size);
    if (wire_take(f, &a->arena, message, &why) != ERR_OK) {
        agent_log(a, "invalid message from the server: %s", why.text);
        connection_lost(a, why.text);
        return;
    }
    switch (f->opcode) {
    case WIRE_ASSIGN: hear_assign(a, message); break;
    case WIRE_CANCEL_ATTEMPT: hear_stops(a, message); break;
    case WIRE_LEASE: hear_lease(a, message); break;
    case WIRE_LOG_ACK: hear_log_ack(a, message); break;
    case WIRE_DONE_ACK: hear_done_ack(a, message); break;
    case WIRE_ERROR: {
        const struct wire_error *e = message;
        hear_refused(a, f, e->code, e->message, e->retry_after_ms);
        break;
    }
    case WIRE_BUSY: {
        const struct wire_busy *b = message;
        hear_refused(a, f, SLICE("busy"), b->reason, b->retry_after_ms);
        break;
    }
    case WIRE_BLOB_DATA:
    case WIRE_BLOB_STATE: blobs_hear(a, f, message); break;
    case WIRE_ACCEPTED:
        if (a->is_detaching && f->request == a->connection.detach_request) a->is_over = true;
        break;
    case WIRE_PING: wire_put(&a->out, WIRE_PONG, FRAME_ANSWER, f->request, message); break;
    case WIRE_DRAIN: agent_drain(a); break;
    case WIRE_GOODBYE: break; /* the end of the connection follows, and the next dial */
    default: break;
    }
}
