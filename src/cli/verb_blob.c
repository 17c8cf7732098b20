/* verb_blob.c: blobs, in parts. Memory does not grow with the blob, but for one that comes from a pipe. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "out.h"
#include "verbs.h"

#define PART_BYTES (1u << 20)

static void hex(const uint8_t *bytes, size_t len, char *out) {
    for (size_t i = 0; i < len; i++) snprintf(out + i * 2, 3, "%02x", bytes[i]);
}

enum err blob_hash_parse(struct cli *c, const char *text, struct slice *ret) {
    uint8_t *hash = arena_alloc(&c->arena, DIGEST_BYTES);
    bool good = strlen(text) == DIGEST_BYTES * 2;
    for (size_t i = 0; good && i < DIGEST_BYTES; i++) {
        unsigned byte = 0;
        good = sscanf(text + i * 2, "%2x", &byte) == 1;
        hash[i] = (uint8_t)byte;
    }
    if (!good)
        return cli_refuse(c, ERR_INVALID, "expected the hash of a blob (64 hexadecimal digits), found `%s`", text);
    *ret = slice_of(hash, DIGEST_BYTES);
    return ERR_OK;
}

static enum err state_of(struct cli *c, enum wire_op op, const void *m, struct wire_blob_state *ret) {
    struct client_frame f;
    enum err e = client_ask(&c->client, op, m, &f, c->why);
    if (e != ERR_OK) return e;
    if (f.op != WIRE_BLOB_STATE) return cli_refuse(c, ERR_UNSUPPORTED, "an answer of another kind");
    *ret = *(const struct wire_blob_state *)f.message;
    return ERR_OK;
}

enum err blob_put(struct cli *c, struct slice bytes, struct slice *ret_hash) {
    uint8_t *hash = arena_alloc(&c->arena, DIGEST_BYTES);
    c->world->hasher->whole(c->world->hasher, bytes, hash);
    struct wire_blob_state state;
    struct wire_blob_begin begin = {.hash = slice_of(hash, DIGEST_BYTES), .bytes = bytes.len};
    enum err e = state_of(c, WIRE_BLOB_BEGIN, &begin, &state);
    while (e == ERR_OK && !state.stored && state.offset < bytes.len) {
        size_t left = bytes.len - state.offset;
        struct wire_blob_part part = {.upload = state.upload,
                                      .offset = state.offset,
                                      .data =
                                          slice_of(bytes.ptr + state.offset, left > PART_BYTES ? PART_BYTES : left)};
        uint64_t upload = state.upload;
        e = state_of(c, WIRE_BLOB_PART, &part, &state);
        state.upload = upload;
    }
    if (e == ERR_OK && !state.stored) {
        struct wire_blob_end end = {.upload = state.upload, .hash = slice_of(hash, DIGEST_BYTES)};
        e = state_of(c, WIRE_BLOB_END, &end, &state);
        if (e == ERR_OK && !state.stored) e = cli_refuse(c, ERR_UNKNOWN, "the server did not say that it has the blob");
    }
    if (e == ERR_OK) *ret_hash = slice_of(hash, DIGEST_BYTES);
    return e;
}

enum err verb_blob_put(struct cli *c) {
    struct slice bytes = {0}, hash = {0};
    char text[2 * DIGEST_BYTES + 1];
    enum err e = file_read(c, c->args[0], (size_t)3 << 30, &bytes);
    if (e == ERR_OK) e = blob_put(c, bytes, &hash);
    if (e != ERR_OK) return e;
    hex(hash.ptr, hash.len, text);
    if (c->json)
        printf("{\"hash\":\"%s\",\"bytes\":%zu}\n", text, bytes.len);
    else
        printf("%s\n", text);
    return ERR_OK;
}

enum err verb_blob_get(struct cli *c) {
    const char *path = cli_flag(c, "output");
    struct client_frame f;
    struct wire_blob_get m = {0};
    enum err e = blob_hash_parse(c, c->args[0], &m.hash);
    if (e != ERR_OK) return e;
    e = client_ask(&c->client, WIRE_BLOB_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    FILE *to = path != NULL ? fopen(path, "we") : stdout;
    if (to == NULL) return cli_refuse(c, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    while (e == ERR_OK) {
        const struct wire_blob_data *got = f.message;
        if (fwrite(got->data.ptr, 1, got->data.len, to) != got->data.len)
            e = cli_refuse(c, ERR_IO, "%s: %s", path != NULL ? path : "output", strerrordesc_np(errno));
        if (e != ERR_OK || !(f.flags & FRAME_MORE)) break;
        client_forget(&c->client);
        e = client_answer(&c->client, f.request, &f, c->why);
    }
    if (path != NULL && fclose(to) != 0 && e == ERR_OK)
        e = cli_refuse(c, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    return e;
}

enum err verb_blob_ls(struct cli *c) {
    static const char *const heads[] = {"HASH", "SIZE"};
    uint64_t most = 50;
    struct wire_blob_ls m = {0};
    struct out_table t;
    char size[OUT_TIME_BYTES], hash[2 * DIGEST_BYTES + 1];
    enum err e = cli_flag_number(c, "limit", 1000000, &most);
    if (cli_flag(c, "all") != NULL) most = UINT64_MAX;
    out_table_init(&t, c, 2, heads);
    while (e == ERR_OK && most > 0) {
        struct client_frame f;
        m.most = most > 1000 ? 1000 : (uint32_t)most;
        e = client_ask(&c->client, WIRE_BLOB_LS, &m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_blob_list *page = f.message;
        const struct wire_blob_view *list = page->blobs.at;
        for (uint32_t i = 0; i < page->blobs.count; i++) {
            if (c->json) out_json(&wire_blob_view_desc, &list[i]);
            if (c->json || list[i].hash.len != DIGEST_BYTES) continue;
            hex(list[i].hash.ptr, list[i].hash.len, hash);
            out_cell(&t, OUT_PLAIN, "%s", hash);
            out_cell(&t, OUT_PLAIN, "%s", out_bytes(list[i].bytes, size));
        }
        most -= page->blobs.count < most ? page->blobs.count : most;
        if (page->cursor.len == 0) break;
        m.cursor = page->cursor;
    }
    if (e == ERR_OK && !c->json)
        out_table_end(&t);
    else
        vec_fini(&t.cells);
    return e;
}
