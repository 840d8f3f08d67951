// Every step that was recorded from EventStoreDB is answered the same here.
import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { testEventStoreUrl } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'
import { readMessages, readRequest } from '../rawReads.ts'
import { play } from './player/play.ts'
import { isSolitary, type RecordedResponse, type Scenario, scenariosOf } from './player/scenario.ts'
import { conformanceTarget } from './target.ts'

/** Scenarios mostly wait, either for a commit or for a subscription to fall quiet. */
const concurrency = 24
/** A read of the whole log passes what others wrote to it, so that large groups are slow. */
const groupSize = 40
/** Of the random scenarios `npm test` plays one part, each time another one; `npm run conformance` plays all of them. */
const parts = process.env.CONFORMANCE === 'all' ? 1 : 4
const part = randomInt(parts)

type Played = { readonly scenario: Scenario; readonly answers: readonly RecordedResponse[] }

/** On a server of their own, or on the server that was given. */
async function playTogether(t: Test, group: readonly Scenario[]): Promise<Played[]> {
  const { raw } = await conformanceTarget(t)
  // A log with a past is long: each scenario begins at its end.
  return playAll(group, async (scenario) => play(raw, scenario, await endOfLog(raw)))
}

/** Each on a server of its own, all at once; on a server that was given, one after the other. */
async function playAlone(t: Test, group: readonly Scenario[]): Promise<Played[]> {
  if (testEventStoreUrl() === undefined) {
    return (await Promise.all(group.map((scenario) => playTogether(t, [scenario])))).flat()
  }
  const played: Played[] = []
  for (const scenario of group) played.push(...(await playTogether(t, [scenario])))
  return played
}

async function endOfLog(client: StreamsClient): Promise<bigint> {
  const { messages } = await readMessages(client, readRequest({ from: 'end', backwards: true, count: 1 }))
  return BigInt(messages[0]?.getEvent()?.getCommitPosition() ?? 0)
}

async function playAll(
  scenarios: readonly Scenario[],
  answersTo: (scenario: Scenario) => Promise<RecordedResponse[]>,
): Promise<Played[]> {
  const played = new Map<Scenario, Played>()
  const waiting = [...scenarios]
  const playNext = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      played.set(scenario, { scenario, answers: await answersTo(scenario) })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, playNext))
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

const scenarios = [...scenariosOf('named'), ...scenariosOf('random').filter((_, index) => index % parts === part)]
t.comment(`${scenarios.length} scenarios, of the random ones part ${part + 1} of ${parts}`)

t.test('scenarios are answered as EventStoreDB answered them', async (t) => {
  const sociable = scenarios.filter((scenario) => !isSolitary(scenario))
  t.not(sociable.length, 0)
  for (let from = 0; from < sociable.length; from += groupSize) {
    for (const played of await playTogether(t, sociable.slice(from, from + groupSize))) assertAnswers(t, played)
  }
})

t.test('scenarios that no other may disturb are answered as EventStoreDB answered them', async (t) => {
  const solitary = scenarios.filter(isSolitary)
  t.not(solitary.length, 0)
  for (const played of await playAlone(t, solitary)) assertAnswers(t, played)
})
