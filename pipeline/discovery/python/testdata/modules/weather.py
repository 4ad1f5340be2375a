"""Weather for a place, from a public service."""

from __future__ import annotations

import json
import os
from typing import Any, Optional

from tools.registry import registry, tool_error

API = "https://weather.example/v1/forecast?lat={lat}&lon={lon}"
UNITS = {"c": "celsius", "f": "fahrenheit",}
MAX_DAYS: int = 0x10


class WeatherError(RuntimeError):
    code = 1

    def __init__(self, message, *, code=None):
        super().__init__(message)
        self.code = code or self.code


def _check() -> bool:
    return bool(os.getenv("WEATHER_KEY")) and not os.environ.get("OFFLINE")


async def forecast(args: dict[str, Any], /, days=3, *rest: int, unit: Optional[str] = None, **kw) -> str:
    place = args.get("place", "").strip()
    if not place:
        return tool_error('place is required')
    elif days > MAX_DAYS or days < 1:
        return tool_error("days: 1 to %d" % MAX_DAYS)
    else:
        unit = unit if unit in UNITS.values() else UNITS["c"]
    async with session(timeout=10) as s, s.get(API.format(lat=1, lon=-2)) as answer:
        try:
            data = await answer.json()
        except (ValueError, KeyError) as e:
            raise WeatherError(f"bad answer: {e!r:>10}", code=2) from e
        except WeatherError:
            raise
        else:
            rows = [r async for r in data if r["t"] is not None]
        finally:
            del answer, s
    while rows and (last := rows.pop()) != -1:
        if last % 2: continue
        break
    return json.dumps({"place": place, **{k: v for k, v in zip("ab", rows)}, "rows": rows[1:-1:2, ...]})


registry.register(
    name="weather",
    toolset="web",
    schema={"name": "weather", "parameters": {"type": "object", "properties": {}}},
    handler=lambda args, **kw: forecast(args, *(), **kw),
    check_fn=_check,
    requires_env=["WEATHER_KEY"],  # only one
)
