/* openapi_doc.c: writes docs/openapi.yaml from the table of routes (api.h) and the descriptions of messages.
 *
 *     openapi_doc < docs/src/openapi.head.yaml
 *
 * Schemas are written where they are met first, so the file is in the order in which a reader asks. */
#include <ctype.h>
#include <stdio.h>

#include "api.h"
#include "auth.h"
#include "requests.h"

#define SCHEMAS_MAX 200u

static const struct tlv_desc *schemas[SCHEMAS_MAX];
static uint32_t schema_count;

static const char *schema_of(const struct tlv_desc *d) {
    for (uint32_t i = 0; i < schema_count; i++)
        if (schemas[i] == d) return d->name;
    if (schema_count < SCHEMAS_MAX) schemas[schema_count++] = d;
    return d->name;
}

/* ---- schemas ---- */

static void put_type(const struct tlv_field *f);

static void put_words(const struct tlv_field *f) {
    printf("{type: string, enum: [");
    for (uint32_t i = 0; i < f->max; i++) printf("%s\"%s\"", i > 0 ? ", " : "", f->names[i]);
    printf("]}");
}

static void put_list_type(const struct tlv_field *f) {
    const struct tlv_desc *sub = f->sub;
    if (wire_json_is_map(sub)) {
        printf("{type: object, additionalProperties: ");
        put_type(&sub->fields[1]);
    } else {
        printf("{type: array, items: ");
        if (wire_json_is_plain(sub))
            put_type(&sub->fields[0]);
        else
            printf("{$ref: \"#/components/schemas/%s\"}", schema_of(sub));
    }
    printf("}");
}

static void put_type(const struct tlv_field *f) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL: printf("{type: boolean}"); return;
    case TLV_U8: printf("{type: integer, minimum: 0, maximum: 255}"); return;
    case TLV_U16: printf("{type: integer, minimum: 0, maximum: 65535}"); return;
    case TLV_U32: printf("{type: integer, minimum: 0, maximum: 4294967295}"); return;
    case TLV_U64: printf("{type: integer, minimum: 0}"); return;
    case TLV_I64: printf("{type: integer}"); return;
    case TLV_ENUM: put_words(f); return;
    case TLV_TEXT:
    case TLV_BYTES:
        if (f->form == TLV_FORM_JSON)
            printf("{}");
        else if (f->form == TLV_FORM_MESSAGE)
            printf("{$ref: \"#/components/schemas/%s\"}", schema_of(f->sub));
        else
            printf(f->type == TLV_TEXT ? "{type: string}" : "{$ref: \"#/components/schemas/bytes\"}");
        return;
    case TLV_HASH: printf("{type: string, pattern: \"^[0-9a-f]{64}$\"}"); return;
    case TLV_U32S: printf("{type: array, items: {type: integer, minimum: 0, maximum: 4294967295}}"); return;
    case TLV_MSG: printf("{$ref: \"#/components/schemas/%s\"}", schema_of(f->sub)); return;
    case TLV_LIST: put_list_type(f); return;
    case TLV_RAW: return;
    }
}

static bool is_fixed(const struct api_route *r, const char *name) {
    size_t len = strlen(name);
    if (r->field != NULL && strcmp(r->field, name) == 0) return true;
    for (const char *pair = r->preset; pair != NULL && *pair != 0; pair += strcspn(pair, "&"), pair += *pair == '&')
        if (strncmp(pair, name, len) == 0 && pair[len] == '=') return true;
    return false;
}

static void put_property(const struct tlv_field *f, int indent) {
    printf("%*s%s: ", indent, "", f->name);
    put_type(f);
    printf("\n");
}

/* The fields of a message, without those that the path gives. */
static void put_properties(const struct tlv_desc *d, const struct api_route *r, int indent) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->field_count; i++)
        count += d->fields[i].type != TLV_RAW && (r == NULL || !is_fixed(r, d->fields[i].name));
    printf("%*sproperties:%s\n", indent, "", count == 0 ? " {}" : "");
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        if (f->type != TLV_RAW && (r == NULL || !is_fixed(r, f->name))) put_property(f, indent + 2);
    }
}

/* ---- routes ---- */

static void put_lower(const char *text) {
    for (; *text != 0; text++) putchar(tolower((unsigned char)*text));
}

/* post_flows_flow_cancel */
static void put_operation(const struct api_route *r) {
    printf("      operationId: ");
    put_lower(http_verb_word(r->verb));
    for (const char *p = r->path; *p != 0; p++)
        if (*p == '/')
            putchar('_');
        else if (*p != '{' && *p != '}')
            putchar(*p);
    printf("\n      summary: \"%s\"\n      description: \"Roles: admin", r->text);
    for (uint32_t i = 0; i < ROLE_COUNT; i++)
        if (i != ROLE_ADMIN && role_may(ROLE_BIT(i), r->op)) printf(", %s", role_words[i]);
    printf(". Message of the wire: %s.\"\n", wire_word(r->op));
}

static void put_parameters(const struct api_route *r) {
    bool flow = r->body == API_BODY_FLOW, any = strchr(r->path, '{') != NULL || flow;
    const struct tlv_desc *d = flow ? &wire_flow_desc : wire_info(r->op)->desc;
    if (r->body == API_BODY_NONE) any |= d->field_count > 0;
    if (!any) return;
    printf("      parameters:\n");
    for (const char *p = strchr(r->path, '{'); p != NULL; p = strchr(p + 1, '{'))
        printf("        - {name: %.*s, in: path, required: true, schema: {type: string}}\n",
               (int)(strchr(p, '}') - p - 1), p + 1);
    if (flow) printf("        - {name: Idempotency-Key, in: header, schema: {type: string}}\n");
    for (uint32_t i = 0; r->body != API_BODY_FIELDS && i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        bool plain = f->type != TLV_MSG && f->type != TLV_U32S && f->type != TLV_RAW &&
                     (f->type != TLV_LIST || wire_json_is_plain(f->sub) || wire_json_is_map(f->sub));
        if (!plain || is_fixed(r, f->name) || (flow && strcmp(f->name, "spec") == 0)) continue;
        printf("        - {name: %s, in: query, schema: ", f->name);
        if (f->type == TLV_LIST && wire_json_is_map(f->sub))
            printf("{type: array, items: {type: string, pattern: \"=\"}}");
        else if (f->type == TLV_BYTES || (f->type == TLV_LIST && f->sub->fields[0].type == TLV_BYTES))
            printf(f->type == TLV_LIST ? "{type: array, items: {type: string}}" : "{type: string}");
        else
            put_type(f);
        printf("}\n");
    }
}

static void put_body(const struct api_route *r) {
    if (r->body == API_BODY_NONE || r->verb == HTTP_VERB_DELETE) return;
    if (r->body == API_BODY_BYTES) {
        printf("      requestBody: {content: {\"*/*\": {schema: {type: string, format: binary}}}}\n");
        return;
    }
    printf("      requestBody:\n        content:\n          application/json:\n            schema:\n");
    if (r->body == API_BODY_FLOW) {
        printf(
            "              {description: \"a flow file; its keys are in guides/flows.schema.json\", type: object}\n");
        return;
    }
    printf("              type: object\n              additionalProperties: false\n");
    put_properties(wire_info(r->op)->desc, r, 14);
}

/* Events are worded by event_format.h, not by the description of a message. */
static void put_stream_answers(void) {
    printf("      responses:\n        \"101\":\n"
           "          description: a WebSocket; each text message is a stream_event\n"
           "        \"200\":\n          description: server-sent events; each data line is a stream_event\n"
           "          content:\n            text/event-stream:\n              schema: {type: string}\n"
           "        default: {$ref: \"#/components/responses/error\"}\n");
}

static void put_stream_event(void) {
    static const char *const texts[] = {"target", "from", "to", "cause", "worker"};
    static const char *const numbers[] = {"server_time_ms", "time_ms", "attempt", "due_ms", "dropped"};
    printf("    stream_event:\n      description: guides/events.md says which members which type has\n"
           "      type: object\n      required: [type]\n      properties:\n"
           "        type: {type: string, enum: [hello, flow, job, worker, service, gap, metrics]}\n"
           "        position: {type: string, description: LSN.ORDINAL}\n");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) printf("        %s: {type: string}\n", texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) printf("        %s: {type: integer}\n", numbers[i]);
    printf("        numbers: {type: object, additionalProperties: {type: integer, minimum: 0}}\n");
}

static void put_answer_schema(const struct api_route *r, const struct tlv_desc *d) {
    if (r->answer == API_ANSWER_TALE) {
        printf("                type: object\n                properties:\n"
               "                  lsn: {type: integer, minimum: 0}\n"
               "                  events: {type: array, items: {$ref: \"#/components/schemas/stream_event\"}}\n"
               "                  cursor: {type: string}\n                  gap: {type: boolean}\n");
        return;
    }
    if (r->answer == API_ANSWER_ITEM) {
        const struct tlv_field *list = wire_json_field(d, slice_str(r->about));
        printf("                allOf:\n                  - {$ref: \"#/components/schemas/%s\"}\n"
               "                  - {properties: {lsn: {type: integer, minimum: 0}}}\n",
               schema_of(list->sub));
        return;
    }
    printf("                $ref: \"#/components/schemas/%s\"\n", schema_of(d));
}

static void put_answers(const struct api_route *r) {
    if (r->answer == API_ANSWER_STREAM) {
        put_stream_answers();
        return;
    }
    const struct tlv_desc *d = wire_info(wire_info(r->op)->answer)->desc;
    if (r->answer == API_ANSWER_WATCH) {
        printf("      responses:\n        \"200\":\n"
               "          description: server-sent events; each data line is a %s\n"
               "          content:\n            text/event-stream:\n              schema: {type: string}\n"
               "        default: {$ref: \"#/components/responses/error\"}\n",
               schema_of(d));
        return;
    }
    bool plain = r->answer == API_ANSWER_BYTES || r->answer == API_ANSWER_TEXT;
    const char *type = !plain                                               ? "application/json"
                       : r->op == WIRE_LOGS || r->answer == API_ANSWER_TEXT ? "text/plain"
                                                                            : "application/octet-stream";
    printf("      responses:\n");
    for (int created = r->body == API_BODY_FLOW; created >= 0; created--) {
        const char *text = r->verb == HTTP_VERB_GET ? "here it is" : "done, and durable";
        if (r->body == API_BODY_FLOW) text = created ? "accepted, and durable" : "accepted before, with this key";
        printf("        \"%s\":\n          description: %s\n          content:\n", created ? "201" : "200", text);
        printf("            %s:\n              schema:%s\n", type, plain ? " {type: string}" : "");
        if (!plain) put_answer_schema(r, d);
    }
    printf("        default: {$ref: \"#/components/responses/error\"}\n");
}

static void put_paths(void) {
    uint32_t count;
    const struct api_route *routes = api_routes(&count);
    for (uint32_t i = 0; i < count; i++) {
        bool met = false;
        for (uint32_t k = 0; k < i; k++) met |= strcmp(routes[k].path, routes[i].path) == 0;
        if (met) continue;
        printf("  %s%s:\n", routes[i].bare ? "" : API_PREFIX, routes[i].path);
        for (uint32_t k = i; k < count; k++) {
            if (strcmp(routes[k].path, routes[i].path) != 0) continue;
            printf("    ");
            put_lower(http_verb_word(routes[k].verb));
            printf(":\n");
            put_operation(&routes[k]);
            put_parameters(&routes[k]);
            put_body(&routes[k]);
            put_answers(&routes[k]);
        }
    }
}

static void put_components(void) {
    printf("components:\n  securitySchemes:\n    token: {type: http, scheme: bearer}\n"
           "    cookie: {type: apiKey, in: cookie, name: reeve_session, "
           "description: \"with _PORT behind it when the server is called by one; "
           "the header Reeve-CSRF goes with it\"}\n"
           "  responses:\n    error:\n"
           "      description: refused; the status says how, code is a word of the table of errors\n      content:\n"
           "        application/json:\n          schema: {$ref: \"#/components/schemas/error\"}\n  schemas:\n");
    printf("    error:\n      type: object\n      required: [code, message]\n      properties:\n"
           "        code: {type: string, enum: [");
    for (uint32_t i = 1; i < ERR_COUNT; i++) printf("%s%s", i > 1 ? ", " : "", err_word((enum err)i));
    printf("]}\n        message: {type: string, description: a sentence for people}\n"
           "        field: {type: string, description: \"the field that was at fault: entries[1].key\"}\n"
           "        retry_after: {type: integer, description: seconds after which the same may be tried again}\n");
    printf("    bytes:\n      description: a text where the bytes are UTF-8, else in base64\n      oneOf:\n"
           "        - {type: string}\n"
           "        - {type: object, required: [base64], properties: {base64: {type: string}}}\n");
    put_stream_event();
    for (uint32_t i = 0; i < schema_count; i++) { /* grows on the way */
        printf("    %s:\n      type: object\n", schemas[i]->name);
        put_properties(schemas[i], NULL, 6);
    }
}

int main(void) {
    int c;
    while ((c = getchar()) != EOF) putchar(c);
    put_paths();
    put_components();
    return ferror(stdout) != 0;
}
