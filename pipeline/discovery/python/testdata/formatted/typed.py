type Alias[T, *Ts, **P] = dict[T, P]
type = 1
def first[T: int](x: T) -> T: return x
class Box[T: (int, str)](Base): value: T
type X = int; registry.register(X)
async def g[T](): pass
type (x)
type[0]: int = 1
print(type, f"{type}")
