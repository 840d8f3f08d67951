// Maps events from the log to webhooks and records them, slice by slice, together with the checkpoint.
import { SpanKind } from '@opentelemetry/api'
import type { LogCheckpoint } from '@paylog/domain/events'
import { traceparentOf } from '@paylog/event-store/append/append'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventBatch } from '@paylog/event-store/read/readBatches'
import { contextOf, isTracing, tracer } from '@paylog/runtime/telemetry/spans'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import type { Projects } from '../../messages/canonical.ts'
import { type Outbound, outboundMessages } from '../../messages/outbound.ts'
import type { WakeUps } from '../queue/wakeUps.ts'
import type { Deliverer } from '../send/deliverer.ts'
import { webhookSubscription } from '../subscriptions/checkpoint.ts'
import type { LogReader } from '../subscriptions/exclusiveSubscription.ts'
import type { Deliveries } from '../tables/deliveries.ts'
import type { NewDelivery } from '../tables/recordDeliveries.ts'
import { type Erasures, isErasure } from './erasures.ts'

/** Limits the text in one statement. A single larger event is still written whole. */
const maxSliceCharacters = 8 * 1024 * 1024

export type MessageSlice = {
  readonly events: readonly Recorded[]
  readonly messages: readonly Outbound[]
  readonly to: LogCheckpoint
  /** When the oldest event was recorded. */
  readonly since: Date
}

/**
 * Maps events for the configured endpoints. An endpoint that is configured later gets only later events. Deliveries that this
 * process cannot send at once are announced to the others.
 */
export function createDispatcher(deps: {
  deliveries: Deliveries
  deliverer: Pick<Deliverer, 'reserve'>
  wakeUps: Pick<WakeUps, 'wake'>
  endpoints: readonly WebhookEndpoint[]
  projects: Projects
  erasures: Erasures
  now: () => Date
  /** Gets all events, those without deliveries too, once their deliveries and the checkpoint are recorded. */
  onDispatched?: (events: readonly Recorded[]) => void
}): LogReader {
  const { deliveries, deliverer, wakeUps, endpoints, projects, erasures, now, onDispatched } = deps
  let position: LogCheckpoint | undefined

  async function record({ events, messages, to, since }: MessageSlice): Promise<void> {
    const { leaseOf, take } = deliverer.reserve(messages)
    let recorded: readonly NewDelivery[] = []
    try {
      recorded = await deliveries.record(
        { name: webhookSubscription, from: position, to, messages, since, at: now() },
        leaseOf,
      )
    } finally {
      take(recorded)
    }
    position = to
    onDispatched?.(events)
    const queued = recorded.filter(({ isClaimed }) => !isClaimed)
    for (const endpoint of new Set(queued.map(({ message }) => message.endpoint))) wakeUps.wake(endpoint)
  }

  async function recordAll(batch: EventBatch): Promise<void> {
    const map = (event: Recorded) => dispatchSpan(event, () => outboundMessages(event, endpoints, projects))
    for (const slice of slicesOf(batch, map)) await record(slice)
  }

  return {
    async start() {
      position = await deliveries.checkpoint()
      return position
    },
    async handle(batch) {
      let { events } = batch
      for (const erasure of batch.events.filter(isErasure)) {
        const at = events.indexOf(erasure)
        const before = events.slice(0, at)
        const last = before.at(-1)
        if (last !== undefined) await recordAll({ events: before, position: last.position })
        await erasures.apply(erasure)
        // The checkpoint passes the erasure with the events after it, so that a crash repeats it.
        events = await erasures.withoutKeys(events.slice(at), erasure.data.key_ids)
      }
      await recordAll({ events, position: batch.position })
    },
  }
}

/**
 * Maps a batch in slices, so that neither memory nor a statement holds all bodies of the batch. A slice ends at the
 * position of its last event, the last slice at the position of the batch.
 */
export function* slicesOf(batch: EventBatch, map: (event: Recorded) => readonly Outbound[]): Generator<MessageSlice> {
  let events: Recorded[] = []
  let messages: Outbound[] = []
  let characters = 0
  let to: LogCheckpoint | undefined
  let since = new Date()
  for (const event of batch.events) {
    const mapped = map(event)
    const more = mapped.reduce((sum, { body }) => sum + body.length, 0)
    if (to !== undefined && characters + more > maxSliceCharacters) {
      yield { events, messages, to, since }
      events = []
      messages = []
      characters = 0
      since = event.created
    }
    events.push(event)
    messages.push(...mapped)
    characters += more
    to = event.position
    if (event.created < since) since = event.created
  }
  yield { events, messages, to: batch.position, since }
}

/**
 * Maps an event in a span that becomes the parent of its deliveries. An event recorded without a trace gets no span:
 * unsampled traces would reappear in fragments, and a long log would create a trace per event.
 */
function dispatchSpan(
  { type, metadata, id }: Pick<Recorded, 'type' | 'metadata' | 'id'>,
  map: () => readonly Outbound[],
): readonly Outbound[] {
  const { traceparent, correlationId } = metadata
  if (traceparent === undefined || !isTracing()) return map()
  const startTime = Date.now()
  const messages = map()
  if (messages.length === 0) return messages
  const attributes = { 'paylog.event.type': type, 'paylog.event.id': id, 'paylog.correlation_id': correlationId }
  const deliveries = { 'paylog.deliveries': messages.length }
  const options = { kind: SpanKind.CONSUMER, startTime, attributes: { ...attributes, ...deliveries } }
  const span = tracer.startSpan(`dispatch ${type}`, options, contextOf(traceparent))
  span.end()
  return messages.map((message) => ({ ...message, traceparent: traceparentOf(span) ?? traceparent }))
}
