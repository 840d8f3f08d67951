// From one recorded event to the messages that each node gets of it: the only exit for events.
import type { EventMetadata } from '@paylog/domain/events'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { PlannedDelivery } from '@paylog/domain/webhookTest'
import { v5 as uuidv5 } from 'uuid'
import type { Projects } from './canonical.ts'
import { chatBody } from './chat/chatServices.ts'
import type { WebhookEndpoint } from './endpoints/endpoints.ts'
import { matchesPattern } from './endpoints/patterns.ts'
import { messagesOf, type WebhookMessage } from './eventMessages.ts'

/** A recorded event as the log hands it out. */
export type SourceEvent = RecordedDomainEvent & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly metadata: EventMetadata
}

/** One message for one node, complete and final. */
export type Outbound = Omit<WebhookMessage, 'names' | 'json' | 'notice'> & {
  /** The `webhook-id`: the same for the same event, name and node, however often the log is read. */
  readonly id: string
  readonly node: string
  /** The exact text that is signed and sent. JSON that is well-formed Unicode, so it holds no NUL either. */
  readonly body: string
  readonly source_stream: string
  readonly source_revision: bigint
  readonly source_event_id: string
  readonly correlation_id: string
  readonly causation_id: string
  /** Where the trace of the event goes on; absent when nobody traces it. */
  readonly traceparent?: string
}

const namespace = '5f2b6a52-6f5e-4c0b-9a3a-6c1f5b0c7d11'

/**
 * Everything that the nodes are to be told of an event, by their modes and patterns. Pure: the same event and nodes
 * always give the same messages with the same ids.
 */
export function outboundMessages(
  event: SourceEvent,
  endpoints: readonly WebhookEndpoint[],
  projects: Projects,
): Outbound[] {
  return messagesOf(event, projects).flatMap((eventMessage) => {
    // The JSON is the same for all its receivers, and long.
    const message = { ...eventMessage, json: eventMessage.json && once(eventMessage.json) }
    return receiversOf(message, endpoints).map(({ node, write }) => toOutbound(event, message, node.name, write()))
  })
}

/** Which nodes would be told of an event, and by which names. Pure, as the mapping itself. */
export function plannedDeliveries(
  event: RecordedDomainEvent,
  endpoints: readonly WebhookEndpoint[],
): PlannedDelivery[] {
  return messagesOf(event, { projectId: '', projectIds: [] }).flatMap((message) =>
    receiversOf(message, endpoints).map(({ node }) => ({ node: node.name, event: message.event, mode: message.mode })),
  )
}

/** The nodes that want a message, and what writes its body for each. */
function receiversOf(message: WebhookMessage, endpoints: readonly WebhookEndpoint[]) {
  return endpoints.flatMap((node) => {
    const write = wants(node, message) ? writerFor(node, message) : null
    return write === null ? [] : [{ node, write }]
  })
}

function wants({ mode, patterns }: WebhookEndpoint, message: WebhookMessage): boolean {
  const isMode = mode === message.mode || (mode === 'both' && message.mode !== 'legacy')
  return isMode && patterns.some((pattern) => matchesPattern(pattern, message.names))
}

/** @returns `null` when nodes of this format are told by another event */
function writerFor({ format, url }: WebhookEndpoint, { json, notice }: WebhookMessage): (() => string) | null {
  if (format === 'json') return json
  return notice && (() => chatBody(format, notice, new URL(url)))
}

function once(write: () => string): () => string {
  let text: string | undefined
  return () => {
    text ??= write()
    return text
  }
}

function toOutbound(source: SourceEvent, message: WebhookMessage, endpoint: string, body: string): Outbound {
  const { event, mode, provider, payment_id, user_id, is_test } = message
  const { correlationId, causationId, traceparent } = source.metadata
  return {
    id: uuidv5(JSON.stringify([source.stream, source.revision.toString(), event, endpoint]), namespace),
    node: endpoint,
    event,
    mode,
    provider,
    body,
    source_stream: source.stream,
    source_revision: source.revision,
    source_event_id: source.id,
    correlation_id: correlationId,
    causation_id: causationId,
    payment_id,
    user_id,
    is_test,
    ...(traceparent !== undefined && { traceparent }),
  }
}
