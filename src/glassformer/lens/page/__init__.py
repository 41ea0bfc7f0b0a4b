"""The page of a spectra folder: `payload.py` is what it holds, `write.py` makes it one file.

Its scripts are in assets/ here and in pages/assets/, which all pages share.
"""
