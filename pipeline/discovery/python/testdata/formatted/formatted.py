x = f"a{b}c{{d}}" f'{e!r:>{width}}' rf"\d{f=}" F"{g!s:{h:{i}}}"
y = f"{a["b"]} {f'{c}'}" f"{ {1: 2}[1] }" f"{(lambda z: z)(1):#x}"
z = f'''{
    a  # note
    + b
}''' f"{x:=5}" f"{x!=y}" f"{(x := 5)}" f"{*a, b}" f"{yield}"
registry.register(f"{name!a}", f"\{x}")
w = f"{x:%Y-%m-%d}" f"{x,}" f"{x:{{y}}}" f"{'a' 'b'}" if 0 else f"""{x:
}""" f"{a if b else c}" f"{x = !r:^{w}.{p}}" "plain"
