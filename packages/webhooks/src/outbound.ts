// From one recorded event to the messages that each node gets of it: the only exit for events.
import type { EventMetadata } from '@paylog/domain/messages'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { PlannedDelivery } from '@paylog/domain/webhook-tests/events'
import { v5 as uuidv5 } from 'uuid'
import { canonicalBody, canonicalMessages } from './canonical.ts'
import type { WebhookNode } from './nodes.ts'
import { type MessageNames, matchesPattern } from './patterns.ts'
import { rawBody, rawName } from './raw.ts'

/** A recorded event as the log hands it out. */
export type SourceEvent = RecordedDomainEvent & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly metadata: EventMetadata
}

/** One message for one node, complete and final. */
export type Outbound = {
  /** The `webhook-id`: the same for the same event, name and node, however often the log is read. */
  readonly id: string
  readonly node: string
  readonly event: string
  readonly mode: 'raw' | 'canonical' | 'legacy'
  readonly provider: string
  /** The exact text that is signed and sent. JSON that is well-formed Unicode, so it holds no NUL either. */
  readonly body: string
  readonly source_stream: string
  readonly source_revision: bigint
  readonly source_event_id: string
  readonly correlation_id: string
  readonly causation_id: string
  readonly payment_id: string | null
  /** The user who may see it in the log; `null` leaves it to administrators. */
  readonly user_id: string | null
  readonly is_test: boolean
}

type Message = Pick<Outbound, 'event' | 'mode' | 'provider' | 'payment_id' | 'user_id' | 'is_test'> & {
  readonly names: MessageNames
  readonly body: () => string
}

const namespace = '5f2b6a52-6f5e-4c0b-9a3a-6c1f5b0c7d11'

/**
 * Everything that the nodes are to be told of an event, by their modes and patterns. Pure: the same event and nodes
 * always give the same messages with the same ids.
 */
export function outboundMessages(
  event: SourceEvent,
  nodes: readonly WebhookNode[],
  options: { readonly projectId: string },
): Outbound[] {
  return messagesOf(event, options.projectId).flatMap((message) => {
    const receivers = nodes.filter((node) => wants(node, message))
    if (receivers.length === 0) return []
    const body = message.body()
    return receivers.map(({ name: node }) => outbound(event, message, node, body))
  })
}

/** Which nodes would be told of an event, and by which names. Pure, as the mapping itself. */
export function plannedDeliveries(event: RecordedDomainEvent, nodes: readonly WebhookNode[]): PlannedDelivery[] {
  return messagesOf(event, '').flatMap((message) =>
    nodes.filter((node) => wants(node, message)).map(({ name }) => ({ node: name, ...nameOf(message) })),
  )
}

const nameOf = ({ event, mode }: Message) => ({ event, mode })

function wants(node: WebhookNode, { mode, names }: Message): boolean {
  if (node.mode !== 'both' && node.mode !== mode) return false
  return node.patterns.some((pattern) => matchesPattern(pattern, names))
}

function messagesOf(event: RecordedDomainEvent, projectId: string): Message[] {
  const canonical = canonicalMessages(event).map(
    (message): Message => ({
      event: message.name,
      mode: 'canonical',
      provider: message.provider,
      payment_id: message.payment_id,
      user_id: message.owner,
      is_test: message.is_test === true,
      names: { plain: message.name, prefixed: null },
      body: () => canonicalBody(message, projectId),
    }),
  )
  if (event.type !== 'ProviderEventReceived') return canonical
  const { data } = event
  const raw: Message = {
    event: rawName(data),
    mode: 'raw',
    provider: data.provider_id,
    payment_id: null,
    user_id: null,
    is_test: false,
    names: { plain: data.generic_type ?? data.provider_type, prefixed: rawName(data) },
    body: () => rawBody(data),
  }
  return [...canonical, raw]
}

function outbound(source: SourceEvent, message: Message, node: string, body: string): Outbound {
  const { event, mode, provider, payment_id, user_id, is_test } = message
  return {
    id: uuidv5(JSON.stringify([source.stream, source.revision.toString(), event, node]), namespace),
    node,
    event,
    mode,
    provider,
    body,
    source_stream: source.stream,
    source_revision: source.revision,
    source_event_id: source.id,
    correlation_id: source.metadata.correlationId,
    causation_id: source.metadata.causationId,
    payment_id,
    user_id,
    is_test,
  }
}
