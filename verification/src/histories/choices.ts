// Every decision of a history comes from a few sequences of numbers, so that the numbers alone repeat the history.
import { seededRandom } from '@paylog/bench/harness/seededRandom'

/** What is decided: who does what, what goes wrong, how long messages take, and in which order things happen. */
export const subjects = ['script', 'faults', 'delays', 'order'] as const
type Subject = (typeof subjects)[number]
export type Numbers = Readonly<Record<Subject, readonly number[]>>

export type Choices = {
  /** @returns a number from 0 to below `count`. 0 is the plainest choice: nothing, no fault, no pause, the oldest message */
  next(about: Subject, count: number): number
  /** The numbers so far. */
  readonly taken: Numbers
}

/** Chosen by chance. */
export function randomChoices(seed: number): Choices {
  const random = seededRandom(seed)
  return recorded((_about, _place, count) => Math.floor(random() * count))
}

/** Repeats these numbers, then always chooses the plainest. A number that is too large counts as the largest one. */
export function repeatedChoices(numbers: Numbers): Choices {
  return recorded((about, place, count) => Math.min(numbers[about][place] ?? 0, count - 1))
}

function recorded(choose: (about: Subject, place: number, count: number) => number): Choices {
  const taken: Record<Subject, number[]> = { script: [], faults: [], delays: [], order: [] }
  return {
    taken,
    next(about, count) {
      const chosen = count > 1 ? choose(about, taken[about].length, count) : 0
      taken[about].push(chosen)
      return chosen
    },
  }
}

export const pick = <Item>(choices: Choices, about: Subject, items: readonly [Item, ...Item[]]): Item =>
  items[choices.next(about, items.length)] ?? items[0]

/** @param permille how likely it is, of a thousand */
export const happens = (choices: Choices, about: Subject, permille: number): boolean =>
  choices.next(about, 1_000) >= 1_000 - permille
