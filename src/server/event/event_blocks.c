/* event_blocks.c: see event_blocks.h. */
#include "event_blocks.h"

#include "event_view.h"
#include "panic.h"
#include "websocket.h"

#define WORDS_CHUNK_BYTES 16384u
#define WORDS_BYTES_MAX ((size_t)1 << 26)
#define FORM_BYTES_MAX ((size_t)1 << 26)
#define MESSAGE_BYTES_MAX ((size_t)1 << 20)

static const struct {
    const struct event_wording *wording;
    enum event_frame frame;
} forms[EVENT_FORM_COUNT] = {
#define X(form, wording, frame) [form] = {wording, frame},
    EVENT_FORM_TABLE(X)
#undef X
};

const struct event_wording *event_blocks_wording(enum event_form form) {
    return forms[form].wording;
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

void event_frame_put(enum event_form form, const char *type, const struct position *at, struct slice text,
                     struct buf *out) {
    if (text.len == 0) return;
    switch (forms[form].frame) {
    case EVENT_FRAME_WEBSOCKET:
        websocket_head_put(out, WEBSOCKET_TEXT, text.len);
        buf_put_slice(out, text);
        break;
    case EVENT_FRAME_SSE: put_sse(type, at, text, out); break;
    }
}

/* ---- blocks ---- */

struct event_block {
    struct arena words; /* holds this object too */
    uint32_t count;
    struct event_view notices[EVENT_BLOCK_EVENTS];
    struct {
        uint32_t made; /* events that are in `bytes` */
        struct buf bytes;
        uint32_t ends[EVENT_BLOCK_EVENTS]; /* of each event in `bytes` */
    } forms[EVENT_FORM_COUNT];
};

struct event_block *event_block_new(void) {
    struct arena words;
    arena_init(&words, sizeof(struct event_block) + WORDS_CHUNK_BYTES, WORDS_BYTES_MAX);
    struct event_block *b = ARENA_NEW(&words, struct event_block);
    b->words = words;
    for (uint32_t i = 0; i < EVENT_FORM_COUNT; i++) buf_init(&b->forms[i].bytes, FORM_BYTES_MAX);
    return b;
}

void event_block_free(struct event_block *b) {
    if (b == NULL) return;
    for (uint32_t i = 0; i < EVENT_FORM_COUNT; i++) buf_fini(&b->forms[i].bytes);
    struct arena words = b->words;
    arena_fini(&words);
}

void event_block_add(struct event_block *b, const struct event_view *n) {
    REQUIRE(b->count < EVENT_BLOCK_EVENTS);
    struct event_view *to = &b->notices[b->count++];
    *to = *n;
    to->tenant = arena_slice(&b->words, n->tenant);
    to->event.kind = slice_str(event_view_kind_word(n->kind));
    to->event.target = arena_slice(&b->words, n->event.target);
    to->event.from = arena_slice(&b->words, n->event.from);
    to->event.to = arena_slice(&b->words, n->event.to);
    to->event.cause = arena_slice(&b->words, n->event.cause);
    to->event.worker = arena_slice(&b->words, n->event.worker);
}

uint32_t event_block_count(const struct event_block *b) {
    return b->count;
}

bool event_block_is_full(const struct event_block *b) {
    return b->count == EVENT_BLOCK_EVENTS;
}

const struct event_view *event_block_at(const struct event_block *b, uint32_t i) {
    REQUIRE(i < b->count);
    return &b->notices[i];
}

struct position event_block_last(const struct event_block *b) {
    return event_view_position(event_block_at(b, b->count - 1));
}

static void form_make(struct event_block *b, enum event_form form) {
    struct buf *out = &b->forms[form].bytes, text;
    buf_init(&text, MESSAGE_BYTES_MAX);
    for (uint32_t i = b->forms[form].made; i < b->count; i++) {
        const struct event_view *n = &b->notices[i];
        struct position at = event_view_position(n);
        buf_clear(&text);
        forms[form].wording->event(&text, &n->event);
        event_frame_put(form, event_view_kind_word(n->kind), &at, buf_slice(&text), out);
        b->forms[form].ends[i] = (uint32_t)out->len;
    }
    buf_fini(&text);
    ENSURE(!out->full); /* each word is bounded, and so is their number */
    b->forms[form].made = b->count;
}

struct slice event_block_bytes(struct event_block *b, enum event_form form, uint32_t first, uint32_t end) {
    REQUIRE(first <= end && end <= b->count);
    if (first == end) return (struct slice){0};
    if (b->forms[form].made < end) form_make(b, form);
    const uint32_t *ends = b->forms[form].ends;
    uint32_t start = first == 0 ? 0 : ends[first - 1];
    return slice_of(b->forms[form].bytes.at + start, ends[end - 1] - start);
}

/* ---- the tape ---- */

static struct event_block *block_at(const struct event_blocks *t, uint32_t i) {
    return *(struct event_block **)vec_at(&t->blocks, i);
}

void event_blocks_init(struct event_blocks *t) {
    *t = (struct event_blocks){.first = 1, .next = 1};
    vec_init(&t->blocks, sizeof(struct event_block *));
}

void event_blocks_fini(struct event_blocks *t) {
    event_blocks_clear(t, 1);
    vec_fini(&t->blocks);
}

void event_blocks_clear(struct event_blocks *t, uint64_t next) {
    for (uint32_t i = 0; i < t->blocks.count; i++) event_block_free(block_at(t, i));
    t->blocks.count = 0;
    t->first = t->next = next;
}

void event_blocks_push(struct event_blocks *t, const struct event_view *n) {
    uint32_t count = t->blocks.count;
    struct event_block *last = count > 0 ? block_at(t, count - 1) : NULL;
    if (last == NULL || event_block_is_full(last)) {
        last = event_block_new();
        *(struct event_block **)vec_push(&t->blocks) = last;
    }
    event_block_add(last, n);
    t->next++;
}

struct event_block *event_blocks_find(const struct event_blocks *t, uint64_t number, uint32_t *ret_index) {
    uint64_t at = t->first;
    if (number < t->first || number >= t->next) return NULL;
    for (uint32_t i = 0; i < t->blocks.count; i++) {
        struct event_block *b = block_at(t, i);
        if (number < at + b->count) {
            *ret_index = (uint32_t)(number - at);
            return b;
        }
        at += b->count;
    }
    return NULL;
}

void event_blocks_trim(struct event_blocks *t, uint64_t number) {
    uint32_t gone = 0;
    while (gone < t->blocks.count && t->first + block_at(t, gone)->count <= number) {
        t->first += block_at(t, gone)->count;
        event_block_free(block_at(t, gone++));
    }
    if (gone == 0) return;
    t->blocks.count -= gone;
    if (t->blocks.count > 0)
        memmove(t->blocks.at, vec_at(&t->blocks, gone), (size_t)t->blocks.count * t->blocks.elem_bytes);
    else
        t->first = t->next;
}
