# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The models of torch_models.py, with random weights, and what a batch does.

Each function makes its model on the current device and returns another one, which
queues the work of one batch: it draws the sizes from the random.Random that it is
given, and waits for nothing. ResNet-50 is written out here, so that torchvision
is not needed; the others are of transformers.
"""


def bert():
    """Inference of a BERT-large."""
    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
    )
    model = BertModel(config).half().eval().cuda()

    def infer(draw):
        shape = draw.randint(1, 32), draw.randint(8, 512)
        words = torch.randint(0, config.vocab_size, shape, device="cuda")
        with torch.inference_mode():
            model(words, attention_mask=torch.ones_like(words))

    return infer


def gpt2():
    """Training of a GPT-2 of 355 million parameters."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_embd=1024, n_layer=24, n_head=16)
    model = GPT2LMHeadModel(config).cuda()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def train(draw):
        shape = draw.randint(2, 8), draw.randint(64, 1024)
        words = torch.randint(0, config.vocab_size, shape, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(words, labels=words).loss
        loss.backward()
        adam.step()
        adam.zero_grad(set_to_none=True)

    return train


def llama():
    """Generation by a Llama of 1.2 billion parameters.

    The keys and values of each layer grow by a word at each step, into a new
    tensor. The words stay on the device: nothing waits to see one.
    """
    import torch
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=128256,
        hidden_size=2048,
        num_hidden_layers=16,
        num_attention_heads=32,
        num_key_value_heads=8,
        intermediate_size=8192,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).bfloat16().eval().cuda()

    def generate(draw):
        shape = draw.randint(1, 32), draw.randint(16, 1024)
        words = torch.randint(0, config.vocab_size, shape, device="cuda")
        cache = DynamicCache()
        with torch.inference_mode():
            for _ in range(draw.randint(8, 24)):
                # By place: versions of transformers have two names for it.
                states = model.model(words, None, None, cache, use_cache=True)
                last = states.last_hidden_state[:, -1:]
                words = model.lm_head(last).argmax(-1)

    return generate


# ---- ResNet-50 --------------------------------------------------------------

MOST_IMAGES = 192
SIDES = 160, 192, 224, 256  # of an image, in pixels


def convolution(before, after, side, stride=1):
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(before, after, side, stride, side // 2, bias=False),
        nn.BatchNorm2d(after),
    )


def bottleneck(before, inner, stride):
    """A block of ResNet's: three convolutions beside a shortcut."""
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.path = nn.Sequential(
                convolution(before, inner, 1),
                nn.ReLU(inplace=True),
                convolution(inner, inner, 3, stride),
                nn.ReLU(inplace=True),
                convolution(inner, 4 * inner, 1),
            )
            self.beside = nn.Identity()
            if stride > 1 or before != 4 * inner:
                self.beside = convolution(before, 4 * inner, 1, stride)
            self.end = nn.ReLU(inplace=True)

        def forward(self, x):
            return self.end(self.path(x) + self.beside(x))

    return Block()


def resnet50(classes=1000):
    from torch import nn

    parts = [convolution(3, 64, 7, 2), nn.ReLU(inplace=True)]
    parts += [nn.MaxPool2d(3, 2, 1)]
    width = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        inner = 64 << stage
        for i in range(count):
            stride = 2 if stage and i == 0 else 1
            parts += [bottleneck(width, inner, stride)]
            width = 4 * inner
    parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes)]
    return nn.Sequential(*parts)


class Prefetcher:
    """Has the next batch copied while the model works on the one before.

    As data loaders do: from pinned memory, on a stream beside the model's, which
    also makes numbers of the pixels. What it allocates is of that stream, so
    that the model's has to be told by record_stream().
    """

    def __init__(self):
        import torch

        self.torch = torch
        self.stream = torch.cuda.Stream()
        room = MOST_IMAGES * 3 * max(SIDES) ** 2
        # Only read from then on.
        self.pixels = torch.randint(0, 256, (room,), dtype=torch.uint8)
        self.pixels = self.pixels.pin_memory()
        self.labels = torch.randint(0, 1000, (MOST_IMAGES,)).pin_memory()
        self.coming = None

    def load(self, draw):
        count, side = draw.randint(32, MOST_IMAGES), draw.choice(SIDES)
        shape = count, 3, side, side
        pixels = self.pixels[: count * 3 * side * side].view(shape)
        with self.torch.cuda.stream(self.stream):
            images = pixels.to("cuda", non_blocking=True).float()
            images = images.sub_(118).div_(58)
            images = images.contiguous(memory_format=self.torch.channels_last)
            labels = self.labels[:count].to("cuda", non_blocking=True)
        self.coming = images, labels

    def next(self, draw):
        if not self.coming:
            self.load(draw)
        current = self.torch.cuda.current_stream()
        current.wait_stream(self.stream)
        batch = self.coming
        for each in batch:
            each.record_stream(current)
        self.load(draw)
        return batch


def resnet():
    """Training of a ResNet-50, every fourth batch or so only tried, with batches
    of other sizes that come by a stream of their own."""
    import torch

    model = resnet50().cuda().to(memory_format=torch.channels_last)
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    loader = Prefetcher()

    def attempt(images):
        model.eval()
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16):
            model(images).argmax(1)
        model.train()

    def train(images, labels):
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        sgd.step()
        sgd.zero_grad(set_to_none=True)

    def batch(draw):
        images, labels = loader.next(draw)
        if draw.random() < 0.25:
            attempt(images)
        else:
            train(images, labels)

    return batch


# ---- activations that wait on the host ---------------------------------------

HOST_BYTES = 8 << 30
LEAST_BYTES = 1 << 20  # smaller ones stay where they are


class Offload:
    """Copies what the backward pass needs to the host, and back when it does.

    On a stream of its own, so that what the model's stream made is used by that
    one, and the other way round: record_stream() says so. As all copies are on
    one stream, the memory of the host is free for the next batch once the last
    copy of this one is queued.
    """

    def __init__(self):
        import torch

        self.torch = torch
        self.stream = torch.cuda.Stream()
        self.host = torch.empty(HOST_BYTES, dtype=torch.uint8).pin_memory()
        self.used = 0

    def begin(self):
        self.used = 0

    def pack(self, tensor):
        size = tensor.numel() * tensor.element_size()
        kept = not tensor.is_cuda or tensor.is_leaf or size < LEAST_BYTES
        if kept or self.used + size > HOST_BYTES:
            return tensor
        there = self.host[self.used : self.used + size]
        there = there.view(tensor.dtype).view(tensor.shape)
        self.used += (size + 511) // 512 * 512
        self.stream.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(self.stream):
            there.copy_(tensor, non_blocking=True)
        tensor.record_stream(self.stream)
        return there

    def unpack(self, there):
        if there.is_cuda:
            return there
        current = self.torch.cuda.current_stream()
        with self.torch.cuda.stream(self.stream):
            here = there.to("cuda", non_blocking=True)
        current.wait_stream(self.stream)
        here.record_stream(current)
        return here


def offload():
    """Training of a GPT-2 of 200 million parameters whose activations wait on the
    host for the backward pass."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_embd=1024, n_layer=12, n_head=16)
    model = GPT2LMHeadModel(config).cuda()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5)
    host = Offload()

    def train(draw):
        shape = draw.randint(2, 8), draw.randint(64, 512)
        words = torch.randint(0, config.vocab_size, shape, device="cuda")
        host.begin()
        hooks = torch.autograd.graph.saved_tensors_hooks(host.pack, host.unpack)
        with hooks, torch.autocast("cuda", torch.bfloat16):
            loss = model(words, labels=words).loss
        loss.backward()
        adam.step()
        adam.zero_grad(set_to_none=True)

    return train


MODELS = {
    "bert": bert,
    "gpt2": gpt2,
    "resnet": resnet,
    "llama": llama,
    "offload": offload,
}
