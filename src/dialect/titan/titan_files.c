/* titan_files.c: files by Titan's protocol. What there are two folders for, `uploads` and `perm_files`, is one name
 * space here: a blob of the tenant, and the key `titan:file:NAME` of its store that says which, how long it is and when
 * it came: `HASH BYTES MS`. The sweep keeps blobs that are named so. */
#include "titan_files.h"

#include <stdio.h>

#include "base64.h"
#include "server_impl.h"
#include "session.h"
#include "titan_impl.h"
#include "titan_job.h"
#include "upload.h"

#define PIECE_BYTES ((size_t)65536)
#define FETCH_BYTES_MAX ((size_t)TITAN_BODY_BYTES_MAX * 4) /* of a file as base64; others are fetched by HTTP */

/* ---- blobs ---- */

void titan_keep(struct server *s, struct session *n, struct slice bytes, titan_told_fn then) {
    struct titan_talk *t = talk_of(n);
    struct why why = {{0}};
    uint64_t number = 0;
    t->request = t->request == UINT32_MAX ? 1 : t->request + 1;
    t->told = then;
    enum err e = upload_begin(s, n, bytes.len, NULL, &number, &why);
    for (size_t at = 0; e == ERR_OK && at < bytes.len; at += PIECE_BYTES) {
        size_t left = bytes.len - at;
        e = upload_part(s, number, slice_of(bytes.ptr + at, left < PIECE_BYTES ? left : PIECE_BYTES), &why);
    }
    if (e == ERR_OK) e = upload_end(s, number, t->request, true, &why);
    if (e == ERR_OK) return;
    upload_drop(s, number);
    titan_sayf(s, n, "ERROR: %s", why.text);
}

/* ---- names ---- */

struct slice titan_file_key(struct session *n, struct slice name) {
    size_t prefix = sizeof TITAN_FILE_PREFIX - 1;
    uint8_t *key = arena_space(&talk_of(n)->arena, prefix + name.len + 1);
    memcpy(key, TITAN_FILE_PREFIX, prefix);
    if (name.len > 0) memcpy(key + prefix, name.ptr, name.len);
    return slice_of(key, prefix + name.len);
}

bool titan_file_hash(struct slice value, struct arena *arena, struct slice *ret) {
    uint8_t *hash = arena_alloc(arena, DIGEST_BYTES);
    if (value.len < 2 * DIGEST_BYTES) return false;
    for (size_t i = 0; i < 2 * DIGEST_BYTES; i++) {
        uint8_t c = value.ptr[i];
        int half = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (half < 0) return false;
        hash[i / 2] = (uint8_t)(i % 2 == 0 ? half << 4 : hash[i / 2] | half);
    }
    *ret = slice_of(hash, DIGEST_BYTES);
    return true;
}

/* ---- up ---- */

struct upload_words { /* the two verbs differ in nothing else */
    const char *done, *malformed, *bad_name, *failed, *folder;
};

static const struct upload_words asset_words = {"UPLOAD_SUCCESS", "ERROR: Invalid Upload Payload",
                                                "ERROR: Invalid asset name (path traversal rejected)", "UPLOAD_FAILED",
                                                "uploads"};
static const struct upload_words script_words = {"DEPLOY_SUCCESS", "ERROR: Invalid Deploy Payload",
                                                 "ERROR: Invalid script name (path traversal rejected)",
                                                 "DEPLOY_FAILED", "perm_files"};

struct upload_work {
    const struct upload_words *words;
    struct slice name;
};

static void named_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct upload_work *w = talk_of(n)->work;
    (void)more;
    if (op == WIRE_ERROR)
        titan_sayf(s, n, "%s: %.*s", w->words->failed, SLICE_FMT(((const struct wire_error *)message)->message));
    else if (!titan_refused(s, n, op, message))
        titan_say(s, n, slice_str(w->words->done));
}

static void kept_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct upload_work *w = talk_of(n)->work;
    const struct wire_blob_kept *m = message;
    char value[2 * DIGEST_BYTES + 64];
    size_t len = 0;
    (void)more;
    if (op != WIRE_BLOB_KEPT) {
        named_told(s, n, op, message, false);
        return;
    }
    for (size_t i = 0; i < m->hash.len; i++) len += (size_t)snprintf(value + len, 3, "%02x", m->hash.ptr[i]);
    len += (size_t)snprintf(value + len, sizeof value - len, " %llu %lld", (unsigned long long)m->bytes,
                            (long long)s->world.clock->wall(s->world.clock).ms);
    struct wire_kv_entry entry = {titan_file_key(n, w->name), slice_of(value, len)};
    struct wire_kv_change change = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
    titan_ask(s, n, WIRE_KV_CHANGE, &change, named_told);
}

/* As there: out of the folder is refused by one text, into a folder that is not there by another; we have none. */
static bool is_outside(struct slice name) {
    if (name.len == 0 || name.ptr[0] == '/' || memchr(name.ptr, 0, name.len) != NULL) return true;
    for (size_t i = 0, from = 0; i <= name.len; i++) {
        if (i < name.len && name.ptr[i] != '/') continue;
        if (i - from == 2 && memcmp(name.ptr + from, "..", 2) == 0) return true;
        from = i + 1;
    }
    return name.len == 1 && name.ptr[0] == '.';
}

static void upload(struct server *s, struct session *n, struct slice body, const struct upload_words *words) {
    struct upload_work *w = ARENA_NEW(&talk_of(n)->arena, struct upload_work);
    struct slice bytes = {0};
    struct why why = {{0}};
    talk_of(n)->work = w;
    w->words = words;
    if (!titan_cut(&body, &w->name)) {
        titan_say(s, n, slice_str(words->malformed));
        return;
    }
    w->name = titan_trim(w->name);
    if (is_outside(w->name))
        titan_say(s, n, slice_str(words->bad_name));
    else if (memchr(w->name.ptr, '/', w->name.len) != NULL)
        titan_sayf(s, n, "%s: %s/%.*s", words->failed, words->folder, SLICE_FMT(w->name));
    else if (base64_read(titan_trim(body), &talk_of(n)->arena, &bytes, &why) != ERR_OK)
        titan_sayf(s, n, "%s: %s", words->failed, why.text);
    else
        titan_keep(s, n, bytes, kept_told);
}

void titan_file_put(struct server *s, struct session *n, struct slice name, struct slice bytes) {
    struct upload_work *w = ARENA_NEW(&talk_of(n)->arena, struct upload_work);
    *w = (struct upload_work){&script_words, name};
    talk_of(n)->work = w;
    titan_keep(s, n, bytes, kept_told);
}

void titan_upload(struct server *s, struct session *n, struct slice body) {
    upload(s, n, body, &asset_words);
}

void titan_deploy_script(struct server *s, struct session *n, struct slice body) {
    upload(s, n, body, &script_words);
}

/* ---- down ---- */

struct fetch_work {
    uint8_t *bytes;
    uint64_t len, room;
};

static void fetch_say(struct server *s, struct session *n, const struct fetch_work *w) {
    struct buf text;
    buf_init(&text, FETCH_BYTES_MAX / 3 * 4 + 8);
    base64_put(&text, slice_of(w->bytes, (size_t)w->len));
    titan_say(s, n, buf_slice(&text));
    buf_fini(&text);
}

static void piece_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct fetch_work *w = talk_of(n)->work;
    const struct wire_blob_data *m = message;
    if (op == WIRE_ERROR) {
        titan_sayf(s, n, "ERROR_READING_FILE: %.*s", SLICE_FMT(((const struct wire_error *)message)->message));
        return;
    }
    if (titan_refused(s, n, op, message)) return;
    if (w->bytes == NULL) {
        if (m->bytes > FETCH_BYTES_MAX) {
            titan_sayf(s, n, "ERROR_READING_FILE: it has %llu bytes, too many for a frame",
                       (unsigned long long)m->bytes);
            return;
        }
        w->room = m->bytes;
        w->bytes = arena_space(&talk_of(n)->arena, (size_t)m->bytes + 1);
    }
    if (w->len + m->data.len <= w->room && m->data.len > 0) memcpy(w->bytes + w->len, m->data.ptr, m->data.len);
    w->len += m->data.len;
    if (!more) fetch_say(s, n, w);
}

static void name_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_kv_items *m = message;
    struct wire_blob_get get = {0};
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_kv_item *item = m->items.at;
    if (m->items.count == 0 || !titan_file_hash(item->value, &talk_of(n)->arena, &get.hash)) {
        titan_say(s, n, SLICE("ERROR_NOT_FOUND"));
        return;
    }
    talk_of(n)->work = ARENA_NEW(&talk_of(n)->arena, struct fetch_work);
    titan_ask(s, n, WIRE_BLOB_GET, &get, piece_told);
}

void titan_fetch(struct server *s, struct session *n, struct slice body) {
    struct slice name = titan_trim(body);
    struct wire_kv_key key = {titan_file_key(n, name)};
    struct wire_kv_get get = {.keys = {&key, 1}};
    if (name.len == 0 || key.text.len > (size_t)s->limits->store_key_bytes_max)
        titan_say(s, n, SLICE("ERROR_NOT_FOUND"));
    else
        titan_ask(s, n, WIRE_KV_GET, &get, name_told);
}
