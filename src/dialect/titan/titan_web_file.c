/* titan_web_file.c: files by the interface of Titan's dashboard: those of the one name space (titan_files.c). */
#include <stdlib.h>

#include "http_dialect.h"
#include "multipart.h"
#include "server_impl.h"
#include "session.h"
#include "titan_files.h"
#include "titan_web.h"

#define FILES_PER_PAGE 1000u
#define TOKEN_BYTES_MIN 3u /* of a part of a job's name that a file may be found by */

struct file {
    struct slice name;
    uint64_t bytes, stored_ms;
    struct file *next;
};

struct files {
    struct file *first;
    uint32_t count;
    struct slice wanted; /* words with commas; empty = all */
};

/* ---- all ---- */

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

static bool has(struct slice name, struct slice word) {
    for (size_t at = 0; at + word.len <= name.len; at++) {
        size_t i = 0;
        while (i < word.len && lower(name.ptr[at + i]) == lower(word.ptr[i])) i++;
        if (i == word.len) return true;
    }
    return false;
}

static bool has_part(struct slice name, struct slice word, char between, size_t least) {
    for (size_t from = 0, i = 0; i <= word.len; i++) {
        if (i < word.len && word.ptr[i] != (uint8_t)between) continue;
        struct slice part = titan_trim(slice_of(word.ptr + from, i - from));
        from = i + 1;
        if (part.len < least || part.len == 0) continue;
        if (has(name, part)) return true;
        if (between == ',' && has_part(name, part, '-', TOKEN_BYTES_MIN)) return true;
    }
    return false;
}

/* A value that says HASH BYTES MS; other keys of this name were not made here. */
static bool value_read(struct slice value, struct file *ret) {
    const uint8_t *first = value.len > 0 ? memchr(value.ptr, ' ', value.len) : NULL;
    if (first == NULL) return false;
    struct slice rest = slice_of(first + 1, value.len - (size_t)(first + 1 - value.ptr));
    const uint8_t *second = rest.len > 0 ? memchr(rest.ptr, ' ', rest.len) : NULL;
    if (second == NULL) return false;
    size_t len = (size_t)(second - rest.ptr);
    return slice_decimal(slice_of(rest.ptr, len), &ret->bytes) &&
           slice_decimal(slice_of(second + 1, rest.len - len - 1), &ret->stored_ms);
}

static void take(struct session *n, struct slice name, const struct wire_kv_item *item) {
    struct files *w = talk_of(n)->page;
    struct file got = {.next = w->first};
    if (!value_read(item->value, &got) || name.len == 0 || name.ptr[0] == '.') return;
    if (w->wanted.len > 0 && !has_part(name, w->wanted, ',', 1)) return;
    struct file *f = ARENA_NEW(&talk_of(n)->arena, struct file);
    *f = got;
    f->name = arena_slice(&talk_of(n)->arena, name);
    w->first = f;
    w->count++;
}

static int newest_first(const void *a, const void *b) {
    const struct file *x = *(struct file *const *)a, *y = *(struct file *const *)b;
    return x->stored_ms != y->stored_ms ? (x->stored_ms < y->stored_ms) - (x->stored_ms > y->stored_ms)
                                        : slice_cmp(x->name, y->name);
}

static int by_name(const void *a, const void *b) {
    return slice_cmp((*(struct file *const *)a)->name, (*(struct file *const *)b)->name);
}

static struct file **sorted(struct session *n, int (*order)(const void *, const void *)) {
    const struct files *w = talk_of(n)->page;
    struct file **all = ARENA_ARRAY(&talk_of(n)->arena, struct file *, w->count + 1);
    uint32_t count = 0;
    for (struct file *f = w->first; f != NULL; f = f->next) all[count++] = f;
    if (count > 0) qsort(all, count, sizeof *all, order);
    return all;
}

static void ending_put(struct json *j, struct slice name) {
    char ending[32];
    size_t dot = name.len, len = 0;
    while (dot > 1 && name.ptr[dot - 1] != '.') dot--;
    for (size_t i = dot - 1; dot > 1 && i < name.len && len < sizeof ending; i++)
        ending[len++] = (char)lower(name.ptr[i]);
    json_text(j, slice_of(ending, len));
}

static void files_done(struct server *s, struct session *n) {
    const struct files *w = talk_of(n)->page;
    struct file **all = sorted(n, newest_first);
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "files");
    json_array(&j);
    for (uint32_t i = 0; i < w->count; i++) {
        json_object(&j);
        json_key(&j, "name"), json_text(&j, all[i]->name);
        json_key(&j, "size"), json_u64(&j, all[i]->bytes);
        json_key(&j, "modified"), json_u64(&j, all[i]->stored_ms);
        json_key(&j, "ext"), ending_put(&j, all[i]->name);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

void titan_page_files(struct server *s, struct session *n, struct slice word) {
    static const struct titan_walk walk = {TITAN_FILE_PREFIX, FILES_PER_PAGE, take, files_done};
    struct files *w = ARENA_NEW(&talk_of(n)->arena, struct files);
    (void)word;
    w->wanted = titan_http_query(&web_of(n)->in.request, "q", &talk_of(n)->arena);
    talk_of(n)->page = w;
    titan_page_walk(s, n, &walk);
}

/* ---- scripts ---- */

static bool is_script(struct slice name) {
    return name.len > 3 && memcmp(name.ptr + name.len - 3, ".py", 3) == 0;
}

static void scripts_done(struct server *s, struct session *n) {
    const struct files *w = talk_of(n)->page;
    struct file **all = sorted(n, by_name);
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "files");
    json_array(&j);
    for (uint32_t i = 0; i < w->count; i++)
        if (is_script(all[i]->name)) json_text(&j, all[i]->name);
    json_array_end(&j);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

void titan_page_scripts(struct server *s, struct session *n, struct slice word) {
    static const struct titan_walk walk = {TITAN_FILE_PREFIX, FILES_PER_PAGE, take, scripts_done};
    (void)word;
    talk_of(n)->page = ARENA_NEW(&talk_of(n)->arena, struct files);
    titan_page_walk(s, n, &walk);
}

/* ---- down ---- */

/* From here on it is an answer like any blob's by HTTP: in pieces, as fast as it is taken. */
static void file_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_kv_items *m = message;
    struct wire_blob_get get = {0};
    uint8_t hash[DIGEST_BYTES];
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    if (m->items.count == 0 ||
        !titan_file_hash(((const struct wire_kv_item *)m->items.at)->value, &talk_of(n)->arena, &get.hash)) {
        titan_page_error(s, n, 404, "File not found");
        return;
    }
    memcpy(hash, get.hash.ptr, DIGEST_BYTES);
    get.hash = slice_of(hash, DIGEST_BYTES);
    titan_talk_reset(talk_of(n));
    web_give_message(s, n, WIRE_BLOB_GET, &get);
}

void titan_page_file(struct server *s, struct session *n, struct slice word) {
    struct wire_kv_key key = {titan_file_key(n, word)};
    struct wire_kv_get get = {.keys = {&key, 1}};
    if (key.text.len > (size_t)s->limits->store_key_bytes_max)
        titan_page_error(s, n, 404, "File not found");
    else
        titan_ask(s, n, WIRE_KV_GET, &get, file_told);
}

/* ---- up ---- */

static void uploaded_said(struct server *s, struct session *n, struct slice text) {
    const struct slice *name = talk_of(n)->page;
    if (!slice_eq(text, SLICE("DEPLOY_SUCCESS"))) {
        titan_page_error(s, n, 502, "%.*s", SLICE_FMT(titan_page_reason(text)));
        return;
    }
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, "ok");
    json_key(&j, "filename"), json_text(&j, *name);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

static enum err form_read(const struct http_request *r, struct multipart_part *ret, struct why *why) {
    struct multipart form;
    const struct slice *type = http_header(r, "content-type");
    if (type == NULL || !multipart_begin(*type, r->body, &form)) return why_set(why, ERR_INVALID, "No file part");
    for (;;) {
        enum err e = multipart_next(&form, ret, why);
        if (e == ERR_NOT_FOUND) return why_set(why, ERR_INVALID, "No file part");
        if (e != ERR_OK) return e;
        if (slice_eq(ret->name, SLICE("file")) && ret->has_filename) break;
    }
    return ret->filename.len == 0 ? why_set(why, ERR_INVALID, "Empty filename") : ERR_OK;
}

void titan_page_upload(struct server *s, struct session *n, struct slice word) {
    struct slice *name = ARENA_NEW(&talk_of(n)->arena, struct slice);
    struct multipart_part part;
    struct why why = {{0}};
    (void)word;
    talk_of(n)->page = name;
    if (form_read(&web_of(n)->in.request, &part, &why) != ERR_OK) {
        titan_page_error(s, n, 400, "%s", why.text);
        return;
    }
    *name = titan_file_name(part.filename, &talk_of(n)->arena);
    if (!is_script(*name))
        titan_page_error(s, n, 400, "Only .py files are accepted");
    else if (name->len + sizeof TITAN_FILE_PREFIX > (size_t)s->limits->store_key_bytes_max)
        titan_page_error(s, n, 400, "the name is too long");
    else {
        talk_of(n)->said = uploaded_said;
        titan_file_put(s, n, *name, part.data);
    }
}
