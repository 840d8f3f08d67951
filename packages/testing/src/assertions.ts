// Compares a list by what matters of its elements.

import type { DomainEvent, Fold } from '@paylog/domain/events'
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

// The language in which deciders are tested: these events happened, this is decided, these events follow.

/**
 * @param history the events before
 * @returns `when(decide)`, which gives what to expect of the decision: `.then(events)` or `.thenThrows(code)`
 */
export function given<State, Event extends DomainEvent>(t: Test, fold: Fold<State, Event>, history: readonly Event[]) {
  const state = history.reduce(fold.evolve, fold.initialState)
  return {
    when: (decide: (state: State) => readonly Event[]) => ({
      /** The decision is exactly these events; `data` is matched by the fields that are given. */
      // biome-ignore lint/suspicious/noThenProperty: the word of given/when/then; the object is never awaited.
      then(expected: readonly { readonly type: Event['type']; readonly data?: Partial<Event['data']> }[]) {
        const events = decide(state)
        t.same(
          events.map(({ type }) => type),
          expected.map(({ type }) => type),
          'the events that follow',
        )
        t.match(events, expected, 'what they say')
        return events.reduce(fold.evolve, state)
      },
      thenThrows(code: string) {
        t.throws(() => decide(state), { code }, `refused with ${code}`)
      },
    }),
  }
}
