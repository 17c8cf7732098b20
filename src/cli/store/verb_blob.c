/* verb_blob.c: blobs and artifacts, in parts: memory does not grow with them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api_print.h"
#include "hex.h"
#include "named.h"
#include "out.h"
#include "progress.h"
#include "verbs.h"

#define PART_BYTES (1u << 20)

enum err blob_hash_parse(struct cli *c, const char *text, struct slice *ret) {
    uint8_t *hash = arena_alloc(&c->arena, DIGEST_BYTES);
    bool good = strlen(text) == DIGEST_BYTES * 2;
    for (size_t i = 0; good && i < DIGEST_BYTES; i++) {
        unsigned byte = 0;
        good = sscanf(text + i * 2, "%2x", &byte) == 1;
        hash[i] = (uint8_t)byte;
    }
    if (!good)
        return cli_refuse(c, ERR_INVALID,
                          "expected the hash of a blob (64 hexadecimal digits, or at least the first %u), found `%s`",
                          NAMED_HASH_DIGITS_LEAST, text);
    *ret = slice_of(hash, DIGEST_BYTES);
    return ERR_OK;
}

static enum err state_of(struct cli *c, enum wire_op op, const void *m, struct wire_blob_state *ret) {
    struct client_frame f;
    enum err e = client_ask(&c->client, op, m, &f, c->why);
    if (e != ERR_OK) return e;
    if (f.op != WIRE_BLOB_STATE) return cli_refuse(c, ERR_UNSUPPORTED, "unexpected answer from the server");
    *ret = *(const struct wire_blob_state *)f.message;
    return ERR_OK;
}

/* ---- putting ---- */

/* Where the bytes come from: memory, or a file of which only a part is held at a time. */
struct blob_source {
    const char *path; /* for people */
    int fd;           /* -1: memory */
    struct slice rest;
    uint8_t *part; /* PART_BYTES */
    struct digest_run *run;
};

/* The next part; empty at the end. What is read is hashed on the way. */
static enum err source_next(struct cli *c, struct blob_source *s, struct slice *ret) {
    size_t len = 0;
    if (s->fd < 0) {
        *ret = slice_of(s->rest.ptr, s->rest.len < PART_BYTES ? s->rest.len : PART_BYTES);
        s->rest = slice_of(s->rest.ptr + ret->len, s->rest.len - ret->len);
    } else {
        while (len < PART_BYTES) {
            ssize_t n = read(s->fd, s->part + len, PART_BYTES - len);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return cli_refuse(c, ERR_IO, "%s: %s", s->path, strerrordesc_np(errno));
            if (n == 0) break;
            len += (size_t)n;
        }
        *ret = slice_of(s->part, len);
    }
    if (ret->len > 0) c->world->hasher->more(s->run, *ret);
    return ERR_OK;
}

static void source_hash_begin(struct cli *c, struct blob_source *s) {
    s->run = c->world->hasher->begin(c->world->hasher);
}

static void source_hash_end(struct cli *c, struct blob_source *s, uint8_t hash[DIGEST_BYTES]) {
    c->world->hasher->end(s->run, hash);
    s->run = NULL;
}

/* Sends all of it; `begin` may say the hash already, and then nothing is sent that the server has. */
static enum err put_parts(struct cli *c, struct blob_source *s, const struct wire_blob_begin *begin,
                          uint8_t hash[DIGEST_BYTES], uint64_t *ret_bytes) {
    struct wire_blob_state state;
    struct slice part = {0};
    enum err e = state_of(c, WIRE_BLOB_BEGIN, begin, &state);
    *ret_bytes = begin->bytes;
    if (e != ERR_OK || state.stored) return e;
    uint64_t upload = state.upload, at = 0;
    struct progress progress;
    progress_begin(&progress, c, s->path, begin->bytes);
    source_hash_begin(c, s);
    for (;;) {
        e = source_next(c, s, &part);
        if (e != ERR_OK || part.len == 0) break;
        struct wire_blob_part m = {.upload = upload, .offset = at, .data = part};
        e = state_of(c, WIRE_BLOB_PART, &m, &state);
        if (e != ERR_OK) break;
        at += part.len;
        progress_step(&progress, at);
        client_forget(&c->client);
    }
    progress_end(&progress);
    source_hash_end(c, s, hash);
    if (e != ERR_OK) return e;
    struct wire_blob_end end = {.upload = upload, .hash = slice_of(hash, DIGEST_BYTES)};
    e = state_of(c, WIRE_BLOB_END, &end, &state);
    if (e == ERR_OK && !state.stored) e = cli_refuse(c, ERR_UNKNOWN, "the server did not confirm the blob");
    *ret_bytes = at;
    return e;
}

enum err blob_put(struct cli *c, const char *path, struct slice bytes, struct slice *ret_hash) {
    uint8_t *hash = arena_alloc(&c->arena, DIGEST_BYTES);
    uint64_t sent = 0;
    struct blob_source s = {.path = path, .fd = -1, .rest = bytes};
    c->world->hasher->whole(c->world->hasher, bytes, hash);
    struct wire_blob_begin begin = {.hash = slice_of(hash, DIGEST_BYTES), .bytes = bytes.len};
    enum err e = put_parts(c, &s, &begin, hash, &sent);
    if (e == ERR_OK) *ret_hash = slice_of(hash, DIGEST_BYTES);
    return e;
}

/* A file that can be read twice is hashed first: what the server has is not sent again. */
static enum err hash_first(struct cli *c, struct blob_source *s, uint8_t hash[DIGEST_BYTES],
                           struct wire_blob_begin *ret) {
    struct slice part = {0};
    struct stat st;
    enum err e = ERR_OK;
    if (fstat(s->fd, &st) != 0) return cli_refuse(c, ERR_IO, "%s: %s", s->path, strerrordesc_np(errno));
    if (S_ISDIR(st.st_mode)) return cli_refuse(c, ERR_INVALID, "%s is a directory: a blob is one file", s->path);
    off_t from = lseek(s->fd, 0, SEEK_CUR);
    if (!S_ISREG(st.st_mode) || from < 0) return ERR_OK;
    source_hash_begin(c, s);
    do {
        e = source_next(c, s, &part);
        ret->bytes += part.len;
    } while (e == ERR_OK && part.len > 0);
    source_hash_end(c, s, hash);
    if (e == ERR_OK && lseek(s->fd, from, SEEK_SET) != from)
        e = cli_refuse(c, ERR_IO, "%s: %s", s->path, strerrordesc_np(errno));
    ret->hash = slice_of(hash, DIGEST_BYTES);
    return e;
}

/* ---- keeping: a key of the tenant's store says that someone wants it ---- */

static struct slice keep_key(struct cli *c, const char *hash) {
    char *key = arena_alloc(&c->arena, 2 * DIGEST_BYTES + 8);
    snprintf(key, 2 * DIGEST_BYTES + 8, "blob:%s", hash);
    return slice_str(key);
}

static enum err keep(struct cli *c, const char *hash, const char *path) {
    struct wire_kv_entry entry = {.key = keep_key(c, hash), .value = slice_str(path)};
    struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
    struct client_frame f;
    int64_t ms = 0;
    enum err e = cli_flag_duration(c, "for", &ms);
    if (ms > 0) m.expires_ms = c->world->clock->wall(c->world->clock).ms + ms;
    return e == ERR_OK ? client_ask(&c->client, WIRE_KV_CHANGE, &m, &f, c->why) : e;
}

enum err verb_blob_rm(struct cli *c) {
    struct wire_kv_entry *entries = ARENA_ARRAY(&c->arena, struct wire_kv_entry, (uint32_t)c->arg_count);
    struct client_frame f;
    for (int i = 0; i < c->arg_count; i++) {
        struct slice hash;
        enum err e = blob_hash_parse(c, c->args[i], &hash);
        if (e != ERR_OK) return e;
        entries[i].key = keep_key(c, c->args[i]);
    }
    struct wire_kv_change m = {
        .op = WIRE_KV_DELETE, .entries = {entries, (uint32_t)c->arg_count}, .condition = WIRE_KV_IF_PRESENT};
    enum err e = client_ask(&c->client, WIRE_KV_CHANGE, &m, &f, c->why);
    if (e == ERR_CONFLICT || e == ERR_NOT_FOUND)
        return cli_refuse(c, ERR_NOT_FOUND,
                          "%s is not kept by `blob put`; an unreferenced blob is removed automatically", c->args[0]);
    if (e != ERR_OK) return e;
    if (c->json) api_print_answer(c, "POST /store", f.op, f.message);
    for (int i = 0; i < c->arg_count && !c->json; i++) printf("%s is no longer kept\n", c->args[i]);
    return ERR_OK;
}

enum err verb_blob_put(struct cli *c) {
    bool is_stdin = strcmp(c->args[0], "-") == 0;
    struct blob_source s = {.path = is_stdin ? "standard input" : c->args[0]};
    uint8_t hash[DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];
    struct wire_blob_begin begin = {0};
    uint64_t bytes = 0;
    s.fd = is_stdin ? STDIN_FILENO : open(c->args[0], O_RDONLY | O_CLOEXEC);
    if (s.fd < 0)
        return cli_refuse(c, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", s.path, strerrordesc_np(errno));
    s.part = arena_alloc(&c->arena, PART_BYTES);
    enum err e = hash_first(c, &s, hash, &begin);
    if (e == ERR_OK) e = put_parts(c, &s, &begin, hash, &bytes);
    if (!is_stdin) close(s.fd);
    if (e != ERR_OK) return e;
    hex_write(slice_of(hash, sizeof hash), text);
    e = keep(c, text, s.path);
    if (e != ERR_OK) return e;
    if (c->json)
        printf("{\"hash\":\"%s\",\"bytes\":%llu}\n", text, (unsigned long long)bytes);
    else
        printf("%s\n", text);
    return ERR_OK;
}

/* ---- getting ---- */

/* All frames of the answer go to `to`; what came is compared with the name it was asked by. */
static enum err copy_blob(struct cli *c, struct slice hash, struct client_frame *f, FILE *to, const char *path) {
    struct digest_run *run = c->world->hasher->begin(c->world->hasher);
    uint8_t found[DIGEST_BYTES];
    enum err e = ERR_OK;
    while (e == ERR_OK) {
        const struct wire_blob_data *got = f->message;
        c->world->hasher->more(run, got->data);
        if (fwrite(got->data.ptr, 1, got->data.len, to) != got->data.len)
            e = cli_refuse(c, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
        if (e != ERR_OK || !(f->flags & FRAME_MORE)) break;
        client_forget(&c->client);
        e = client_answer(&c->client, f->request, f, c->why);
    }
    c->world->hasher->end(run, found);
    if (e == ERR_OK && memcmp(found, hash.ptr, DIGEST_BYTES) != 0)
        e = cli_refuse(c, ERR_CORRUPT, "the received data has another hash: it was changed in transit");
    return e;
}

/* A file that could not be filled is not left behind. */
static enum err get_blob(struct cli *c, struct slice hash) {
    const char *path = cli_flag(c, "output");
    struct client_frame f;
    struct wire_blob_get m = {.hash = hash};
    enum err e = client_ask(&c->client, WIRE_BLOB_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    FILE *to = path != NULL ? fopen(path, "we") : stdout;
    if (to == NULL) return cli_refuse(c, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    e = copy_blob(c, hash, &f, to, path != NULL ? path : "output");
    int bad = path != NULL ? fclose(to) : fflush(to);
    if (bad != 0 && e == ERR_OK)
        e = cli_refuse(c, ERR_IO, "%s: %s", path != NULL ? path : "output", strerrordesc_np(errno));
    if (e != ERR_OK && path != NULL) (void)unlink(path);
    return e;
}

enum err verb_blob_get(struct cli *c) {
    struct slice hash;
    enum err e = blob_hash_parse(c, c->args[0], &hash);
    return e == ERR_OK ? get_blob(c, hash) : e;
}

static void list_artifacts(struct cli *c, const struct wire_job_view *job) {
    static const char *const heads[] = {"NAME", "SIZE", "HASH"};
    const struct wire_kept *files = job->artifacts.at;
    struct out_table t;
    char size[OUT_TIME_BYTES], hash[2 * DIGEST_BYTES + 1];
    if (!c->json) out_table_init(&t, c, 3, heads);
    for (uint32_t i = 0; i < job->artifacts.count; i++) {
        if (c->json) api_print_line(c, &wire_kept_desc, &files[i]);
        if (c->json || files[i].hash.len != DIGEST_BYTES) continue;
        hex_write(files[i].hash, hash);
        out_cell(&t, OUT_PLAIN, "%.*s", SLICE_FMT(files[i].name));
        out_cell(&t, OUT_PLAIN, "%s", out_bytes(files[i].bytes, size));
        out_cell(&t, OUT_PLAIN, "%s", hash);
    }
    if (!c->json) out_table_end(&t);
}

enum err verb_get(struct cli *c) {
    struct client_frame f;
    struct wire_get m = {.target = slice_str(c->args[0]), .details = true};
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_got *got = f.message;
    const struct wire_job_view *job = got->jobs.at;
    if (got->jobs.count != 1)
        return cli_refuse(c, ERR_INVALID, "%s is a flow of several jobs: name one of them, like %s/NAME", c->args[0],
                          c->args[0]);
    if (c->arg_count == 1) {
        list_artifacts(c, job);
        return ERR_OK;
    }
    const struct wire_kept *files = job->artifacts.at;
    for (uint32_t i = 0; i < job->artifacts.count; i++)
        if (slice_eq(files[i].name, slice_str(c->args[1]))) return get_blob(c, arena_slice(&c->arena, files[i].hash));
    return cli_refuse(c, ERR_NOT_FOUND, "%s (%.*s) has no artifact %s; `reeve get %s` lists its artifacts", c->args[0],
                      SLICE_FMT(job->state), c->args[1], c->args[0]);
}

enum err verb_blob_ls(struct cli *c) {
    static const char *const heads[] = {"HASH", "SIZE", "KEPT AS"};
    uint64_t most = 50;
    struct wire_blob_ls m = {0};
    struct out_table t;
    struct api_print answer;
    char size[OUT_TIME_BYTES], hash[2 * DIGEST_BYTES + 1];
    enum err e = cli_flag_number(c, "limit", 1000000, &most);
    if (cli_flag(c, "all") != NULL) most = UINT64_MAX;
    out_table_init(&t, c, 3, heads);
    api_print_begin(&answer, c, "/blobs");
    while (e == ERR_OK && most > 0) {
        struct client_frame f;
        m.most = most > 1000 ? 1000 : (uint32_t)most;
        e = client_ask(&c->client, WIRE_BLOB_LS, &m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_blob_list *page = f.message;
        const struct wire_blob_view *list = page->blobs.at;
        for (uint32_t i = 0; i < page->blobs.count; i++) {
            if (c->json || list[i].hash.len != DIGEST_BYTES) continue;
            hex_write(list[i].hash, hash);
            out_cell(&t, list[i].kept_as.len > 0 ? OUT_PLAIN : OUT_GREY, "%s", hash);
            out_cell(&t, OUT_PLAIN, "%s", out_bytes(list[i].bytes, size));
            out_slice(&t, OUT_PLAIN, list[i].kept_as.len > 0 ? list[i].kept_as : SLICE("-"));
        }
        if (c->json) api_print_page(&answer, f.op, page);
        most -= page->blobs.count < most ? page->blobs.count : most;
        if (page->cursor.len == 0) break;
        m.cursor = page->cursor;
    }
    api_print_end(&answer);
    if (e == ERR_OK && !c->json)
        out_table_end(&t);
    else
        vec_fini(&t.cells);
    return e;
}
