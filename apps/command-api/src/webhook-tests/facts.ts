// What a test or a simulation is recorded to say, from the notification that it was written down as.
import { DomainError } from '@paylog/domain/errors'
import type { WebhookTestFacts } from '@paylog/domain/webhook-tests/events'
import type { ProviderNotification } from '@paylog/providers/provider'
import type { SimulatedNotification } from '@paylog/providers/simulation'
import type { CanonicalName } from '@paylog/webhooks/canonicalNames'

/** What depends on what was asked for, and not on who asked. */
export type AskedFacts = Omit<WebhookTestFacts, 'webhook_test_id' | 'requested_by' | 'request_fingerprint' | 'plan'>

/** It is treated as a notification of the provider. @throws DomainError `invalid_request` */
export function notificationFacts(provider_id: string, { body, notification }: SimulatedNotification): AskedFacts {
  const { provider_type, generic_type } = notification
  return { provider_id, canonical_name: null, provider_type, generic_type, body, ...said(notification) }
}

/** It is one canonical event. @throws DomainError `invalid_request` */
export function canonicalFacts(
  provider_id: string,
  canonical_name: CanonicalName,
  { notification }: SimulatedNotification,
): AskedFacts {
  return { provider_id, canonical_name, provider_type: null, generic_type: null, body: null, ...said(notification) }
}

function said(notification: ProviderNotification) {
  const { occurred_at, object_id, amount_cents, currency, status, customer_id, customer_email, subscription } =
    notification
  // Receivers are told codes of three letters, and some of them stop at anything else.
  if (currency !== null && !/^[A-Z]{3}$/.test(currency))
    throw new DomainError('invalid_request', 'currency must be three letters')
  return {
    occurred_at,
    object_id,
    amount_cents,
    currency,
    status,
    customer_id,
    customer_email,
    ...(subscription === null ? {} : { subscription }),
  }
}

/**
 * Reads what a client wrote.
 * @param field of the body, which is named when the client has to write something else
 * @throws DomainError `invalid_request`
 */
export function readingField<Result>(field: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // It is the field's text that is not valid; the notification around it was written by us.
    throw badField(
      field,
      `cannot be used: ${error.message.replace(/^The (event|notification) is not valid: /, '')}`,
      error,
    )
  }
}

/** @param message completes the sentence that begins with the field */
export function badField(field: string, message: string, cause?: unknown): DomainError {
  return new DomainError(
    'invalid_request',
    `The body is invalid: ${field} ${message}`,
    { fields: [{ field, message }] },
    { cause },
  )
}
