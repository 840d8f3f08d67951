// Only the order of positions matters, so a recording has their ranks within the scenario.
import type { Json, RecordedResponse } from './scenario.ts'

/** A position in a result, before it is replaced by its rank. */
export function positionAt(position: string): Json {
  return { at: position }
}

/** Replaces every position in the results by its rank. */
export function ranked(answers: readonly RecordedResponse[]): RecordedResponse[] {
  const positions = new Set<string>()
  collect([...answers], positions)
  const inOrder = [...positions].sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1))
  const rankOf = new Map(inOrder.map((position, rank) => [position, rank]))
  return answers.map((response) =>
    Object.fromEntries(Object.entries(response).map(([key, value]) => [key, replaced(value, rankOf)])),
  )
}

function collect(value: Json, positions: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if ('at' in value && typeof value.at === 'string') positions.add(value.at)
  for (const each of Object.values(value)) collect(each, positions)
}

function replaced(value: Json, rankOf: ReadonlyMap<string, number>): Json {
  if (typeof value !== 'object' || value === null) return value
  if (isArray(value)) return value.map((each) => replaced(each, rankOf))
  // The position of an event is an object too, so its `at` is one level deeper.
  if ('at' in value && typeof value.at === 'string') return rankOf.get(value.at) ?? null
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, rankOf)]))
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
