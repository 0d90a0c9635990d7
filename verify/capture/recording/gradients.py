# SPDX-License-Identifier: Apache-2.0
"""What autograd leaves in `.grad`, as contents: the gradient of a recorded result, or what a test's own kernel gave.

Autograd computes in C++, where no mode of torch sees it. So the graph is looked at before: if all of its nodes are
torch's own and nothing hooks into it, each gradient is an operation on the result, the gradient there and the tensor.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from typing import Any

from verify.capture.recording.recorder import Recorder, layout_of, name_of

NAME = "torch.autograd.grad"  # of the operation, in the table
HOOKS = ("register_hook", "register_post_accumulate_grad_hook")


class Gradients:
    """The gradients of one program."""

    def __init__(self, recorder: Recorder, mode: Any) -> None:
        self.recorder, self.torch, self.mode = recorder, recorder.torch, mode
        self.hooks: list[Any] = []  # weak references to the hooks of each tensor or node that has had some
        self.packs = False  # whether the program had hooks that change what the graph keeps of a tensor
        self._install()

    def _install(self) -> None:
        """Let the mode see what backward functions of the program's own do, and see hooks that no mode sees."""
        module, kept = self.torch.autograd, self.torch._C._autograd.SavedTensor
        real, register = module._engine_run_backward, module.function._HookMixin._register_hook
        enter, register_packs = module.graph.saved_tensors_hooks.__enter__, kept.register_hooks

        def run_backward(*args: Any, **kwargs: Any) -> Any:
            with self.mode:
                return real(*args, **kwargs)

        def register_hook(hooks: Any, hook: Any) -> Any:
            made = register(hooks, hook)
            self.note_hook(made[1])
            return made

        def note_packs(call: Any, *args: Any) -> Any:
            self.packs = True
            return call(*args)

        module._engine_run_backward = run_backward
        module.function._HookMixin._register_hook = staticmethod(register_hook)  # of each node of a graph
        module.graph.saved_tensors_hooks.__enter__ = lambda hooks: note_packs(enter, hooks)
        kept.register_hooks = lambda *args: note_packs(register_packs, *args)

    def note_hook(self, handle: Any) -> None:
        """Note that the program registered a hook, by what torch gave it to remove it again."""
        self.hooks.append(handle.hooks_dict_ref)

    def _has_hooks(self) -> bool:
        """Return whether hooks of the program are there, of which it isn't known what they do to a gradient."""
        if any(reference() for reference in self.hooks):
            gc.collect()  # a test that failed leaves its tensors in cycles
        self.hooks = [reference for reference in self.hooks if reference()]
        return self.packs or bool(self.hooks)

    def backward_any(self, tensors: Any, *args: Any, **kwargs: Any) -> None:
        """Compute gradients as `Tensor.backward` does, or `torch.autograd.backward`, which names its arguments."""
        if isinstance(tensors, self.torch.Tensor) and "grad_tensors" not in kwargs:
            self.backward(tensors, *args, **kwargs)
        else:
            self.backward_all(tensors, *args, **kwargs)

    def backward_all(
        self, tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: Any = False, *args: Any,
        inputs: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Compute gradients as `torch.autograd.backward` does; those of several tensors together are not recorded."""
        given = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        if len(given) == 1 and not args and not kwargs.get("grad_variables"):
            several = isinstance(grad_tensors, (list, tuple))
            self.backward(given[0], grad_tensors[0] if several else grad_tensors, retain_graph, create_graph, inputs)
        else:
            self.torch.autograd.backward(
                tensors, grad_tensors, retain_graph, create_graph, *args, inputs=inputs, **kwargs
            )

    def backward(
        self, tensor: Any, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False, inputs: Any = None
    ) -> None:
        """Compute the gradients of a tensor's leaves, and record what each of them holds then."""
        nodes = list(self._walk(tensor))
        own = self._explain(nodes, create_graph)
        arrived = {id(leaf): list[Any]() for leaf in list_leaves(nodes)}
        handles = [
            node.register_prehook(lambda given, node=node: arrived[id(node.variable)].append(given[0]))
            for node in nodes
            if hasattr(node, "variable")
        ]
        before = [(leaf, leaf.grad is not None, self.recorder.read_tensor(leaf)) for leaf in list_leaves(nodes)]
        sides = self._read_sides(tensor, gradient)
        self.torch.autograd.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)
        for handle in handles:
            handle.remove()
        for leaf, known, reading in before:
            if leaf.grad is None or not arrived[id(leaf)]:
                continue
            if known:
                self._lose(leaf.grad, "a gradient was added to it")
            elif own:
                self._keep_arrived(leaf.grad, arrived[id(leaf)][-1], own)
            else:
                self._keep(leaf.grad, [*sides, {"reading": reading}])

    def grad(self, outputs: Any, inputs: Any, grad_outputs: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return gradients of one tensor by others, recorded."""
        several = isinstance(outputs, (list, tuple))
        output = outputs[0] if several and len(outputs) == 1 else outputs
        given = grad_outputs[0] if isinstance(grad_outputs, (list, tuple)) and len(grad_outputs) == 1 else grad_outputs
        tensors = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        single = isinstance(output, self.torch.Tensor)
        own = (
            self._explain(list(self._walk(output)), args or kwargs.get("create_graph")) if single else "several results"
        )
        sides = self._read_sides(output, given) if single else []
        readings = [self.recorder.read_tensor(tensor) for tensor in tensors]
        made = self.torch.autograd.grad(outputs, inputs, grad_outputs, *args, **kwargs)
        for gradient, reading in zip(made, readings, strict=True):
            if gradient is not None and not own:
                self._keep(gradient, [*sides, {"reading": reading}])
        return made

    def _explain(self, nodes: Sequence[Any], create_graph: Any) -> str:
        """Return why a gradient is not that of recorded operations alone; empty if it is."""
        if any(isinstance(node, self.torch._C._FunctionBase) for node in nodes):
            return "a backward of the program's own computed it"
        return "a hook may have changed it" if self._has_hooks() or create_graph else ""

    def _walk(self, tensor: Any) -> Iterator[Any]:
        """Yield the nodes of the graph behind a tensor."""
        seen, rest = set[Any](), [tensor.grad_fn]
        while rest:
            node = rest.pop()
            if node is not None and node not in seen:
                seen.add(node)
                yield node
                rest += [following for following, _ in node.next_functions]

    def _read_sides(self, tensor: Any, gradient: Any) -> list[Any]:
        """Return a result and the gradient there as arguments of an operation."""
        given = gradient[0] if isinstance(gradient, (list, tuple)) and len(gradient) == 1 else gradient
        read = self.recorder.read_tensor
        return [{"reading": read(tensor)}, None if given is None else {"reading": read(given)}]

    def _keep(self, gradient: Any, args: list[Any]) -> None:
        """Record a gradient as that of recorded operations."""
        content = self.recorder.add(
            "op", op=NAME, args=args, kwargs={}, layout=layout_of(gradient), dtype=name_of(gradient.dtype)
        )
        self._write(gradient, content)

    def _keep_arrived(self, gradient: Any, arrived: Any, why: str) -> None:
        """Record a gradient as a copy of what a backward of the program's own gave, if that is known."""
        known = self.recorder.tracked.get(arrived.untyped_storage()._cdata)
        if known is None:
            self._lose(gradient, why)
        elif arrived.untyped_storage()._cdata != gradient.untyped_storage()._cdata:
            reading = {"reading": self.recorder.read_tensor(arrived)}
            content = self.recorder.add(
                "op",
                op="torch.clone",
                args=[reading],
                kwargs={},
                layout=layout_of(gradient),
                dtype=name_of(gradient.dtype),
            )
            self._write(gradient, content)

    def _lose(self, gradient: Any, why: str) -> None:
        self._write(gradient, self.recorder.add("unknown", why=why, of=[]))

    def _write(self, gradient: Any, content: int) -> None:
        self.recorder.write(gradient, content)
        self.recorder.track(gradient).device = True


def list_leaves(nodes: Sequence[Any]) -> list[Any]:
    """Return the tensors in which the nodes of a graph add up gradients."""
    return [node.variable for node in nodes if hasattr(node, "variable")]
