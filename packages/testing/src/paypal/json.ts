// Reading JSON that may be anything.

/** What stands at a path, or nothing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined
  }
  return found
}

/** The text at a path, if it matches. */
export function textAt(value: unknown, pattern: RegExp, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' && pattern.test(found) ? found : undefined
}

/** @returns nothing for what is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
