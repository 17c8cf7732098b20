/* tlvdoc.c: see tlvdoc.h. */
#include "tlvdoc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "panic.h"

#define REMARKS_MAX 512u
#define DESCS_MAX 128u

static const char *program;
static const struct remark *remarks;
static size_t remark_count;
static bool remark_used[REMARKS_MAX];

static const struct tlv_desc *later[DESCS_MAX]; /* nested messages, by first use */
static size_t later_count;

void tlvdoc_later(const struct tlv_desc *d) {
    for (size_t i = 0; i < later_count; i++)
        if (later[i] == d) return;
    REQUIRE(later_count < DESCS_MAX);
    later[later_count++] = d;
}

static const char *remark_of(const char *message, const char *field) {
    char name[128];
    (void)snprintf(name, sizeof name, "%s.%s", message, field);
    for (size_t i = 0; i < remark_count; i++) {
        if (strcmp(remarks[i].field, name) != 0) continue;
        remark_used[i] = true;
        return remarks[i].text;
    }
    return "";
}

bool tlvdoc_end(void) {
    bool all = true;
    for (size_t i = 0; i < remark_count; i++) {
        if (remark_used[i]) continue;
        fprintf(stderr, "%s: there is no field %s\n", program, remarks[i].field);
        all = false;
    }
    return all;
}

/* ---- one field ---- */

static const char *type_word(enum tlv_type type) {
    switch (type) {
    case TLV_BOOL: return "bool";
    case TLV_U8: return "u8";
    case TLV_U16: return "u16";
    case TLV_U32: return "u32";
    case TLV_U64: return "u64";
    case TLV_I64: return "i64";
    case TLV_ENUM: return "enum";
    case TLV_TEXT: return "text";
    case TLV_BYTES: return "bytes";
    case TLV_HASH: return "hash";
    case TLV_U32S: return "numbers";
    case TLV_MSG: return "message";
    case TLV_LIST: return "list";
    case TLV_RAW: break;
    }
    return "?";
}

static void print_type(const struct tlv_field *f) {
    printf("%s", type_word(f->type));
    if (f->type == TLV_LIST) printf(" of");
    if (f->sub) printf(" [`%s`](#%s)", f->sub->name, f->sub->name);
}

static void print_limit(const struct tlv_field *f) {
    switch ((enum tlv_type)f->type) {
    case TLV_ENUM:
        if (f->names == NULL) printf("below %" PRIu32, f->max);
        for (uint32_t i = 0; f->names && i < f->max; i++) printf("%s%" PRIu32 " %s", i ? ", " : "", i, f->names[i]);
        break;
    case TLV_TEXT:
    case TLV_BYTES:
        if (f->max) printf("%" PRIu32 " bytes", f->max);
        break;
    case TLV_HASH: printf("0 or 32 bytes"); break;
    case TLV_U32S:
    case TLV_LIST:
        if (f->max) printf("%" PRIu32, f->max);
        break;
    case TLV_BOOL:
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64:
    case TLV_MSG:
    case TLV_RAW: break;
    }
}

/* ---- one message ---- */

void tlvdoc_fields(const char *message, const struct tlv_desc *d, uint32_t first) {
    if (first == d->field_count) {
        printf("No further fields.\n");
        return;
    }
    printf("| tag | field | type | limit or values | |\n| ---: | --- | --- | --- | --- |\n");
    for (uint32_t i = first; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        if (f->type == TLV_RAW) continue; /* never written */
        printf("| %u | `%s` | ", f->tag, f->name);
        print_type(f);
        printf(" | ");
        print_limit(f);
        printf(" | %s |\n", remark_of(message, f->name));
        if (f->sub) tlvdoc_later(f->sub);
    }
}

void tlvdoc_nested(void) {
    printf("\n## Nested messages\n");
    for (size_t i = 0; i < later_count; i++) { /* grows on the way */
        printf("\n### %s\n\n", later[i]->name);
        tlvdoc_fields(later[i]->name, later[i], 0);
    }
}

/* ---- the document ---- */

static void copy_head(void) {
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0;) fwrite(piece, 1, n, stdout);
}

void tlvdoc_begin(const char *name, const struct remark *all, size_t count) {
    REQUIRE(count <= REMARKS_MAX);
    program = name;
    remarks = all;
    remark_count = count;
    copy_head();
}
