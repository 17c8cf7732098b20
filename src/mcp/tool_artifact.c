/* tool_artifact.c: files that a job left: which there are, and what is in one, page by page. */
#include "find.h"
#include "utf8.h"

#define PAGE_STANDARD 16384u
#define PAGE_MAX 131072u

/* ---- which ---- */

static void say_no_job(struct tool_call *c) {
    tool_call_refuse(c, ERR_NOT_FOUND, "there is no job %.*s: `list` with `flow` shows the jobs of a flow",
                     SLICE_FMT(tool_call_text(c, "job")));
}

static void then_kept(struct tool_call *c, const struct wire_job_view *v) {
    if (v == NULL) {
        say_no_job(c);
        return;
    }
    const struct wire_kept *list = v->artifacts.at;
    struct json *j = tool_call_result(c);
    tool_call_put_text(j, "job", v->job);
    json_key(j, "artifacts");
    json_array(j);
    for (uint32_t i = 0; i < v->artifacts.count; i++) {
        json_object(j);
        tool_call_put_text(j, "name", list[i].name);
        json_key(j, "bytes");
        json_u64(j, list[i].bytes);
        json_key(j, "hash");
        json_hex(j, list[i].hash);
        json_object_end(j);
    }
    json_array_end(j);
    if (v->artifacts.count > 0) tool_call_put_str(j, "next", "`artifact` reads one, by the job and its name");
    tool_call_say(c);
}

void tool_artifacts(struct tool_call *c) {
    find_job(c, tool_call_text(c, "job"), then_kept);
}

/* ---- one ---- */

struct artifact_page {
    struct slice job, name;
    struct wire_blob_get ask;
};

/* How much of a page is text: all of it but a character that the next page ends; 0: it is none. */
static size_t text_of(struct slice page, bool is_last) {
    for (size_t cut = 0; cut < (is_last ? 1 : UTF8_BYTES_MAX) && cut < page.len; cut++)
        if (utf8_is_valid(slice_of(page.ptr, page.len - cut))) return page.len - cut;
    return 0;
}

/* Text as text; anything else in base64. */
static void then_read(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct artifact_page *p = c->own;
    const struct wire_blob_data *head = parts[0];
    struct buf bytes;
    (void)op;
    buf_init(&bytes, PAGE_MAX + 1);
    for (uint32_t i = 0; i < count; i++) buf_put_slice(&bytes, ((const struct wire_blob_data *)parts[i])->data);
    struct slice page = buf_slice(&bytes);
    size_t text = text_of(page, p->ask.offset + page.len >= head->bytes), len = text > 0 ? text : page.len;
    uint64_t to = p->ask.offset + len;
    struct json *j = tool_call_result(c);
    tool_call_put_text(j, "job", p->job);
    tool_call_put_text(j, "name", p->name);
    json_key(j, text == len ? "text" : "base64");
    if (text == len)
        json_text(j, slice_of(page.ptr, len));
    else
        json_base64(j, page);
    json_key(j, "offset");
    json_u64(j, p->ask.offset);
    json_key(j, "total_bytes");
    json_u64(j, head->bytes);
    if (to < head->bytes) {
        json_key(j, "next_offset");
        json_u64(j, to);
        tool_call_put_str(j, "more", "call artifact again with offset = next_offset for what follows");
    }
    buf_fini(&bytes);
    tool_call_say(c);
}

static void then_found(struct tool_call *c, const struct wire_job_view *v) {
    struct artifact_page *p = c->own;
    if (v == NULL) {
        say_no_job(c);
        return;
    }
    const struct wire_kept *list = v->artifacts.at, *kept = NULL;
    for (uint32_t i = 0; i < v->artifacts.count; i++)
        if (slice_eq(list[i].name, p->name)) kept = &list[i];
    if (kept == NULL) {
        tool_call_refuse(c, ERR_NOT_FOUND, "%.*s left no artifact `%.*s`: `artifacts` lists what it left",
                         SLICE_FMT(v->job), SLICE_FMT(p->name));
        return;
    }
    if (p->ask.offset > kept->bytes) {
        tool_call_refuse(c, ERR_INVALID, "`offset` is behind the end: the artifact has %llu bytes",
                         (unsigned long long)kept->bytes);
        return;
    }
    p->job = arena_slice(c->arena, v->job);
    p->ask.hash = arena_slice(c->arena, kept->hash);
    tool_call_ask(c, WIRE_BLOB_GET, &p->ask, then_read);
}

void tool_artifact(struct tool_call *c) {
    struct artifact_page *p = ARENA_NEW(c->arena, struct artifact_page);
    uint64_t most = tool_call_number(c, "most", PAGE_STANDARD);
    if (most == 0 || most > PAGE_MAX) {
        tool_call_refuse(c, ERR_INVALID, "`most` is 1 to %u bytes: read the rest in further pages", PAGE_MAX);
        return;
    }
    *p = (struct artifact_page){.name = tool_call_text(c, "name"),
                                .ask = {.offset = tool_call_number(c, "offset", 0), .most = most}};
    c->own = p;
    find_job(c, tool_call_text(c, "job"), then_found);
}
