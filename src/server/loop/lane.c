/* lane.c: see lane.h. A lane is one buffer, written at its end and read from its beginning; when all is read it starts
 * over. */
#include "lane.h"

#include "panic.h"

/* Before each body. It never leaves the process: its bytes are the machine's. */
struct head {
    uint64_t conn;
    uint32_t request;
    uint32_t body_bytes;
    uint8_t op;
};

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

/* What was served makes room when it is half of all: each byte is moved once at most, in the mean. */
static void tidy(struct lane *l) {
    size_t left = l->bytes.len - l->served;
    if (left > l->served) return;
    if (left > 0) memmove(l->bytes.at, l->bytes.at + l->served, left);
    buf_cut(&l->bytes, left);
    l->served = 0;
}

void lane_trim(struct lane *l, size_t kept) {
    if (!lane_is_empty(l) || l->bytes.slots <= kept) return;
    size_t max = l->bytes.max;
    lane_fini(l);
    lane_init(l, max);
}

bool lane_put(struct lane *l, const struct lane_entry *e) {
    if (l->served > 0) tidy(l);
    REQUIRE(e->body.len <= UINT32_MAX);
    size_t bytes = sizeof(struct head) + e->body.len;
    if (bytes > l->bytes.max - l->bytes.len) return false;
    uint8_t *at = buf_space(&l->bytes, bytes);
    ENSURE(at != NULL);
    struct head head = {e->conn.v, e->request, (uint32_t)e->body.len, e->op};
    memcpy(at, &head, sizeof head);
    if (head.body_bytes > 0) memcpy(at + sizeof head, e->body.ptr, head.body_bytes);
    return true;
}

bool lane_take(struct lane *l, struct lane_entry *ret) {
    if (lane_is_empty(l)) return false;
    struct head head;
    const uint8_t *at = l->bytes.at + l->served;
    memcpy(&head, at, sizeof head);
    *ret = (struct lane_entry){.conn = {head.conn},
                               .op = head.op,
                               .request = head.request,
                               .body = slice_of(at + sizeof head, head.body_bytes)};
    l->served += sizeof head + head.body_bytes;
    ENSURE(l->served <= l->bytes.len);
    return true;
}

/* ---- ids ---- */

void fifo_init(struct fifo *f) {
    vec_init(&f->ids, sizeof(uint64_t));
    f->first = 0;
}

void fifo_fini(struct fifo *f) {
    vec_fini(&f->ids);
}

bool fifo_is_empty(const struct fifo *f) {
    return f->first == f->ids.count;
}

/* What was taken makes room when it is half of all: each id is moved once at most, in the mean. */
void fifo_push(struct fifo *f, uint64_t id) {
    if (f->first > f->ids.count / 2) {
        f->ids.count -= f->first;
        memmove(f->ids.at, f->ids.at + (size_t)f->first * sizeof id, f->ids.count * sizeof id);
        f->first = 0;
    }
    *(uint64_t *)vec_push(&f->ids) = id;
}

bool fifo_pop(struct fifo *f, uint64_t *ret) {
    if (fifo_is_empty(f)) return false;
    *ret = *(uint64_t *)vec_at(&f->ids, f->first++);
    if (fifo_is_empty(f)) f->ids.count = f->first = 0;
    return true;
}
