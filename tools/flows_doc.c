/* flows_doc.c: what flow files may hold, from the tables of src/spec/spec_keys.c.
 *
 *     flows_doc guide < docs/src/flows.head.md     the guide
 *     flows_doc schema                                JSON schema for editors
 *     flows_doc man                                   the manual page reeve-flow(5) */
#include <stdio.h>
#include <string.h>

#include "roff.h"
#include "spec_keys.h"

#ifndef REEVE_VERSION
#define REEVE_VERSION "0.1.0"
#endif

static const struct {
    const char *title, *name; /* in the guide; in the schema */
    const struct spec_object *keys;
} parts[] = {
    {"A flow", "flow", &spec_flow_keys},
    {"A parameter", "param", &spec_param_keys},
    {"A job", "job", &spec_job_keys},
    {"`script`", "script", &spec_script_keys},
    {"`stdin`", "stdin", &spec_stdin_keys},
    {"`foreach`", "foreach", &spec_foreach_keys},
    {"`cache`", "cache", &spec_cache_keys},
    {"An artifact", "artifact", &spec_artifact_keys},
    {"`schedule`", "schedule", &spec_schedule_keys},
    {"`calendar` of a schedule", "calendar", &spec_calendar_keys},
    {"`on` of a schedule", "on", &spec_on_keys},
    {"`archive`", "archive", &spec_archive_keys},
    {"`sandbox`", "sandbox", &spec_sandbox_keys},
    {"`http`", "http", &spec_http_keys},
    {"`external`", "external", &spec_external_keys},
    {"`submit` and `poll`", "step", &spec_step_keys},
};
#define PART_COUNT (sizeof parts / sizeof parts[0])

static const char *form_of(const struct spec_field *f) {
    return f->form != NULL ? f->form : spec_type_form((enum spec_type)f->type);
}

/* ---- the guide ---- */

static void guide_field(const struct spec_field *f, const char *before) {
    printf("| `%s%s` | %s | %s", before, f->key, form_of(f), f->text);
    if (before[0] == 0 && f->where != 0 && !(f->where & IN_DEFAULTS)) printf(" *(not in `defaults`)*");
    printf(" |\n");
    if (f->type != SPEC_OBJECT || strcmp(f->key, "approval") == 0) return;
    char inner[64];
    snprintf(inner, sizeof inner, "%s%s.", before, f->key);
    for (uint32_t i = 0; i < f->sub->count; i++) guide_field(&f->sub->fields[i], inner);
}

static void guide(void) {
    for (int c; (c = getchar()) != EOF;) putchar(c);
    for (size_t i = 0; i < PART_COUNT; i++) {
        printf("\n### %s\n\n| key | value | meaning |\n| --- | --- | --- |\n", parts[i].title);
        bool is_job = parts[i].keys == &spec_job_keys;
        for (uint32_t k = 0; k < parts[i].keys->count; k++) {
            struct spec_field f = parts[i].keys->fields[k];
            if (!is_job) f.where = 0;
            guide_field(&f, "");
        }
    }
}

/* ---- the schema ---- */

static void quoted(const char *text) {
    putchar('"');
    for (; *text != 0; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void schema_object(const struct spec_object *o, unsigned where, const char *indent);

static void schema_field(const struct spec_field *f, const char *indent) {
    char inner[32];
    printf("%s\"%s\": {\"description\": ", indent, f->key);
    quoted(f->text);
    if (f->type == SPEC_OBJECT) {
        snprintf(inner, sizeof inner, "%s  ", indent);
        const char *plain = f->sub->fields[0].schema; /* a plain value stands for the first key */
        printf(", \"oneOf\": [%s,\n", plain != NULL ? plain : "{\"type\": [\"string\", \"number\", \"boolean\"]}");
        schema_object(f->sub, 0, inner);
        printf("]}");
        return;
    }
    const char *schema = f->schema != NULL ? f->schema : spec_type_schema((enum spec_type)f->type);
    printf(", \"allOf\": [%s]}", schema);
}

static void schema_object(const struct spec_object *o, unsigned where, const char *indent) {
    char inner[32];
    bool first = true;
    snprintf(inner, sizeof inner, "%s  ", indent);
    printf("%s{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\n", indent);
    for (uint32_t i = 0; i < o->count; i++) {
        const struct spec_field *f = &o->fields[i];
        if (where != 0 && f->where != 0 && !(f->where & where)) continue;
        if (!first) printf(",\n");
        first = false;
        schema_field(f, inner);
    }
    printf("}}");
}

static void schema(void) {
    printf("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n \"title\": \"Reeve flow file\",\n");
    printf(" \"$ref\": \"#/$defs/flow\",\n \"$defs\": {\n");
    printf(
        "  \"duration\": {\"type\": [\"string\", \"integer\"], \"description\": \"250ms, 90s, 5m, 1h30m, 2d, 1w\"},\n");
    printf("  \"size\": {\"type\": [\"string\", \"integer\"], \"description\": \"4096, 64KiB, 2GiB, 1.5GB\"},\n");
    for (size_t i = 0; i < PART_COUNT; i++) {
        printf("  \"%s\":\n", parts[i].name);
        schema_object(parts[i].keys, parts[i].keys == &spec_job_keys ? IN_JOB : 0, "    ");
        printf(",\n");
    }
    printf("  \"defaults\":\n");
    schema_object(&spec_job_keys, IN_DEFAULTS, "    ");
    printf(",\n  \"compensation\":\n");
    schema_object(&spec_job_keys, IN_UNDO, "    ");
    printf("\n }}\n");
}

/* ---- the manual page ---- */

static void man_field(const struct spec_field *f, const char *before) {
    char tag[80];
    snprintf(tag, sizeof tag, "%s%s", before, f->key);
    roff_item(stdout, tag, form_of(f), f->text);
    if (f->type != SPEC_OBJECT || strcmp(f->key, "approval") == 0) return;
    char inner[80];
    snprintf(inner, sizeof inner, "%s.", tag);
    for (uint32_t i = 0; i < f->sub->count; i++) man_field(&f->sub->fields[i], inner);
}

static void man(void) {
    roff_head(stdout, "reeve-flow", 5, REEVE_VERSION, "flow files: jobs and what they need");
    printf(".SH DESCRIPTION\n");
    roff_text(stdout,
              "A flow file is YAML or JSON. It names jobs, what each of them runs, and the jobs that it needs; a job "
              "starts when all of these have succeeded. `reeve plan FILE` tells what a file would do, `reeve submit "
              "FILE` runs it.");
    printf("\n.SH EXAMPLE\n.nf\n.RS\n"
           "name: etl\nparams:\n  day: {default: monday}\njobs:\n"
           "  fetch: curl \\-sfo /srv/${params.day}.csv https://example.org/${params.day}.csv\n"
           "  load:\n    script: load.py\n    needs: fetch\n    retries: 2\n"
           "    timeout: 10m\n  ship: {gate: {message: Ship it?}, needs: load}\n.RE\n.fi\n");
    for (size_t i = 0; i < PART_COUNT; i++) {
        printf(".SH \"KEYS: ");
        roff_text(stdout, parts[i].title);
        printf("\"\n");
        for (uint32_t k = 0; k < parts[i].keys->count; k++) man_field(&parts[i].keys->fields[k], "");
    }
    printf(".SH SEE ALSO\n.BR reeve (1)\n");
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "schema") == 0)
        schema();
    else if (argc == 2 && strcmp(argv[1], "guide") == 0)
        guide();
    else if (argc == 2 && strcmp(argv[1], "man") == 0)
        man();
    else
        return 2;
    return 0;
}
