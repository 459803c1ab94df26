"""Imports point the way that docs/architecture.md draws, in no circle, and files stay of a size that one can read."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What a room may import, besides itself and what those rooms may import.
BELOW: dict[str, tuple[str, ...]] = {
    "game": (),
    "solver": ("game",),
    "solver.truco.hand": ("solver",),
    "solver.truco.vector.model": ("solver.truco.hand",),
    "solver.truco.vector.cfr": ("solver.truco.vector.model",),
    "solver.truco.vector.response": ("solver.truco.vector.cfr",),
    "solver.truco.vector.policy": ("solver.truco.vector.cfr",),
    "solver.truco.vector.parts": ("solver.truco.vector.cfr",),
    "solver.truco.players": ("solver.truco.hand",),
    "solver.truco.reading": ("solver.truco.players", "solver.truco.vector.policy"),
    "solver.truco.solutions": ("solver.truco.reading",),
    "solver.truco.quick": ("solver.truco.solutions",),
    "solver.truco.match": (
        "solver.truco.quick",
        "solver.truco.vector.response",
        "solver.truco.vector.policy",
    ),
    "solver.truff": ("solver",),
    "scripts": ("solver.truco.match", "solver.truco.vector.parts", "solver.truff"),
}
# The public names of `solver` that are imported when they are asked for.
DOORS = {("solver", "solver.truco.reading.solution"), ("solver", "solver.truco.solutions.load")}


def modules() -> dict[str, Path]:
    found = {}
    for package in ("game", "solver", "scripts"):
        for path in (ROOT / package).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(name: str) -> set[str]:
    """Modules of this project that a module imports anywhere, for types as well."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (below & set(MODULES)) or {node.module}
    return {module for module in found if module in MODULES and module != name}


def room(name: str) -> str:
    return max((room for room in BELOW if name == room or name.startswith(room + ".")), key=len)


def reachable(start: str) -> set[str]:
    """Rooms at or below a room."""
    found = {start}
    for below in BELOW[start]:
        found |= reachable(below)
    return found


def test_imports_point_down() -> None:
    wrong = [
        f"{name} imports {other}"
        for name in MODULES
        for other in sorted(imports(name))
        if room(other) not in reachable(room(name)) and (name, other) not in DOORS
    ]
    assert wrong == []
    assert len(MODULES) > 100


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Types and late imports count, too."""
    edges = {name: {other for other in imports(name) if (name, other) not in DOORS} for name in MODULES}
    # A package imports itself first: that is no circle unless it then imports its modules.
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for other in sorted(edges[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


def test_files_are_short_say_what_they_are_for_and_do_more_than_forward() -> None:
    tests = {f"tests.{path.stem}": path for path in (ROOT / "tests").glob("*.py")}
    for name, path in {**MODULES, **tests}.items():
        text = path.read_text()
        assert len(text.splitlines()) <= 600, f"{name} is longer than 600 lines"
        tree = ast.parse(text)
        assert ast.get_docstring(tree), f"{name} does not say what it is for"
        does = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)]
        assert does or path.name == "__init__.py", f"{name} only forwards"


def test_the_page_names_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    for name in BELOW:
        last = name.rsplit(".", 1)[-1]
        assert any(f"{mark}{last}" in page for mark in ("`", "/")), name
