// Compares a list by what matters of its elements.
import type { Test } from 'tap'

/** The list has exactly these elements, each matched by the fields that are given. `t.match` alone passes over more of them. */
export function matchList(
  t: Test,
  found: readonly unknown[],
  expected: readonly unknown[],
  message = 'the list',
): void {
  t.equal(found.length, expected.length, `${message}: how many`)
  t.match(found, expected, message)
}
