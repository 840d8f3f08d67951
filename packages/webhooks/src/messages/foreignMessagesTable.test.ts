import type { SharedFactKind, SubscriptionFacts } from '@paylog/domain/providerEvents'
import t from 'tap'
import { subscriptionNotification, unchangedSubscription, unmatchedMessagesByMode } from '../testing/eventFixtures.ts'

/**
 * The canonical messages of foreign notifications. Columns: the provider's type, the generic type, the provider's status, the
 * subscription fields, the canonical messages, and the shared fact. A dash means none. Rows without the last column are
 * recorded by 1.0.0.
 */
const table = {
  stripe: `
    payment_intent.created                    | payment_intent.created         | requires_payment_method | -         | payment.created
    payment_intent.succeeded                  | payment_intent.succeeded       | succeeded               | -         | payment.succeeded
    payment_intent.payment_failed             | payment_intent.failed          | requires_payment_method | -         | payment.failed
    payment_intent.canceled                   | payment_intent.canceled        | canceled                | -         | payment.failed
    payment_intent.processing                 | payment_intent.processing      | processing              | -         | -
    payment_intent.amount_capturable_updated  | payment_intent.processing      | requires_capture        | -         | -
    payment_intent.requires_action            | payment_intent.requires_action | requires_action         | -         | -
    payment_method.attached                   | payment_method.attached        | -                       | -         | -
    payment_method.detached                   | payment_method.detached        | -                       | -         | -
    payment_method.automatically_updated      | payment_method.updated         | -                       | -         | -
    customer.subscription.created             | subscription.created           | active                  | unchanged | subscription.created membership.activated
    customer.subscription.created             | subscription.created           | trialing                | unchanged | subscription.created membership.activated
    customer.subscription.created             | subscription.created           | incomplete              | unchanged | subscription.created membership.pending
    customer.subscription.created             | subscription.created           | past_due                | unchanged | subscription.created membership.pending
    customer.subscription.created             | subscription.created           | -                       | unchanged | subscription.created membership.pending
    customer.subscription.updated             | subscription.updated           | active                  | changed   | subscription.updated membership.activated
    customer.subscription.updated             | subscription.updated           | trialing                | changed   | subscription.updated membership.activated
    customer.subscription.updated             | subscription.updated           | incomplete              | changed   | subscription.updated membership.pending
    customer.subscription.updated             | subscription.updated           | unpaid                  | changed   | subscription.updated membership.pending
    customer.subscription.updated             | subscription.updated           | paused                  | changed   | subscription.updated membership.pending
    customer.subscription.updated             | subscription.updated           | past_due                | changed   | subscription.updated
    customer.subscription.updated             | subscription.updated           | incomplete_expired      | changed   | subscription.updated
    customer.subscription.updated             | subscription.updated           | canceled                | changed   | subscription.updated
    customer.subscription.updated             | subscription.updated           | -                       | changed   | subscription.updated
    customer.subscription.updated             | subscription.updated           | active                  | unchanged | subscription.updated
    customer.subscription.updated             | subscription.updated           | paused                  | unchanged | subscription.updated
    customer.subscription.updated             | subscription.updated           | active                  | -         | subscription.updated
    customer.subscription.updated             | subscription.updated           | paused                  | -         | subscription.updated
    customer.subscription.paused              | subscription.updated           | paused                  | changed   | subscription.updated membership.pending
    customer.subscription.resumed             | subscription.updated           | active                  | changed   | subscription.updated membership.activated
    customer.subscription.trial_will_end      | subscription.trial_will_end    | trialing                | changed   | subscription.updated
    customer.subscription.deleted             | subscription.deleted           | canceled                | changed   | subscription.cancelled membership.cancelled
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | unchanged | membership.extended
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | -         | membership.extended
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | first     | -
    invoice.payment_failed                    | invoice.payment_failed         | open                    | unchanged | membership.pending
    invoice.payment_failed                    | invoice.payment_failed         | open                    | first     | membership.pending
    invoice.paid                              | -                              | paid                    | unchanged | -
    customer.created                          | customer.created               | -                       | -         | customer.created
    customer.updated                          | customer.updated               | -                       | -         | customer.updated
    customer.subscription.updated             | subscription.updated           | incomplete_expired      | changed   | subscription.cancelled membership.cancelled | first ended_subscription
    customer.subscription.updated             | subscription.updated           | canceled                | changed   | subscription.updated | repeated ended_subscription
    customer.subscription.updated             | subscription.updated           | canceled                | unchanged | subscription.updated | -
    customer.subscription.deleted             | subscription.deleted           | canceled                | unchanged | subscription.cancelled membership.cancelled | first ended_subscription
    customer.subscription.deleted             | subscription.deleted           | canceled                | unchanged | - | repeated ended_subscription
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | unchanged | membership.extended | first paid_invoice
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | -         | membership.extended | first paid_invoice
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | unchanged | - | repeated paid_invoice
    invoice.payment_succeeded                 | invoice.payment_succeeded      | paid                    | unchanged | - | -
    invoice.paid                              | -                              | paid                    | unchanged | membership.extended | first paid_invoice
    invoice.paid                              | -                              | paid                    | unchanged | - | repeated paid_invoice
    invoice.paid                              | -                              | paid                    | unchanged | - | -
    customer.deleted                          | customer.deleted               | -                       | -         | -
    customer.deleted                          | customer.deleted               | deleted                 | -         | - | -
    charge.refunded                           | -                              | succeeded               | -         | -
    charge.dispute.created                    | -                              | needs_response          | -         | -`,
  paypal: `
    PAYMENT.CAPTURE.COMPLETED                 | payment_intent.succeeded       | completed               | -         | payment.succeeded
    PAYMENT.AUTHORIZATION.VOIDED              | payment_intent.canceled        | voided                  | -         | payment.failed
    PAYMENT.CAPTURE.REFUNDED                  | -                              | completed               | -         | -
    BILLING.SUBSCRIPTION.CREATED              | subscription.created           | approval_pending        | unchanged | subscription.created membership.pending
    BILLING.SUBSCRIPTION.SUSPENDED            | subscription.updated           | suspended               | changed   | subscription.updated membership.pending
    BILLING.SUBSCRIPTION.UPDATED              | subscription.updated           | active                  | unchanged | subscription.updated
    BILLING.SUBSCRIPTION.UPDATED              | subscription.updated           | approved                | changed   | subscription.updated
    BILLING.SUBSCRIPTION.CANCELLED            | subscription.deleted           | cancelled               | changed   | subscription.cancelled membership.cancelled
    BILLING.SUBSCRIPTION.EXPIRED              | subscription.deleted           | expired                 | changed   | subscription.cancelled membership.cancelled
    BILLING.SUBSCRIPTION.PAYMENT.FAILED       | invoice.payment_failed         | active                  | unchanged | membership.pending`,
  'authorize-net': `
    net.authorize.payment.authcapture.created | payment_intent.succeeded       | -                       | -         | payment.succeeded
    net.authorize.payment.authcapture.created | invoice.payment_succeeded      | -                       | unchanged | membership.extended
    net.authorize.payment.refund.created      | -                              | -                       | -         | -
    net.authorize.customer.subscription.terminated | subscription.deleted        | terminated | changed   | subscription.cancelled membership.cancelled
    net.authorize.customer.subscription.expiring   | subscription.trial_will_end | active     | unchanged | subscription.updated
    net.authorize.customer.subscription.failed     | invoice.payment_failed      | active     | unchanged | membership.pending`,
  sandbox: `
    subscription.updated                      | subscription.updated           | active                  | unchanged | subscription.updated
    constructor                               | constructor                    | active                  | -         | -
    something.new                             | something.new                  | toString                | -         | -`,
}

const subscriptions: Readonly<Record<string, SubscriptionFacts>> = {
  unchanged: unchangedSubscription,
  changed: { ...unchangedSubscription, status_changed: true },
  first: { ...unchangedSubscription, is_first_invoice: true },
}

const rowsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
const orNull = (cell = '-') => (cell === '-' ? null : cell)

for (const [provider_id, text] of Object.entries(table))
  t.test(
    `foreign notifications from ${provider_id} lead to the canonical messages of the table [6.2-canonical]`,
    async (t) => {
      for (const [provider_type = '', generic, status, subscribed = '-', canonical, fact] of rowsOf(text)) {
        const subscription = subscriptions[subscribed]
        const [, order, kind] = /^(first|repeated) (ended_subscription|paid_invoice)$/.exec(fact ?? '') ?? []
        const shared_fact = kind === undefined ? null : { kind: kind as SharedFactKind, is_first: order === 'first' }
        const messages = unmatchedMessagesByMode({
          ...subscriptionNotification,
          ...{ provider_id, provider_type, generic_type: orNull(generic), status: orNull(status) },
          ...(subscription && { subscription }),
          ...(fact && { shared_fact }),
        })
        const expected = orNull(canonical)?.split(' ') ?? []
        t.strictSame(
          messages.map(({ endpoint, mode, event }) => `${endpoint} ${mode} ${event}`),
          expected.flatMap((name) => [`1 canonical ${name}`, `3 canonical ${name}`]),
          `${provider_type}, ${status}, ${subscribed}, ${fact} → ${canonical}`,
        )
      }
    },
  )
