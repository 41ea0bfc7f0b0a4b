"""Stand-alone files that reproduce a model: PyTorch, ONNX, plain Python, a board submission.

targets.py          the kinds of file: ending, writer, how it is run again
subject.py          what is exported: steps, parameters, counts, verdict, and the head of a file
simplify.py         the traced pass (models/program.py) as a person would write it
any_length.py       the pass of an adder for numbers of any length
fixed.py            the arrays that formulas give; masks and distances of columns as rules
lines.py            steps as lines of Python, for PyTorch and plain lists; literals.py: numbers as text
torch_file.py, adderboard_file.py, python_file.py, onnx_file.py    the four kinds
onnx_rules.py       masks and distances as nodes of a graph; onnx_erf.py: the error function
plain_arrays.py     arrays in plain Python; excerpt.py copies what a file needs of it
check.py            the file, loaded again in a process of its own, against the model on examples.py
"""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "write": "ExportResult write_export",
}
