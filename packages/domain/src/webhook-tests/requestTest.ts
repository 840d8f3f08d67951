// The decision of a request to try endpoints out.
import { requireSameRequest } from '../idempotencyKey.ts'
import type { WebhookTestEvent, WebhookTestFacts } from './events.ts'

/**
 * Asks for a test or a simulation. What was asked for before stays as it was.
 * @param asked what is on record under the same id
 * @throws DomainError `idempotency_key_reused`
 */
export function requestTest(event: WebhookTestEvent, asked: WebhookTestFacts | null): WebhookTestEvent[] {
  if (asked === null) return [event]
  requireSameRequest(asked, event.data.request_fingerprint)
  return []
}
