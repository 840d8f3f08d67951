// The decision of a request to try endpoints out.
import { requireSameRequest } from '../idempotencyKey.ts'
import type { WebhookTestEvent, WebhookTestFacts } from './events.ts'

/**
 * Asks for a test or a simulation. What was asked for before stays as it was.
 * @param recorded what is on record under the same id
 * @throws DomainError `idempotency_key_reused`
 */
export function requestWebhookTest(event: WebhookTestEvent, recorded: WebhookTestFacts | null): WebhookTestEvent[] {
  if (recorded === null) return [event]
  requireSameRequest(recorded, event.data.request_fingerprint)
  return []
}
