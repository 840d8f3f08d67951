// The outgoing webhooks in the OpenAPI document: one for each canonical name, one for raw and one for legacy messages.
import { exampleId } from '@paylog/domain/examples'
import { canonicalBody } from '@paylog/webhooks/messages/canonical'
import type { CanonicalName } from '@paylog/webhooks/messages/canonicalNames'
import { messageSchemas } from '@paylog/webhooks/messages/messageSchemas'
import type { CanonicalMessage } from '@paylog/webhooks/messages/webhookFacts'

const header = (name: string, isRequired: boolean, pattern: string, description: string) => ({
  name,
  in: 'header',
  required: isRequired,
  description,
  schema: { type: 'string', pattern },
})

const headers = [
  header('webhook-id', true, '.', 'The same at every attempt: a receiver ignores ids that it has seen'),
  header('webhook-timestamp', true, '^[0-9]+$', 'Time of the attempt, in seconds since 1970'),
  header(
    'webhook-sequence',
    true,
    '^[0-9]+$',
    'Grows with each event of a payment: a receiver ignores the status in a message with a lower one. Not signed',
  ),
  header('webhook-test', false, '^true$', 'Present when it is a test. Not signed; `test` in the body is'),
]

const signature = header(
  'webhook-signature',
  false,
  '^v1,',
  'Standard Webhooks signature, for endpoints with a secret; two of them while a secret is rotated',
)

type Message = { readonly title: string; readonly schema: object; readonly example: unknown }

const webhook = (
  { title, schema, example }: Message,
  summary: string,
  description: string,
  parameters: readonly object[],
) => ({
  post: {
    operationId: `receive${title}`,
    tags: ['webhooks'],
    summary,
    description,
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      200: { description: 'It was received. After any other status it is sent again, by the schedule of the endpoint' },
      410: { description: 'The endpoint is gone: it is paused until an operator enables it' },
    },
  },
})

const timestamp = '2026-01-31T12:00:00.000Z'
const ofSubscription = {
  subscription_id: 'sub_1',
  customer_id: 'cus_1',
  current_period_end: '2026-03-02T12:00:00.000Z',
}
const id = '018f0000-0000-7000-8000-0000000000b1'

/** What an example has beside what all of them have. */
const examples: Readonly<Record<CanonicalName, Partial<CanonicalMessage>>> = {
  'payment.created': { status: 'pending' },
  'payment.succeeded': {},
  'payment.failed': { status: 'failed' },
  'payment.refunded': { refund: { id, amount: 700, status: 'succeeded', reason: 'requested_by_customer' } },
  'payment.disputed': {
    dispute: { id, amount: 2599, status: 'open', reason: 'fraudulent', evidence_due_by: '2026-02-12T23:59:59.000Z' },
  },
  'payment.attention': {
    attention: { code: 'unrequested_charge', message: 'The payer was charged more than once' },
  },
  'subscription.created': { status: 'active', ...ofSubscription },
  'subscription.updated': { status: 'active', ...ofSubscription },
  'subscription.cancelled': { status: 'canceled', ...ofSubscription },
  'membership.activated': { status: 'active', ...ofSubscription },
  'membership.extended': { status: 'paid', ...ofSubscription },
  'membership.pending': { status: 'past_due', ...ofSubscription },
  'membership.cancelled': { status: 'canceled', ...ofSubscription },
  'customer.created': { status: null, customer_id: 'cus_1' },
  'customer.updated': { status: null, customer_id: 'cus_1' },
}

function exampleOf(name: CanonicalName): unknown {
  const isOfPayment = name.startsWith('payment.')
  const message: CanonicalMessage = {
    event: name,
    provider: 'stripe',
    timestamp,
    payment_id: isOfPayment ? exampleId : null,
    amount: isOfPayment ? 2599 : null,
    currency: isOfPayment ? 'EUR' : null,
    status: 'succeeded',
    user: { id: null, type: isOfPayment ? 'guest' : 'customer', email: 'guest@example.com' },
    project_id: null,
    owner: null,
    is_test: false,
    ...examples[name],
  }
  return JSON.parse(canonicalBody(message, { projectId: 'default', projectIds: [] }))
}

const canonical = messageSchemas.canonical.map(({ name, ...canonical }) => {
  const description = 'For endpoints whose event mode is `canonical` or `both`.'
  const message = { ...canonical, example: exampleOf(name) }
  return [name, webhook(message, `Receive ${name}`, description, [...headers, signature])] as const
})

const rawExample = {
  event: 'stripe:invoice.payment_failed',
  provider: 'stripe',
  timestamp,
  data: { id: 'evt_1', type: 'invoice.payment_failed', data: { object: { id: 'in_1', amount_due: 2599 } } },
}

const legacyExample = {
  event: 'payment_intent.succeeded',
  provider: 'stripe',
  timestamp,
  data: {
    payment_id: exampleId,
    amount: 2599,
    currency: 'EUR',
    customer_email: 'guest@example.com',
    status: 'succeeded',
  },
}

/** `webhooks` of the document, by name. */
export const outgoingWebhooks: Readonly<Record<string, object>> = {
  ...Object.fromEntries(canonical),
  raw: webhook(
    { ...messageSchemas.raw, example: rawExample },
    "Receive a provider's notification",
    'For endpoints whose event mode is `raw` or `both`.',
    [...headers, signature],
  ),
  legacy: webhook(
    { ...messageSchemas.legacy, example: legacyExample },
    'Receive a notification by its generic name',
    'For `EXTERNAL_WEBHOOK_URLS`. Unsigned.',
    headers,
  ),
}
