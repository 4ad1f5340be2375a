import sys; from . import helpers as h
from ..base import (Base, Mixin as M,)
from .registry import registry
X = Y = [*range(3), 4]
a, (b, *c), [d, e.f, g[0]] = source()
a += 1; b **= 2; c //= 3
matrix @= other
@h.cached(maxsize=None)
@property
def notes(self=None, *, title: str = "t", **options): return (yield self), (yield from title)
for i, (k, v) in enumerate({1: 2}.items()):
    registry.register(k, v)
    if k: pass
    else:
        continue
else:
    registry.register(name='last')
try:
    import fast
except ImportError:
    fast = None
if sys.version_info >= (3, 11): registry.register("new")
with open("a") as f, (open("b")) as g.file: f.read()
with (
    open("a") as f,
    open("b"),
):
    pass
with (a, b): pass
global_ = lambda x=1, *y, z, **w: (x, *y)
assert isinstance(X, list), "not a list"
class Note(Base, M, metaclass=type):
    """A note."""
    text: str
    tags: list[str] = []
    def __lt__(self, other): return self.text < other.text <= 'z' is not None
    class Meta: ordering = ['text']
    registry.register(Note)
def outer():
    n = 0
    def inner():
        nonlocal n
        global m
        n, m = n + 1, -n ** -2
        registry.register(n)
    return inner
result = [x for y in X if y if y > 1 for x in y] or {x: y for x, y in ()} or {x for x in ()} or (x for x in ())
print(*result, sep="", end=f"{result[0]}" "\n", file=sys.stderr)
del a[0], (b), c.d
raise SystemExit
