/* http_scan.c: see http_scan.h. */
#include "http_scan.h"

#include <stddef.h>

static enum http_scanned refuse(const char **ret_text, const char *text) {
    *ret_text = text;
    return HTTP_SCAN_BAD;
}

static enum http_scanned line_ends(struct http_scan *s) {
    bool blank = !s->in_line;
    s->after_return = s->in_line = false;
    s->lines++;
    return blank ? HTTP_SCAN_END : HTTP_SCAN_MORE;
}

enum http_scanned http_scan(struct http_scan *s, uint8_t byte, const char **ret_text) {
    if (s->after_return && byte != '\n') return refuse(ret_text, "a carriage return without its line feed");
    if (byte == '\n' && !s->after_return) return refuse(ret_text, "a line feed without its carriage return");
    if (byte == '\n') return line_ends(s);
    if (byte == '\r') {
        s->after_return = true;
        return HTTP_SCAN_MORE;
    }
    bool blank = byte == ' ' || byte == '\t';
    if (blank && !s->in_line && s->lines > 0) return refuse(ret_text, "a header that goes on in the next line");
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) return refuse(ret_text, "a control character");
    s->in_line = true;
    return HTTP_SCAN_MORE;
}
