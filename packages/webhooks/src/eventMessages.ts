// Everything that can be told of one recorded event, before it is known who wants to hear it.

import { gunzipSync } from 'node:zlib'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { canonicalBody, canonicalChatNotice, canonicalMessages, type EventOf, type Projects } from './canonical.ts'
import type { CanonicalMessage } from './canonicalNames.ts'
import type { ChatNotice } from './chat/chatMessage.ts'
import type { MessageNames } from './endpoints/patterns.ts'
import {
  type AppliedNotification,
  appliedNotification,
  chatNotice,
  legacyBody,
  legacyName,
  legacyStatus,
} from './notifications.ts'

export type WebhookMessage = {
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
  readonly notice: ChatNotice | null
}

/**
 * The provider's text goes to raw nodes as soon as it came. Whose payment it is about is known only when it was settled,
 * so that the single list and chats, which show amount and customer, are told then.
 */
export function messagesOf(event: RecordedDomainEvent, projects: Projects): readonly WebhookMessage[] {
  const canonical = canonicalMessages(event).map((message) => canonicalMessage(message, projects))
  if (event.type === 'ProviderEventReceived') return [...canonical, receivedMessage(event.data)]
  const notified = appliedNotification(event)
  return notified === undefined ? canonical : [...canonical, rawMessage(notified), ...legacyMessages(notified)]
}

function canonicalMessage(message: CanonicalMessage, projects: Projects): WebhookMessage {
  return {
    event: message.name,
    mode: 'canonical',
    provider: message.provider,
    payment_id: message.is_test ? null : message.payment_id,
    user_id: message.owner,
    is_test: message.is_test === true,
    names: { plain: message.name, prefixed: null },
    json: () => canonicalBody(message, projects),
    notice: canonicalChatNotice(message),
  }
}

function receivedMessage(data: EventOf<'ProviderEventReceived'>['data']): WebhookMessage {
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

function rawMessage(notification: AppliedNotification): WebhookMessage {
  const { body } = notification
  const event = rawName(notification)
  return {
    ...commonFields(notification),
    event,
    mode: 'raw',
    json: body === null ? null : () => rawBody({ ...notification, body }),
    notice: chatNotice(notification, { event, status: notification.status }),
  }
}

function legacyMessages(notification: AppliedNotification): readonly WebhookMessage[] {
  const event = legacyName(notification)
  if (event === undefined) return []
  const status = legacyStatus(event, notification)
  const notice = chatNotice(notification, { event, status })
  return [{ ...commonFields(notification), event, mode: 'legacy', json: () => legacyBody(event, notification), notice }]
}

function commonFields(notification: AppliedNotification) {
  const { provider_id: provider, owner: user_id, is_test } = notification
  const payment_id = is_test ? null : notification.payment_id
  return { provider, payment_id, user_id, is_test, names: namesOf(notification) }
}

function namesOf(data: Pick<AppliedNotification, 'provider_id' | 'provider_type' | 'generic_type'>): MessageNames {
  return { plain: data.generic_type ?? data.provider_type, prefixed: rawName(data) }
}

// A provider's own event, passed on under the provider's own name.

type Received = EventOf<'ProviderEventReceived'>['data']
/** What a raw message is made of. */
export type RawSource = Pick<Received, 'provider_id' | 'provider_type' | 'occurred_at' | 'body' | 'body_encoding'> & {
  readonly is_test?: boolean
}

/** The name on the wire: `<provider>:<native type>`. */
export function rawName({ provider_id, provider_type }: Pick<Received, 'provider_id' | 'provider_type'>): string {
  return `${provider_id}:${provider_type}`
}

/**
 * The raw payload. The provider's text is put in as it came: parsing and printing it again would turn `0.0` into `0`
 * and round large numbers, and receivers who know the provider's format would see what it never sent. Only half a
 * surrogate pair is replaced: it has no bytes that could be signed or stored. A byte order mark before the text is no
 * part of it.
 */
export function rawBody(data: RawSource): string {
  const text = bodyText(data).replace(/^\ufeff/, '')
  const head = JSON.stringify({ event: rawName(data), provider: data.provider_id, timestamp: data.occurred_at })
  const event = isJson(text) ? text.toWellFormed() : JSON.stringify(text)
  return `${head.slice(0, -1)},"data":${event}${data.is_test === true ? ',"test":true' : ''}}`
}

/** The text that the provider signed. */
function bodyText({ body, body_encoding }: RawSource): string {
  return body_encoding === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')).toString('utf8') : body
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
