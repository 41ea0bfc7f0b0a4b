"""A structured fuzzer: valid inputs of every kind, damaged in ways that parsers hate, given to the product.

    python -m fuzz --cases 20000                                all kinds, in one table
    python -m fuzz --kinds gguf --seed 3 --case 1234            one case alone, with what it does

A case is a pure function of its kind, the seed and its number. Every case must end in an answer or in one
sentence, within 2 s and 500 MB, without running anything that its input holds.
"""
