/* titan_http_fuzz.c: what comes by the interface of Titan's dashboard: paths, forms and DAGs. A path leads nowhere, or
 * to one call with a word that is UTF-8; every part of a form lies in it, and they do not overlap; a DAG is refused
 * with a sentence, or is jobs that name files without a path; a file name that was made safe is, and stays the same.
 * The first byte says how long the boundary is. */
#include "limit.h"
#include "multipart.h"
#include "panic.h"
#include "titan_http.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_path(struct slice text, struct arena *arena) {
    struct http_request r = {.verb = HTTP_VERB_POST, .path = text};
    struct titan_asked asked;
    const uint8_t *query = text.len > 0 ? memchr(text.ptr, '?', text.len) : NULL;
    if (query != NULL) {
        r.path.len = (size_t)(query - text.ptr);
        r.query = slice_of(query + 1, text.len - r.path.len - 1);
    }
    if (titan_http_find(&r, arena, &asked)) {
        ENSURE(asked.call < TITAN_CALL_COUNT && asked.allow != NULL);
        ENSURE(utf8_is_valid(asked.word) && (asked.word.len == 0 || memchr(asked.word.ptr, 0, asked.word.len) == NULL));
    }
    ENSURE(utf8_is_valid(titan_http_query(&r, "q", arena)));
}

static void try_form(struct slice boundary, struct slice body) {
    char type[256];
    struct multipart form;
    struct multipart_part part;
    struct why why = {{0}};
    const uint8_t *from = body.ptr;
    size_t prefix = sizeof "multipart/form-data; boundary=" - 1;
    memcpy(type, "multipart/form-data; boundary=", prefix);
    if (boundary.len > 0) memcpy(type + prefix, boundary.ptr, boundary.len);
    if (!multipart_begin(slice_of(type, prefix + boundary.len), body, &form)) return;
    enum err e = multipart_next(&form, &part, &why);
    for (uint32_t i = 0; e == ERR_OK; i++) {
        ENSURE(i < MULTIPART_PARTS_MAX);
        ENSURE(part.data.ptr >= from && part.data.ptr + part.data.len <= body.ptr + body.len);
        from = part.data.ptr + part.data.len;
        e = multipart_next(&form, &part, &why);
    }
    ENSURE(e == ERR_NOT_FOUND || why.text[0] != 0);
}

static void try_dag(struct slice text, struct arena *arena) {
    struct limits limits;
    struct titan_dag dag;
    struct why why = {{0}};
    limits_default(&limits);
    if (titan_dag_json(text, &limits, arena, &dag, &why) != ERR_OK) {
        ENSURE(why.text[0] != 0);
        return;
    }
    ENSURE(dag.jobs.count > 0 && dag.name.len > 0 && dag.gate_count < dag.jobs.count);
    for (uint32_t i = 0; i < dag.jobs.count; i++) {
        const struct titan_job *job = &dag.jobs.at[i];
        ENSURE(job->named && job->id.len > 4 && job->file.len > 0 && memchr(job->file.ptr, '/', job->file.len) == NULL);
        ENSURE(job->requirement.len > 0);
        for (uint32_t k = 0; k < job->parent_count; k++)
            ENSURE(job->parents[k].at == TITAN_ELSEWHERE || job->parents[k].at < dag.jobs.count);
    }
}

static void try_name(struct slice sent, struct arena *arena) {
    struct slice name = titan_file_name(sent, arena), again = titan_file_name(name, arena);
    ENSURE(slice_eq(name, again));
    for (size_t i = 0; i < name.len; i++) ENSURE(name.ptr[i] > ' ' && name.ptr[i] != '/' && name.ptr[i] != '\\');
    ENSURE(name.len == 0 || name.ptr[0] != '.');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    if (size == 0) return 0;
    size_t boundary = data[0] % 128 < size - 1 ? data[0] % 128 : size - 1;
    struct slice rest = slice_of(data + 1 + boundary, size - 1 - boundary);
    arena_init(&arena, 65536, (size_t)1 << 30);
    try_form(slice_of(data + 1, boundary), rest);
    try_path(rest, &arena);
    try_dag(rest, &arena);
    try_name(rest, &arena);
    arena_fini(&arena);
    return 0;
}
