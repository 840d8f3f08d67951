// What a test or a simulation is recorded to say, from the notification that it was written down as.
import { DomainError } from '@paylog/domain/errors'
import type { WebhookTestFacts } from '@paylog/domain/webhook-tests/events'
import type { SimulatedNotification } from '@paylog/providers/simulation'
import type { CanonicalName } from '@paylog/webhooks/canonicalNames'

/** What depends on what was asked for, and not on who asked. */
export type RequestedFacts = Omit<WebhookTestFacts, 'webhook_test_id' | 'requested_by' | 'request_fingerprint' | 'plan'>

/** It is treated as a notification of the provider. */
export function notificationFacts(provider_id: string, { body, facts }: SimulatedNotification): RequestedFacts {
  const { subscription, ...rest } = facts
  return { provider_id, canonical_name: null, body, ...rest, ...(subscription && { subscription }) }
}

/** It is one canonical event. */
export function canonicalFacts(
  provider_id: string,
  canonical_name: CanonicalName,
  simulated: SimulatedNotification,
): RequestedFacts {
  const facts = notificationFacts(provider_id, simulated)
  return { ...facts, canonical_name, provider_type: null, generic_type: null, body: null }
}

/** @param message completes the sentence that begins with the field */
export function invalidField(field: string, message: string): DomainError {
  return new DomainError('invalid_request', `The body is invalid: ${field} ${message}`, {
    fields: [{ field, message }],
  })
}
