/* params_fuzz.c: parameters of flow files: definitions from unauthenticated, values against them, patterns, and files
 * of values. The first byte says which. What is refused is refused with a text; what is taken can be sent and read
 * again. */
#include "dotenv.h"
#include "flowlab.h"
#include "limit.h"
#include "panic.h"
#include "regexp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Up to the first zero byte, and what follows it. */
static struct slice first_part(struct slice all, struct slice *ret_rest) {
    const uint8_t *end = all.len > 0 ? memchr(all.ptr, 0, all.len) : NULL;
    size_t len = end != NULL ? (size_t)(end - all.ptr) : all.len;
    *ret_rest = end != NULL ? slice_of(end + 1, all.len - len - 1) : (struct slice){0};
    return slice_of(all.ptr, len);
}

static void fuzz_pattern(struct slice all) {
    struct regexp r;
    struct why why = {{0}};
    struct slice text;
    uint64_t steps = 0;
    struct slice pattern = first_part(all, &text);
    if (regexp_read(pattern, &r, &why) != ERR_OK) {
        ENSURE(why.text[0] != 0);
        return;
    }
    (void)regexp_fits(&r, text, &steps);
    ENSURE(steps <= (uint64_t)(r.step_count + 1) * (r.range_count + 2) * (text.len + 1));
}

static void fuzz_dotenv(struct slice text) {
    static struct dotenv_pair pairs[16];
    struct arena arena;
    struct why why = {{0}};
    uint32_t count = 0;
    arena_init(&arena, 4096, (size_t)64 << 20);
    enum err e = dotenv_read(text, &arena, 16, pairs, &count, &why);
    if (e != ERR_OK) ENSURE(why.text[0] != 0);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) ENSURE(pairs[i].name.len > 0);
    arena_fini(&arena);
}

/* `params: {p: …}`, the value of p behind a zero byte. */
static void fuzz_definition(struct slice all) {
    static const char behind[] = "\njobs: {a: {run: x, when: params.p ~= nil}}\n";
    struct flowlab l;
    struct buf text;
    struct slice value;
    struct slice definition = first_part(all, &value);
    char given[256] = "p=";
    size_t len = value.len < sizeof given - 3 ? value.len : sizeof given - 3;
    flowlab_init(&l);
    buf_init(&text, (size_t)1 << 20);
    buf_put_slice(&text, SLICE("params: {p: "));
    buf_put_slice(&text, definition);
    buf_put_u8(&text, '}');
    buf_put(&text, behind, sizeof behind - 1);
    for (size_t i = 0; i < len; i++) given[2 + i] = value.ptr[i] == ' ' ? '_' : (char)value.ptr[i];
    enum err e = flowlab_read(&l, buf_slice(&text), len > 0 ? given : NULL);
    if (e != ERR_OK) ENSURE(l.why.text[0] != 0);
    if (e == ERR_OK && flowlab_job(&l, "a") != NULL && l.flow.part.jobs.count == 1) {
        struct slice params = flowlab_run(&l, "a").params;
        const struct json_node *root;
        struct limits limits;
        limits_default(&limits);
        if (params.len > 0 && json_tree_read(params, &limits, &l.arena, &root, &l.why) != ERR_OK)
            PANIC("parameters that are no JSON");
    }
    buf_fini(&text);
    flowlab_fini(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct slice rest = slice_of(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0: fuzz_definition(rest); break;
    case 1: fuzz_pattern(rest); break;
    case 2: fuzz_dotenv(rest); break;
    }
    return 0;
}
