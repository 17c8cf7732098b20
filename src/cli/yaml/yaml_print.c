/* yaml_print.c: see yaml_print.h. The JSON is read token by token and each becomes an event of libyaml's emitter,
 * which breaks lines and escapes. Text that YAML could take for something else (a number, `yes`) is quoted. */
#include "yaml_print.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "json_read.h"
#include "limit.h"
#include "panic.h"

static void emit(yaml_emitter_t *to, yaml_event_t *event, int made) {
    ENSURE(made == 1);
    ENSURE(yaml_emitter_emit(to, event) == 1); /* only a write can fail, and stdio remembers that */
}

/* A word that means itself in YAML 1.1 and 1.2 without quotes. */
static bool is_plain_word(struct slice s) {
    static const char *const others[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (s.len == strlen(others[i]) && strncasecmp((const char *)s.ptr, others[i], s.len) == 0) return false;
    for (size_t i = 0; i < s.len; i++) {
        bool letter = (s.ptr[i] | 32) >= 'a' && (s.ptr[i] | 32) <= 'z';
        bool later = (s.ptr[i] >= '0' && s.ptr[i] <= '9') || strchr("_-./", (char)s.ptr[i]) != NULL;
        if (!letter && (i == 0 || !later)) return false;
    }
    return s.len > 0;
}

static yaml_scalar_style_t style_of(struct slice s, bool is_value) {
    if (is_plain_word(s)) return YAML_PLAIN_SCALAR_STYLE;
    if (is_value && memchr(slice_data(s), '\n', s.len) != NULL) return YAML_LITERAL_SCALAR_STYLE;
    return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

static void put_scalar(yaml_emitter_t *to, struct slice s, yaml_scalar_style_t style) {
    yaml_event_t event;
    emit(to, &event,
         yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)slice_data(s), (int)s.len, 1, 1, style));
}

static void put_token(yaml_emitter_t *to, const struct json_token *t) {
    yaml_event_t event;
    bool is_begin = t->kind != JSON_OBJECT_END && t->kind != JSON_ARRAY_END;
    if (is_begin && t->is_member) put_scalar(to, t->key, style_of(t->key, false));
    switch (t->kind) {
    case JSON_NULL: put_scalar(to, SLICE("null"), YAML_PLAIN_SCALAR_STYLE); return;
    case JSON_BOOL: put_scalar(to, t->truth ? SLICE("true") : SLICE("false"), YAML_PLAIN_SCALAR_STYLE); return;
    case JSON_NUMBER: put_scalar(to, t->text, YAML_PLAIN_SCALAR_STYLE); return;
    case JSON_TEXT: put_scalar(to, t->text, style_of(t->text, true)); return;
    case JSON_OBJECT:
        emit(to, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
        return;
    case JSON_ARRAY:
        emit(to, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
        return;
    case JSON_OBJECT_END: emit(to, &event, yaml_mapping_end_event_initialize(&event)); return;
    case JSON_ARRAY_END: emit(to, &event, yaml_sequence_end_event_initialize(&event)); return;
    case JSON_OVER: return;
    }
}

bool yaml_print(struct slice json, struct arena *arena) {
    yaml_emitter_t to;
    yaml_event_t event;
    struct json_read in;
    const struct json_token *token = NULL;
    struct limits limits;
    struct why why;
    enum err e;
    limits_default(&limits);
    limits.json_bytes_max = UINT32_MAX - 1;
    limits.json_depth_max = JSON_READ_DEPTH_MAX;
    ENSURE(yaml_emitter_initialize(&to) == 1);
    yaml_emitter_set_output_file(&to, stdout);
    yaml_emitter_set_unicode(&to, 1);
    yaml_emitter_set_width(&to, -1);
    emit(&to, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&to, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    json_read_init(&in, json, &limits, arena, &why);
    while ((e = json_read_next(&in, &token)) == ERR_OK && token->kind != JSON_OVER) put_token(&to, token);
    if (e == ERR_OK) {
        emit(&to, &event, yaml_document_end_event_initialize(&event, 1));
        emit(&to, &event, yaml_stream_end_event_initialize(&event));
    }
    yaml_emitter_delete(&to);
    return e == ERR_OK;
}
