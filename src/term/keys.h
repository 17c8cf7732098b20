/* keys.h: what a terminal sends when someone types, as keys. */
#ifndef REEVE_KEYS_H
#define REEVE_KEYS_H

#include "slice.h"

enum key_kind {
    KEY_NONE,
    KEY_TEXT, /* `code` */
    KEY_CTRL, /* with the letter in `code`: 'a' to 'z', or one of [\]^_ */
    KEY_ENTER,
    KEY_TAB,
    KEY_BACKTAB,
    KEY_BACKSPACE,
    KEY_ESCAPE,
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_DELETE
};

struct key_press {
    enum key_kind kind;
    uint32_t code;
    bool is_alt; /* or, of arrows, with Control: by words */
};

struct keys {
    uint8_t in[256]; /* bytes that came and are not yet keys; what comes while it is full is dropped */
    size_t len;
};

void keys_feed(struct keys *k, struct slice bytes);
/* False: there is no key, or only the beginning of one. `is_all`: nothing follows soon, an ESC is the key itself. */
bool keys_take(struct keys *k, bool is_all, struct key_press *ret);

#endif
