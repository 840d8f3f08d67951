// Plays a scenario against a server and returns its results in the format of a recording.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { noResponseCode, playAppend, playRemove } from './appending.ts'
import { ranked } from './ranks.ts'
import { type Past, playRead, playSubscription } from './reading.ts'
import type { AppendStep, Json, MetaStep, RecordedResponse, Scenario, Step } from './scenario.ts'
import { createSymbols, type Symbols } from './symbols.ts'

const responseTimeoutMs = 15_000
/** How long to wait when no reply is expected: longer than EventStoreDB's own timeout of 2 s. */
const silenceMs = 4_000

/**
 * @param beginning a position of the log to start reads from, instead of its start
 * @returns one response per step, with positions as ranks
 */
export async function play(client: StreamsClient, scenario: Scenario, beginning?: bigint): Promise<RecordedResponse[]> {
  const symbols = createSymbols(`rec${randomUUID().slice(0, 13)}_`)
  const positions: (string | undefined)[] = []
  const answers: RecordedResponse[] = []
  for (const [index, step] of scenario.steps.entries()) {
    const timeoutMs = errorCodeIn(scenario.answers[index]) === noResponseCode ? silenceMs : responseTimeoutMs
    const response = await playStep({ client, symbols, past: { positions, beginning }, timeoutMs }, step)
    positions.push(positionIn(response))
    answers.push(response)
  }
  return ranked(answers)
}

type Stage = {
  readonly client: StreamsClient
  readonly symbols: Symbols
  readonly past: Past
  readonly timeoutMs: number
}

async function playStep(stage: Stage, step: Step): Promise<RecordedResponse> {
  const { client, symbols, past, timeoutMs } = stage
  switch (step.op) {
    case 'append':
      return playAppend(client, symbols, step, timeoutMs)
    case 'meta':
      return playAppend(client, symbols, metadataAppend(step), timeoutMs)
    case 'delete':
    case 'tombstone':
      return playRemove(client, symbols, step)
    case 'read':
      return playRead(client, symbols, step, past)
    case 'subscribe':
      return playSubscription(client, symbols, step, past, (inner) => playStep(stage, inner))
    case 'sleep':
      await pause(step.ms)
      return {}
  }
}

function metadataAppend({ stream, id, value, expect = 'any' }: MetaStep): AppendStep {
  return { op: 'append', stream: `$$${stream}`, expect, events: [{ id, type: '$metadata', data: value }] }
}

function errorCodeIn(response: RecordedResponse | undefined): Json | undefined {
  return member(response?.error, 'code')
}

function positionIn(response: RecordedResponse): string | undefined {
  const at = member(member(response.ok, 'position'), 'at')
  return typeof at === 'string' ? at : undefined
}

function member(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.entries(value).find(([name]) => name === key)?.[1]
}
