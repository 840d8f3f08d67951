// Messages that somebody asked for, to try his endpoints out.
import type { WebhookTestFacts } from '@paylog/domain/webhook-tests/events'
import type { CanonicalMessage } from './canonical.ts'
import { canonicalName } from './canonicalNames.ts'
import { messageByName, translatedMessages } from './unmatched.ts'

/** The canonical messages of a simulated notification: it is about the provider's customer, and about nothing of ours. */
export function simulationMessages(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  const name = canonicalName(facts.canonical_name)
  const messages = name === undefined ? translated(facts) : messageByName(name, facts)
  return messages.map((message) => ({ ...message, owner: facts.requested_by.id, is_test: true }))
}

/** The canonical messages of a test, which are about the user who asked for it. */
export function testMessages(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return simulationMessages(facts).map((message) => ({ ...message, user: facts.requested_by }))
}

function translated(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return facts.canonical_name === null ? translatedMessages(facts) : []
}
