/* api_print.c: see api_print.h. */
#include "api_print.h"

#include <stdio.h>

#include "hex.h"
#include "limit.h"
#include "out.h"
#include "panic.h"
#include "yaml_print.h"

#define PRINT_BYTES_MAX ((size_t)1 << 30)

/* ---- the route ---- */

static const struct api_route *route_of(const char *path) {
    static const struct {
        const char *word;
        enum http_verb verb;
    } methods[] = {{"POST ", HTTP_VERB_POST}, {"PUT ", HTTP_VERB_PUT}, {"DELETE ", HTTP_VERB_DELETE}};
    enum http_verb verb = HTTP_VERB_GET;
    uint32_t count;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        size_t len = strlen(methods[i].word);
        if (strncmp(path, methods[i].word, len) != 0) continue;
        verb = methods[i].verb;
        path += len;
    }
    const struct api_route *routes = api_routes(&count);
    for (uint32_t i = 0; i < count; i++)
        if (routes[i].verb == verb && strcmp(routes[i].path, path) == 0) return &routes[i];
    PANIC("no such route");
}

/* ---- JSON ---- */

static void print_line(const struct buf *b) {
    fwrite(b->at, 1, b->len, stdout);
    fputc('\n', stdout);
}

void api_print_put(struct json *to, const struct tlv_desc *desc, const void *message) {
    struct arena arena;
    struct limits limits;
    arena_init(&arena, 65536, PRINT_BYTES_MAX);
    limits_default(&limits);
    json_object(to);
    wire_json_put(&(struct wire_json_out){to, &arena, &limits}, desc, &message, 1, NULL);
    json_object_end(to);
    arena_fini(&arena);
}

static void print_object(const struct tlv_desc *desc, const void *message) {
    struct buf out;
    struct json json;
    buf_init(&out, PRINT_BYTES_MAX);
    json_init(&json, &out);
    api_print_put(&json, desc, message);
    /* A result is embedded as the job wrote it. Outside of its strings, where these are escaped, they mean nothing. */
    for (size_t i = 0; i < out.len; i++)
        if (out.at[i] == '\n' || out.at[i] == '\r') out.at[i] = ' ';
    print_line(&out);
    buf_fini(&out);
}

static void print_whole(struct api_print *a) {
    struct buf out;
    struct json json;
    struct limits limits;
    struct arena *arena = &a->cli->arena;
    buf_init(&out, PRINT_BYTES_MAX);
    json_init(&json, &out);
    limits_default(&limits);
    (void)api_answer(a->route, a->op, (const void *const *)a->parts.at, a->parts.count,
                     &(struct wire_json_out){&json, arena, &limits});
    if (a->cli->format != CLI_FORMAT_YAML) {
        print_line(&out);
    } else if (!yaml_print(buf_slice(&out), arena)) {
        fprintf(stderr, "reeve %s: the answer is too large or too deep for YAML: use -o json\n", a->cli->verb->words);
        a->cli->exit_code = err_exit_code(ERR_LIMIT);
    }
    buf_fini(&out);
}

/* ---- items ---- */

/* By what other verbs call a thing. */
static const struct {
    const struct tlv_desc *desc;
    const char *field;
} names[] = {
    {&wire_flow_view_desc, "flow"},
    {&wire_job_view_desc, "job"},
    {&wire_worker_view_desc, "worker"},
    {&wire_question_view_desc, "job"},
    {&wire_schedule_view_desc, "name"},
    {&wire_service_view_desc, "name"},
    {&wire_limit_view_desc, "name"},
    {&wire_kv_item_desc, "key"},
    {&wire_blob_view_desc, "hash"},
    {&wire_token_view_desc, "id"},
    {&wire_kept_desc, "name"},
    {&wire_submitted_flow_desc, "flow"},
    {&wire_result_desc, "target"},
    {&wire_amount_desc, "name"},
    {&wire_reason_desc, "job"},
    {&wire_token_given_desc, "token"},
    {&wire_callback_given_desc, "token"},
};

/* False: such a thing has no name. */
static bool print_name(const struct tlv_desc *desc, const void *item) {
    const struct tlv_field *field = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].desc == desc) field = wire_json_field(desc, slice_str(names[i].field));
    if (field == NULL) return false;
    struct slice text;
    memcpy(&text, (const uint8_t *)item + field->offset, sizeof text);
    char digits[2 * DIGEST_BYTES + 1];
    bool is_hash = desc == &wire_blob_view_desc && text.len == DIGEST_BYTES;
    if (is_hash) hex_write(text, digits);
    out_clean(stdout, is_hash ? slice_str(digits) : text);
    fputc('\n', stdout);
    return true;
}

static void print_one(const struct cli *c, const struct tlv_desc *desc, const void *message) {
    if (c->format != CLI_FORMAT_NAME || !print_name(desc, message)) print_object(desc, message);
}

static void print_items(const struct api_print *a, const void *message) {
    const struct tlv_desc *desc = wire_info(a->op)->desc;
    const struct tlv_field *field = NULL;
    if (a->route->about != NULL) field = wire_json_field(desc, slice_str(a->route->about));
    if (field == NULL) {
        print_one(a->cli, desc, message);
        return;
    }
    struct tlv_list list;
    memcpy(&list, (const uint8_t *)message + field->offset, sizeof list);
    for (uint32_t i = 0; i < list.count; i++)
        print_one(a->cli, field->sub, (const uint8_t *)list.at + (size_t)i * field->sub->size);
}

/* ---- the answer ---- */

void api_print_begin(struct api_print *a, struct cli *c, const char *path) {
    *a = (struct api_print){.cli = c, .route = route_of(path)};
    vec_init(&a->parts, sizeof(const void *));
}

bool api_print_keeps(const struct api_print *a) {
    return a->cli->format == CLI_FORMAT_JSON || a->cli->format == CLI_FORMAT_YAML;
}

/* Where the next page would begin is of no use to a reader who has that page, too. */
static void forget_cursor(const struct tlv_desc *desc, void *message) {
    static const char *const cursors[] = {"cursor", "after"};
    for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++) {
        const struct tlv_field *field = wire_json_field(desc, slice_str(cursors[i]));
        if (field != NULL) memset((uint8_t *)message + field->offset, 0, sizeof(struct slice));
    }
}

void api_print_page(struct api_print *a, uint8_t op, const void *message) {
    const struct tlv_desc *desc = wire_info(op)->desc;
    REQUIRE(a->op == 0 || a->op == op);
    a->op = op;
    if (!api_print_keeps(a)) {
        print_items(a, message);
        return;
    }
    if (a->parts.count > 0) forget_cursor(desc, *(void **)vec_at(&a->parts, a->parts.count - 1));
    void *own = arena_alloc(&a->cli->arena, desc->size);
    memcpy(own, message, desc->size);
    *(void **)vec_push(&a->parts) = own;
}

void api_print_end(struct api_print *a) {
    if (a->parts.count > 0) print_whole(a);
    vec_fini(&a->parts);
}

void api_print_answer(struct cli *c, const char *path, uint8_t op, const void *message) {
    struct api_print a;
    api_print_begin(&a, c, path);
    api_print_page(&a, op, message);
    api_print_end(&a);
}

void api_print_line(struct cli *c, const struct tlv_desc *desc, const void *message) {
    print_one(c, desc, message);
}
