/* wire_python.c: writes sdk/python/src/reeve/_wire.py from the tables of src/proto: what the Python SDK knows of the
 * wire. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "panic.h"
#include "wire.h"

#define DESCS_MAX 256u

static const struct tlv_desc *descs[DESCS_MAX]; /* in order of first use */
static size_t desc_count;

static void note(const struct tlv_desc *d) {
    for (size_t i = 0; i < desc_count; i++)
        if (descs[i] == d) return;
    REQUIRE(desc_count < DESCS_MAX);
    descs[desc_count++] = d;
}

static void note_all(void) {
    for (int op = 0; op < 256; op++)
        if (wire_info((uint8_t)op)) note(wire_info((uint8_t)op)->desc);
    note(&wire_run_desc);
    for (size_t i = 0; i < desc_count; i++) /* grows on the way */
        for (uint32_t f = 0; f < descs[i]->field_count; f++)
            if (descs[i]->fields[f].sub) note(descs[i]->fields[f].sub);
}

/* kv_entry: KvEntry */
static void print_class(const char *name) {
    for (bool up = true; *name; name++) {
        if (*name != '_') putchar(up ? toupper(*name) : *name);
        up = *name == '_';
    }
}

static void print_upper(const char *name) {
    for (; *name; name++) putchar(toupper(*name));
}

static const char *type_word(enum tlv_type type) {
    switch (type) {
    case TLV_BOOL: return "bool";
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64: return "uint";
    case TLV_I64: return "int";
    case TLV_ENUM: return "enum";
    case TLV_TEXT: return "text";
    case TLV_BYTES:
    case TLV_HASH: return "bytes";
    case TLV_U32S: return "numbers";
    case TLV_MSG: return "message";
    case TLV_LIST: return "list";
    case TLV_RAW: break;
    }
    return "?";
}

static void print_annotation(const struct tlv_field *f) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL: printf("bool"); break;
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64: printf("int"); break;
    case TLV_ENUM: printf(f->names ? "str" : "int"); break;
    case TLV_TEXT: printf("str"); break;
    case TLV_BYTES:
    case TLV_HASH: printf("bytes"); break;
    case TLV_U32S: printf("Sequence[int]"); break;
    case TLV_MSG: print_class(f->sub->name); break;
    case TLV_LIST:
        printf("Sequence[");
        print_class(f->sub->name);
        printf("]");
        break;
    case TLV_RAW: break;
    }
}

static bool is_keyword(const char *name) {
    return strcmp(name, "from") == 0;
}

/* A class, or a call where a field is called like a word of the language. */
static void print_message(const struct tlv_desc *d) {
    bool is_call = false;
    for (uint32_t i = 0; i < d->field_count; i++) is_call |= is_keyword(d->fields[i].name);
    printf(is_call ? "\n\n" : "\n\nclass ");
    print_class(d->name);
    printf(is_call ? " = TypedDict(\n    \"" : "(TypedDict, total=False):\n");
    if (is_call) {
        print_class(d->name);
        printf("\", {\n");
    }
    for (uint32_t i = 0; i < d->field_count; i++) {
        if (d->fields[i].type == TLV_RAW) continue;
        printf(is_call ? "        \"%s\": \"" : "    %s: ", d->fields[i].name);
        print_annotation(&d->fields[i]);
        printf(is_call ? "\",\n" : "\n");
    }
    if (d->field_count == 0) printf("    pass\n");
    if (is_call) printf("    }, total=False)\n");
}

/* What stands in its table for a field: the message inside it, or the words of an enum. */
static void print_detail(const struct tlv_field *f) {
    if (f->type == TLV_MSG || f->type == TLV_LIST) {
        printf("\"%s\"", f->sub->name);
    } else if (f->type == TLV_ENUM && f->names) {
        printf("\"");
        for (uint32_t i = 0; i < f->max; i++) printf("%s%s", i ? " " : "", f->names[i]);
        printf("\"");
    } else {
        printf("\"\"");
    }
}

static void print_table(const struct tlv_desc *d) {
    printf("    \"%s\": (\n", d->name);
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        if (f->type == TLV_RAW) continue;
        printf("        (%u, \"%s\", \"%s\", ", f->tag, f->name, type_word(f->type));
        print_detail(f);
        printf("),\n");
    }
    printf("    ),\n");
}

static void print_errors(void) {
    printf("\n\n# code: what it means, whether another try may help\nERRORS: Dict[str, Tuple[str, bool]] = {\n");
    for (int e = ERR_OK + 1; e < ERR_COUNT; e++)
        printf("    \"%s\": (\"%s\", %s),\n", err_word(e), err_meaning(e), err_is_retryable(e) ? "True" : "False");
    printf("}\n");
}

static void print_opcodes(void) {
    printf("\n\nclass Op:\n    \"\"\"Opcodes of frames.\"\"\"\n\n");
    for (int op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (!info) continue;
        printf("    ");
        print_upper(info->word);
        printf(" = %d\n", op);
    }
    printf("\n\n# opcode: the word of the frame, the message in it\nOPCODES: Dict[int, Tuple[str, str]] = {\n");
    for (int op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (info) printf("    %d: (\"%s\", \"%s\"),\n", op, info->word, info->desc->name);
    }
    printf("}\n");
}

int main(void) {
    note_all();
    printf(
        "\"\"\"The messages of the native wire. Written by `make docs` from src/proto: change nothing here.\"\"\"\n\n"
        "from __future__ import annotations\n\n"
        "from typing import Dict, Sequence, Tuple, TypedDict\n\n"
        "VERSION = %u",
        FRAME_VERSION);
    print_errors();
    print_opcodes();
    for (size_t i = 0; i < desc_count; i++) print_message(descs[i]);
    printf("\n\n# message: its fields as (tag, name, type, message inside it or words of an enum)\n"
           "TABLES: Dict[str, Tuple[Tuple[int, str, str, str], ...]] = {\n");
    for (size_t i = 0; i < desc_count; i++) print_table(descs[i]);
    printf("}\n");
    return 0;
}
