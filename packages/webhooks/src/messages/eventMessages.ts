// All webhook messages of one recorded event, before endpoints select theirs.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { MessageNames } from '../endpoints/patterns.ts'
import { canonicalBody, canonicalMessages, type Projects } from './canonical.ts'
import {
  legacyBody,
  legacyFacts,
  type Notification,
  rawBody,
  rawName,
  receivedNotification,
  settledNotification,
} from './notifications.ts'
import type { CanonicalMessage, NamedFacts } from './webhookFacts.ts'

export type WebhookMessage = {
  readonly mode: 'raw' | 'canonical' | 'legacy'
  readonly facts: NamedFacts
  readonly names: MessageNames
  /** Builds the body for JSON endpoints; `null` when they get their message from another event. */
  readonly json: (() => string) | null
  /** Whether chat services get it. Otherwise they get their message from another event. */
  readonly isForChat: boolean
}

/**
 * A received notification goes to raw JSON endpoints. The legacy list and chat services, which show amount and customer, get
 * it once we know the payment: with the same event, or with a later one that settles it.
 */
export function messagesOf(event: RecordedDomainEvent, projects: Projects): readonly WebhookMessage[] {
  return [
    ...canonicalMessages(event).map((facts) => canonicalMessage(facts, projects)),
    ...receivedMessages(event),
    ...settledMessages(event),
  ]
}

function canonicalMessage(facts: CanonicalMessage, projects: Projects): WebhookMessage {
  const names = { plain: facts.event, prefixed: null }
  return { mode: 'canonical', facts, names, json: () => canonicalBody(facts, projects), isForChat: true }
}

function receivedMessages(event: RecordedDomainEvent): readonly WebhookMessage[] {
  switch (event.type) {
    case 'ProviderEventReceived':
    case 'ProviderNotificationReceived':
      return [rawMessage(receivedNotification(event.data), { isForChat: false })]
    default:
      return []
  }
}

function settledMessages(event: RecordedDomainEvent): readonly WebhookMessage[] {
  const notification = settledNotification(event)
  if (notification === undefined) return []
  return [rawMessage(notification, { isForChat: true }), ...legacyMessages(notification)]
}

function rawMessage(notification: Notification, { isForChat }: Pick<WebhookMessage, 'isForChat'>): WebhookMessage {
  const { body } = notification
  const facts = { ...notification.facts, event: rawName(notification) }
  const json = body === null ? null : () => rawBody(facts, body)
  return { mode: 'raw', facts, names: namesOf(notification), json, isForChat }
}

function legacyMessages(notification: Notification): readonly WebhookMessage[] {
  const facts = legacyFacts(notification)
  if (facts === undefined) return []
  return [{ mode: 'legacy', facts, names: namesOf(notification), json: () => legacyBody(facts), isForChat: true }]
}

function namesOf(notification: Notification): MessageNames {
  return { plain: notification.generic_type ?? notification.provider_type, prefixed: rawName(notification) }
}
