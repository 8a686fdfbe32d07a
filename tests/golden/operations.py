#!/usr/bin/env python3
"""Writes tests/golden/operations/*.json: what PyTorch's CPU operations give, forward and backward, in FP32.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/operations.py

One file an operation: {"about": …, "cases": {name: {"numbers": …, "integers": …, "tensors": …, "away": …}}}.
A tensor is {"shape", "bits"}: each FP32 as eight hexadecimal digits, most significant first. An output has
"rest" too: what PyTorch's FP64 on the same inputs has beyond it, each as the four digits of a BF16 (so the
exact value is known to a two hundredth of PyTorch's own error). "away" says for each output how far PyTorch's
FP32 is from its FP64, in the unit of the C++ tests (tests/host/golden.h): units in the last place of the
larger of |value| and the output's root mean square.
"""

import datetime
import itertools
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

SEED = 20260
FOLDER = pathlib.Path(__file__).resolve().parent / "operations"


class Goldens:
    def __init__(self, operation):
        self.operation = operation
        self.cases = {}
        self.generator = torch.Generator().manual_seed(SEED)

    def normal(self, *shape, scale=1.0, shift=0.0):
        return torch.randn(*shape, generator=self.generator) * scale + shift

    def whole(self, high, *shape):
        return torch.randint(0, high, shape, generator=self.generator)

    def add(self, name, inputs, compute, numbers=None, integers=None):
        """`compute` takes the inputs, of either type, as a dict and returns the outputs as one."""
        outputs = compute({key: value.clone() for key, value in inputs.items()})
        exact = compute({key: value.double() for key, value in inputs.items()})
        tensors = {key: bits(value) for key, value in inputs.items()}
        tensors |= {key: bits(value) | rest(value, exact[key]) for key, value in outputs.items()}
        away = {key: distance(outputs[key], exact[key]) for key in outputs}
        self.cases[name] = {
            "numbers": numbers or {},
            "integers": {key: value.flatten().tolist() for key, value in (integers or {}).items()},
            "tensors": tensors,
            "away": away,
        }

    def write(self):
        about = {
            "script": "tests/golden/operations.py",
            "torch": torch.__version__,
            "seed": SEED,
            "date": datetime.date.today().isoformat(),
        }
        cases = ",\n".join(f" {json.dumps(name)}: {json.dumps(case)}" for name, case in self.cases.items())
        FOLDER.mkdir(exist_ok=True)
        text = f'{{"about": {json.dumps(about)},\n"cases": {{\n{cases}\n}}}}\n'
        (FOLDER / f"{self.operation}.json").write_text(text)


def memory_order(value):
    """The values as they lie in memory: a channels-last tensor is written channels last."""
    value = value.detach()
    if value.dim() == 4 and value.is_contiguous(memory_format=torch.channels_last) and not value.is_contiguous():
        value = value.permute(0, 2, 3, 1)
    return value.contiguous()


def bits(value):
    flat = memory_order(value).float().numpy().reshape(-1)
    return {"shape": list(value.shape), "bits": flat.astype(">f4").tobytes().hex()}


def rest(value, exact):
    """What `exact` has beyond `value`; 0 where either is not finite."""
    beyond = memory_order(exact).double() - memory_order(value).double()
    halves = torch.nan_to_num(beyond, nan=0.0, posinf=0.0, neginf=0.0).to(torch.bfloat16).view(torch.int16)
    return {"rest": halves.numpy().reshape(-1).astype(">i2").tobytes().hex()}


def distance(ours, exact):
    ours = ours.detach().double().reshape(-1).numpy()
    exact = exact.detach().double().reshape(-1).numpy()
    if not np.isfinite(exact).all():
        return 0.0
    scale = np.maximum(np.abs(exact), np.sqrt(np.mean(exact**2)))
    unit = np.exp2(np.floor(np.log2(np.maximum(scale, 2.0**-126))) - 23)
    return float(np.max(np.abs(ours - exact) / unit))


def backward(outputs, dy, **wanted):
    """The gradients of `outputs` under `dy`, named."""
    return dict(zip(wanted, torch.autograd.grad(outputs, list(wanted.values()), dy)))


def leaf(value):
    return value.detach().requires_grad_(True)


def linear():
    g = Goldens("linear")
    for name, (rows, inputs, outputs) in {"wide": (9, 200, 12), "one": (1, 5, 3), "square": (16, 16, 16)}.items():
        def compute(t):
            x, w, b = leaf(t["x"]), leaf(t["w"]), leaf(t["b"])
            y = F.linear(x, w, b)
            return {"y": y, **backward(y, t["dy"], dx=x, dw=w, db=b)}

        inputs_ = {"x": g.normal(rows, inputs), "w": g.normal(outputs, inputs, scale=inputs**-0.5),
                   "b": g.normal(outputs), "dy": g.normal(rows, outputs)}
        g.add(name, inputs_, compute)
    x, w, b = g.normal(8, 96), g.normal(12, 96, scale=0.1), g.normal(12)
    for name, dtype in {"fp16": torch.float16, "bf16": torch.bfloat16}.items():
        g.add(name, {"x": x, "w": w, "b": b},
              lambda t, dtype=dtype: {"y": F.linear(t["x"].to(dtype), t["w"].to(dtype), t["b"].to(dtype)).float()})
    g.write()


def activations():
    g = Goldens("activations")
    x = torch.cat([g.normal(250, scale=2.0), torch.tensor([0.0, -0.0, 1e-8, -1e-8, 5.0, -5.0, 12.0, -12.0])])
    dy = g.normal(258)
    functions = {"relu": F.relu, "gelu_erf": F.gelu, "gelu_tanh": lambda v: F.gelu(v, approximate="tanh"),
                 "tanh": torch.tanh, "silu": F.silu}
    for name, function in functions.items():
        def compute(t, function=function):
            v = leaf(t["x"])
            y = function(v)
            return {"y": y, **backward(y, t["dy"], dx=v)}

        g.add(name, {"x": x, "dy": dy}, compute)
    g.write()


def cross_entropy():
    g = Goldens("cross_entropy")

    def add(name, logits, targets, dloss):
        def compute(t):
            x = leaf(t["logits"])
            loss = F.cross_entropy(x, targets)
            return {"loss": loss.reshape(1), **backward(loss, torch.tensor(dloss, dtype=loss.dtype), dx=x)}

        g.add(name, {"logits": logits}, compute, {"dloss": dloss}, {"targets": targets})

    add("digits", g.normal(32, 10, scale=2.0), g.whole(10, 32), 1.0)
    add("characters", g.normal(12, 65), g.whole(65, 12), 65536.0)
    add("shifted", g.normal(8, 10, scale=3.0, shift=1000.0), g.whole(10, 8), 0.25)
    ignored = g.whole(7, 9)
    ignored[2] = ignored[8] = -100
    add("ignored", g.normal(9, 7, scale=20.0), ignored, 1.0)
    g.write()


def log_softmax():
    g = Goldens("log_softmax")
    for name, (rows, columns, scale, shift) in {
        "digits": (16, 10, 2.0, 0.0), "wide": (3, 300, 4.0, 0.0), "shifted": (6, 10, 3.0, 1000.0)}.items():
        def compute(t):
            x = leaf(t["x"])
            y = F.log_softmax(x, 1)
            return {"y": y, **backward(y, t["dy"], dx=x)}

        g.add(name, {"x": g.normal(rows, columns, scale=scale, shift=shift), "dy": g.normal(rows, columns)}, compute,
              {"rows": rows})
    g.write()


def nll_loss():
    g = Goldens("nll_loss")

    def add(name, targets, classes, dloss):
        def compute(t):
            log_p = leaf(t["log_p"])
            loss = F.nll_loss(log_p, targets)
            return {"loss": loss.reshape(1), **backward(loss, torch.tensor(dloss, dtype=loss.dtype), dlog_p=log_p)}

        log_p = F.log_softmax(g.normal(len(targets), classes, scale=2.0), 1)
        g.add(name, {"log_p": log_p}, compute, {"dloss": dloss}, {"targets": targets})

    add("digits", g.whole(10, 32), 10, 1.0)
    ignored = g.whole(7, 9)
    ignored[0] = ignored[5] = -100
    add("ignored", ignored, 7, 1024.0)
    g.write()


def accuracy():
    g = Goldens("accuracy")
    x = torch.round(g.normal(200, 5))  # so that there are ties
    x[3, 2] = x[8, 0] = x[8, 4] = float("nan")
    x[9, 1] = float("inf")
    places = x.argmax(1)
    targets = torch.where(g.whole(2, 200) == 1, places, g.whole(5, 200))
    g.add("ties", {"x": x}, lambda t: {"correct": (t["x"].argmax(1) == targets).sum().reshape(1).float()},
          integers={"targets": targets, "argmax": places})
    g.write()


def arithmetic():
    g = Goldens("elementwise")
    a, b = g.normal(100), g.normal(100, scale=100.0)
    factor = 0.1
    g.add("arithmetic", {"a": a, "b": b}, lambda t: {"sum": t["a"] + t["b"], "scaled": t["a"] * factor},
          {"factor": factor})
    g.write()


def average_pool():
    g = Goldens("average_pool")
    for name, (n, c, height, width) in {"images": (2, 5, 7, 6), "many": (1, 40, 3, 3)}.items():
        def compute(t):
            x = leaf(t["x"])
            y = F.adaptive_avg_pool2d(x, 1)
            return {"y": y, **backward(y, t["dy"], dx=x)}

        g.add(name, {"x": g.normal(n, c, height, width, shift=0.5), "dy": g.normal(n, c, 1, 1)}, compute,
              {"n": n, "c": c, "height": height, "width": width})
    g.write()


def layer_norm():
    g = Goldens("layer_norm")
    for name, (rows, columns, scale, shift) in {
        "plain": (12, 64, 1.0, 0.0), "odd": (5, 33, 3.0, 0.5), "shifted": (4, 128, 0.5, 10.0)}.items():
        def compute(t, columns=columns):
            x, w, b = leaf(t["x"]), leaf(t["gamma"]), leaf(t["beta"])
            y, mean, rstd = torch.native_layer_norm(x, (columns,), w, b, 1e-5)
            return {"y": y, "mean": mean, "rstd": rstd, **backward(y, t["dy"], dx=x, dgamma=w, dbeta=b)}

        g.add(name, {"x": g.normal(rows, columns, scale=scale, shift=shift), "gamma": g.normal(columns, shift=1.0),
                     "beta": g.normal(columns), "dy": g.normal(rows, columns)}, compute)
    g.write()


def rms_norm():
    g = Goldens("rms_norm")
    for name, (rows, columns, scale, shift) in {
        "plain": (12, 64, 1.0, 0.0), "odd": (5, 33, 3.0, 0.5)}.items():
        def compute(t, columns=columns):
            x, w = leaf(t["x"]), leaf(t["gamma"])
            y = F.rms_norm(x, (columns,), w, 1e-5)
            return {"y": y, **backward(y, t["dy"], dx=x, dgamma=w)}

        g.add(name, {"x": g.normal(rows, columns, scale=scale, shift=shift), "gamma": g.normal(columns, shift=1.0),
                     "dy": g.normal(rows, columns)}, compute)
    g.write()


def rotary():
    """As transformers' Llama has it (modeling_llama.py); angles are FP32 whatever is turned."""
    g = Goldens("rotary")
    for name, (batch, length, heads, width, theta) in {
        "plain": (2, 9, 3, 8, 10000.0), "far": (1, 130, 1, 64, 500000.0)}.items():
        def compute(t, length=length, width=width, theta=theta):
            x = leaf(t["x"])
            frequencies = 1.0 / (theta ** (torch.arange(0, width, 2, dtype=torch.int64).float() / width))
            angles = torch.outer(torch.arange(length).float(), frequencies)
            angles = torch.cat((angles, angles), dim=-1)[:, None, :].to(x.dtype)
            first, second = x.chunk(2, -1)
            y = x * angles.cos() + torch.cat((-second, first), dim=-1) * angles.sin()
            return {"y": y, **backward(y, t["dy"], dx=x)}

        g.add(name, {"x": g.normal(batch, length, heads, width), "dy": g.normal(batch, length, heads, width)}, compute,
              numbers={"theta": theta, "batch": batch, "length": length, "heads": heads, "width": width})
    g.write()


def embedding():
    g = Goldens("embedding")
    tokens = g.whole(20, 40)

    def compute(t):
        table = leaf(t["table"])
        y = F.embedding(tokens, table)
        return {"y": y, **backward(y, t["dy"], dtable=table)}

    g.add("tokens", {"table": g.normal(20, 16), "dy": g.normal(40, 16)}, compute, integers={"tokens": tokens})
    g.write()


def philox_words(seed, stream, offset, count):
    """Philox 4x32-10 in another language than the product's: words offset … of a stream (Salmon et al. 2011)."""
    words = []
    for index in range(offset, offset + count):
        block = index // 4
        counter = [block & 0xFFFFFFFF, block >> 32, stream & 0xFFFFFFFF, stream >> 32]
        key = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            low, high = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
            counter = [(high >> 32) ^ counter[1] ^ key[0], high & 0xFFFFFFFF,
                       (low >> 32) ^ counter[3] ^ key[1], low & 0xFFFFFFFF]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        words.append(counter[index % 4])
    return words


def dropout():
    """PyTorch's own masks come from other generators, so it is given ours: native_dropout_backward multiplies."""
    g = Goldens("dropout")
    for name, (p, seed, stream, offset) in {"tenth": (0.1, 7, 3, 5), "half": (0.5, 1 << 40, 1 << 33, 0)}.items():
        units = np.array(philox_words(seed, stream, offset, 301), dtype=np.uint64) >> np.uint64(8)
        kept = torch.from_numpy((units.astype(np.float64) * 2.0**-24 >= np.float64(np.float32(p))))

        def compute(t, kept=kept, p=p):
            scale = 1 / (1 - float(np.float32(p)))
            return {"y": torch.ops.aten.native_dropout_backward(t["x"], kept, scale)}

        g.add(name, {"x": g.normal(301)}, compute, {"p": p, "seed": seed, "stream": stream, "offset": offset})
    g.write()


def optimizers():
    g = Goldens("optimizers")
    steps, size = 5, 70
    makers = {
        "sgd": (torch.optim.SGD, {"lr": 0.1}),
        "sgd_decay": (torch.optim.SGD, {"lr": 0.1, "weight_decay": 0.01}),
        "sgd_momentum": (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 5e-4}),
        "sgd_dampened": (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "dampening": 0.5}),
        "sgd_nesterov": (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
        "adam": (torch.optim.Adam, {"lr": 1e-3}),
        "adam_decay": (torch.optim.Adam, {"lr": 1e-2, "weight_decay": 0.1, "betas": (0.8, 0.95)}),
        "adamw": (torch.optim.AdamW, {"lr": 1e-3}),
        "adamw_decay": (torch.optim.AdamW, {"lr": 1e-2, "weight_decay": 0.1, "eps": 1e-6}),
    }
    parameter = g.normal(size)
    gradients = {f"g{i}": g.normal(size, scale=0.1) for i in range(steps)}
    for name, (maker, options) in makers.items():
        def compute(t, maker=maker, options=options):
            p = torch.nn.Parameter(t["p"])
            optimizer = maker([p], foreach=False, **options)
            for i in range(steps):
                p.grad = t[f"g{i}"].clone()
                optimizer.step()
            state = optimizer.state[p]
            kept = {key: state[key] for key in ("momentum_buffer", "exp_avg", "exp_avg_sq")
                    if state.get(key) is not None}
            return {"after": p.detach(), **kept}

        numbers = {key: value for key, value in options.items() if not isinstance(value, (tuple, bool))}
        numbers |= {"nesterov": int(options.get("nesterov", False)), "steps": steps}
        if "betas" in options:
            numbers |= {"beta1": options["betas"][0], "beta2": options["betas"][1]}
        g.add(name, {"p": parameter, **gradients}, compute, numbers)
    g.write()


class WideArithmetic(TorchDispatchMode):
    """Operators on FP16 and BF16 as CUDA's kernels carry them out: numbers, and the scalars beside them, are FP32
    (at::opmath_type), and what is written is rounded once. The CPU's round their scalars as well."""

    PREFIXES = ("_foreach_", "_fused_", "add", "mul", "lerp", "addcmul", "addcdiv", "sqrt", "div", "reciprocal", "clamp",
                "linalg_vector_norm")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not func.overloadpacket.__name__.startswith(self.PREFIXES):
            return func(*args, **kwargs)
        wide = {}

        def widen(value):
            if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float16, torch.bfloat16):
                return value
            return wide.setdefault(id(value), (value.float(), value))[0]

        wide_args, wide_kwargs = tree_map(widen, args), tree_map(widen, kwargs)
        result = func(*wide_args, **wide_kwargs)
        for copy, original in wide.values():
            original.copy_(copy)
        dtypes = {original.dtype for _, original in wide.values()}
        originals = {id(copy): original for copy, original in wide.values()}

        def narrow(value):
            if not isinstance(value, torch.Tensor) or not dtypes:
                return value
            return originals[id(value)] if id(value) in originals else value.to(*dtypes)

        return tree_map(narrow, result)


def narrow_optimizers():
    """Parameters, gradients and state of FP16 and BF16: after steps one operator at a time, and fused ones. Small
    gradients among them, whose squares FP16 loses."""
    g = Goldens("narrow_optimizers")
    steps, size = 6, 96
    makers = {
        "sgd": (torch.optim.SGD, {"lr": 0.01}),
        "sgd_decay": (torch.optim.SGD, {"lr": 0.1, "weight_decay": 0.01}),
        "sgd_momentum": (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 5e-4}),
        "adam": (torch.optim.Adam, {"lr": 1e-3}),
        "adam_decay": (torch.optim.Adam, {"lr": 1e-2, "weight_decay": 0.1}),
        "adamw": (torch.optim.AdamW, {"lr": 1e-3, "weight_decay": 1e-2}),
    }
    scales = torch.cat([torch.full((size // 2,), 0.1), torch.full((size // 4,), 1e-3), torch.zeros(size // 4)])
    parameter = g.normal(size)
    gradients = {f"g{i}": g.normal(size) * scales for i in range(steps)}
    for (name, (maker, options)), dtype, way in itertools.product(
            makers.items(), (torch.float16, torch.bfloat16), ("foreach", "fused")):
        def compute(t, maker=maker, options=options, dtype=dtype, way=way):
            p = torch.nn.Parameter(t["p"].to(dtype))
            optimizer = maker([p], foreach=way == "foreach", fused=way == "fused", **options)
            for i in range(steps):
                p.grad = t[f"g{i}"].to(dtype)
                with WideArithmetic():
                    optimizer.step()
            state = optimizer.state[p]
            kept = {key: state[key].float() for key in ("momentum_buffer", "exp_avg", "exp_avg_sq")
                    if state.get(key) is not None}
            return {"after": p.detach().float(), **kept}

        type_name = "fp16" if dtype == torch.float16 else "bf16"
        g.add(f"{name} {type_name} {way}", {"p": parameter, **gradients}, compute, options | {"steps": steps})
    g.write()


def narrow_gradients():
    """Clipped by their norm, in FP16 and BF16."""
    g = Goldens("narrow_gradients")
    parts = {"a": g.normal(40), "b": g.normal(77, scale=3.0), "c": g.normal(5)}
    for dtype, limit in itertools.product((torch.float16, torch.bfloat16), (0.7, 1000.0)):
        def compute(t, dtype=dtype, limit=limit):
            parameters = [torch.nn.Parameter(torch.zeros_like(v, dtype=dtype)) for v in t.values()]
            for parameter, value in zip(parameters, t.values()):
                parameter.grad = value.to(dtype)
            with WideArithmetic():
                norm = torch.nn.utils.clip_grad_norm_(parameters, limit)
            return {"norm": norm.float().reshape(1)} | {
                f"{key}_after": p.grad.float() for key, p in zip(t, parameters)}

        g.add(f"{'fp16' if dtype == torch.float16 else 'bf16'} {limit}", parts, compute, {"max_norm": limit})
    g.write()


def gradients():
    g = Goldens("gradients")
    parts = {"a": g.normal(40), "b": g.normal(77, scale=3.0), "c": g.normal(5)}
    for name, limit in {"clipped": 1.0, "left": 1000.0}.items():
        def compute(t, limit=limit):
            parameters = [torch.nn.Parameter(torch.zeros_like(v)) for v in t.values()]
            for parameter, value in zip(parameters, t.values()):
                parameter.grad = value.clone()
            norm = torch.nn.utils.clip_grad_norm_(parameters, limit)
            return {"norm": norm.reshape(1)} | {f"{key}_after": p.grad for key, p in zip(t, parameters)}

        g.add(name, parts, compute, {"max_norm": limit})

    for name, (scale, poison) in {"finite": (65536.0, None), "third": (3.0, None),
                                  "infinite": (1024.0, float("inf")), "nan": (1024.0, float("nan"))}.items():
        values = g.normal(64, scale=1000.0)
        if poison is not None:
            values[17] = poison

        def unscale(t, scale=scale):
            value = t["g"].float()
            found = torch.zeros(1)
            inverse = torch.tensor([scale]).double().reciprocal().float()
            torch._amp_foreach_non_finite_check_and_unscale_([value], found, inverse)
            return {"after": value, "found": found}

        g.add(f"unscale_{name}", {"g": values}, unscale, {"scale": scale})
    g.write()


def cast():
    g = Goldens("cast")
    exponents = g.whole(48, 400).float() - 28
    values = torch.cat([g.normal(400) * torch.exp2(exponents), torch.tensor(
        [0.0, -0.0, 65504.0, 65519.0, 65520.0, 2.0**-24, 2.0**-25, 1.5 * 2.0**-25, 2.0**-14, float("inf"),
         -float("inf"), float("nan"), 1e-40, -1e-40, 3.4028235e38, 1.0 + 2.0**-11, 1.0 + 3 * 2.0**-11])])
    for name, dtype in {"fp16": torch.float16, "bf16": torch.bfloat16}.items():
        g.add(name, {"x": values}, lambda t, dtype=dtype: {"y": t["x"].float().to(dtype).float()})
    g.write()


def conv2d():
    g = Goldens("conv2d")
    shapes = {
        "digits": dict(n=2, c=1, size=(12, 11), o=4, k=(3, 3), stride=1, padding=1, dilation=1, groups=1),
        "strided": dict(n=2, c=3, size=(9, 10), o=5, k=(3, 2), stride=2, padding=1, dilation=1, groups=1),
        "pointwise": dict(n=2, c=8, size=(5, 4), o=6, k=(1, 1), stride=1, padding=0, dilation=1, groups=1),
        "grouped": dict(n=2, c=6, size=(7, 7), o=4, k=(3, 3), stride=1, padding=1, dilation=1, groups=2),
        "grouped_pointwise": dict(n=2, c=6, size=(4, 4), o=4, k=(1, 1), stride=1, padding=0, dilation=1, groups=2),
        "dilated": dict(n=1, c=2, size=(9, 9), o=3, k=(3, 3), stride=1, padding=2, dilation=2, groups=1),
    }
    for name, s in shapes.items():
        x = g.normal(s["n"], s["c"], *s["size"])
        terms = s["c"] // s["groups"] * s["k"][0] * s["k"][1]
        w = g.normal(s["o"], s["c"] // s["groups"], *s["k"], scale=terms**-0.5)
        b = g.normal(s["o"])
        how = dict(stride=s["stride"], padding=s["padding"], dilation=s["dilation"], groups=s["groups"])
        dy = g.normal(*F.conv2d(x, w, b, **how).shape)
        numbers = {key: s[key] for key in ("stride", "padding", "dilation", "groups")}
        for layout, memory in {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}.items():
            def compute(t, memory=memory, how=how):
                v, weight, bias = (leaf(t[key].contiguous(memory_format=memory) if t[key].dim() == 4 else t[key])
                                   for key in ("x", "w", "b"))
                y = F.conv2d(v, weight, bias, **how)
                grads = backward(y, t["dy"].contiguous(memory_format=memory), dx=v, dw=weight, db=bias)
                outputs = {"y": y, **grads}
                return {key: as_memory(value, memory) for key, value in outputs.items()}

            inputs = {key: as_memory(value, memory) for key, value in {"x": x, "w": w, "b": b, "dy": dy}.items()}
            shape = {"n": s["n"], "c": s["c"], "height": s["size"][0], "width": s["size"][1], "o": s["o"],
                     "kernel_height": s["k"][0], "kernel_width": s["k"][1]}
            g.add(f"{name}_{layout}", inputs, lambda t, compute=compute, memory=memory: compute(from_memory(t, memory)),
                  numbers | shape | {"channels_last": int(layout == "nhwc")})
    g.write()


def as_memory(value, memory):
    """A tensor whose plain order is the memory order of the layout, so that shapes of 1 are not ambiguous."""
    if value.dim() != 4 or memory == torch.contiguous_format:
        return value.detach().contiguous()
    return value.detach().permute(0, 2, 3, 1).contiguous()


def from_memory(tensors, memory):
    if memory == torch.contiguous_format:
        return tensors
    return {key: value.permute(0, 3, 1, 2) if value.dim() == 4 else value for key, value in tensors.items()}


def max_pool():
    g = Goldens("max_pool")
    for name, (k, stride, padding, dilation) in {
        "halves": (2, 2, 0, 1), "overlapping": (3, 2, 1, 1), "dilated": (2, 1, 1, 2)}.items():
        x = torch.round(g.normal(2, 3, 9, 8) * 4) / 4  # so that there are ties
        if name == "overlapping":
            x[0, 1, 4, 4] = float("nan")
        how = dict(kernel_size=k, stride=stride, padding=padding, dilation=dilation)
        y, places = F.max_pool2d(x, return_indices=True, **how)
        dy = g.normal(*y.shape)

        def compute(t, how=how):
            v = leaf(t["x"])
            y = F.max_pool2d(v, **how)
            return {"y": y, **backward(y, t["dy"], dx=v)}

        g.add(name, {"x": x, "dy": dy}, compute,
              {"n": 2, "c": 3, "height": 9, "width": 8, "kernel": k, "stride": stride, "padding": padding,
               "dilation": dilation}, {"chosen": places})
    g.write()


def batch_norm():
    g = Goldens("batch_norm")
    for name, (n, c, height, width, shift) in {
        "images": (4, 3, 5, 6, 0.5), "rows": (16, 10, 1, 1, 0.0), "shifted": (3, 2, 4, 4, 20.0)}.items():
        inputs = {"x": g.normal(n, c, height, width, shift=shift), "gamma": g.normal(c, shift=1.0),
                  "beta": g.normal(c), "dy": g.normal(n, c, height, width), "mean_before": g.normal(c, scale=0.1),
                  "variance_before": torch.rand(c, generator=g.generator) + 0.5}
        for mode, training in {"train": True, "evaluate": False}.items():
            def compute(t, training=training):
                x, w, b = leaf(t["x"]), leaf(t["gamma"]), leaf(t["beta"])
                mean, variance = t["mean_before"].clone(), t["variance_before"].clone()
                y = F.batch_norm(x, mean, variance, w, b, training)
                return {"y": y, "mean_after": mean, "variance_after": variance,
                        **backward(y, t["dy"], dx=x, dgamma=w, dbeta=b)}

            g.add(f"{name}_{mode}", inputs, compute, {"n": n, "c": c, "height": height, "width": width})
    g.write()


def attention():
    """Both ways in which PyTorch computes it: "math" keeps the probabilities, "flash" goes tile by tile."""
    g = Goldens("attention")
    for name, (batch, heads, length, width) in {"small": (2, 2, 7, 8), "tiles": (1, 2, 21, 8)}.items():
        def compute(t):
            q, k, v = leaf(t["q"]), leaf(t["k"]), leaf(t["v"])
            outputs = {}
            for suffix, way in {"": SDPBackend.MATH, "_tiled": SDPBackend.FLASH_ATTENTION}.items():
                with sdpa_kernel(way):
                    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                gradients = {"o": o, **backward(o, t["do"], dq=q, dk=k, dv=v)}
                outputs |= {key + suffix: value for key, value in gradients.items()}
            return outputs

        shape = (batch, heads, length, width)
        g.add(name, {key: g.normal(*shape) for key in ("q", "k", "v", "do")}, compute,
              {"batch": batch, "heads": heads, "length": length, "width": width})
    g.write()


def main():
    torch.set_num_threads(1)
    for write in (linear, activations, arithmetic, cross_entropy, log_softmax, nll_loss, accuracy, layer_norm,
                  rms_norm, rotary, embedding, dropout, optimizers, narrow_optimizers, gradients, narrow_gradients, cast, conv2d,
                  max_pool, average_pool, batch_norm, attention):
        write()
    for file in sorted(FOLDER.glob("*.json")):
        print(f"{file.stat().st_size:8} {file.name}")


if __name__ == "__main__":
    main()
