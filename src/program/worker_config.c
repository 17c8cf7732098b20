/* worker_config.c: see worker_config.h. */
#include "worker_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "arena.h"
#include "panic.h"

#define ARGS_MAX 256u
#define KEPT_BYTES_MAX (16u << 20)

struct config_reader {
    yaml_parser_t parser;
    yaml_event_t event;
    const char *path;
    struct worker_options *o;
    worker_config_fn each;
};

static enum err refuse(struct config_reader *r, struct why *why, const char *text) {
    return why_set(why, ERR_INVALID, "%s:%zu:%zu: %s", r->path, r->event.start_mark.line + 1,
                   r->event.start_mark.column + 1, text);
}

static enum err next(struct config_reader *r, struct why *why) {
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event)) return ERR_OK;
    return why_set(why, ERR_INVALID, "%s:%zu:%zu: %s", r->path, r->parser.problem_mark.line + 1,
                   r->parser.problem_mark.column + 1, r->parser.problem != NULL ? r->parser.problem : "not YAML");
}

static struct arena kept; /* for the life of the program */

static char *text_keep(const struct config_reader *r) {
    char *text = arena_alloc(&kept, r->event.data.scalar.length + 1);
    memcpy(text, r->event.data.scalar.value, r->event.data.scalar.length);
    return text;
}

/* ---- handlers ---- */

/* `TYPE: [program, argument...]`, or `TYPE: program`. */
static enum err read_handler(struct config_reader *r, struct why *why) {
    struct agent_options *a = &r->o->agent;
    const char *words[ARGS_MAX + 1];
    uint32_t count = 0;
    if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.length == 0)
        return refuse(r, why, "expected a type of job");
    if (a->handler_count == AGENT_LIST_MAX) return refuse(r, why, "too many handlers");
    const char *type = text_keep(r);
    enum err e = next(r, why);
    if (e != ERR_OK) return e;
    bool is_list = r->event.type == YAML_SEQUENCE_START_EVENT;
    if (is_list) e = next(r, why);
    while (e == ERR_OK && r->event.type == YAML_SCALAR_EVENT) {
        if (count == ARGS_MAX) return refuse(r, why, "too many arguments");
        words[count++] = text_keep(r);
        if (!is_list) break;
        e = next(r, why);
    }
    if (e != ERR_OK) return e;
    bool is_over = r->event.type == (is_list ? YAML_SEQUENCE_END_EVENT : YAML_SCALAR_EVENT);
    if (!is_over || count == 0) return refuse(r, why, "a handler is a list of a program and its arguments");
    const char **argv = ARENA_ARRAY(&kept, const char *, count + 1);
    memcpy(argv, words, sizeof *argv * count);
    a->handlers[a->handler_count++] = (struct agent_handler){type, argv};
    return next(r, why);
}

static enum err read_handlers(struct config_reader *r, struct why *why) {
    if (r->event.type != YAML_MAPPING_START_EVENT) return refuse(r, why, "handlers are lines of the form TYPE: [argv]");
    enum err e = next(r, why);
    while (e == ERR_OK && r->event.type != YAML_MAPPING_END_EVENT) e = read_handler(r, why);
    return e == ERR_OK ? next(r, why) : e;
}

/* ---- options ---- */

static enum err give(struct config_reader *r, const char *option, struct why *why) {
    struct why inner = {{0}};
    if (r->event.type != YAML_SCALAR_EVENT) return refuse(r, why, "expected a plain value");
    enum err e = r->each(r->o, option, text_keep(r), &inner);
    return e == ERR_OK ? next(r, why) : refuse(r, why, inner.text);
}

static enum err read_pair(struct config_reader *r, struct why *why) {
    char option[64] = "--";
    if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.length > sizeof option - 3)
        return refuse(r, why, "expected the name of an option");
    memcpy(option + 2, r->event.data.scalar.value, r->event.data.scalar.length);
    for (char *c = option + 2; *c != 0; c++)
        if (*c == '_') *c = '-';
    enum err e = next(r, why);
    if (e != ERR_OK) return e;
    if (strcmp(option, "--handlers") == 0) return read_handlers(r, why);
    if (r->event.type != YAML_SEQUENCE_START_EVENT) return give(r, option, why);
    e = next(r, why);
    while (e == ERR_OK && r->event.type != YAML_SEQUENCE_END_EVENT) e = give(r, option, why);
    return e == ERR_OK ? next(r, why) : e;
}

static enum err read_events(struct config_reader *r, struct why *why) {
    enum err e = next(r, why);
    while (e == ERR_OK && (r->event.type == YAML_STREAM_START_EVENT || r->event.type == YAML_DOCUMENT_START_EVENT))
        e = next(r, why);
    if (e != ERR_OK || r->event.type == YAML_STREAM_END_EVENT) return e;
    if (r->event.type != YAML_MAPPING_START_EVENT) return refuse(r, why, "options are lines of the form name: value");
    e = next(r, why);
    while (e == ERR_OK && r->event.type != YAML_MAPPING_END_EVENT) e = read_pair(r, why);
    return e;
}

enum err worker_config_read(struct worker_options *o, const char *path, worker_config_fn each, struct why *why) {
    struct config_reader r = {.path = path, .o = o, .each = each};
    FILE *f = fopen(path, "re");
    if (f == NULL) return why_set(why, ERR_NOT_FOUND, "%s: %s", path, strerrordesc_np(errno));
    arena_init(&kept, 4096, KEPT_BYTES_MAX);
    ENSURE(yaml_parser_initialize(&r.parser));
    yaml_parser_set_input_file(&r.parser, f);
    enum err e = read_events(&r, why);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    fclose(f);
    return e;
}
