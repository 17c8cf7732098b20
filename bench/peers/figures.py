"""Medians, spreads, ratios, and how numbers are written."""
import statistics


def median(values):
    return statistics.median(values)


def number(value):
    """Three digits that mean something, thousands with commas: 46,614, 713, 27.4, 0.853."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" not in text else f"{value:.6f}".rstrip("0")


def speed(value, more_is_better):
    """Greater is faster, whichever way the unit runs."""
    return value if more_is_better else 1 / value


def ratio(value, other, more_is_better):
    """How near `value` comes to `other`: 1 = as fast, 2 = twice as fast."""
    return speed(value, more_is_better) / speed(other, more_is_better)


def summary(row, more_is_better, floor=None, reeve=None):
    """What a row of a table says of its values."""
    middle = median(row["values"])
    return {
        "median": middle, "min": min(row["values"]), "max": max(row["values"]),
        "of_floor": ratio(middle, floor, more_is_better) if floor else None,
        "of_reeve": ratio(middle, reeve, more_is_better) if reeve else None,
    }


def is_met(value, target, more_is_better):
    return value >= target if more_is_better else value <= target


def per_thousand(syncs, operations):
    return None if syncs is None or not operations else syncs * 1000 / operations
