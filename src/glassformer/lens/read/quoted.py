"""Names out of a file that nobody has checked, written so that they fit into one sentence."""

_LONGEST = 80  # characters of a name that are shown


def quote_name(name: object) -> str:
    r"""The name in quotes, without control characters, cut where it is long.

    >>> quote_name("a\nb"), quote_name("w" * 1000)[-12:]
    ("'a\\nb'", "wwwwwwww...'")
    """
    text = ascii(str(name)[: _LONGEST + 1])[1:-1]
    return f"'{text[:_LONGEST]}...'" if len(text) > _LONGEST else f"'{text}'"
