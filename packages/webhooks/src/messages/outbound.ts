// Maps a recorded event to the webhooks of all endpoints. Events leave Paylog only through here.
import type { EventMetadata } from '@paylog/domain/events'
import type { SealedPart } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { PlannedDelivery } from '@paylog/domain/webhookTest'
import { providerEventStream } from '@paylog/event-store/streamName'
import { v5 as uuidv5 } from 'uuid'
import type { WebhookEndpoint } from '../endpoints/endpoints.ts'
import { matchesPattern } from '../endpoints/patterns.ts'
import type { Projects } from './canonical.ts'
import { chatBody } from './chat/chatServices.ts'
import { messagesOf, type WebhookMessage } from './eventMessages.ts'

/** A recorded event as read from the log. */
export type SourceEvent = RecordedDomainEvent & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly metadata: EventMetadata
  /** The keys of its sealed parts. */
  readonly sealed: Readonly<Partial<Record<SealedPart, readonly string[]>>>
}

/** One webhook for one endpoint. */
export type Outbound = Pick<WebhookMessage, 'mode'> & {
  /** The `webhook-id`: always the same for the same event, name and endpoint. */
  readonly id: string
  /** The endpoint's name. */
  readonly endpoint: string
  readonly event: string
  readonly provider: string
  /** The payment in the webhook log; `null` for a test. */
  readonly payment_id: string | null
  /** The user who may see it in the log; `null` for administrators only. */
  readonly user_id: string | null
  readonly is_test: boolean
  /** The exact text that is signed and sent: JSON, well-formed Unicode, without NUL. */
  readonly body: string
  /** The keys of the personal data in it: when one of them is destroyed, the body has to go as well. */
  readonly key_ids: readonly string[]
  readonly source_stream: string
  readonly source_revision: bigint
  readonly source_event_id: string
  readonly correlation_id: string
  readonly causation_id: string
  /** The trace context of the event; absent without tracing. */
  readonly traceparent?: string
}

const namespace = '5f2b6a52-6f5e-4c0b-9a3a-6c1f5b0c7d11'

/**
 * The webhooks of an event for all endpoints, by their modes and patterns. Pure: the same event and endpoints always give the
 * same webhooks with the same ids.
 */
export function outboundMessages(
  event: SourceEvent,
  endpoints: readonly WebhookEndpoint[],
  projects: Projects,
): Outbound[] {
  return messagesOf(event, projects).flatMap((eventMessage) => {
    // All endpoints share the JSON, which may be long, so we build it once.
    const message = { ...eventMessage, json: eventMessage.json && once(eventMessage.json) }
    return receiversOf(message, addressedBy(event, endpoints)).map(({ endpoint, write }) =>
      toOutbound(event, message, endpoint, write()),
    )
  })
}

/** The deliveries that an event would lead to, without their bodies. Pure. */
export function plannedDeliveries(
  event: RecordedDomainEvent,
  endpoints: readonly WebhookEndpoint[],
): PlannedDelivery[] {
  return messagesOf(event, { projectId: '', projectIds: [] }).flatMap((message) =>
    receiversOf(message, addressedBy(event, endpoints)).map(({ endpoint }) => ({
      node: endpoint.name,
      event: message.facts.event,
      mode: message.mode,
    })),
  )
}

/** The endpoints that an event is for: a test may be for one alone, whatever its patterns. */
function addressedBy(event: RecordedDomainEvent, endpoints: readonly WebhookEndpoint[]): readonly WebhookEndpoint[] {
  if (event.type !== 'WebhookTestRequested' || event.data.endpoint === undefined) return endpoints
  const only = endpoints.filter(({ name }) => name === event.data.endpoint)
  return only.map((endpoint) => ({ ...endpoint, patterns: ['all'] }))
}

/** The endpoints that receive a message, each with a function that builds its body. */
function receiversOf(message: WebhookMessage, endpoints: readonly WebhookEndpoint[]) {
  return endpoints.flatMap((endpoint) => {
    const write = accepts(endpoint, message) ? writerFor(endpoint, message) : null
    return write === null ? [] : [{ endpoint, write }]
  })
}

function accepts({ mode, patterns }: WebhookEndpoint, message: WebhookMessage): boolean {
  const isMode = mode === message.mode || (mode === 'both' && message.mode !== 'legacy')
  return isMode && patterns.some((pattern) => matchesPattern(pattern, message.names))
}

/** @returns `null` when endpoints of this format get their message from another event */
function writerFor(
  { format, url }: WebhookEndpoint,
  { json, facts, isForChat }: WebhookMessage,
): (() => string) | null {
  if (format === 'json') return json
  return isForChat ? () => chatBody(format, facts, new URL(url)) : null
}

function once(write: () => string): () => string {
  let text: string | undefined
  return () => {
    text ??= write()
    return text
  }
}

/** The only sealed part of an event that a message contains. */
function sealedPartIn({ mode }: WebhookMessage, { format }: WebhookEndpoint): SealedPart {
  return mode === 'raw' && format === 'json' ? 'body' : 'personal'
}

/**
 * Which stream and revision the id of a webhook names. A notification that came before the intent of its payment was known has
 * a stream of its own; a copy that comes later is recorded in the payment. Both give the webhooks of the former: received at
 * its first revision, settled at its second.
 */
function idSource(source: SourceEvent, { mode }: WebhookMessage, { format }: WebhookEndpoint): readonly string[] {
  if (source.type !== 'ProviderNotificationReceived') return [source.stream, source.revision.toString()]
  const { provider_id, provider_event_id } = source.data
  return [providerEventStream(provider_id, provider_event_id), mode === 'raw' && format === 'json' ? '0' : '1']
}

function toOutbound(source: SourceEvent, message: WebhookMessage, endpoint: WebhookEndpoint, body: string): Outbound {
  const { event, provider, payment_id, owner, is_test } = message.facts
  const { correlationId, causationId, traceparent } = source.metadata
  return {
    id: uuidv5(JSON.stringify([...idSource(source, message, endpoint), event, endpoint.name]), namespace),
    endpoint: endpoint.name,
    event,
    mode: message.mode,
    provider,
    body,
    key_ids: source.sealed[sealedPartIn(message, endpoint)] ?? [],
    source_stream: source.stream,
    source_revision: source.revision,
    source_event_id: source.id,
    correlation_id: correlationId,
    causation_id: causationId,
    payment_id: is_test ? null : payment_id,
    user_id: owner,
    is_test,
    ...(traceparent !== undefined && { traceparent }),
  }
}
