/* lane.c: see lane.h. One buffer, written at its end and read from its beginning; when all is read it starts over. */
#include "lane.h"

#include "panic.h"

#define HEAD_BYTES 17u

void lane_init(struct lane *l, size_t bytes_max) {
    buf_init(&l->bytes, bytes_max);
    l->served = 0;
}

void lane_fini(struct lane *l) {
    buf_fini(&l->bytes);
}

bool lane_is_empty(const struct lane *l) {
    return l->served == l->bytes.len;
}

/* What was served makes room only when nobody else is in the way, or when it is most of it. */
static void tidy(struct lane *l) {
    size_t left = l->bytes.len - l->served;
    if (left > 0 && l->served < l->bytes.max / 2) return;
    if (left > 0) memmove(l->bytes.at, l->bytes.at + l->served, left);
    buf_cut(&l->bytes, left);
    l->served = 0;
}

bool lane_put(struct lane *l, conn_id conn, const struct frame *frame) {
    if (l->served > 0) tidy(l);
    if (l->bytes.len + HEAD_BYTES + frame->body.len > l->bytes.max) return false;
    buf_put_u64(&l->bytes, conn.v);
    buf_put_u8(&l->bytes, frame->opcode);
    buf_put_u32(&l->bytes, frame->request);
    buf_put_u32(&l->bytes, (uint32_t)frame->body.len);
    buf_put_slice(&l->bytes, frame->body);
    ENSURE(!l->bytes.full);
    return true;
}

bool lane_take(struct lane *l, struct lane_entry *ret) {
    if (lane_is_empty(l)) return false;
    struct cursor c = cursor_of(slice_of(l->bytes.at + l->served, l->bytes.len - l->served));
    ret->conn.v = cursor_u64(&c);
    ret->op = cursor_u8(&c);
    ret->request = cursor_u32(&c);
    ret->body = cursor_bytes(&c, cursor_u32(&c));
    ENSURE(!c.bad);
    l->served = (size_t)(c.at - l->bytes.at);
    return true;
}
