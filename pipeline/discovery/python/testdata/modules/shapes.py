registry = tools.registry
match command.split():
    case [action]:
        pass
    case [action, obj]:
        registry.register(action)
    case Point(x=0, y=-1.5) | Point(1, y=2) as p if p.x > 0:
        pass
    case {"name": str() as name, "n": 1 | 2, **rest}:
        pass
    case (1, 2, *others) | [3, *_]:
        print(others)
    case "a" 'b' | None | True | -3 + 4j:
        pass
    case color.RED.value, *more:
        match = 1
    case (x):
        pass
    case _:
        pass
match = case = type = 1
match[0] = match(case) + type.x
match (registry.register)(a)
print(match, case); registry.register(match)
if (n := len(registry)) > 10 and not (
        n < 20 or
        n == 15): registry.register(n)
elif n: x = 1 if n else 2
else: x = y = yield_ = 3
x = a if b else c if d else lambda: e
x: int
x.y: dict[str, int] = {}
(x): int = 1
x[1:2, ::3, *y] = -a ** ~b % +c
x = not a in b, a not in b, a is not b, a < b == c != d >= e
x = a | b ^ c & d << 1 >> 2 @ e // f
s = "a" 'b' u"c" r'\d' """d
e""" '''f'''
t = b"a" rb"\x" Br'b'
num = 1_000, 0xFF, 0o17, 0b1_0, 1e10, 1.5e-3j, .5, 5., 0, 00, 1if x else 2
long = a + \
    b
def f(a, b=1, /, c=2, *args, d, e=3, **kwargs) -> None: ...
def g(*, a): ...
def h(a, *args: int, **kw: str): ...
async def k():
    async for x in y: await x
    else: pass
    async with a as b: pass
    return [await z async for z in q], *w
try: pass
except* (OSError, ValueError) as eg: pass
try: a
finally: b
while True:
    try: break
    except: continue
    else: pass
    finally: pass
else: registry.register()
registry.register(x)(y)
registry.register(x).z
(registry.register(x))
registry.register(x), y
registry \
  .register(x for x in y)
