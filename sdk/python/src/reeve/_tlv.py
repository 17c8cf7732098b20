"""Messages as bytes: fields of tag and value, as docs/formats/wire.md (section 4) has them.

A message is a plain dict. Fields that are missing, or have their default (0, "", nothing), are not written; reading
fills them in, so a message that was read has every field of its table. Read messages share their empty parts: look at
them, do not change them.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from ._wire import TABLES

_BOOL, _UINT, _INT, _ENUM, _TEXT, _BYTES, _NUMBERS, _MESSAGE, _LIST = range(9)
_KINDS = {
    "bool": _BOOL, "uint": _UINT, "int": _INT, "enum": _ENUM, "text": _TEXT, "bytes": _BYTES,
    "numbers": _NUMBERS, "message": _MESSAGE, "list": _LIST,
}
_DEFAULTS: Dict[int, Any] = {
    _BOOL: False, _UINT: 0, _INT: 0, _TEXT: "", _BYTES: b"", _NUMBERS: (), _LIST: (),
}
_BYTE = [bytes((i,)) for i in range(128)]


class Malformed(ValueError):
    """Bytes that are no such message."""


class _Field:
    __slots__ = ("name", "kind", "key", "key_bytes", "sub", "words", "numbers")

    def __init__(self, tag: int, name: str, type_word: str, detail: str) -> None:
        self.name = name
        self.kind = _KINDS[type_word]
        self.words: List[str] = detail.split() if self.kind == _ENUM else []
        self.numbers = {word: i for i, word in enumerate(self.words)}
        self.key = tag << 1 | (self.kind >= _TEXT)
        self.key_bytes = _varint(self.key)
        self.sub = detail if self.kind in (_MESSAGE, _LIST) else ""


class _Table:
    """One message: its fields in the order of their tags, and by what stands before them on the wire."""

    __slots__ = ("name", "fields", "by_key", "by_name", "defaults")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields = [_Field(*row) for row in TABLES[name]]
        self.by_key = {field.key: field for field in self.fields}
        self.by_name = {field.name: field for field in self.fields}
        self.defaults: Dict[str, Any] = {}

    def fill(self) -> None:
        for field in self.fields:
            if field.kind == _ENUM:
                self.defaults[field.name] = field.words[0] if field.words else 0
            elif field.kind != _MESSAGE:
                self.defaults[field.name] = _DEFAULTS[field.kind]
            else:
                sub = _TABLES[field.sub]
                if not sub.defaults:
                    sub.fill()
                self.defaults[field.name] = sub.defaults


def _varint(value: int) -> bytes:
    if value < 128:
        return _BYTE[value]
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise Malformed("a number that is too long")


_TABLES: Dict[str, _Table] = {name: _Table(name) for name in TABLES}
for _table in _TABLES.values():
    _table.fill()


# ---- writing


def encode(name: str, message: Mapping[str, Any]) -> bytes:
    """The message of that name as bytes. ValueError: it has a field that is not in the table, or a wrong value."""
    out = bytearray()
    _encode(_TABLES[name], message, out)
    return bytes(out)


def _encode(table: _Table, message: Mapping[str, Any], out: bytearray) -> None:
    left = len(message)
    for field in table.fields:
        value = message.get(field.name)
        if value is None:
            continue
        left -= 1
        if not value:
            continue
        kind = field.kind
        if kind <= _ENUM:
            number = _number(table, field, value)
            if number:
                out += field.key_bytes
                out += _BYTE[number] if number < 128 else _varint(number)
            continue
        if kind == _TEXT:
            body: Any = value.encode()
        elif kind == _BYTES:
            body = value
        else:
            body = bytearray()
            _encode_inside(field, value, body)
            if not body:
                continue
        out += field.key_bytes
        out += _varint(len(body))
        out += body
    if left > 0:
        unknown = [key for key in message if key not in table.by_name and message[key] is not None]
        if unknown:
            raise ValueError("message %s has no field %s" % (table.name, ", ".join(unknown)))


def _number(table: _Table, field: _Field, value: Any) -> int:
    if field.kind == _INT:
        return int(value) << 1 if value >= 0 else (-int(value) << 1) - 1
    if field.words:
        try:
            return field.numbers[value]
        except KeyError:
            raise ValueError("%s.%s is one of %s, not %r" % (table.name, field.name, ", ".join(field.words), value)) from None
    return int(value)


def _encode_inside(field: _Field, value: Any, body: bytearray) -> None:
    if field.kind == _NUMBERS:
        for number in value:
            body += _varint(number)
        return
    sub = _TABLES[field.sub]
    if field.kind == _MESSAGE:
        _encode(sub, value, body)
        return
    body += _varint(len(value))
    for item in value:
        piece = bytearray()
        _encode(sub, item, piece)
        body += _varint(len(piece))
        body += piece


# ---- reading


def decode(name: str, data: bytes) -> Dict[str, Any]:
    """The message of that name, with all of its fields. Fields with tags that are not known are skipped."""
    try:
        return _decode(_TABLES[name], data, 0, len(data))
    except (IndexError, UnicodeDecodeError) as e:
        raise Malformed("a %s that makes no sense: %s" % (name, e)) from e


def _decode(table: _Table, data: bytes, at: int, end: int) -> Dict[str, Any]:
    message = table.defaults.copy()
    by_key = table.by_key
    while at < end:
        key = data[at]
        at += 1
        if key >= 128:
            key, at = _read_varint(data, at - 1)
        number = data[at]
        at += 1
        if number >= 128:
            number, at = _read_varint(data, at - 1)
        field = by_key.get(key)
        if not key & 1:
            if field is not None:
                message[field.name] = _value(field, number)
            continue
        upto = at + number
        if upto > end:
            raise Malformed("a %s that ends too early" % table.name)
        if field is not None:
            kind = field.kind
            if kind == _TEXT:
                message[field.name] = data[at:upto].decode()
            elif kind == _BYTES:
                message[field.name] = data[at:upto]
            elif kind == _MESSAGE:
                message[field.name] = _decode(_TABLES[field.sub], data, at, upto)
            else:
                message[field.name] = _decode_many(field, data, at, upto)
        at = upto
    return message


def _value(field: _Field, number: int) -> Any:
    kind = field.kind
    if kind == _UINT:
        return number
    if kind == _INT:
        return number >> 1 if not number & 1 else -(number + 1 >> 1)
    if kind == _BOOL:
        return number != 0
    if field.words:  # a word of a newer server is shown as its number
        return field.words[number] if number < len(field.words) else str(number)
    return number


def _decode_many(field: _Field, data: bytes, at: int, end: int) -> List[Any]:
    items: List[Any] = []
    if field.kind == _NUMBERS:
        while at < end:
            number, at = _read_varint(data, at)
            items.append(number)
        return items
    table = _TABLES[field.sub]
    count, at = _read_varint(data, at)
    for _ in range(count):
        length, at = _read_varint(data, at)
        if at + length > end:
            raise Malformed("a list of %s that ends too early" % field.sub)
        items.append(_decode(table, data, at, at + length))
        at += length
    return items
