/* mcp_fuzz.c: a text of an agent may be anything. Whatever it leads to can be encoded; the server answers with what the
 * rest of the input says, with refusals, with empty messages, or is gone. What is said in the end is a line of JSON.
 *
 * The first byte says how the server answers, two more how long the text is; messages of the server are behind it. */
#include "limit.h"
#include "mcp.h"
#include "panic.h"

#define ASKS_MAX 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hash(void *ctx, struct slice bytes, uint8_t ret[32]) {
    (void)ctx;
    memset(ret, (int)bytes.len, 32);
}

static void notify(void *ctx, struct slice message) {
    (void)ctx;
    ENSURE(memchr(message.ptr, '\n', message.len) == NULL);
}

static enum err file(void *ctx, struct slice path, struct slice beside, struct arena *arena, struct slice *ret,
                     struct why *why) {
    (void)ctx, (void)beside, (void)arena, (void)why;
    *ret = path; /* so the fuzzer says what is in it */
    return ERR_OK;
}

static enum err yaml(void *ctx, struct slice text, struct arena *arena, const struct json_node **ret, struct why *why) {
    return json_tree_read(text, ctx, arena, ret, why);
}

/* The message that answers: of the given bytes, or with nothing in it. */
static const void *answer_of(uint8_t op, struct slice bytes, struct arena *arena) {
    const struct tlv_desc *d = wire_info(op)->desc;
    void *message = arena_alloc(arena, d->size);
    struct why why;
    if (tlv_decode(d, bytes, TLV_SKIP_UNKNOWN, arena, message, &why) != ERR_OK) memset(message, 0, d->size);
    return message;
}

static void serve(struct mcp_exchange *x, uint8_t how, struct slice bytes) {
    struct arena arena;
    uint8_t op = 0;
    const void *message;
    arena_init(&arena, 65536, (size_t)1 << 30);
    for (uint32_t asked = 0; (message = mcp_asks(x, &op)) != NULL; asked++) {
        struct buf frame;
        buf_init(&frame, (size_t)1 << 28);
        wire_put(&frame, (enum wire_op)op, 0, 1, message);
        buf_fini(&frame);
        unsigned turn = asked < ASKS_MAX ? ((unsigned)how >> (asked % 4 * 2)) & 3u : 1u;
        uint8_t answer = turn == 0 ? wire_info(op)->answer : turn == 1 ? WIRE_ERROR : turn == 2 ? WIRE_BUSY : 0;
        if (answer == 0) {
            mcp_fail(x, SLICE("gone"));
            continue;
        }
        const void *part = answer_of(answer, bytes, &arena);
        mcp_hear(x, answer, &part, 1);
    }
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct limits limits;
    struct mcp_exchange x;
    enum mcp_revision revision = MCP_2025_06_18;
    const struct json_node *root;
    struct arena arena;
    struct why why;
    if (size < 3) return 0;
    size_t len = (size_t)data[1] | (size_t)data[2] << 8, rest = size - 3;
    if (len > rest) len = rest;
    limits_default(&limits);
    struct mcp_world world = {.ctx = &limits,
                              .limits = &limits,
                              .wall_ms = 1,
                              .place = "127.0.0.1:7070",
                              .version = "0",
                              .hash = hash,
                              .file = data[0] & 1 ? file : NULL,
                              .yaml = yaml,
                              .notify = data[0] & 2 ? notify : NULL};
    mcp_begin(&x, &world, &revision, slice_of(data + 3, len));
    serve(&x, data[0], slice_of(data + 3 + len, rest - len));
    struct slice said = mcp_said(&x);
    ENSURE(said.len == 0 || memchr(said.ptr, '\n', said.len) == NULL);
    arena_init(&arena, 65536, (size_t)1 << 30);
    ENSURE(said.len == 0 || json_tree_read(said, &limits, &arena, &root, &why) == ERR_OK);
    arena_fini(&arena);
    mcp_end(&x);
    return 0;
}
