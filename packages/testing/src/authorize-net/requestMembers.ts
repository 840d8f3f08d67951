// Texts in the members of a request.
import { valueAt } from '../jsonAt.ts'

/** The text at a path; `''` when there is none. */
export function textAt(request: unknown, ...path: readonly string[]): string {
  const value = valueAt(request, ...path)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
