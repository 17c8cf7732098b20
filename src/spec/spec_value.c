/* spec_value.c: see spec_value.h. */
#include "spec_value.h"

#include "min.h"

#define NEAR_BYTES_MAX 48u
#define AMOUNT_MAX (INT64_C(1) << 52) /* products with units below stay numbers */

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

/* A number with up to three decimals, as thousandths. Returns how many bytes it took, 0 = there is none. */
static size_t amount_read(struct slice in, int64_t *ret_milli) {
    int64_t v = 0;
    size_t i = 0;
    for (; i < in.len && is_digit(in.ptr[i]); i++) {
        v = v * 10 + (in.ptr[i] - '0');
        if (v > AMOUNT_MAX / 1000) return 0;
    }
    if (i == 0) return 0;
    v *= 1000;
    if (i == in.len || in.ptr[i] != '.') {
        *ret_milli = v;
        return i;
    }
    size_t dot = i++;
    for (int64_t worth = 100; i < in.len && is_digit(in.ptr[i]); i++, worth /= 10) {
        if (worth == 0) return 0;
        v += (in.ptr[i] - '0') * worth;
    }
    if (i == dot + 1) return 0;
    *ret_milli = v;
    return i;
}

struct unit {
    const char *word;
    int64_t worth;
};

static const struct unit time_units[] = {{"ms", 1},      {"s", 1000},     {"m", 60000},
                                         {"h", 3600000}, {"d", 86400000}, {"w", 604800000}};
static const struct unit size_units[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", INT64_C(1000000000000)},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
};

/* The unit whose word is all letters at the front of `in`; its length, 0 = none. */
static size_t unit_read(struct slice in, const struct unit *units, size_t count, int64_t *ret) {
    size_t len = 0;
    while (len < in.len && !is_digit(in.ptr[len]) && in.ptr[len] != '.') len++;
    for (size_t i = 0; i < count; i++) {
        if (!slice_eq(slice_of(in.ptr, len), slice_str(units[i].word))) continue;
        *ret = units[i].worth;
        return len;
    }
    return 0;
}

static bool product(int64_t milli, int64_t worth, int64_t *ret) {
    int64_t v;
    if (__builtin_mul_overflow(milli, worth, &v)) return false;
    *ret = v / 1000;
    return v % 1000 == 0 || worth > 1;
}

bool spec_duration(struct slice text, int64_t *ret_ms) {
    int64_t sum = 0, worth_before = INT64_MAX;
    if (slice_eq(text, SLICE("0"))) {
        *ret_ms = 0;
        return true;
    }
    if (text.len == 0) return false;
    while (text.len > 0) {
        int64_t milli = 0, worth = 0, part = 0;
        size_t n = amount_read(text, &milli);
        if (n == 0) return false;
        text = slice_of(text.ptr + n, text.len - n);
        n = unit_read(text, time_units, sizeof time_units / sizeof time_units[0], &worth);
        /* Larger units first, each once: 30m1h is a slip. */
        if (n == 0 || worth >= worth_before || !product(milli, worth, &part)) return false;
        text = slice_of(text.ptr + n, text.len - n);
        worth_before = worth;
        if (__builtin_add_overflow(sum, part, &sum)) return false;
    }
    *ret_ms = sum;
    return true;
}

bool spec_size(struct slice text, uint64_t *ret_bytes) {
    int64_t milli = 0, worth = 1, bytes = 0;
    size_t n = amount_read(text, &milli);
    if (n == 0) return false;
    text = slice_of(text.ptr + n, text.len - n);
    if (text.len > 0 && text.ptr[0] == ' ') text = slice_of(text.ptr + 1, text.len - 1);
    if (text.len > 0 && unit_read(text, size_units, sizeof size_units / sizeof size_units[0], &worth) != text.len)
        return false;
    if (!product(milli, worth, &bytes)) return false;
    *ret_bytes = (uint64_t)bytes;
    return true;
}

bool spec_milli(struct slice text, uint32_t *ret) {
    int64_t milli = 0;
    if (amount_read(text, &milli) != text.len || text.len == 0 || milli > UINT32_MAX) return false;
    *ret = (uint32_t)milli;
    return true;
}

bool spec_number(struct slice text, int64_t *ret) {
    bool minus = text.len > 1 && text.ptr[0] == '-';
    int64_t milli = 0;
    if (minus) text = slice_of(text.ptr + 1, text.len - 1);
    if (text.len == 0 || amount_read(text, &milli) != text.len || milli % 1000 != 0) return false;
    *ret = minus ? -(milli / 1000) : milli / 1000;
    return true;
}

/* ---- times ---- */

/* Exactly `count` digits. */
static bool digits(struct slice *in, size_t count, int64_t least, int64_t most, int64_t *ret) {
    int64_t v = 0;
    if (in->len < count) return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_digit(in->ptr[i])) return false;
        v = v * 10 + (in->ptr[i] - '0');
    }
    *in = slice_of(in->ptr + count, in->len - count);
    *ret = v;
    return v >= least && v <= most;
}

static bool sign(struct slice *in, char wanted) {
    if (in->len == 0 || in->ptr[0] != (uint8_t)wanted) return false;
    *in = slice_of(in->ptr + 1, in->len - 1);
    return true;
}

static int64_t month_days(int64_t year, int64_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01: years begin in March here, so that a leap day is a year's last (Howard Hinnant). */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool zone_read(struct slice *in, int64_t *ret_minutes) {
    int64_t hours = 0, minutes = 0;
    *ret_minutes = 0;
    if (sign(in, 'Z') || sign(in, 'z')) return true;
    bool minus = in->len > 0 && in->ptr[0] == '-';
    if (!sign(in, minus ? '-' : '+')) return false;
    if (!digits(in, 2, 0, 23, &hours) || !sign(in, ':') || !digits(in, 2, 0, 59, &minutes)) return false;
    *ret_minutes = (hours * 60 + minutes) * (minus ? -1 : 1);
    return true;
}

bool spec_time(struct slice in, int64_t *ret_ms) {
    int64_t year, month, day, hour, minute, second, zone, ms = 0;
    if (!digits(&in, 4, 1970, 9999, &year) || !sign(&in, '-') || !digits(&in, 2, 1, 12, &month)) return false;
    if (!sign(&in, '-') || !digits(&in, 2, 1, month_days(year, month), &day)) return false;
    if (!sign(&in, 'T') && !sign(&in, 't') && !sign(&in, ' ')) return false;
    if (!digits(&in, 2, 0, 23, &hour) || !sign(&in, ':') || !digits(&in, 2, 0, 59, &minute)) return false;
    if (!sign(&in, ':') || !digits(&in, 2, 0, 59, &second)) return false;
    if (sign(&in, '.')) {
        size_t count = 0;
        for (int64_t worth = 100; in.len > 0 && is_digit(in.ptr[0]); worth /= 10, count++) {
            ms += (in.ptr[0] - '0') * worth;
            in = slice_of(in.ptr + 1, in.len - 1);
        }
        if (count == 0) return false;
    }
    if (!zone_read(&in, &zone) || in.len > 0) return false;
    *ret_ms = ((days_of(year, month, day) * 24 + hour) * 60 + minute - zone) * 60000 + second * 1000 + ms;
    return true;
}

/* ---- names ---- */

uint32_t spec_distance(struct slice a, struct slice b) {
    uint32_t rows[3][NEAR_BYTES_MAX + 1]; /* this row, the one before, the one before that */
    if (a.len > NEAR_BYTES_MAX || b.len > NEAR_BYTES_MAX) return UINT32_MAX;
    uint32_t *now = rows[0], *before = rows[1], *earlier = rows[2];
    for (uint32_t j = 0; j <= b.len; j++) before[j] = j;
    for (uint32_t i = 1; i <= a.len; i++) {
        now[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            uint32_t change = before[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            now[j] = min_u32(change, min_u32(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                now[j] = min_u32(now[j], earlier[j - 2] + 1);
        }
        uint32_t *free_row = earlier;
        earlier = before;
        before = now;
        now = free_row;
    }
    return before[b.len];
}

bool spec_is_near(struct slice written, struct slice known) {
    uint32_t distance = spec_distance(written, known);
    return distance <= (known.len <= 2 ? 0u : known.len <= 4 ? 1u : known.len <= 8 ? 2u : 3u);
}
