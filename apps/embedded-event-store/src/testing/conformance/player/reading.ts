// The steps that read: reads, and subscriptions with the steps that are played while they are open.
import { setTimeout as pause } from 'node:timers/promises'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { openRead, type RawFilter, readMessages, readRequest } from '../../rawReads.ts'
import { failureResponse } from './appending.ts'
import { messageResponses } from './messages.ts'
import type { FilterSpec, ReadSpec, ReadStep, RecordedResponse, Step, SubscribeStep } from './scenario.ts'
import type { Symbols } from './symbols.ts'

const firstLookMs = 200
const lookMs = 25
/**
 * A subscription is quiet after this many checks without a message, at least 350 ms. The time alone is not enough:
 * after a stall of this process there may be unread messages.
 */
const quietLooks = 14
/** Pause after a step before the quiet time starts. */
const settleMs = 60

/** Timeout for a subscription that does not report that it has caught up. */
const catchUpMs = 15_000

export type Past = {
  /** Positions by the number of the step that returned them. */
  readonly positions: readonly (string | undefined)[]
  /** A position before all events of this scenario, to start reads from. */
  readonly beginning: bigint | undefined
}

export async function playRead(
  client: StreamsClient,
  symbols: Symbols,
  step: ReadStep,
  past: Past,
): Promise<RecordedResponse> {
  const { messages, failed } = await readMessages(client, requestOf(step, symbols, past, step.count ?? 1_000))
  const got = messageResponses(messages, symbols, { checkpoints: false })
  if (failed === undefined) return { got }
  return { ...(got.length > 0 ? { got } : {}), ...failureResponse(symbols, failed) }
}

/** Waits until the subscription is quiet, because a server does not report that nothing more will come. */
export async function playSubscription(
  client: StreamsClient,
  symbols: Symbols,
  step: SubscribeStep,
  past: Past,
  play: (step: Step) => Promise<RecordedResponse>,
): Promise<RecordedResponse> {
  const checkpoints = step.checkpoints === true
  let changes = 0
  const seen = () => {
    changes += 1
  }
  const subscription = openRead(client, requestOf(step, symbols, past, null), seen)
  const quiet = async () => {
    for (let looks = 0; looks < quietLooks && subscription.ended() === undefined; ) {
      const before = changes
      await pause(lookMs)
      looks = changes === before ? looks + 1 : 0
    }
  }
  const openedMs = performance.now()
  const hasCaughtUp = () => subscription.messages.some((message) => message.hasCaughtUp())
  await pause(firstLookMs)
  while (!hasCaughtUp() && subscription.ended() === undefined && performance.now() - openedMs < catchUpMs) {
    await pause(lookMs)
  }
  await quiet()
  const during: RecordedResponse[] = []
  for (const each of step.during ?? []) {
    during.push(await play(each))
    await pause(settleMs)
    await quiet()
  }
  const ended = subscription.ended()
  const got = messageResponses(subscription.messages, symbols, { checkpoints })
  subscription.cancel()
  return {
    got,
    ...(ended === undefined ? {} : { end: ended === 'normally' ? { ended: true } : failureResponse(symbols, ended) }),
    ...(during.length > 0 ? { during } : {}),
  }
}

function requestOf(spec: ReadSpec, symbols: Symbols, past: Past, count: number | null): ReadReq {
  return readRequest({
    count,
    from: fromOf(spec, past),
    backwards: spec.dir === 'backwards',
    resolveLinks: spec.links === true,
    ...(spec.stream === undefined ? {} : { stream: symbols.stream(spec.stream) }),
    ...(spec.filter === undefined ? {} : { filter: filterOf(spec.filter, symbols) }),
    ...(spec.control === undefined ? {} : { compatibility: spec.control }),
  })
}

function fromOf({ stream, dir, from }: ReadSpec, { positions, beginning }: Past): 'start' | 'end' | bigint {
  if (from === 'start' && stream === undefined && dir !== 'backwards') return beginning ?? from
  if (from === 'start' || from === 'end') return from
  if (typeof from === 'number') return BigInt(from)
  const position = positions[from.positionOf]
  if (position === undefined) throw new Error(`step ${from.positionOf} returned no position`)
  return BigInt(position)
}

function filterOf(spec: FilterSpec, { prefix }: Symbols): RawFilter {
  const named = (text: string) => text.replaceAll('{P}', prefix)
  return {
    by: spec.by,
    ...(spec.regex === undefined ? { prefixes: (spec.prefix ?? []).map(named) } : { regex: named(spec.regex) }),
    ...(spec.max === undefined ? {} : { window: spec.max }),
    interval: spec.every ?? 1,
  }
}
