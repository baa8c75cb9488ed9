"""What may import what: the layers of docs/architecture.md, the seam between trackers and the interpreter,
torch._dynamo kept out, and loading without torch."""

from __future__ import annotations

import ast
import inspect
import os
import pkgutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from tracer_core.interpreter.operations import Operations

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT_DYNAMO = ("tracer_core/frame_eval/backends.py", "tracer_core/fixes/torch_run.py")
SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (ROOT / "tracer_core", ROOT / "widgets" / "tracewalk")
    for path in folder.rglob("*.py")
)


def run_python(program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own that sees the checkout's two packages and no notebook."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")])}
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)


def imported_modules(tree: ast.AST) -> set[str]:
    """Dotted names that any import statement in `tree` names, also inside functions and as `from a import b`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def dynamo_uses(source: str) -> list[str]:
    """Where `source` gets at torch._dynamo: by import, as an attribute of torch, or by name through importlib."""
    tree = ast.parse(source)
    uses = [name for name in imported_modules(tree) if (name + ".").startswith("torch._dynamo.")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "_dynamo" and ast.unparse(node.value) == "torch":
            uses.append(f"line {node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"importlib.import_module", "__import__"}:
            uses += [f"line {node.lineno}" for a in node.args if "torch._dynamo" in ast.unparse(a)]
    return uses


def test_layers_hold() -> None:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")])}
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_imports_a_package_around_it() -> None:
    """With the contract `cycles`, which compares siblings, no import leads back to its module."""
    graph = grimp.build_graph("tracer_core", "tracewalk", exclude_type_checking_imports=True, cache_dir=None)
    imports = [(each, found) for each in graph.modules for found in graph.find_modules_directly_imported_by(each)]
    assert [(importer, imported) for importer, imported in imports if importer.startswith(f"{imported}.")] == []


def test_graphs_know_no_trackers() -> None:
    """What the trace knows of the program stands above the graphs; their folder does not even name it."""
    for path in (ROOT / "tracer_core" / "graph").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert "VariableTracker" not in source, path
        names = imported_modules(
            ast.parse(source)
        )  # (Those for type checking alone, too, which the linter leaves out.)
        assert not any(name.startswith("tracer_core.variables") for name in names), path


def test_no_part_of_the_engine_is_left_out_of_the_contracts() -> None:
    """A new module stands under the contracts from its first day."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    by_id = {contract["id"]: contract for contract in contracts}
    parts = {f"tracer_core.{module.name}" for module in pkgutil.iter_modules([str(ROOT / "tracer_core")])}
    outside = {"tracer_core.fixes", "tracer_core.recording"}
    assert set(by_id["recording"]["source_modules"]) == parts - outside
    public = {"tracer_core.errors", "tracer_core.fixes", "tracer_core.observer", "tracer_core.recording"}
    assert set(by_id["widget"]["forbidden_modules"]) == parts - public


# Modules that import when they are called, or for types alone, and why.
LATE_IMPORTS = {
    "tracer_core/bytecode/version.py": "only the module for the running Python is loaded",
    "tracer_core/__init__.py": "the public names load what they need, so that a recording is read without torch",
    "tracer_core/recording/__init__.py": "the same",
    "tracer_core/recording/recorder.py": "types of the engine, which needs torch",
    "tracer_core/recording/breaking.py": "the same",
    "tracer_core/recording/compiling.py": "the same",
    "tracer_core/errors.py": "the same",
    "tracer_core/observer.py": "the same",
    "tracer_core/frame_input.py": "the same",
    "tracer_core/recording/restarts.py": "a step gives its sentence, which is about a step",
    "tracer_core/recording/makers.py": "an index gives the maker of a value, which is found through the index",
    "tracer_core/recording/recompiling.py": "a trace gives its recompilations, which are about a trace",
    "tracer_core/recording/live.py": "a recording opens where torch is not installed",
    "tracer_core/recording/dispatch.py": "the same",
    "tracer_core/recording/trace.py": "the same",
    "tracer_core/recording/overview.py": "a trace gives its overview, which is about a trace",
    "tracer_core/recording/story.py": "the same",
    "tracer_core/recording/comparison.py": "the same",
    "tracer_core/recording/alignment.py": "the same",
    "tracer_core/recording/tables.py": "a trace gives its tables, which are about a trace",
    "tracer_core/frame_eval/started.py": "the hook hands itself on",
    "tracer_core/frame_eval/convert.py": "the same",
    "tracer_core/frame_eval/backends.py": "torch's partitioner imports torch._dynamo, which others do not need",
    "tracer_core/variables/core/trace_state.py": "types of the trackers that it keeps",
    "tracer_core/variables/core/side_effects.py": "the same",
    "tracer_core/variables/core/draws.py": "the same",
    "tracer_core/variables/core/tracing.py": "the seam names what trackers are written against",
}


def late_imports(tree: ast.Module) -> set[str]:
    """What is imported of the engine in functions, or under a condition."""
    at_the_top = {id(node) for node in tree.body}
    late = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = imported_modules(ast.Module([node for node in late if id(node) not in at_the_top], []))
    return {name for name in names if name.startswith("tracer_core.")}


def source_trees() -> Iterator[tuple[str, ast.Module]]:
    for path in SOURCES:
        if path.startswith("tracer_core/"):
            yield path, ast.parse((ROOT / path).read_text(encoding="utf-8"))


def test_imports_stand_at_the_top() -> None:
    assert {path for path, tree in source_trees() if late_imports(tree)} == set(LATE_IMPORTS)


def test_handlers_say_that_they_take_a_tracing() -> None:
    taken = {
        "nothing" if arg.annotation is None else ast.unparse(arg.annotation)
        for _, tree in source_trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if arg.arg == "tx"
    }
    assert taken == {"Tracing", "Tracing | None"}


# Tables of Python's operators, whose entries are the functions themselves.
TABLES = {"tracer_core/interpreter/operations.py", "tracer_core/variables/operations/operator_functions.py"}
TABLES |= {"tracer_core/variables/operations/dunder_methods.py"}


def test_what_tracing_offers_is_called_through_it() -> None:
    offered = {f"{each.__module__}.{name}" for name, each in vars(Operations).items() if inspect.isfunction(each)}
    assert len(offered) > 15
    assert {path for path, tree in source_trees() if offered & imported_modules(tree)} == TABLES


def test_no_import_of_dynamo() -> None:
    for path in SOURCES:
        if not path.startswith(MAY_IMPORT_DYNAMO):
            assert dynamo_uses((ROOT / path).read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    "source",
    [
        "import torch._dynamo",
        "import torch._dynamo.config as c",
        "from torch import _dynamo",
        "from torch._dynamo import eval_frame",
        "def f():\n    from torch._dynamo.utils import x",
        "torch._dynamo.reset()",
        "importlib.import_module('torch._dynamo')",
    ],
)
def test_the_scan_sees_each_way_to_import_dynamo(source: str) -> None:
    assert dynamo_uses(source)


def test_the_scan_lets_the_c_hook_pass() -> None:
    assert dynamo_uses("from torch._C._dynamo.eval_frame import set_eval_frame\nimport torch._dynamite") == []


def test_tracing_loads_dynamo_through_no_import_of_ours(tmp_path: Path) -> None:
    """torch itself may load torch._dynamo; then no file of ours is the one that asked for it."""
    program = """
        import importlib.abc, sys, traceback
        ROOT = sys.argv[1]

        class Watch(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name.startswith("torch._dynamo"):
                    askers = [f.filename for f in traceback.extract_stack() if "importlib" not in f.filename]
                    if askers[-2].startswith(ROOT) and "/site-packages/" not in askers[-2]:
                        print("asked for by", askers[-2], name)

        sys.meta_path.insert(0, Watch())
        import torch
        import tracewalk as tw

        def f(x):
            y = x + 1
            print(y.shape)
            return y * 2

        t = tw.trace(f, torch.ones(3))
        assert len(t.graphs) == 2, t.graphs
        print("traced")
    """
    done = run_python(program, str(ROOT), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "traced"
    assert [line for line in lines if line.startswith("asked for by")] == []


def test_a_trace_loads_where_torch_is_not_installed(tmp_path: Path) -> None:
    """Only msgspec, NumPy and the recording's own files are needed: every other third-party package is refused."""
    write = """
        import sys, torch
        import tracewalk as tw

        def f(x):
            return (x + 1).relu()

        tw.trace(f, torch.ones(3)).save(sys.argv[1])
    """
    read = """
        import importlib.abc, sys

        ALLOWED = {"msgspec", "numpy", "tracer_core"} | set(sys.stdlib_module_names)

        class Refuse(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] not in ALLOWED and not name.startswith("_sysconfigdata"):  # Python's own, too
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Refuse())
        from tracer_core import recording

        trace = recording.load(sys.argv[1])
        assert "torch" not in sys.modules
        print(len(trace.steps))
        print([node.target for node in trace.nodes if node.op.startswith("call")])
    """
    saved = tmp_path / "f.trace"
    written = run_python(write, str(saved), cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    done = run_python(read, str(saved), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    steps, targets = done.stdout.splitlines()
    assert int(steps) >= 6  # load x, load 1, add, load relu, call it, return
    assert "add" in targets
    assert "relu" in targets
