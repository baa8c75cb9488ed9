"""Which modules import which, lazy imports included, and the cycles among them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

Graph = dict[str, set[str]]


def module_graph(package: Path) -> Graph:
    """The imports of each module of a package from that package, inside functions too; those for the type checker
    alone are left out."""
    files = {_module_name(package, path): path for path in sorted(package.rglob("*.py"))}
    return {name: set(_imports(path, name, set(files))) - {name} for name, path in files.items()}


def folder_graph(graph: Graph) -> Graph:
    """The same between folders. A module that lies in no folder of the package stands for itself."""
    folders: Graph = {}
    for module, imports in graph.items():
        here = folder_of(module)
        folders.setdefault(here, set()).update(folder_of(each) for each in imports)
        folders[here].discard(here)
    return folders


def folder_of(module: str) -> str:
    """The folder right below the package that a module is in: `tracer_core.guards` of all below that."""
    return ".".join(module.split(".")[:2])


def cycles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one module, the largest first."""
    found: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for following in sorted(graph.get(node, ())):
            if following not in index:
                visit(following)
            if following in stack:
                low[node] = min(low[node], low[following])
        if low[node] == index[node]:
            at = stack.index(node)
            component, stack[at:] = stack[at:], []
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def _module_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path, module: str, modules: set[str]) -> Iterator[str]:
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            # `from package import module` is an import of the module; of anything else, of where it is written.
            names = [name if name in modules else node.module for name in names]
        yield from (name for name in names if name in modules)


def _nodes(node: ast.AST) -> Iterable[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _nodes(child)
