/* jobenv.c: see jobenv.h. */
#include "jobenv.h"

#define VALUE_BYTES_MAX (100u * 1024u) /* the kernel takes 128 KiB for one variable */

void jobenv_init(struct jobenv *e, struct arena *arena) {
    e->arena = arena;
    vec_init(&e->items, sizeof(char *));
}

static char **place_of(struct jobenv *e, struct slice name) {
    for (uint32_t i = 0; i < e->items.count; i++) {
        char **line = vec_at(&e->items, i);
        if (strncmp(*line, (const char *)name.ptr, name.len) == 0 && (*line)[name.len] == '=') return line;
    }
    return vec_push(&e->items);
}

static bool has_byte(struct slice s, uint8_t byte) {
    return s.len > 0 && memchr(s.ptr, byte, s.len) != NULL;
}

void jobenv_put(struct jobenv *e, struct slice name, struct slice value) {
    if (name.len == 0 || has_byte(name, '=') || has_byte(name, 0) || has_byte(value, 0)) return;
    char *line = arena_alloc(e->arena, name.len + value.len + 2);
    memcpy(line, name.ptr, name.len);
    line[name.len] = '=';
    if (value.len > 0) memcpy(line + name.len + 1, value.ptr, value.len);
    *place_of(e, name) = line;
}

void jobenv_put_line(struct jobenv *e, const char *line) {
    const char *equal = strchr(line, '=');
    if (equal != NULL) jobenv_put(e, slice_of(line, (size_t)(equal - line)), slice_str(equal + 1));
}

void jobenv_put_input(struct jobenv *e, struct slice job, struct slice value) {
    static const char prefix[] = "REEVE_INPUT_";
    char name[512];
    size_t len = sizeof prefix - 1;
    if (value.len == 0 || value.len > VALUE_BYTES_MAX || job.len + len > sizeof name) return;
    memcpy(name, prefix, len);
    for (size_t i = 0; i < job.len; i++) {
        uint8_t c = job.ptr[i];
        bool is_small = c >= 'a' && c <= 'z', is_word = is_small || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[len++] = (char)(is_small ? c - 'a' + 'A' : is_word ? c : '_');
    }
    jobenv_put(e, slice_of(name, len), value);
}

const char *const *jobenv_list(struct jobenv *e) {
    const char **list = ARENA_ARRAY(e->arena, const char *, e->items.count + 1);
    for (uint32_t i = 0; i < e->items.count; i++) list[i] = *(char **)vec_at(&e->items, i);
    vec_fini(&e->items);
    return list;
}
