"""The examples that each command's help ends with. A test reads every one of them."""

EXAMPLES = """examples:
  glassformer list                                 what there is to train
  glassformer run plus_last_even                   train 16 seeds, keep the best, measure, prove, draw
  glassformer run lucky7 --seeds 32 --steps 5000 --task.s 0.3
  glassformer run modular-11                       a question: addition modulo 11, with six parameters
  glassformer test runs/plus_last_even             measure a finished run on fresh sequences
  glassformer test nanogpt-58                      an adder: the board's protocol and hard pairs
  glassformer add nanogpt-58 5388742030 746297626  one sum, as the model writes it
  glassformer prove glass-29                       right on all 10^20 pairs, with a certificate
  glassformer check glass-29.certificate.json      verify it with independent code
  glassformer draw runs/plus_last_even             every parameter and every step as figures
  glassformer video runs/plus_last_even            how it learned
  glassformer page runs/plus_last_even             all of it live, in one HTML file
  glassformer count plus_last_even                 every way to count its parameters
  glassformer spectra model.gguf                   every weight matrix and attention head of any checkpoint
  glassformer export glass-29 --to torch           the model in a file of its own, tested equal
  glassformer sweep glass-39 --seeds 256           how often a recipe succeeds
"""
RUN_EXAMPLES = """examples:
  glassformer {verb} plus_last_even
  glassformer {verb} copy_modulo --seeds 8 --seed 100 --out runs/copy
  glassformer {verb} runs/copy/run.toml --out runs/again      repeat a run, bit for bit
  glassformer {verb} my_rule.py                               a rule of your own (docs/add-a-rule.md)
  glassformer {verb} median.py                                a question of your own (docs/add-a-task.md)

any setting of the configuration is an option too (glassformer list settings):
  --train.batch 128 --train.peak_rate 0.003 --model.width 3 --task.p 0.5 --model.layers.0.residual false
"""
TEST_EXAMPLES = """examples:
  glassformer test runs/plus_last_even --positions 500000
  glassformer test runs/modular                           a question: all prompts, if there are not too many
  glassformer test nanogpt-58                             10 edge cases, 10,000 pairs of seed 2025, hard pairs
  glassformer test nanogpt-58 --seed 7 --pairs 1000000 --hard 0
  glassformer test mine.safetensors --model glass-39      a file that does not say its architecture

exit status: 1 for an adder with less than 99% of the protocol right
"""
ADD_EXAMPLES = """examples:
  glassformer add nanogpt-58 5388742030 746297626
  glassformer add runs/glass-39 57 68 --json

exit status: 1 where the sum is wrong
"""
PROVE_EXAMPLES = """examples:
  glassformer prove glass-29                              all 10^20 pairs, in the arithmetic that it runs in
  glassformer prove nanogpt-58                            refuted: a pair that it gets wrong
  glassformer prove runs/plus_last_even --time 120        a rule: the exact share of contexts that break it
  glassformer prove runs/modular                          a question: all prompts
  glassformer prove mine.safetensors --model microadder-57
  glassformer prove runs/glass-39 --population            every seed of a run

exit status: 0 proved, 1 refuted, 2 bad input, 3 undecided or outside the method
"""
CHECK_EXAMPLES = """examples:
  glassformer check glass-29.certificate.json
  glassformer check runs/glass-39/certificate.json --for runs/glass-39

exit status: 0 valid, 1 not valid, 2 not a certificate, or that of another model
"""
DRAW_EXAMPLES = """examples:
  glassformer draw runs/plus_last_even                        all figures, into runs/plus_last_even/figures
  glassformer draw runs/plus_last_even --only 05,13,F1 --format png,svg,pdf --theme print
  glassformer draw runs/plus_last_even --step 500 --sequence "4 1 + 4 6 9 5 +"
  glassformer draw runs/modular --sequence "7 9 ="            a question: a whole prompt
  glassformer draw microadder-57 --pair 9999999999+1          an adder: the poster and its panels
"""
VIDEO_EXAMPLES = """examples:
  glassformer video runs/plus_last_even                       all videos, into runs/plus_last_even/videos
  glassformer video runs/lucky7 --which embeddings,landscape --format mp4,gif --fps 25 --width 960
"""
PAGE_EXAMPLES = """examples:
  glassformer page runs/plus_last_even                        runs/plus_last_even/page.html, and opens it
  glassformer page nanogpt-58 --out adder.html --time 30      a zoo model; it is proved on the way
  glassformer page runs/                                      an index over all runs, with a page each
  glassformer page qwen/                                      a folder of glassformer spectra
  glassformer page sweeps/adders                              a sweep, finished or not
"""
SPECTRA_EXAMPLES = """examples:
  glassformer spectra model.gguf                              all matrices and heads, into model.spectra
  glassformer spectra checkpoints/llama --heads               the attention heads alone, in seconds
  glassformer spectra model.safetensors --layers 0-5,8 --treatments raw,folded,rope:128
  glassformer spectra Qwen/Qwen2.5-0.5B --out qwen --format svg,pdf
  glassformer spectra base tuned                              two models, and the spectrum of the change
  glassformer spectra nanogpt-58                              our own models too
  glassformer spectra qwen/weights.csv                        a table: its phases and trends over depth
  glassformer spectra /shared/llama --engine ray --address auto    on a cluster, a layer a worker

stopped or killed, the same command goes on where it was; more layers or treatments use what is there
"""
SWEEP_EXAMPLES = """examples:
  glassformer sweep glass-39 --seeds 256                      one recipe: how often does it succeed?
  glassformer sweep modular-11 --seeds 256                    a question
  glassformer sweep plus_last_even --grid train.peak_rate=0.01,0.03 --grid train.batch=16,64
  glassformer sweep plus_last_even --grid model.width+model.layers.0.attention.head_size=2,3   both at once
  glassformer sweep docs/sweeps/adders.toml --engine processes
  glassformer sweep docs/sweeps/adders.toml --engine ray --address auto
  glassformer sweep docs/sweeps/adders.toml --plan            the units as files, for other machines

any setting is an option too, for every configuration: --train.steps 20000 --prove.seconds 5
stopped or killed, the same command goes on where it was
"""
PRUNE_EXAMPLES = """examples:
  glassformer prune microadder-57                         57 learned numbers, of which the function needs 46
  glassformer prune runs/glass-47 --out smaller.safetensors
  glassformer run smaller.toml                            train on in the reduced form (docs/search.md)
"""
EXPORT_EXAMPLES = """examples:
  glassformer export glass-29 --to torch                      a module in a file of its own, glass_29_torch.py
  glassformer export glass-29 --to adderboard --out mine.py   build_model(), add(model, a, b), for the board
  glassformer export runs/lucky7 --to python                  nothing to install: the pass in plain Python
  glassformer export mine.safetensors --model glass-39 --to onnx

exit status: 0 written and found equal, 1 written and found different, 2 bad input,
3 written but not compared (PyTorch or onnxruntime is not installed)
"""
