/* json_number.c: what a JSON number is worth. The reader has checked how it is written. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "json_read.h"
#include "panic.h"

#define F64_TEXT_MAX 1100u /* enough for any double written out in full; more is no honest number */

/* The digits as a number; false when one of them is no digit. Too large is UINT64_MAX with *ret_fits false. */
static bool read_digits(struct slice text, uint64_t *ret, bool *ret_fits) {
    if (text.len == 0) return false;
    uint64_t value = 0;
    *ret_fits = true;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, text.ptr[i] - '0', &value))
            *ret_fits = false;
    }
    *ret = value;
    return true;
}

enum err json_number_u64(struct slice text, uint64_t *ret) {
    bool fits;
    uint64_t value;
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    if (is_negative) text = slice_of(text.ptr + 1, text.len - 1);
    if (!read_digits(text, &value, &fits)) return ERR_INVALID;
    if (!fits || (is_negative && value != 0)) return ERR_LIMIT;
    *ret = value;
    return ERR_OK;
}

enum err json_number_i64(struct slice text, int64_t *ret) {
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    if (is_negative) text = slice_of(text.ptr + 1, text.len - 1);
    bool fits;
    uint64_t value;
    if (!read_digits(text, &value, &fits)) return ERR_INVALID;
    if (!fits || value > (uint64_t)INT64_MAX + is_negative) return ERR_LIMIT;
    *ret = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return ERR_OK;
}

/* strtod asks the locale for the decimal point; the program never sets one. */
enum err json_number_f64(struct slice text, double *ret) {
    char copy[F64_TEXT_MAX + 1];
    if (text.len > F64_TEXT_MAX) return ERR_LIMIT;
    if (text.len == 0) return ERR_INVALID;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    char *end;
    double value = strtod(copy, &end);
    if (end != copy + text.len) return ERR_INVALID;
    if (!isfinite(value)) return ERR_LIMIT;
    *ret = value;
    return ERR_OK;
}
