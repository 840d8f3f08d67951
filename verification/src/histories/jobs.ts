// What a thread does: histories of many seeds, shrinking those that fail, and races.
import { type Choices, type Numbers, randomChoices, repeatedChoices } from './choices.ts'
import { type HistoryResult, runHistory, scriptBlocks } from './history.ts'
import { exploreRace, type Race, racesOf } from './interleavings.ts'
import type { Job } from './job.ts'
import type { Failure, Progress } from './report.ts'
import { shrink } from './shrink.ts'

type Run = { readonly result?: HistoryResult; readonly rules: readonly string[]; readonly story: string }

/** Runs a history. One that breaks off has failed as well. */
async function run(choices: Choices, seed: number): Promise<Run> {
  try {
    const result = await runHistory(choices, seed)
    const verdict = result.violations.map(({ rule, story }) => `=> ${rule}: ${story}`)
    return {
      result,
      rules: result.violations.map(({ rule }) => rule),
      story: withoutIds([...result.story, ...verdict].join('\n')),
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { rules: ['the simulation broke off'], story: message }
  }
}

/** Runs the history of a seed, and shrinks it if it fails. */
export async function runFailing(
  seed: number,
): Promise<{ readonly result?: HistoryResult; readonly failure?: Failure }> {
  const choices = randomChoices(seed)
  const { result, rules } = await run(choices, seed)
  const [rule] = rules
  const ended = result ? { result } : {}
  if (rule === undefined) return ended
  const fails = async (numbers: Numbers) => (await run(repeatedChoices(numbers), seed)).rules.includes(rule)
  const numbers = await shrink(choices.taken, scriptBlocks, fails)
  const { story } = await run(repeatedChoices(numbers), seed)
  return { ...ended, failure: { rule, seed, story } }
}

/** Payments and intents get short names, in the order in which they appear. */
function withoutIds(story: string): string {
  const names = new Map<string, string>()
  return story.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => {
    names.set(id, names.get(id) ?? `#${names.size + 1}`)
    return names.get(id) ?? id
  })
}

const nameOf = ({ provider, state, names }: Race) => `${provider}, ${state}: ${names.join(', ')}`

/** @returns for each race a function that adds what was found. It returns false */
export async function* runRaces(job: Job, isOver: () => boolean): AsyncGenerator<(progress: Progress) => false> {
  const races = racesOf(job.count).filter((race) => nameOf(race).includes(job.only))
  for (let index = job.thread; index < races.length && !isOver(); index += job.threads) {
    const race = races[index]
    if (race === undefined) return
    const { orders, steps, ends, violations, isWhole } = await exploreRace(race, job.maxOrders)
    yield (progress) => {
      progress.races++
      progress.orders += orders
      progress.ends += ends
      progress.steps += steps
      if (!isWhole) progress.cutRaces++
      for (const { rule, story } of violations)
        progress.failures.push({ rule, seed: nameOf(race), story: withoutIds(story) })
      return false
    }
  }
}
