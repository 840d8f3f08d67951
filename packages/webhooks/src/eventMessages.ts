// Everything that can be told of one recorded event, before it is known who wants to hear it.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import {
  type CanonicalMessage,
  canonicalBody,
  canonicalMessages,
  canonicalNotice,
  type EventOf,
  type Projects,
} from './canonical.ts'
import type { Notice } from './chat/notice.ts'
import { legacyBody, legacyName, legacyStatus } from './legacy.ts'
import type { MessageNames } from './nodes/patterns.ts'
import { type Notified, noticeOf, notifiedBy } from './notified.ts'
import { rawBody, rawName } from './raw.ts'

export type Message = {
  readonly event: string
  readonly mode: 'raw' | 'canonical' | 'legacy'
  readonly provider: string
  /** The payment that it is logged under; a test is logged under none. */
  readonly payment_id: string | null
  /** The user who may see it in the log; `null` leaves it to administrators. */
  readonly user_id: string | null
  readonly is_test: boolean
  readonly names: MessageNames
  /** The body for endpoints that read JSON; `null` when another event tells them. */
  readonly json: (() => string) | null
  /** What people in a chat are told; `null` when another event tells them. */
  readonly notice: Notice | null
}

/**
 * The provider's text goes to raw nodes as soon as it came. Whose payment it is about is known only when it was settled,
 * so that the single list and chats, which show amount and customer, are told then.
 */
export function messagesOf(event: RecordedDomainEvent, projects: Projects): readonly Message[] {
  const canonical = canonicalMessages(event).map((message) => canonicalOf(message, projects))
  if (event.type === 'ProviderEventReceived') return [...canonical, receivedOf(event.data)]
  const notified = notifiedBy(event)
  return notified === undefined ? canonical : [...canonical, rawOf(notified), ...legacyOf(notified)]
}

function canonicalOf(message: CanonicalMessage, projects: Projects): Message {
  return {
    event: message.name,
    mode: 'canonical',
    provider: message.provider,
    payment_id: message.is_test ? null : message.payment_id,
    user_id: message.owner,
    is_test: message.is_test === true,
    names: { plain: message.name, prefixed: null },
    json: () => canonicalBody(message, projects),
    notice: canonicalNotice(message),
  }
}

function receivedOf(data: EventOf<'ProviderEventReceived'>['data']): Message {
  return {
    event: rawName(data),
    mode: 'raw',
    provider: data.provider_id,
    payment_id: null,
    user_id: null,
    is_test: false,
    names: namesOf(data),
    json: () => rawBody(data),
    notice: null,
  }
}

function rawOf(notified: Notified): Message {
  const { body } = notified
  const event = rawName(notified)
  return {
    ...toldOf(notified),
    event,
    mode: 'raw',
    json: body === null ? null : () => rawBody({ ...notified, body }),
    notice: noticeOf(notified, { event, status: notified.status }),
  }
}

function legacyOf(notified: Notified): readonly Message[] {
  const event = legacyName(notified)
  if (event === undefined) return []
  const status = legacyStatus(event, notified)
  const notice = noticeOf(notified, { event, status })
  return [{ ...toldOf(notified), event, mode: 'legacy', json: () => legacyBody(event, notified), notice }]
}

function toldOf(notified: Notified) {
  const { provider_id: provider, owner: user_id, is_test } = notified
  const payment_id = is_test ? null : notified.payment_id
  return { provider, payment_id, user_id, is_test, names: namesOf(notified) }
}

function namesOf(data: Pick<Notified, 'provider_id' | 'provider_type' | 'generic_type'>): MessageNames {
  return { plain: data.generic_type ?? data.provider_type, prefixed: rawName(data) }
}
