// The body of a delivery: as it was recorded or, when personal data in it was erased, built from the log again.
import { domainCodec } from '@paylog/event-store/codec/codec'
import type { DataKeys } from '@paylog/event-store/codec/dataKeys'
import { tryDecode } from '@paylog/event-store/codec/decoder'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import type { Projects } from '../../messages/canonical.ts'
import { outboundMessages } from '../../messages/outbound.ts'
import type { ClaimedDelivery } from '../tables/claims.ts'

/** Which event a delivery came from. */
export type DeliverySource = Pick<ClaimedDelivery, 'id' | 'source_stream' | 'source_revision'>

/**
 * Builds the body of a delivery without any sealed data, whatever this process still knows of their keys.
 * @returns undefined when nothing is left to send: the message was a provider's text, or its event is not in the log
 * @throws DomainError `event_store_unavailable`
 */
export type BuildErasedBody = (endpoint: WebhookEndpoint, delivery: DeliverySource) => Promise<string | undefined>

export function createErasedBodies(deps: {
  readonly store: Pick<EventStore, 'readRawPage'>
  readonly projects: Projects
}): BuildErasedBody {
  const { store, projects } = deps
  return async (endpoint, { id, source_stream, source_revision }) => {
    const { events } = await store.readRawPage(source_stream, source_revision, 1)
    const [raw] = events
    if (raw === undefined || raw.revision !== source_revision) return undefined
    const event = tryDecode(domainCodec, raw)
    if (event instanceof Error) return undefined
    return outboundMessages(event, [endpoint], projects).find((message) => message.id === id)?.body
  }
}

/** What to send. @returns undefined when nothing is left. @throws DomainError `event_store_unavailable` */
export type BodyOf = (
  endpoint: WebhookEndpoint,
  delivery: DeliverySource & Pick<ClaimedDelivery, 'body' | 'key_ids'>,
) => string | Promise<string | undefined>

/**
 * A delivery may wait in the memory of a worker while another one empties it, so its keys are looked at as well.
 */
export function createBodies(deps: {
  readonly keys: Pick<DataKeys, 'known'>
  readonly store: Pick<EventStore, 'readRawPage'>
  readonly projects: Projects
}): BodyOf {
  const build = createErasedBodies(deps)
  return (endpoint, delivery) => {
    const { body, key_ids: keyIds } = delivery
    const isErased = keyIds.some((id) => deps.keys.known(id) === null)
    return body === null || isErased ? build(endpoint, delivery) : body
  }
}
