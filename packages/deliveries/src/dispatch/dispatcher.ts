// Maps events from the log to webhooks and records them, slice by slice, together with the checkpoint.
import { SpanKind } from '@opentelemetry/api'
import type { LogCheckpoint } from '@paylog/domain/events'
import { traceparentOf } from '@paylog/event-store/append/append'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventBatch } from '@paylog/event-store/read/readBatches'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { contextOf, isTracing, tracer } from '@paylog/runtime/telemetry/spans'
import type { Projects } from '@paylog/webhooks/canonical'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { type Outbound, outboundMessages } from '@paylog/webhooks/outbound'
import { maxWaiting, type Queues } from '../queue/queues.ts'
import { webhookSubscription } from '../subscriptions/checkpoint.ts'
import type { LogReader } from '../subscriptions/exclusiveSubscription.ts'
import type { Deliveries } from '../tables/deliveries.ts'
import { graceMs } from '../tables/recordDeliveries.ts'

/** Limits the text in one statement. A single larger event is still written whole. */
const maxSliceCharacters = 8 * 1024 * 1024

type DispatchSlice = { readonly messages: readonly Outbound[]; readonly to: LogCheckpoint }

/** Maps events for the configured endpoints. An endpoint that is configured later gets only later events. */
export function createDispatcher(deps: {
  deliveries: Deliveries
  queues: Pick<Queues, 'enqueueNew' | 'enqueue' | 'waiting'>
  endpoints: readonly WebhookEndpoint[]
  projects: Projects
  now: () => Date
  log: Logger
}): LogReader {
  const { deliveries, queues, endpoints, projects, now, log } = deps
  let position: LogCheckpoint | undefined
  /** Upper bound of the jobs waiting in each endpoint's queue, counted here. */
  const waitingAtMost = new Map<string, number>()

  async function enqueue(node: string, recorded: readonly Outbound[]): Promise<void> {
    const real = recorded.filter(({ is_test }) => !is_test)
    if (real.length > 0) await enqueueReal(node, real)
    if (real.length === recorded.length) return
    const at = now()
    const tests = await deliveries.overdueTests(node, at, new Date(at.getTime() + graceMs))
    if (tests.length > 0) await queues.enqueue(node, tests)
  }

  async function enqueueReal(node: string, recorded: readonly Outbound[]): Promise<void> {
    const known = waitingAtMost.get(node) ?? maxWaiting
    const waiting = known < maxWaiting ? known : await queues.waiting(node)
    waitingAtMost.set(node, waiting)
    if (waiting >= maxWaiting) return
    waitingAtMost.set(node, waiting + recorded.length)
    await queues.enqueueNew(
      node,
      recorded.map(({ id }) => id),
    )
  }

  async function record({ messages, to }: DispatchSlice): Promise<void> {
    const recorded = await deliveries.record({ name: webhookSubscription, from: position, to, messages, at: now() })
    position = to
    for (const [node, own] of Map.groupBy(recorded, (message) => message.node)) {
      // The rows are recorded already. If the queue fails, the requeuer adds the jobs, and the log is still read.
      await enqueue(node, own).catch((error: unknown) => {
        log.warn({ err: error, node, deliveries: own.length }, 'could not queue deliveries, the requeuer will')
      })
    }
  }

  return {
    async start() {
      position = await deliveries.checkpoint(webhookSubscription)
      return position
    },
    async handle(batch) {
      const map = (event: Recorded) => dispatchSpan(event, () => outboundMessages(event, endpoints, projects))
      for (const slice of dispatchSlicesOf(batch, map)) await record(slice)
    },
  }
}

/**
 * Maps a batch in slices, so that neither memory nor a statement holds all bodies of the batch. A slice ends at the
 * position of its last event, the last slice at the position of the batch.
 */
function* dispatchSlicesOf(batch: EventBatch, map: (event: Recorded) => readonly Outbound[]): Generator<DispatchSlice> {
  let messages: Outbound[] = []
  let characters = 0
  let to: LogCheckpoint | undefined
  for (const event of batch.events) {
    const mapped = map(event)
    const more = mapped.reduce((sum, { body }) => sum + body.length, 0)
    if (to !== undefined && characters + more > maxSliceCharacters) {
      yield { messages, to }
      messages = []
      characters = 0
    }
    messages.push(...mapped)
    characters += more
    to = event.position
  }
  yield { messages, to: batch.position }
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
