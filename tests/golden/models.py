#!/usr/bin/env python3
"""Writes tests/golden/models.json: parameters of published models, and what PyTorch keeps of them for backward.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/models.py

The modules below have the names, the order and the shapes of torchvision's (0.26: models/resnet.py) and of
Hugging Face's transformers (models/bert, gpt2, opt, llama), so that named_parameters() lists what theirs list. Their
forward calls the fused operations, as it would on a GPU: gelu(approximate="tanh"), native_dropout and
scaled_dot_product_attention.

"parameters": [name, elements] in the order of named_parameters(); GPT-2's Conv1D has its weight transposed.
"kept": bytes of the distinct storages that torch.autograd.graph.saved_tensors_hooks sees in a forward and its
cross-entropy on a batch of two samples (images of 224 x 224, 1000 classes; texts of 128 tokens; of the recurrent
network images of 28 rows), in FP32 on the CPU, but for parameters, buffers, the batch itself. Transformers, as well:
  "flash": of scaled_dot_product_attention, "math": of the products and the softmax that it consists of
  "dropout": "flash" with a dropout of 0.1 everywhere but in the attention; of Llama, which has none:
  "written": "flash" with norms written out operator by operator, as transformers has them
The tensors of the transformers are fakes (torch._subclasses.FakeTensorMode): nothing is computed.
"compiled": the same bytes of a model that torch.compile cuts into a forward and a backward as Inductor does: with its
decompositions, its passes over the joint graph and its min-cut partitioner. The graphs then run operator by operator.
Of transformers "dropout", of Llama "written". Of the models whose numbers a machine of 16 GB holds.
"""

import datetime
import json
import pathlib

import functorch.compile
import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import detect_fake_mode
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.joint_graph import joint_graph_passes
from torch._inductor.virtualized import V
from torch._subclasses import FakeTensorMode

FILE = pathlib.Path(__file__).resolve().parent / "models.json"
BATCH, LENGTH = 2, 128


# ---- torchvision ------------------------------------------------------------------------------------------


def downsample(inputs, outputs, stride):
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inputs, planes, stride, groups, group_width):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample(inputs, planes, stride)

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, planes, stride, groups, group_width):
        super().__init__()
        width = int(planes * (group_width / 64.0)) * groups
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * planes, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * planes)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample(inputs, 4 * planes, stride)

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(y)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self, block, blocks, groups=1, group_width=64):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inputs = 64
        for stage, count in enumerate(blocks):
            layers = []
            for i in range(count):
                stride = 2 if stage > 0 and i == 0 else 1
                layers.append(block(inputs, 64 << stage, stride, groups, group_width))
                inputs = (64 << stage) * block.expansion
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


# ---- Hugging Face -----------------------------------------------------------------------------------------


class Conv1D(nn.Module):
    """GPT-2's linear layer, whose weight is [inputs, outputs]."""

    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        y = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return y.view(*x.shape[:-1], -1)


def dropout(x, p):
    return torch.native_dropout(x, p, True)[0] if p > 0 else x


def attend(how, q, k, v, heads, causal):
    def split(t):
        return t.view(*t.shape[:-1], heads, -1).transpose(1, 2)

    q, k, v = split(q), split(k), split(v)
    if how == "flash":
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    else:
        scores = torch.matmul(q, k.transpose(2, 3)) * (q.size(-1) ** -0.5)
        if causal:
            above = torch.ones(q.size(2), q.size(2), dtype=torch.bool).triu(1)
            scores = scores.masked_fill(above, float("-inf"))
        y = torch.matmul(torch.softmax(scores, -1), v)
    return y.transpose(1, 2).reshape(*y.shape[:1], y.shape[2], -1)


class Named(nn.Module):
    """A module of modules, in the order of the keywords."""

    def __init__(here, /, **modules):  # one is called "self"
        nn.Module.__init__(here)
        for name, module in modules.items():
            setattr(here, name, module)


class Gpt2Block(Named):
    def __init__(self, width, heads):
        super().__init__(
            ln_1=nn.LayerNorm(width),
            attn=Named(c_attn=Conv1D(3 * width, width), c_proj=Conv1D(width, width)),
            ln_2=nn.LayerNorm(width),
            mlp=Named(c_fc=Conv1D(4 * width, width), c_proj=Conv1D(width, 4 * width)),
        )
        self.heads = heads

    def forward(self, x, how, p):
        qkv = self.attn.c_attn(self.ln_1(x)).chunk(3, -1)
        y = self.attn.c_proj(attend(how, *qkv, self.heads, True))
        x = x + dropout(y, p)
        y = self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)), approximate="tanh"))
        return x + dropout(y, p)


class Gpt2(nn.Module):
    def __init__(self, layers, width, heads, positions=1024, vocabulary=50257):
        super().__init__()
        self.transformer = Named(
            wte=nn.Embedding(vocabulary, width),
            wpe=nn.Embedding(positions, width),
            h=nn.ModuleList(Gpt2Block(width, heads) for _ in range(layers)),
            ln_f=nn.LayerNorm(width),
        )

    def forward(self, tokens, how, p):
        t = self.transformer
        x = dropout(t.wte(tokens) + t.wpe(torch.arange(tokens.size(1))), p)
        for block in t.h:
            x = block(x, how, p)
        return F.linear(t.ln_f(x), t.wte.weight)


class BertLayer(Named):
    def __init__(self, width, heads):
        def linear(inputs=width, outputs=width):
            return nn.Linear(inputs, outputs)

        attention = Named(query=linear(), key=linear(), value=linear())
        super().__init__(
            attention=Named(self=attention, output=Named(dense=linear(), LayerNorm=nn.LayerNorm(width))),
            intermediate=Named(dense=linear(width, 4 * width)),
            output=Named(dense=linear(4 * width, width), LayerNorm=nn.LayerNorm(width)),
        )
        self.heads = heads

    def forward(self, x, how, p):
        a = getattr(self.attention, "self")
        y = attend(how, a.query(x), a.key(x), a.value(x), self.heads, False)
        o = self.attention.output
        x = o.LayerNorm(dropout(o.dense(y), p) + x)
        y = self.output.dense(F.gelu(self.intermediate.dense(x)))
        return self.output.LayerNorm(dropout(y, p) + x)


class Bert(nn.Module):
    """BertForMaskedLM."""

    def __init__(self, layers, width, heads, positions=512, vocabulary=30522):
        super().__init__()
        self.bert = Named(
            embeddings=Named(
                word_embeddings=nn.Embedding(vocabulary, width),
                position_embeddings=nn.Embedding(positions, width),
                token_type_embeddings=nn.Embedding(2, width),
                LayerNorm=nn.LayerNorm(width),
            ),
            encoder=Named(layer=nn.ModuleList(BertLayer(width, heads) for _ in range(layers))),
        )
        head = Named(transform=Named(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width)))
        head.bias = nn.Parameter(torch.zeros(vocabulary))
        self.cls = Named(predictions=head)

    def forward(self, tokens, how, p):
        e, head = self.bert.embeddings, self.cls.predictions
        x = e.word_embeddings(tokens) + e.token_type_embeddings(torch.zeros_like(tokens))
        x = x + e.position_embeddings(torch.arange(tokens.size(1)))
        x = dropout(e.LayerNorm(x), p)
        for layer in self.bert.encoder.layer:
            x = layer(x, how, p)
        x = head.transform.LayerNorm(F.gelu(head.transform.dense(x)))
        return F.linear(x, e.word_embeddings.weight, head.bias)


class OptLayer(Named):
    def __init__(self, width, heads):
        names = ("k_proj", "v_proj", "q_proj", "out_proj")
        super().__init__(
            self_attn=Named(**{name: nn.Linear(width, width) for name in names}),
            self_attn_layer_norm=nn.LayerNorm(width),
            fc1=nn.Linear(width, 4 * width),
            fc2=nn.Linear(4 * width, width),
            final_layer_norm=nn.LayerNorm(width),
        )
        self.heads = heads

    def forward(self, x, how, p):
        a, y = self.self_attn, self.self_attn_layer_norm(x)
        y = attend(how, a.q_proj(y), a.k_proj(y), a.v_proj(y), self.heads, True)
        x = x + dropout(a.out_proj(y), p)
        y = self.fc2(F.relu(self.fc1(self.final_layer_norm(x))))
        return x + dropout(y, p)


class Opt(nn.Module):
    def __init__(self, layers, width, heads, positions=2048, vocabulary=50272):
        super().__init__()
        decoder = Named(
            embed_tokens=nn.Embedding(vocabulary, width),
            embed_positions=nn.Embedding(positions + 2, width),
            final_layer_norm=nn.LayerNorm(width),
            layers=nn.ModuleList(OptLayer(width, heads) for _ in range(layers)),
        )
        self.model = Named(decoder=decoder)

    def forward(self, tokens, how, p):
        d = self.model.decoder
        x = d.embed_tokens(tokens) + d.embed_positions(torch.arange(tokens.size(1)) + 2)
        for layer in d.layers:
            x = layer(x, how, p)
        return F.linear(d.final_layer_norm(x), d.embed_tokens.weight)


class RmsNorm(nn.Module):
    """"written": as LlamaRMSNorm has it; else what torch.nn.RMSNorm calls on a GPU, whose kernel CPUs have not."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x, how):
        if how != "written":
            return FusedRmsNorm.apply(x, self.weight)
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


class FusedRmsNorm(torch.autograd.Function):
    """What derivatives.yaml has _fused_rms_norm keep: x, the weight and the reciprocal roots."""

    @staticmethod
    def forward(context, x, weight):
        y, root = torch.ops.aten._fused_rms_norm(x, [x.size(-1)], weight, 1e-5)
        context.save_for_backward(x, weight, root)
        return y

    @staticmethod
    def backward(context, dy):
        raise NotImplementedError


def rotated(x, cosines, sines):
    half = x.shape[-1] // 2
    return x * cosines + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sines


class LlamaLayer(Named):
    def __init__(self, width, heads, kv_heads, hidden):
        def linear(inputs, outputs):
            return nn.Linear(inputs, outputs, bias=False)

        shared = width // heads * kv_heads
        super().__init__(
            self_attn=Named(
                q_proj=linear(width, width),
                k_proj=linear(width, shared),
                v_proj=linear(width, shared),
                o_proj=linear(width, width),
            ),
            mlp=Named(
                gate_proj=linear(width, hidden), up_proj=linear(width, hidden), down_proj=linear(hidden, width)
            ),
            input_layernorm=RmsNorm(width),
            post_attention_layernorm=RmsNorm(width),
        )
        self.heads, self.kv_heads = heads, kv_heads

    def attend(self, x, how, tables):
        def split(t, heads):
            return t.view(*t.shape[:-1], heads, -1).transpose(1, 2)

        a, each = self.self_attn, self.heads // self.kv_heads
        q = rotated(split(a.q_proj(x), self.heads), *tables)
        k = rotated(split(a.k_proj(x), self.kv_heads), *tables)
        v = split(a.v_proj(x), self.kv_heads)
        if how == "math":
            k, v = (t.repeat_interleave(each, 1) if each > 1 else t for t in (k, v))
            scores = torch.matmul(q, k.transpose(2, 3)) * (q.size(-1) ** -0.5)
            above = torch.ones(q.size(2), q.size(2), dtype=torch.bool).triu(1)
            y = torch.matmul(torch.softmax(scores.masked_fill(above, float("-inf")), -1), v)
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=each > 1)
        return a.o_proj(y.transpose(1, 2).reshape(*x.shape))

    def forward(self, x, how, tables):
        x = x + self.attend(self.input_layernorm(x, how), how, tables)
        y = self.post_attention_layernorm(x, how)
        return x + self.mlp.down_proj(F.silu(self.mlp.gate_proj(y)) * self.mlp.up_proj(y))


class Llama(nn.Module):
    """LlamaForCausalLM."""

    def __init__(self, layers, width, heads, kv_heads, hidden, vocabulary, theta, tied=False):
        super().__init__()
        self.model = Named(
            embed_tokens=nn.Embedding(vocabulary, width),
            layers=nn.ModuleList(LlamaLayer(width, heads, kv_heads, hidden) for _ in range(layers)),
            norm=RmsNorm(width),
        )
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.lm_head.weight = self.model.embed_tokens.weight
        self.width, self.theta = width // heads, theta

    def tables(self, length):
        places = torch.arange(length).float()
        frequencies = 1.0 / (self.theta ** (torch.arange(0, self.width, 2).float() / self.width))
        angles = torch.outer(places, frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()

    def forward(self, tokens, how, p):
        x, tables = self.model.embed_tokens(tokens), self.tables(tokens.size(1))
        for layer in self.model.layers:
            x = layer(x, how, tables)
        return self.lm_head(self.model.norm(x, how))


# ---- The recurrent network of the listing -------------------------------------------------------------------


class Rnn(nn.Module):
    def __init__(self, steps, inputs, hidden, classes):
        super().__init__()
        self.ih = nn.Linear(inputs, hidden)
        self.hh = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)
        self.steps, self.inputs = steps, inputs

    def forward(self, x):
        h = x.new_zeros(len(x), self.hh.in_features)
        for x_t in x.view(len(x), self.steps, self.inputs).unbind(1):
            h = torch.tanh(self.ih(x_t) + self.hh(h))
        return self.head(h)


# ---- What is written --------------------------------------------------------------------------------------


def kept_bytes(model, loss, batch):
    own = {t.untyped_storage()._cdata for t in (*model.parameters(), *model.buffers(), *batch)}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            kept[storage._cdata] = storage  # held, so that its address is not given out again
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss()
    return sum(storage.nbytes() for storage in kept.values())


def inductors_cut(joint, inputs, compiler=None, **options):
    """What torch/_inductor/compile_fx.py does with a joint graph."""
    values = [node.meta.get("val") for node in joint.graph.nodes]
    with V.set_fake_mode(detect_fake_mode([value for value in values if isinstance(value, torch.Tensor)])):
        joint_graph_passes(joint)
    return min_cut_rematerialization_partition(joint, inputs, compiler="inductor", **options)


def compiled(model):
    def as_it_is(graph, inputs):
        return functorch.compile.make_boxed_func(graph.forward)

    torch._dynamo.reset()
    backend = aot_autograd(
        fw_compiler=as_it_is,
        bw_compiler=as_it_is,
        partition_fn=inductors_cut,
        decompositions=select_decomp_table(),
    )
    return torch.compile(model, backend=backend, dynamic=False)


def compiled_texts(make, how="flash"):
    model = make()
    x, y = (torch.zeros(BATCH, LENGTH, dtype=torch.int64) for _ in range(2))
    one = compiled(model)
    return kept_bytes(model, lambda: F.cross_entropy(one(x, how, 0.1).flatten(0, 1), y.flatten()), (x, y))


def parameters_of(model):
    return [[name, parameter.numel()] for name, parameter in model.named_parameters()]


def of_images(model):
    x, y = torch.randn(BATCH, 3, 224, 224), torch.randint(0, 1000, (BATCH,))
    kept = kept_bytes(model, lambda: F.cross_entropy(model(x), y), (x, y))
    one = compiled(model)
    cut = kept_bytes(model, lambda: F.cross_entropy(one(x), y), (x, y))
    return {"parameters": parameters_of(model), "kept": {"all": kept}, "compiled": cut}


def of_numbers(model, count):
    x, y = torch.randn(BATCH, count), torch.randint(0, 10, (BATCH,))
    kept = kept_bytes(model, lambda: F.cross_entropy(model(x), y), (x, y))
    return {"parameters": parameters_of(model), "kept": {"all": kept}}


def of_texts(make, compiles=False, written=False):
    cut = {"compiled": compiled_texts(make, "written" if written else "flash")} if compiles else {}
    with FakeTensorMode():
        model = make()
        x = torch.zeros(BATCH, LENGTH, dtype=torch.int64)
        y = torch.zeros(BATCH, LENGTH, dtype=torch.int64)

        def kept(how, p):
            def loss():
                return F.cross_entropy(model(x, how, p).flatten(0, 1), y.flatten())

            return kept_bytes(model, loss, (x, y))

        bytes_of = {"flash": kept("flash", 0), "math": kept("math", 0)}
        bytes_of |= {"written": kept("written", 0)} if written else {"dropout": kept("flash", 0.1)}
        return {"parameters": parameters_of(model), "kept": bytes_of, **cut}


def main():
    models = {
        "resnet18": of_images(ResNet(BasicBlock, (2, 2, 2, 2))),
        "resnet50": of_images(ResNet(Bottleneck, (3, 4, 6, 3))),
        "resnet101": of_images(ResNet(Bottleneck, (3, 4, 23, 3))),
        "resnext50": of_images(ResNet(Bottleneck, (3, 4, 6, 3), 32, 4)),
        "resnext101": of_images(ResNet(Bottleneck, (3, 4, 23, 3), 32, 8)),
        "rnn": of_numbers(Rnn(28, 28, 128, 10), 784),
        "bert-large": of_texts(lambda: Bert(24, 1024, 16), compiles=True),
        "gpt2": of_texts(lambda: Gpt2(12, 768, 12), compiles=True),
        "gpt2-large": of_texts(lambda: Gpt2(36, 1280, 20)),
        "gpt3-xl": of_texts(lambda: Gpt2(24, 2048, 16, positions=2048)),
        "opt-1.3b": of_texts(lambda: Opt(24, 2048, 32), compiles=True),
        "tinyllama-1.1b": of_texts(
            lambda: Llama(22, 2048, 32, 4, 5632, 32000, 1e4), compiles=True, written=True
        ),
        "llama-2-7b": of_texts(lambda: Llama(32, 4096, 32, 32, 11008, 32000, 1e4), written=True),
        "llama-3-8b": of_texts(lambda: Llama(32, 4096, 32, 8, 14336, 128256, 5e5), written=True),
        "llama-3.2-1b": of_texts(
            lambda: Llama(16, 2048, 32, 8, 8192, 128256, 5e5, tied=True), written=True
        ),
    }
    about = {
        "script": "tests/golden/models.py",
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }
    lines = [f'{{"about": {json.dumps(about)},\n "models": {{\n']
    for i, (name, model) in enumerate(models.items()):
        cut = f', "compiled": {model["compiled"]}' if "compiled" in model else ""
        lines.append(f'  "{name}": {{"kept": {json.dumps(model["kept"])}{cut}, "parameters": [\n')
        rows = [json.dumps(row) for row in model["parameters"]]
        lines.append(",\n".join("   " + ", ".join(rows[k : k + 6]) for k in range(0, len(rows), 6)))
        lines.append("]}" + ("," if i + 1 < len(models) else "") + "\n")
        print(name, sum(count for _, count in model["parameters"]), model["kept"], model.get("compiled"))
    lines.append(" }}\n")
    FILE.write_text("".join(lines))


if __name__ == "__main__":
    main()
