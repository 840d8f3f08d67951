// Every step that was recorded from a real server is answered the same here.
import { isDeepStrictEqual } from 'node:util'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { testEventStoreUrl } from '@paylog/testing/eventStoreUrl'
import t, { type Test } from 'tap'
import { readMessages, readRequest } from '../testing/rawReads.ts'
import { play } from './player/play.ts'
import { type Answer, isSolitary, type Scenario, scenariosOf } from './player/scenario.ts'
import { conformanceTarget } from './target.ts'

/** Scenarios mostly wait, either for a commit or for a subscription to fall quiet. */
const concurrency = 24
/** A read of the whole log passes what others wrote to it, so that large groups are slow. */
const groupSize = 40

type Played = { readonly scenario: Scenario; readonly answers: readonly Answer[] }

/** In groups, each on a node of its own, all at once. */
async function playTogether(t: Test, scenarios: readonly Scenario[]): Promise<Played[]> {
  if (testEventStoreUrl() !== undefined) return playOnGiven(t, scenarios, concurrency)
  const groups = Array.from({ length: Math.ceil(scenarios.length / groupSize) }, (_, index) =>
    scenarios.slice(index * groupSize, (index + 1) * groupSize),
  )
  return playGroups(t, groups)
}

async function playAlone(t: Test, scenarios: readonly Scenario[]): Promise<Played[]> {
  if (testEventStoreUrl() !== undefined) return playOnGiven(t, scenarios, 1)
  const groups = scenarios.map((scenario) => [scenario])
  return playGroups(t, groups)
}

async function playGroups(t: Test, groups: readonly (readonly Scenario[])[]): Promise<Played[]> {
  const played = await Promise.all(
    groups.map(async (group) => {
      const { raw } = await conformanceTarget(t)
      return playAll(group, concurrency, (scenario) => play(raw, scenario))
    }),
  )
  return played.flat()
}

/** A log with a past is long: each scenario begins at its end. */
async function playOnGiven(t: Test, scenarios: readonly Scenario[], atOnce: number): Promise<Played[]> {
  const { raw } = await conformanceTarget(t)
  return playAll(scenarios, atOnce, async (scenario) => play(raw, scenario, await endOfLog(raw)))
}

async function endOfLog(client: StreamsClient): Promise<bigint> {
  const { messages } = await readMessages(client, readRequest({ from: 'end', backwards: true, count: 1 }))
  return BigInt(messages[0]?.getEvent()?.getCommitPosition() ?? 0)
}

async function playAll(
  scenarios: readonly Scenario[],
  atOnce: number,
  answersTo: (scenario: Scenario) => Promise<Answer[]>,
): Promise<Played[]> {
  const played = new Map<Scenario, Played>()
  const waiting = [...scenarios]
  const playNext = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      played.set(scenario, { scenario, answers: await answersTo(scenario) })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, playNext))
  return scenarios.flatMap((scenario) => played.get(scenario) ?? [])
}

function assertAnswers(t: Test, { scenario, answers }: Played): void {
  const { name, steps, answers: recorded } = scenario
  t.equal(answers.length, steps.length, `${name}: every step was played`)
  const differing = steps.flatMap((step, index) =>
    isDeepStrictEqual(answers[index], recorded[index])
      ? []
      : [{ index, step: `step ${index}: ${JSON.stringify(step)}` }],
  )
  t.strictSame(
    differing.map(({ index, step }) => ({ step, answer: answers[index] })),
    differing.map(({ index, step }) => ({ step, answer: recorded[index] })),
    `${name}: ${steps.length} steps are answered as recorded`,
  )
}

for (const recording of ['named', 'random'] as const) {
  t.test(`the ${recording} scenarios are answered as a real server answered them`, async (t) => {
    const scenarios = scenariosOf(recording).filter((scenario) => !isSolitary(scenario))
    t.not(scenarios.length, 0)
    for (const played of await playTogether(t, scenarios)) assertAnswers(t, played)
  })
}

t.test('scenarios that no other may disturb are answered as a real server answered them', async (t) => {
  const scenarios = [...scenariosOf('named'), ...scenariosOf('random')].filter(isSolitary)
  t.not(scenarios.length, 0)
  for (const played of await playAlone(t, scenarios)) assertAnswers(t, played)
})
