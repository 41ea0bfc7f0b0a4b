"""The rules once more, in plain Python over whole histories: an oracle that shares no code with them.

Each function takes the tokens before a position and returns the set that the rule allows there, or
None where the position is free. The ranges are those of the default configurations.
"""

EVENS_10 = set(range(0, 11, 2))
IMAGES = (1, 0, 4, 9, 6, 5, 8, 2, 3, 7)  # of 0, 1, ..., 9 under seed 42
EVENS, ODDS = set(range(0, 21, 2)), set(range(1, 21, 2))


def numbers(history):
    return [token for token in history if token != "+"]


def plus_last_even(history):
    if history[-1:] != ["+"]:
        return None
    evens = [x for x in numbers(history) if x % 2 == 0]
    return {evens[-1]} if evens else EVENS_10


def plus_max_of_two(history):
    if history[-1:] != ["+"]:
        return None
    seen = numbers(history)
    return {max(seen[-2:])} if seen else set(range(21))


def plus_means_even(history):
    return EVENS if history[-1:] == ["+"] else None


def lucky7(history):
    return {history[-2]} if len(history) >= 2 and history[-1] == 7 else None


def step_back(history):
    i = len(history)
    return {history[i - 1 - 3]} if i - 1 >= 3 and history[-1] == 9 else None


def copy_modulo(history):
    return {history[-3]} if len(history) >= 3 else None


def successor(history):
    return {(history[-1] + 1) % 10} if history else None


def conditional_transform(history):
    if not history:
        return None
    x = history[-1]
    return {x // 2} if x % 2 == 0 else {(x + 1) % 10}


def lookup_permutation(history):
    return {IMAGES[history[-1]]} if history else None


def odd_even_index(history):
    return ODDS if len(history) % 2 else EVENS


def even_to_odd_transition(history):
    return ODDS if history and history[-1] % 2 == 0 else None


def even_repeat_last_odd(history):
    odds = [x for x in history if x % 2 == 1]
    return {odds[-1]} if odds and history[-1] % 2 == 0 else None


def even_abs_diff(history):
    if len(history) < 2 or history[-1] % 2 == 1:
        return None
    return {abs(history[-1] - history[-2])}


def parity_based(history):
    if len(history) < 2:
        return None
    return EVENS if (history[-1] + history[-2]) % 2 == 0 else ODDS


def two_token_parity(history):
    if len(history) < 2:
        return None
    return set(range(10)) if (history[-1] + history[-2]) % 2 == 0 else set(range(10, 21))


def even_greater_than_10(history):
    if not history:
        return None
    return set(range(11, 21)) if history[-1] % 2 == 0 else set(range(10))
