/* capture.c: see capture.h. Invariant: the queue is without gaps, begins at or after `file_end` when there is a file,
 * and ends at `end`; the open piece is counted in `end` only when it is closed. */
#include "capture.h"

#include "panic.h"

#define NOTE_BYTES 96u /* room for the words about what was left out */

/* ---- a queue of pieces ---- */

static struct piece *piece_at(const struct pieces *q, uint32_t i) {
    return vec_at(&q->items, q->first + i);
}

static uint32_t pieces_count(const struct pieces *q) {
    return q->items.count - q->first;
}

static void pieces_push(struct pieces *q, struct piece p) {
    *(struct piece *)vec_push(&q->items) = p;
    q->bytes += bytes_slice(p.data).len;
}

static void pieces_shift(struct pieces *q) {
    struct piece *p = piece_at(q, 0);
    q->bytes -= bytes_slice(p->data).len;
    bytes_free(p->data);
    q->first++;
    if (q->first == q->items.count) {
        q->first = q->items.count = 0;
    } else if (q->first >= 64 && q->first * 2 >= q->items.count) {
        uint32_t left = pieces_count(q);
        memmove(q->items.at, piece_at(q, 0), (size_t)left * q->items.elem_bytes);
        q->first = 0;
        q->items.count = left;
    }
}

static void pieces_clear(struct pieces *q) {
    while (pieces_count(q) > 0) pieces_shift(q);
}

/* ---- */

void capture_init(struct capture *c, uint64_t log_bytes_max) {
    *c = (struct capture){0};
    vec_init(&c->queue.items, sizeof(struct piece));
    vec_init(&c->tail.items, sizeof(struct piece));
    buf_init(&c->open, CAPTURE_PIECE_BYTES);
    if (log_bytes_max == 0) return;
    uint64_t least = 4 * NOTE_BYTES; /* a smaller cap than this keeps no sensible head and tail */
    if (log_bytes_max < least) log_bytes_max = least;
    c->tail_bytes_max = log_bytes_max / 2 < CAPTURE_TAIL_BYTES ? log_bytes_max / 2 : CAPTURE_TAIL_BYTES;
    c->head_bytes_max = log_bytes_max - c->tail_bytes_max - NOTE_BYTES;
}

void capture_fini(struct capture *c) {
    pieces_clear(&c->queue);
    pieces_clear(&c->tail);
    vec_fini(&c->queue.items);
    vec_fini(&c->tail.items);
    buf_fini(&c->open);
}

static void append(struct capture *c, enum wire_stream stream, struct slice bytes, int64_t time_ms) {
    pieces_push(&c->queue, (struct piece){c->end, time_ms, (uint8_t)stream, bytes_new(bytes)});
    c->end += bytes.len;
}

void capture_close_piece(struct capture *c) {
    if (c->open.len == 0) return;
    append(c, (enum wire_stream)c->open_stream, buf_slice(&c->open), c->open_time_ms);
    buf_clear(&c->open);
}

static void tail_put(struct capture *c, enum wire_stream stream, struct slice bytes, int64_t time_ms) {
    if (bytes.len > c->tail_bytes_max) {
        c->cut_bytes += bytes.len - c->tail_bytes_max;
        bytes = slice_of(bytes.ptr + (bytes.len - c->tail_bytes_max), c->tail_bytes_max);
    }
    pieces_push(&c->tail, (struct piece){0, time_ms, (uint8_t)stream, bytes_new(bytes)});
    while (c->tail.bytes > c->tail_bytes_max) { /* the first piece gives what is too much */
        struct piece *first = piece_at(&c->tail, 0);
        struct slice s = bytes_slice(first->data);
        uint64_t over = c->tail.bytes - c->tail_bytes_max;
        if (over >= s.len) {
            c->cut_bytes += s.len;
            pieces_shift(&c->tail);
            continue;
        }
        struct bytes *rest = bytes_new(slice_of(s.ptr + over, s.len - over));
        bytes_free(first->data);
        first->data = rest;
        c->cut_bytes += over;
        c->tail.bytes -= over;
    }
}

static void head_put(struct capture *c, enum wire_stream stream, struct slice bytes, int64_t time_ms) {
    while (bytes.len > 0) {
        size_t room = CAPTURE_PIECE_BYTES - c->open.len;
        if (c->open.len > 0 && (c->open_stream != (uint8_t)stream || room == 0)) {
            capture_close_piece(c);
            continue;
        }
        if (c->open.len == 0) {
            c->open_stream = (uint8_t)stream;
            c->open_time_ms = time_ms;
        }
        size_t len = bytes.len < room ? bytes.len : room;
        buf_put(&c->open, bytes.ptr, len);
        bytes = slice_of(bytes.ptr + len, bytes.len - len);
    }
}

void capture_put(struct capture *c, enum wire_stream stream, struct slice bytes, int64_t time_ms) {
    if (c->head_bytes_max != 0) {
        uint64_t taken = c->end + c->open.len;
        uint64_t room = taken < c->head_bytes_max ? c->head_bytes_max - taken : 0;
        if (bytes.len > room) {
            tail_put(c, stream, slice_of(bytes.ptr + room, bytes.len - room), time_ms);
            bytes.len = room;
        }
    }
    head_put(c, stream, bytes, time_ms);
}

void capture_over(struct capture *c, int64_t time_ms) {
    capture_close_piece(c);
    if (c->cut_bytes > 0) {
        struct buf note;
        buf_init(&note, NOTE_BYTES);
        buf_printf(&note, "\n[reeve: %llu bytes left out here]\n", (unsigned long long)c->cut_bytes);
        append(c, WIRE_STREAM_NOTE, buf_slice(&note), time_ms);
        buf_fini(&note);
    }
    for (uint32_t i = 0; i < pieces_count(&c->tail); i++) {
        const struct piece *p = piece_at(&c->tail, i);
        append(c, (enum wire_stream)p->stream, bytes_slice(p->data), p->time_ms);
    }
    pieces_clear(&c->tail);
}

void capture_ack(struct capture *c, uint64_t offset) {
    if (offset > c->end) offset = c->end;
    if (offset <= c->acked) return;
    c->acked = offset;
    if (c->sent < offset) c->sent = offset;
    while (pieces_count(&c->queue) > 0) {
        const struct piece *p = piece_at(&c->queue, 0);
        if (p->offset + bytes_slice(p->data).len > offset) break;
        pieces_shift(&c->queue);
    }
}

const struct piece *capture_at(const struct capture *c, uint64_t offset) {
    uint32_t low = 0, high = pieces_count(&c->queue);
    while (low < high) { /* the first that ends behind the offset */
        uint32_t middle = low + (high - low) / 2;
        const struct piece *p = piece_at(&c->queue, middle);
        if (p->offset + bytes_slice(p->data).len > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low < pieces_count(&c->queue) ? piece_at(&c->queue, low) : NULL;
}

void capture_spooled(struct capture *c) {
    ENSURE(c->open.len == 0);
    pieces_clear(&c->queue);
    c->file_end = c->end;
}
