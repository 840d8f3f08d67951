// Parses durations in configuration and command lines.

const unitsMs = new Map([
  ['', 1],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Milliseconds of `500ms`, `5s`, `2m`, `1h`, `90d` or a bare number of milliseconds; `undefined` for anything else. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,10})(ms|s|m|h|d)?$/.exec(text)
  const unitMs = unitsMs.get(match?.[2] ?? '')
  return match === null || unitMs === undefined ? undefined : Number(match[1]) * unitMs
}
