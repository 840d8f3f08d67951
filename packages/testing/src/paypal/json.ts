// Texts in JSON that may be anything.
import { valueAt } from '../jsonAt.ts'

/** The text at a path, if it matches. */
export function textAt(value: unknown, pattern: RegExp, ...path: readonly (string | number)[]): string | undefined {
  const found = valueAt(value, ...path)
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
