// Reading the members of a request.

/** What stands at a path of a request. */
export function at(request: unknown, ...path: readonly string[]): unknown {
  let value = request
  for (const member of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.entries(value).find(([name]) => name === member)?.[1]
  }
  return value
}

/** The text at a path; `''` when there is none. */
export function textAt(request: unknown, ...path: readonly string[]): string {
  const value = at(request, ...path)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
