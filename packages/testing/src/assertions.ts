// Assertions for lists and for deciders.

import type { DomainEvent, Fold } from '@paylog/domain/events'
import type { Test } from 'tap'

/**
 * Asserts that a list has exactly these elements, matching the given fields. `t.match` alone ignores extra elements.
 */
export function matchList(
  t: Test,
  found: readonly unknown[],
  expected: readonly unknown[],
  message = 'the list',
): void {
  t.equal(found.length, expected.length, `${message}: length`)
  t.match(found, expected, message)
}

/**
 * Given/when/then for deciders.
 * @param history the earlier events
 * @returns `when(decide)`, followed by `.then(events)` or `.thenThrows(code)`
 */
export function given<State, Event extends DomainEvent>(t: Test, fold: Fold<State, Event>, history: readonly Event[]) {
  const state = history.reduce(fold.evolve, fold.initialState)
  return {
    when: (decide: (state: State) => readonly Event[]) => ({
      /** Expects exactly these events; `data` is matched by the given fields. */
      // biome-ignore lint/suspicious/noThenProperty: the word of given/when/then; the object is never awaited.
      then(expected: readonly { readonly type: Event['type']; readonly data?: Partial<Event['data']> }[]) {
        const events = decide(state)
        t.same(
          events.map(({ type }) => type),
          expected.map(({ type }) => type),
          'event types',
        )
        t.match(events, expected, 'event data')
        return events.reduce(fold.evolve, state)
      },
      thenThrows(code: string) {
        t.throws(() => decide(state), { code }, `throws ${code}`)
      },
    }),
  }
}
