/* roff.c: see roff.h. */
#include "roff.h"

#include <ctype.h>

void roff_text(FILE *to, const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", to); /* at the beginning of a line */
    for (; *text != 0; text++) {
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else
            fputc(*text == '\n' ? ' ' : *text, to);
    }
}

void roff_head(FILE *to, const char *name, int section, const char *version, const char *text) {
    fprintf(to, ".TH ");
    for (const char *c = name; *c != 0; c++) fputc(toupper((unsigned char)*c), to);
    fprintf(to, " %d \"\" \"reeve %s\"\n.SH NAME\n", section, version);
    roff_text(to, name);
    fputs(" \\- ", to);
    roff_text(to, text);
    fputc('\n', to);
}

void roff_item(FILE *to, const char *tag, const char *value, const char *text) {
    fputs(".TP\n\\fB", to);
    roff_text(to, tag);
    fputs("\\fR", to);
    if (value != NULL) fputs(" \\fI", to), roff_text(to, value), fputs("\\fR", to);
    fputc('\n', to);
    roff_text(to, text);
    fputc('\n', to);
}
