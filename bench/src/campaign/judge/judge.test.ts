import t from 'tap'
import { judge } from './judge.ts'
import type { Intent, Notification, Observations, Payment, PaymentRequest, Webhook } from './observations.ts'

const id = '018f0000-0000-7000-8000-000000000001'
const secondId = '018f0000-0000-7000-8000-000000000002'

const request: PaymentRequest = {
  reference: 'order-1',
  owner: 'user 1',
  key: 'key-1',
  provider: 'stripe',
  amount_cents: 2599,
  currency: 'EUR',
  answers: [
    { status: null, code: null, payment_id: null },
    { status: 504, code: 'provider_outcome_unknown', payment_id: null },
    { status: 201, code: null, payment_id: id },
    { status: 201, code: null, payment_id: id },
  ],
  gave_up: false,
}
const intent: Intent = {
  provider: 'stripe',
  id: 'pi_1',
  payment_id: id,
  key: 'call-1',
  amount_cents: 2599,
  currency: 'EUR',
  status: 'succeeded',
  failures: 0,
  is_foreign: false,
}
const entry = (type: string, status_after: string) => ({ type, status_after, occurred_at: '2026-01-01T00:00:00.000Z' })
const history = [
  entry('PaymentInitiated', 'pending'),
  entry('ProviderIntentCreated', 'pending'),
  entry('PaymentSucceeded', 'succeeded'),
]
const payment: Payment = {
  id,
  reference_code: 'order-1',
  status: 'succeeded',
  total_cents: 2599,
  currency: 'EUR',
  provider_id: 'stripe',
  provider_intent_id: 'pi_1',
  history,
}
const notification: Notification = {
  id: 'evt_1',
  provider: 'stripe',
  type: 'payment_intent.succeeded',
  intent_id: 'pi_1',
  sent: 2,
  accepted: 2,
}
const created: Webhook = {
  mode: 'canonical',
  webhook_id: 'msg_1',
  is_signed: true,
  event: 'payment.created',
  payment_id: id,
  status: 'pending',
  amount_cents: 2599,
  notification_id: null,
}
const succeeded: Webhook = { ...created, webhook_id: 'msg_2', event: 'payment.succeeded', status: 'succeeded' }
const raw: Webhook = {
  mode: 'raw',
  webhook_id: 'msg_3',
  is_signed: true,
  event: 'stripe:payment_intent.succeeded',
  payment_id: null,
  status: null,
  amount_cents: null,
  notification_id: 'evt_1',
}

type Parts = Partial<Omit<Observations, 'payments' | 'lists'>> & {
  readonly payments?: readonly Payment[]
  readonly listed?: readonly Payment[]
}

/** One Stripe payment that succeeded, its webhooks received twice, except for the given parts. */
function observed({ payments = [payment], listed = payments, ...parts }: Parts = {}): Observations {
  return {
    requests: [request],
    intents: [intent],
    notifications: [notification],
    webhooks: [created, succeeded, succeeded, raw, raw],
    provider_faults: {},
    payments: new Map(payments.map((each) => [each.id, each])),
    lists: new Map([['user 1', listed]]),
    ...parts,
  }
}

const rules = (parts: Parts) => [...new Set(judge(observed(parts)).map(({ rule }) => rule))].sort()

const secondPayment = { ...payment, id: secondId, provider_intent_id: 'pi_2' }
const secondIntent = { ...intent, id: 'pi_2', key: 'call-2' }

t.test('the judge finds nothing where every payment, webhook and book agree', async (t) => {
  t.same(judge(observed()), [])
  const declined = { ...intent, status: 'open', failures: 1 } as const
  const failed = {
    ...payment,
    status: 'failed',
    history: [...history.slice(0, 2), entry('PaymentAttemptFailed', 'failed')],
  }
  const failure = { ...succeeded, event: 'payment.failed', status: 'failed' }
  t.same(rules({ intents: [declined], payments: [failed], webhooks: [created, failure, raw] }), [], 'a failed payment')
})

t.test('the judge accepts a second intent that was canceled', async (t) => {
  t.same(rules({ intents: [intent, { ...secondIntent, status: 'canceled' }] }), [])
})

t.test('the judge accepts a failure that was overtaken by the success, reported or not', async (t) => {
  const retried = { ...intent, failures: 1 }
  const failure = { ...succeeded, webhook_id: 'msg_4', event: 'payment.failed', status: 'failed' }
  t.same(rules({ intents: [retried] }), [])
  t.same(rules({ intents: [retried], webhooks: [created, failure, succeeded, raw] }), [])
})

const foreign: Intent = { ...intent, id: 'pi_9', payment_id: null, is_foreign: true }
const foreignCreated = { ...created, webhook_id: 'msg_9', payment_id: 'pi_9' }
const foreignSucceeded = { ...succeeded, webhook_id: 'msg_10', payment_id: 'pi_9' }
const ours = [created, succeeded, raw]

const planted: readonly (readonly [string, Parts, readonly string[]])[] = [
  [
    'a payment that the API lost',
    { payments: [] },
    ['intent without payment', 'payment lost', 'webhook about an unknown payment'],
  ],
  ['a payment missing in the list', { listed: [] }, ['payment not listed once']],
  ['a payment listed twice', { listed: [payment, payment] }, ['payment not listed once']],
  ['a list that is behind', { listed: [{ ...payment, status: 'pending' }] }, ['list differs from payment']],
  [
    'two payments for one key',
    {
      requests: [{ ...request, answers: [...request.answers, { status: 201, code: null, payment_id: secondId }] }],
      payments: [payment, secondPayment],
      intents: [intent, { ...secondIntent, payment_id: secondId }],
      webhooks: [
        ...ours,
        ...[created, succeeded].map((sent) => ({ ...sent, webhook_id: `${sent.webhook_id}b`, payment_id: secondId })),
      ],
    },
    ['two payments for one key', 'two payments for one request'],
  ],
  ['a request without a final answer', { requests: [{ ...request, gave_up: true }] }, ['no final answer']],
  [
    'a valid request that is rejected',
    { requests: [{ ...request, answers: [{ status: 422, code: 'idempotency_key_reused', payment_id: null }] }] },
    ['valid request rejected'],
  ],
  ['another amount than requested', { requests: [{ ...request, amount_cents: 1 }] }, ['payment altered']],
  [
    'a second intent with another key',
    { intents: [intent, { ...secondIntent, status: 'open' }] },
    ['two payable intents'],
  ],
  [
    'an intent without its payment',
    { intents: [intent, { ...secondIntent, payment_id: secondId }] },
    ['intent without payment'],
  ],
  [
    'a payment without its intent',
    { intents: [] },
    ['payment without intent', 'webhook contradicts the books', 'wrong status'],
  ],
  ['a wrong status', { payments: [{ ...payment, status: 'pending', history: history.slice(0, 2) }] }, ['wrong status']],
  ['a wrong amount', { intents: [{ ...intent, amount_cents: 1 }] }, ['wrong amount']],
  ['an intent that is not recorded', { payments: [{ ...payment, provider_intent_id: null }] }, ['intent not recorded']],
  ['another intent than the provider’s', { payments: [{ ...payment, provider_intent_id: 'pi_2' }] }, ['wrong intent']],
  [
    'an outcome recorded twice',
    { payments: [{ ...payment, history: [...history, ...history.slice(2)] }] },
    ['outcome recorded twice'],
  ],
  [
    'an outcome recorded twice under a new event type',
    {
      payments: [
        {
          ...payment,
          history: ['pending', 'succeeded', 'pending', 'succeeded'].map((status) => entry('PaymentChanged', status)),
        },
      ],
    },
    ['outcome recorded twice'],
  ],
  [
    'a conflict in the history',
    { payments: [{ ...payment, history: [...history, entry('PaymentConflictDetected', 'succeeded')] }] },
    ['conflict recorded'],
  ],
  ['a missing canonical webhook', { webhooks: [created, raw] }, ['webhook missing']],
  [
    'a doubled webhook with two ids',
    { webhooks: [...ours, { ...succeeded, webhook_id: 'msg_4' }] },
    ['webhook with several ids'],
  ],
  [
    'a webhook of another outcome',
    { webhooks: [...ours, { ...succeeded, webhook_id: 'msg_4', event: 'payment.failed', status: 'canceled' }] },
    ['webhook contradicts the books'],
  ],
  ['a webhook with a wrong amount', { webhooks: [created, { ...succeeded, amount_cents: 1 }, raw] }, ['wrong amount']],
  [
    'a webhook about nothing known',
    { webhooks: [...ours, { ...created, webhook_id: 'msg_4', payment_id: secondId }] },
    ['webhook about an unknown payment'],
  ],
  ['an unsigned webhook', { webhooks: [{ ...created, is_signed: false }, succeeded, raw] }, ['wrong signature']],
  [
    'one id for two webhooks',
    { webhooks: [created, { ...succeeded, webhook_id: 'msg_1' }, raw] },
    ['one webhook id for two webhooks'],
  ],
  ['a missing raw webhook', { webhooks: [created, succeeded] }, ['webhook missing']],
  [
    'a raw webhook with two ids',
    { webhooks: [...ours, { ...raw, webhook_id: 'msg_4' }] },
    ['webhook with several ids'],
  ],
  [
    'a raw webhook of no notification',
    { webhooks: [...ours, { ...raw, webhook_id: 'msg_4', notification_id: 'evt_2' }] },
    ['raw webhook of no notification'],
  ],
  [
    'a raw webhook with another name',
    { webhooks: [created, succeeded, { ...raw, event: 'stripe:charge.updated' }] },
    ['raw webhook misnamed'],
  ],
  [
    'a notification that was never accepted',
    { notifications: [{ ...notification, accepted: 0 }] },
    ['notification not accepted'],
  ],
  [
    'a foreign payment as ours',
    {
      payments: [{ ...payment, provider_intent_id: 'pi_9' }],
      intents: [intent, foreign],
      webhooks: [...ours, foreignCreated, foreignSucceeded],
    },
    ['foreign payment appears as ours', 'wrong intent'],
  ],
  ['a foreign payment without its webhooks', { intents: [intent, foreign] }, ['webhook missing']],
]

t.test('the judge reports each planted violation', async (t) => {
  for (const [what, parts, expected] of planted) t.same(rules(parts), expected, what)
})

t.test('the judge accepts payments of other systems under the ids of the provider', async (t) => {
  const webhooks = [...ours, foreignCreated, foreignSucceeded]
  t.same(rules({ intents: [intent, foreign], webhooks }), [])
  t.same(rules({ intents: [intent, { ...foreign, payment_id: id }] }), [], 'silent where it names a payment of ours')
})
