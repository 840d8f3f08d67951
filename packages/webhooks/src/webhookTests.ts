// Messages that somebody asked for, to try his endpoints out.
import type { WebhookTestFacts } from '@paylog/domain/webhook-tests/events'
import type { CanonicalMessage } from './canonical.ts'

/** The canonical messages of a test or a simulation; all are flagged as such. */
export function webhookTestMessages(_facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return []
}
