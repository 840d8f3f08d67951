// The model's results of reads and subscriptions in the format of a recording.
import type { Json, ReadSpec, ReadStep, RecordedResponse, SubscribeStep } from '../../player/scenario.ts'
import { type Found, type ReadResponse, readLog, readStream } from '../reads.ts'
import { lastRevision, type Recorded, type Store } from '../store.ts'
import type { Message, Subscription, SubscriptionRequest } from '../subscriptions.ts'
import { positionResponse, streamDeleted } from './writes.ts'

/** The positions that the steps so far have written. */
export type Positions = readonly (number | undefined)[]

/** Longer data is recorded by its length. */
const maxDataBytes = 120
const unknown: RecordedResponse = { error: { code: 'UNKNOWN', trailers: {} } }

export function playRead(store: Store, step: ReadStep, positions: Positions): RecordedResponse {
  const { stream, filter, dir: direction = 'forwards', count = 1_000, links = false } = step
  if (stream === '' || filter?.regex === '(') return unknown
  const from = startOf(step.from, positions)
  if (stream === undefined) return readResponse(readLog(store, { direction, from, count, links, filter }), '')
  const start = typeof from === 'number' ? BigInt(from) : from
  const response = readStream(store, { stream, direction, from: start, count, links })
  return step.control === undefined ? readResponse(response, stream) : responseWithBounds(store, stream, from, response)
}

function startOf(from: ReadSpec['from'], positions: Positions): 'start' | 'end' | number {
  return typeof from === 'object' ? (positions[from.positionOf] ?? 0) : from
}

function readResponse(response: ReadResponse, stream: string): RecordedResponse {
  if ('found' in response) return { got: response.found.map(foundResponse) }
  if (response.rejected === 'deleted') return streamDeleted(stream)
  return response.rejected === 'unknown' ? unknown : { got: [{ notFound: stream }] }
}

/** (`Enumerator.ReadStreamForwards.cs`) Newer clients request the first and last position of a stream. */
function responseWithBounds(
  store: Store,
  stream: string,
  from: 'start' | 'end' | number,
  response: ReadResponse,
): RecordedResponse {
  if (!('found' in response)) return readResponse(response, stream)
  const next = lastRevision(store, stream) + 1n
  const first = response.found.length === 0 && from !== Number(next) ? [{ first: String(next) }] : []
  return { got: [...first, ...response.found.map(foundResponse), { last: String(next - 1n) }] }
}

function foundResponse({ event, link }: Found): Json {
  const shown = event === undefined ? null : eventResponse(event)
  return link === undefined ? { event: shown } : { event: shown, link: eventResponse(link) }
}

function eventResponse({ stream, revision, type, json, id, data, meta, position }: Recorded): Json {
  return {
    stream,
    revision: String(revision),
    type,
    contentType: json ? 'application/json' : 'application/octet-stream',
    id: id ?? '?',
    data: data.length > maxDataBytes ? `${data.length} bytes` : data.toString('utf8'),
    meta: meta.toString('utf8'),
    at: positionResponse(position),
  }
}

export function subscriptionRequest(step: SubscribeStep, positions: Positions): SubscriptionRequest {
  const { stream, filter, links = false } = step
  return {
    stream,
    from: startOf(step.from, positions),
    links,
    filter: filter && { ...filter, window: filter.max, every: filter.every ?? 1 },
  }
}

export function subscriptionResponse(
  step: SubscribeStep,
  subscription: Subscription,
  during: readonly RecordedResponse[],
): RecordedResponse {
  const keepCheckpoints = step.checkpoints === true
  const got = subscription.received.flatMap((message) => messageResponse(message, keepCheckpoints))
  const end: RecordedResponse = subscription.ended ? { end: streamDeleted(step.stream ?? '') } : {}
  return { got, ...end, ...(during.length === 0 ? {} : { during }) }
}

function messageResponse(message: Message, keepCheckpoints: boolean): Json[] {
  if (typeof message === 'string') return [message]
  if ('end' in message) return []
  if ('checkpoint' in message) return keepCheckpoints ? [{ checkpoint: positionResponse(message.checkpoint) }] : []
  return [foundResponse(message)]
}
