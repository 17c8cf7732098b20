/* event_blocks.c: see event_blocks.h. */
#include "event_blocks.h"

#include "panic.h"
#include "websocket.h"

#define WORDS_CHUNK_BYTES 16384u
#define WORDS_BYTES_MAX ((size_t)1 << 26)
#define FORM_BYTES_MAX ((size_t)1 << 26)
#define MESSAGE_BYTES_MAX ((size_t)1 << 20)

static const struct {
    const struct dialect *dialect;
    enum tape_frame frame;
} forms[TAPE_FORM_COUNT] = {
#define X(form, dialect, frame) [form] = {dialect, frame},
    TAPE_FORM_TABLE(X)
#undef X
};

const struct dialect *tape_dialect(enum tape_form form) {
    return forms[form].dialect;
}

static void put_sse(const char *type, const struct position *at, struct slice text, struct buf *out) {
    char room[POSITION_TEXT_BYTES];
    if (at != NULL) {
        buf_put_slice(out, SLICE("id: "));
        buf_put_slice(out, position_text(*at, room));
        buf_put_u8(out, '\n');
    }
    buf_put_slice(out, SLICE("event: "));
    buf_put_slice(out, slice_str(type));
    buf_put_slice(out, SLICE("\ndata: "));
    buf_put_slice(out, text);
    buf_put_slice(out, SLICE("\n\n"));
}

void tape_frame_put(enum tape_form form, const char *type, const struct position *at, struct slice text,
                    struct buf *out) {
    if (text.len == 0) return;
    switch (forms[form].frame) {
    case TAPE_FRAME_WEBSOCKET:
        websocket_head_put(out, WEBSOCKET_TEXT, text.len);
        buf_put_slice(out, text);
        break;
    case TAPE_FRAME_SSE: put_sse(type, at, text, out); break;
    }
}

/* ---- blocks ---- */

struct tape_block {
    struct arena words; /* holds this object too */
    uint32_t count;
    struct notice notices[TAPE_BLOCK_EVENTS];
    struct {
        uint32_t made; /* events that are in `bytes` */
        struct buf bytes;
        uint32_t ends[TAPE_BLOCK_EVENTS]; /* of each event in `bytes` */
    } forms[TAPE_FORM_COUNT];
};

struct tape_block *tape_block_new(void) {
    struct arena words;
    arena_init(&words, sizeof(struct tape_block) + WORDS_CHUNK_BYTES, WORDS_BYTES_MAX);
    struct tape_block *b = ARENA_NEW(&words, struct tape_block);
    b->words = words;
    for (uint32_t i = 0; i < TAPE_FORM_COUNT; i++) buf_init(&b->forms[i].bytes, FORM_BYTES_MAX);
    return b;
}

void tape_block_free(struct tape_block *b) {
    if (b == NULL) return;
    for (uint32_t i = 0; i < TAPE_FORM_COUNT; i++) buf_fini(&b->forms[i].bytes);
    struct arena words = b->words;
    arena_fini(&words);
}

void tape_block_add(struct tape_block *b, const struct notice *n) {
    REQUIRE(b->count < TAPE_BLOCK_EVENTS);
    struct notice *to = &b->notices[b->count++];
    *to = *n;
    to->tenant = arena_slice(&b->words, n->tenant);
    to->event.kind = slice_str(notice_kind_word(n->kind));
    to->event.target = arena_slice(&b->words, n->event.target);
    to->event.from = arena_slice(&b->words, n->event.from);
    to->event.to = arena_slice(&b->words, n->event.to);
    to->event.cause = arena_slice(&b->words, n->event.cause);
    to->event.worker = arena_slice(&b->words, n->event.worker);
}

uint32_t tape_block_count(const struct tape_block *b) {
    return b->count;
}

bool tape_block_is_full(const struct tape_block *b) {
    return b->count == TAPE_BLOCK_EVENTS;
}

const struct notice *tape_block_at(const struct tape_block *b, uint32_t i) {
    REQUIRE(i < b->count);
    return &b->notices[i];
}

struct position tape_block_last(const struct tape_block *b) {
    return notice_position(tape_block_at(b, b->count - 1));
}

static void form_make(struct tape_block *b, enum tape_form form) {
    struct buf *out = &b->forms[form].bytes, text;
    buf_init(&text, MESSAGE_BYTES_MAX);
    for (uint32_t i = b->forms[form].made; i < b->count; i++) {
        const struct notice *n = &b->notices[i];
        struct position at = notice_position(n);
        buf_clear(&text);
        forms[form].dialect->event(&text, &n->event);
        tape_frame_put(form, notice_kind_word(n->kind), &at, buf_slice(&text), out);
        b->forms[form].ends[i] = (uint32_t)out->len;
    }
    buf_fini(&text);
    ENSURE(!out->full); /* each word is bounded, and so is their number */
    b->forms[form].made = b->count;
}

struct slice tape_block_bytes(struct tape_block *b, enum tape_form form, uint32_t first, uint32_t end) {
    REQUIRE(first <= end && end <= b->count);
    if (first == end) return (struct slice){0};
    if (b->forms[form].made < end) form_make(b, form);
    const uint32_t *ends = b->forms[form].ends;
    uint32_t start = first == 0 ? 0 : ends[first - 1];
    return slice_of(b->forms[form].bytes.at + start, ends[end - 1] - start);
}

/* ---- the tape ---- */

static struct tape_block *block_at(const struct tape *t, uint32_t i) {
    return *(struct tape_block **)vec_at(&t->blocks, i);
}

void tape_init(struct tape *t) {
    *t = (struct tape){.first = 1, .next = 1};
    vec_init(&t->blocks, sizeof(struct tape_block *));
}

void tape_fini(struct tape *t) {
    tape_clear(t, 1);
    vec_fini(&t->blocks);
}

void tape_clear(struct tape *t, uint64_t next) {
    for (uint32_t i = 0; i < t->blocks.count; i++) tape_block_free(block_at(t, i));
    t->blocks.count = 0;
    t->first = t->next = next;
}

void tape_push(struct tape *t, const struct notice *n) {
    uint32_t count = t->blocks.count;
    struct tape_block *last = count > 0 ? block_at(t, count - 1) : NULL;
    if (last == NULL || tape_block_is_full(last)) {
        last = tape_block_new();
        *(struct tape_block **)vec_push(&t->blocks) = last;
    }
    tape_block_add(last, n);
    t->next++;
}

struct tape_block *tape_find(const struct tape *t, uint64_t number, uint32_t *ret_index) {
    uint64_t at = t->first;
    if (number < t->first || number >= t->next) return NULL;
    for (uint32_t i = 0; i < t->blocks.count; i++) {
        struct tape_block *b = block_at(t, i);
        if (number < at + b->count) {
            *ret_index = (uint32_t)(number - at);
            return b;
        }
        at += b->count;
    }
    return NULL;
}

void tape_trim(struct tape *t, uint64_t number) {
    uint32_t gone = 0;
    while (gone < t->blocks.count && t->first + block_at(t, gone)->count <= number) {
        t->first += block_at(t, gone)->count;
        tape_block_free(block_at(t, gone++));
    }
    if (gone == 0) return;
    t->blocks.count -= gone;
    if (t->blocks.count > 0)
        memmove(t->blocks.at, vec_at(&t->blocks, gone), (size_t)t->blocks.count * t->blocks.elem_bytes);
    else
        t->first = t->next;
}
