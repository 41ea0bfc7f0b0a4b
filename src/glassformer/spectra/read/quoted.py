"""Names out of a file that nobody has checked, written so that they fit into one sentence."""

LONGEST = 80  # characters of a name that are shown


def quoted(name: object) -> str:
    r"""The name in quotes, without control characters, cut where it is long.

    >>> quoted("a\nb"), quoted("w" * 1000)[-12:]
    ("'a\\nb'", "wwwwwwww...'")
    """
    text = ascii(str(name)[: LONGEST + 1])[1:-1]
    return f"'{text[:LONGEST]}...'" if len(text) > LONGEST else f"'{text}'"
