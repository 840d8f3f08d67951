// Every step that was recorded from EventStoreDB gets the same response here.
import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { testEventStoreUrl } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'
import { readMessages, readRequest } from '../rawReads.ts'
import { play } from './player/play.ts'
import { hasLargeAppend, needsOwnLog, type RecordedResponse, type Scenario, scenariosOf } from './player/scenario.ts'
import { conformanceTarget } from './target.ts'

/** High, because scenarios mostly wait for commits or for quiet subscriptions. */
const concurrency = 24
/** Reads of the whole log scan the events of other scenarios, so large groups are slow. */
const groupSize = 40
/** `npm test` plays a random part of the random scenarios; `npm run conformance` plays all. */
const parts = process.env.CONFORMANCE === 'all' ? 1 : 4
const part = randomInt(parts)

type Played = {
  readonly scenario: Scenario
  readonly answers: readonly RecordedResponse[]
  readonly isKurrentDb: boolean
}

/** Plays a group on its own server, or on the given one. */
async function playTogether(t: Test, group: readonly Scenario[]): Promise<Played[]> {
  const { raw, isKurrentDb } = await conformanceTarget(t)
  // The log may be long, so each scenario starts at its end.
  const played = await playAll(group, async (scenario) => play(raw, scenario, await endOfLog(raw)))
  return played.map((each) => ({ ...each, isKurrentDb }))
}

/** Plays each scenario on its own server, concurrently, or one at a time on the given server. */
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
  responsesTo: (scenario: Scenario) => Promise<RecordedResponse[]>,
): Promise<Omit<Played, 'isKurrentDb'>[]> {
  const played = new Map<Scenario, Omit<Played, 'isKurrentDb'>>()
  const waiting = [...scenarios]
  const playNext = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      played.set(scenario, { scenario, answers: await responsesTo(scenario) })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, playNext))
  return scenarios.flatMap((scenario) => played.get(scenario) ?? [])
}

/** KurrentDB may send a checkpoint, or that it has caught up, once more: each message that is in the recording, in its order. */
function withoutRepetitions(response: RecordedResponse | undefined, recorded: RecordedResponse | undefined) {
  const [got, wanted] = [response?.got, recorded?.got]
  if (!Array.isArray(got) || !Array.isArray(wanted)) return response
  let next = 0
  const messages = got.filter((message) => {
    if (isDeepStrictEqual(message, wanted[next])) next += 1
    else if (message === 'caught_up' || Object.hasOwn(message, 'checkpoint')) return false
    return true
  })
  return { ...response, got: messages }
}

function assertResponses(t: Test, { scenario, answers: played, isKurrentDb }: Played): void {
  const { name, steps, answers: recorded } = scenario
  if (isKurrentDb && hasLargeAppend(scenario)) {
    t.comment(`${name}: not compared, the size limits of KurrentDB are configured`)
    return
  }
  const answers = isKurrentDb ? played.map((response, index) => withoutRepetitions(response, recorded[index])) : played
  t.equal(answers.length, steps.length, `${name}: every step was played`)
  const differing = steps.flatMap((step, index) =>
    isDeepStrictEqual(answers[index], recorded[index])
      ? []
      : [{ index, step: `step ${index}: ${JSON.stringify(step)}` }],
  )
  t.strictSame(
    differing.map(({ index, step }) => ({ step, answer: answers[index] })),
    differing.map(({ index, step }) => ({ step, answer: recorded[index] })),
    `${name}: ${steps.length} steps have the recorded results`,
  )
}

const scenarios = [...scenariosOf('named'), ...scenariosOf('random').filter((_, index) => index % parts === part)]
t.comment(`${scenarios.length} scenarios, with part ${part + 1} of ${parts} of the random ones`)

t.test('recorded scenarios have the same results as in EventStoreDB', async (t) => {
  const sharing = scenarios.filter((scenario) => !needsOwnLog(scenario))
  t.not(sharing.length, 0)
  for (let from = 0; from < sharing.length; from += groupSize) {
    for (const played of await playTogether(t, sharing.slice(from, from + groupSize))) assertResponses(t, played)
  }
})

t.test('recorded scenarios that need a separate log have the same results as in EventStoreDB', async (t) => {
  const isolated = scenarios.filter(needsOwnLog)
  t.not(isolated.length, 0)
  for (const played of await playAlone(t, isolated)) assertResponses(t, played)
})
