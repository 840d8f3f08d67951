// All webhook messages of one recorded event, before endpoints select theirs.
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
  notificationOf,
} from './notifications.ts'

export type WebhookMessage = {
  readonly event: string
  readonly mode: 'raw' | 'canonical' | 'legacy'
  readonly provider: string
  /** The payment in the webhook log; `null` for a test. */
  readonly payment_id: string | null
  /** The user who may see it in the log; `null` for administrators only. */
  readonly user_id: string | null
  readonly is_test: boolean
  readonly names: MessageNames
  /** Builds the body for JSON endpoints; `null` when they get their message from another event. */
  readonly json: (() => string) | null
  /** The notice for chat services; `null` when they get their message from another event. */
  readonly notice: ChatNotice | null
}

/**
 * A received notification goes to raw JSON endpoints. The legacy list and chat services, which show amount and customer, get
 * it once we know the payment: with the same event, or with a later one that settles it.
 */
export function messagesOf(event: RecordedDomainEvent, projects: Projects): readonly WebhookMessage[] {
  const canonical = canonicalMessages(event).map((message) => canonicalMessage(message, projects))
  const notified = appliedNotification(event)
  const settled = notified === undefined ? [] : [rawMessage(notified), ...legacyMessages(notified)]
  if (event.type === 'ProviderEventReceived') return [receivedMessage(event.data)]
  if (event.type === 'ProviderNotificationReceived') return [receivedMessage(notificationOf(event.data)), ...settled]
  return [...canonical, ...settled]
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

function receivedMessage(data: Received): WebhookMessage {
  const { body } = data
  return {
    event: rawName(data),
    mode: 'raw',
    provider: data.provider_id,
    payment_id: null,
    user_id: null,
    is_test: false,
    names: namesOf(data),
    json: body === null ? null : () => rawBody({ ...data, body }),
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

type Received = Omit<EventOf<'ProviderEventReceived'>['data'], 'received_at'>
export type RawSource = Pick<Received, 'provider_id' | 'provider_type' | 'occurred_at'> & {
  readonly body: string
  readonly is_test?: boolean
}

/** The event name of a raw message: `<provider>:<native type>`. */
export function rawName({ provider_id, provider_type }: Pick<Received, 'provider_id' | 'provider_type'>): string {
  return `${provider_id}:${provider_type}`
}

/**
 * The raw payload, with the provider's text unchanged: parsing and serialising it again would turn `0.0` into `0` and round
 * large numbers. We only replace unpaired surrogates, which cannot be encoded, and drop a byte order mark.
 */
export function rawBody(data: RawSource): string {
  const text = data.body.replace(/^\ufeff/, '')
  const head = JSON.stringify({ event: rawName(data), provider: data.provider_id, timestamp: data.occurred_at })
  const event = isJson(text) ? text.toWellFormed() : JSON.stringify(text)
  return `${head.slice(0, -1)},"data":${event}${data.is_test === true ? ',"test":true' : ''}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
