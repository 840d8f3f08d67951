// Canonical messages of tests and simulations, which callers ask for by a canonical or a generic name.
import { attentionMessage } from '@paylog/domain/payments/attention'
import type { WebhookTestFacts } from '@paylog/domain/webhookTest'
import { type CanonicalName, canonicalName, testStatusOf } from './canonicalNames.ts'
import { customer, invoiceMessage, payment, subscription, translatedMessages } from './foreignMessages.ts'
import type { CanonicalMessage } from './webhookFacts.ts'

/** The canonical messages of a simulation, whose user is the provider's customer. */
export function simulationMessages(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  const name = canonicalName(facts.canonical_name)
  const messages = name === undefined ? translated(facts) : [messageByName(name, facts)]
  return messages.map((message) => ({ ...message, owner: facts.requested_by.id, is_test: true }))
}

/** The canonical messages of a test, whose user is the one who requested it. */
export function testMessages(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return simulationMessages(facts).map((message) => ({ ...message, user: facts.requested_by }))
}

function translated(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return facts.canonical_name === null ? translatedMessages(facts) : []
}

/** The message of a requested canonical name. The id of a refund or dispute is that of the test, because ids are ours. */
function messageByName(name: CanonicalName, data: WebhookTestFacts): CanonicalMessage {
  const { webhook_test_id: id, amount_cents: amount, status } = data
  switch (name) {
    case 'payment.failed':
      return payment(data, name, status === 'canceled' ? status : testStatusOf(name))
    case 'payment.refunded': {
      const refund = { id, amount, status: status === 'failed' ? status : 'succeeded', reason: 'other' } as const
      return payment(data, name, testStatusOf(name), { refund })
    }
    case 'payment.disputed': {
      const disputed = status === 'won' || status === 'lost' ? status : 'open'
      const dispute = { id, amount, status: disputed, reason: null, evidence_due_by: null } as const
      return payment(data, name, testStatusOf(name), { dispute })
    }
    case 'payment.attention': {
      const code = 'amount_mismatch'
      return payment(data, name, testStatusOf(name), { attention: { code, message: attentionMessage(code) } })
    }
    case 'subscription.created':
    case 'subscription.updated':
    case 'membership.activated':
      return subscription(data, name, status)
    case 'subscription.cancelled':
    case 'membership.cancelled':
      return subscription(data, name, status ?? 'canceled')
    case 'membership.extended':
    case 'membership.pending':
      return invoiceMessage(data, name)
    case 'customer.created':
    case 'customer.updated':
      return customer(data, name, status)
    // Does not compile for a name that is not about a payment.
    default:
      return payment(data, name, testStatusOf(name))
  }
}
